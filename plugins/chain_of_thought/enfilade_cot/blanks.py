"""What may stand between the tokens of an object: white space, and comments."""

import re

from enfilade_cot.spacing import BREAKS, space_end

_LINE = re.compile(f"[^{BREAKS}]+")
_UNTIL_STAR = re.compile(r"[^*]+")


class Blanks:
    """Passes over them as they arrive.

    Args:
        comments: Whether `// ...`, `# ...` and `/* ... */` are comments.

    Attributes:
        fresh: Whether a line break was passed over since this was last set to False.
        waiting: Whether it is not known yet what stands where `skip` came to.
    """

    def __init__(self, *, comments: bool) -> None:
        self.fresh = False
        self.waiting = False
        self._comments = comments
        self._inside = ""  # the comment that is open: "/" or "*"

    def skip(self, text: str, at: int, *, eof: bool) -> int:
        """Passes over what stands at `at`; gives where a token stands, or where it is `waiting`."""
        self.waiting = False
        while at < len(text):
            inside = self._inside
            new = self._comment(text, at, eof=eof) if inside else self._blank(text, at, eof=eof)
            if new == at and inside == self._inside:
                break
            at = new
        return at

    def _blank(self, text: str, at: int, *, eof: bool) -> int:
        end = space_end(text, at)
        if end > at:
            self.fresh = self.fresh or any(c in text[at:end] for c in BREAKS)
            return end
        if text[at] not in "/#" or not self._comments:
            return at
        if text[at] == "#":
            self._inside = "/"
            return at + 1
        if at + 1 == len(text):
            self.waiting = not eof
            return at
        if text[at + 1] not in "/*":
            return at
        self._inside = text[at + 1]
        return at + 2

    def _comment(self, text: str, at: int, *, eof: bool) -> int:
        found = (_LINE if self._inside == "/" else _UNTIL_STAR).match(text, at)
        if found:
            return found.end()
        if self._inside == "/":
            self._inside = ""
            return at
        if at + 1 == len(text) and not eof:
            self.waiting = True
            return at
        if not text.startswith("*/", at):
            return at + 1
        self._inside = ""
        return at + 2
