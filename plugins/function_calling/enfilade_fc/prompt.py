"""The messages that a function-calling run starts with."""

from collections.abc import Sequence

from enfilade_sdk.invocation import File
from enfilade_sdk.prompts import ContentPart, ImagePart, ImageUrl, PromptMessage, SystemMessage, TextPart, UserMessage
from enfilade_sdk.session import Session

ASK_AGAIN = UserMessage(content="Your last reply was empty. Answer the question in words, or call a tool.")
"""What is said, once, after a reply without text and without calls."""


def opening(session: Session, instruction: str, query: str) -> list[PromptMessage]:
    """Instruction, history, question; images go with the question for a model that can see."""
    messages: list[PromptMessage] = []
    if instruction:
        messages.append(SystemMessage(content=instruction))
    messages.extend(m for m in session.history if not (instruction and isinstance(m, SystemMessage)))
    messages.append(UserMessage(content=_question(query, session.files, vision=session.model.info.vision)))
    return messages


def _question(query: str, files: Sequence[File], *, vision: bool) -> str | list[ContentPart]:
    images = [file for file in files if vision and file.is_image]
    others = [file for file in files if file not in images]
    if others:
        names = ", ".join(file.filename or file.mime_type or "a file" for file in others)
        query = f"{query}\n\n[files given with the question, which you cannot see: {names}]"
    if not images:
        return query
    parts: list[ContentPart] = [TextPart(text=query)]
    parts.extend(ImagePart(image_url=ImageUrl(url=file.url)) for file in images)
    return parts
