"""The messages that a function-calling run starts with."""

from enfilade_sdk.prompts import PromptMessage, SystemMessage, UserMessage
from enfilade_sdk.question import question
from enfilade_sdk.session import Session

ASK_AGAIN = UserMessage(content="Your last reply was empty. Answer the question in words, or call a tool.")
"""What is said, once, after a reply without text and without calls."""


def opening(session: Session, instruction: str, query: str) -> list[PromptMessage]:
    """Instruction, history, question; images go with the question for a model that can see."""
    messages: list[PromptMessage] = []
    if instruction:
        messages.append(SystemMessage(content=instruction))
    messages.extend(m for m in session.history if not (instruction and isinstance(m, SystemMessage)))
    messages.append(UserMessage(content=question(query, session.files, vision=session.model.info.vision)))
    return messages
