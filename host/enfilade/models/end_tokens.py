"""End-of-turn tokens that a server left in the text."""

from typing import Final

from enfilade_sdk.markup.kinds import token

_ENDS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|user|>",
    "<|observation|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
    token("end of sentence"),
)
_TURNS: Final = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|assistant|>", "<\uff5cUser\uff5c>")
_BOXES: Final = ("<|begin_of_box|>", "<|end_of_box|>")
"""What GLM puts around an answer; never shown, wherever they stand."""
_STRUCK = "<s>"
_STRUCK_END = "</s>"
_LONGEST = 64
"""Characters of tokens and white space that are held back; what is longer is text."""


class EndTokens:
    """Takes such tokens off the end of a reply, and with them a turn that the model invented behind one.

    A token in the middle of other text is text: somebody writes about it. So is the end of `<s>struck</s>`.
    """

    def __init__(self) -> None:
        self._held = ""
        self._struck = False
        self._over = False

    @property
    def is_flowing(self) -> bool:
        """Whether text without any bracket would pass just as it is."""
        return not (self._held or self._over)

    def feed(self, piece: str) -> str:
        """The text that may pass by now."""
        if self._over:
            return ""
        if not self._held and "<" not in piece:
            return piece
        text, self._held = self._held + piece, ""
        shown, at = [], 0
        while (start := text.find("<", at)) >= 0:
            shown.append(text[at:start])
            at = self._past_tokens(text, start)
            if at < 0:
                return "".join(shown)
            shown.append("" if text.startswith(_BOXES, start) else text[start:at])
        return "".join([*shown, text[at:]])

    def finish(self) -> str:
        """What was held back and is text after all, at the end of the reply: the beginning of a token."""
        held, self._held = self._held, ""
        return "" if held.startswith(_ENDS) else held

    def _past_tokens(self, text: str, start: int) -> int:
        """Where the text goes on behind a bracket or tokens; -1 where all the rest is held, or over."""
        if text.startswith(_STRUCK, start):
            self._struck = True
            return start + len(_STRUCK)
        for box in _BOXES:
            if text.startswith(box, start):
                return start + len(box)
        ends = [end for end in _ENDS if not (self._struck and end == _STRUCK_END)]
        at = start
        while found := next((end for end in ends if text.startswith(end, at)), ""):
            at += len(found)
            while at < len(text) and text[at].isspace():
                at += 1
        if at - start > _LONGEST:
            return start + _LONGEST
        if at > start and text.startswith(_TURNS, at):
            self._over = True
            return -1
        rest = text[at:]
        if any(known.startswith(rest) for known in (*ends, *_BOXES, _STRUCK, *(_TURNS if at > start else ()))):
            self._held = text[start:]
            return -1
        return max(at, start + 1)
