"""The labels of the format."""

from dataclasses import dataclass, fields
from enum import Enum, auto


class Kind(Enum):
    """What a label announces."""

    THOUGHT = auto()
    ACTION = auto()
    ACTIONS = auto()
    TOOL = auto()
    INPUT = auto()
    OBSERVATION = auto()
    ANSWER = auto()
    MAYBE_ANSWER = auto()
    LOOSE_INPUT = auto()


class Hold(Enum):
    """Not to be decided yet."""

    MORE = auto()


@dataclass(frozen=True, slots=True)
class Label:
    """A label that was found.

    Attributes:
        kind: What it announces.
        start: Where its line starts.
        end: Where its content starts (blanks may come first).
        indent: The blanks before it.
        tentative: Whether it counts only when an action follows: a bullet point, a plural, a heading without a colon.
        carry: Markup opened before the label and closed somewhere in its content.
    """

    kind: Kind
    start: int
    end: int
    indent: str = ""
    tentative: bool = False
    carry: str = ""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The words of one or several languages; a model may write them apart, joined, with `_` or with `-`.

    Attributes:
        thought: Before a thought.
        action: Before an action or its name.
        actions: Plural and other forms, which count only when an action follows.
        tool: Before the name of a tool; counts only when the menu has it and an input follows.
        input: Before the input of an action.
        observation: Before a tool's result, which is never the model's to write.
        answer: Before the final answer.
        maybe_answer: What some models write for it; counts only when the reply holds neither action nor answer.
        loose_input: Stands for `input` right after the name of an action.
    """

    thought: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    input: tuple[str, ...] = ()
    observation: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    maybe_answer: tuple[str, ...] = ()
    loose_input: tuple[str, ...] = ()

    def __add__(self, other: "LabelSet") -> "LabelSet":
        names = [field.name for field in fields(self)]
        return LabelSet(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def words(self) -> dict[Kind, tuple[str, ...]]:
        """The phrases of each kind."""
        return {Kind[field.name.upper()]: getattr(self, field.name) for field in fields(self)}


ENGLISH = LabelSet(
    thought=("thought", "thoughts"),
    action=("action",),
    actions=("actions", "next action", "tool call", "tool calls", "function call", "function calls"),
    tool=("tool", "tool name", "function", "function name", "action name"),
    input=("action input", "action inputs"),
    observation=("observation",),
    answer=("final answer",),
    maybe_answer=("answer", "response", "final response", "final result"),
    loose_input=(
        "input",
        "inputs",
        "tool input",
        "tool arguments",
        "tool args",
        "tool parameters",
        "action arguments",
        "action args",
        "action parameters",
        "function arguments",
        "arguments",
        "args",
        "parameters",
    ),
)
"""The labels of the ReAct prompt, and what models make of them."""

ANSWERING = LabelSet(thought=ENGLISH.thought, answer=ENGLISH.answer, maybe_answer=ENGLISH.maybe_answer)
"""Those that matter when there are no tools."""

CHINESE = LabelSet(
    thought=("思考",),
    action=("行动", "动作", "操作"),
    tool=("工具", "工具 名称", "函数"),
    input=("行动 输入", "动作 输入", "操作 输入"),
    observation=("观察", "观察 结果"),
    answer=("最终 答案", "最终 回答", "最终 回复", "最终 答复"),
    maybe_answer=("答案", "回答"),
    loose_input=("输入", "参数", "工具 输入", "工具 参数", "行动 参数", "输入 参数"),
)
"""Their Chinese forms, for agents whose prompt uses them: `ENGLISH + CHINESE`."""
