"""The texts of the prompt, and how values get into them."""

import re
from collections.abc import Mapping

SYSTEM = """{{instruction}}

You have these tools, one a line, each with the JSON Schema of its arguments:

{{tools}}

To use a tool, write your thought and one action, then stop:

Thought: what you know and what is to be found out
Action: {"action": "the tool's name", "action_input": {"argument": "value"}}

The name is one of: {{tool_names}}. You are then given what the tool says:

Observation: what the tool says

Never write an observation yourself. Go on with thoughts and actions until you know the answer. Actions that do not need
each other's observations may be written as one list: Action: [{...}, {...}]. To answer, write:

Thought: I know the answer.
Final Answer: the answer to the question, for the one who asked
"""
"""The system prompt of a round in which tools may be called."""

WITHDRAWN = """{{instruction}}

The work done so far is written down in this form:

Thought: what was known and what was to be found out
Action: which tool was used, and for what
Observation: what the tool said

No tool can be used any more, so write no action. Answer from what is known. Write:

Thought: I know the answer, or how much of it can be known.
Final Answer: the answer to the question, for the one who asked
"""
"""The system prompt of the last round, when the tools are withdrawn."""

FORBIDDEN = "Observation: No tool can be used any more. Write the Final Answer now, from what is known."
"""What the model is told in the last round, when the prompt is to stay as it is."""

EMPTY = "Observation: The last reply was empty. Write an Action or a Final Answer."
"""What the model is told, once, after a reply without any text."""

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def filled(template: str, values: Mapping[str, str]) -> str:
    """Fills in the values, each as it is: what looks like a place in a value stays, and so does an unknown name.

    An empty value takes the blank lines before it along.
    """
    text = _PLACE.sub(lambda place: values.get(place[1], place[0]), template)
    return re.sub(r"\A\n+", "", text).strip("\n")
