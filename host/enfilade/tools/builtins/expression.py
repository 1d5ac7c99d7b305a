"""Reads arithmetic written as people write it."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from enfilade.tools.builtins.arithmetic import (
    CONSTANTS,
    FUNCTIONS,
    OPERATIONS,
    ArithmeticFault,
    Number,
    checked,
    factorial,
    power,
)
from enfilade.tools.names import did_you_mean

MAX_LENGTH = 2_000
"""Characters of an expression."""

MAX_DEPTH = 40
"""Brackets within brackets."""

_MAX_EXPONENT = 3_000
_MOST_SHOWN = 60
_TOKEN = re.compile(
    r"(?P<number>(?:\d{1,3}(?:_\d{3})+|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-zπτ]\w*)|(?P<sign>\*\*|//|[-+*/%^(),!])",
    re.ASCII,
)
_SPACE = re.compile(r"\s*")
_SPELLINGS = str.maketrans("\u00d7\u00b7\u22c5\u00f7\u2212\u2013[]\u00a0\u2009", "***/--()  ")
_TIMES = re.compile(r"(?<=[\d)])\s*[xX]\s*(?=[\d(.])")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def evaluate(expression: str) -> Number:
    """The value of an expression.

    It knows `+ - * / // % ** ^ !`, brackets, percentages (`15% of 80`), and the names in `CONSTANTS` and `FUNCTIONS`.
    `1,234` is a number where no brackets make the comma ambiguous.

    Raises:
        ArithmeticFault: It is not arithmetic, has no value, or is too large to be worked out.
    """
    if len(expression) > MAX_LENGTH:
        raise ArithmeticFault(f"the expression has {len(expression):,} characters; at most {MAX_LENGTH:,} are read")
    text = expression.translate(_SPELLINGS).strip().rstrip("=?").rstrip()
    if "(" not in text:
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = _TIMES.sub("*", text)
    if not text:
        raise ArithmeticFault("the expression is empty; give one such as 12 * 7")
    return _Reader(_tokens(text), text).whole()


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ArithmeticFault(f"{text[place]!r} at position {place + 1} of {_shown(text)} is not arithmetic")
        found.append(_Token(match.lastgroup or "", match[0], place))
        space = _SPACE.match(text, match.end())
        place = space.end() if space else match.end()
    return found


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")


class _Reader:
    """A recursive-descent reader that works the value out as it reads."""

    def __init__(self, tokens: Sequence[_Token], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._place = 0
        self._depth = 0

    def whole(self) -> Number:
        value = self._sum()
        if self._place < len(self._tokens):
            raise self._unexpected()
        return value

    def _sum(self) -> Number:
        value = self._product()
        while sign := self._take("+", "-"):
            value = checked(OPERATIONS[sign](value, self._product()))
        return value

    def _product(self) -> Number:
        value = self._signed()
        while sign := self._take("*", "/", "//", "%", "of"):
            value = checked(OPERATIONS[sign](value, self._signed()))
        return value

    def _signed(self) -> Number:
        sign = self._take("+", "-")
        if not sign:
            return self._power()
        value = self._nested(self._signed)
        return -value if sign == "-" else value

    def _power(self) -> Number:
        value = self._postfix()
        if self._take("**", "^"):
            return power(value, self._nested(self._signed))
        return value

    def _postfix(self) -> Number:
        value = self._operand()
        while True:
            if self._take("!"):
                value = factorial(value)
            elif self._next == "%" and not self._operand_at(self._place + 1):
                self._place += 1  # a percentage: no operand follows, as one does in 7 % 3
                value = checked(OPERATIONS["/"](value, Fraction(100)))
            else:
                return value

    def _operand(self) -> Number:
        if not self._operand_at(self._place):
            raise self._unexpected()
        token = self._tokens[self._place]
        self._place += 1
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "name":
            return self._named(token.text)
        value = self._nested(self._sum)
        self._close()
        return value

    def _named(self, name: str) -> Number:
        lower = name.lower()
        if self._take("("):
            arguments = self._arguments()
            if lower not in FUNCTIONS:
                raise ArithmeticFault(
                    f"there is no function {name!r}.{did_you_mean(lower, FUNCTIONS)}{_list(FUNCTIONS)}"
                )
            return checked(FUNCTIONS[lower](lower, arguments))
        if lower in CONSTANTS:
            return CONSTANTS[lower]
        if lower in FUNCTIONS:
            raise ArithmeticFault(f"the function {name!r} needs brackets: {lower}(...)")
        known = [*CONSTANTS, *FUNCTIONS]
        raise ArithmeticFault(f"{name!r} is no number and no known name.{did_you_mean(lower, known)}{_list(known)}")

    def _arguments(self) -> list[Number]:
        found: list[Number] = []
        if self._take(")"):
            return found
        found.append(self._nested(self._sum))
        while self._take(","):
            found.append(self._nested(self._sum))
        self._close()
        return found

    @property
    def _next(self) -> str:
        return self._tokens[self._place].text if self._place < len(self._tokens) else ""

    def _take(self, *signs: str) -> str:
        sign = self._next
        if sign not in signs:
            return ""
        self._place += 1
        return sign

    def _operand_at(self, place: int) -> bool:
        if place >= len(self._tokens):
            return False
        token = self._tokens[place]
        return token.kind == "number" or token.text == "(" or (token.kind == "name" and token.text != "of")

    def _close(self) -> None:
        if not self._take(")"):
            if self._place < len(self._tokens):
                raise self._unexpected()
            raise ArithmeticFault(f"a bracket is not closed in {_shown(self._text)}")

    def _nested(self, read: Callable[[], Number]) -> Number:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ArithmeticFault(f"the expression is nested more than {MAX_DEPTH} levels deep")
        value = read()
        self._depth -= 1
        return value

    def _unexpected(self) -> ArithmeticFault:
        if self._place >= len(self._tokens):
            return ArithmeticFault(f"{_shown(self._text)} breaks off; a number is missing at its end")
        token = self._tokens[self._place]
        return ArithmeticFault(
            f"{token.text!r} at position {token.place + 1} of {_shown(self._text)} is not expected there"
        )


def _list(names: Collection[str]) -> str:
    return f" There are: {', '.join(sorted(name for name in names if name.isascii()))}"


def _number(text: str) -> Number:
    mantissa, _, exponent = text.lower().partition("e")
    if abs(int(exponent or 0)) > _MAX_EXPONENT:
        raise ArithmeticFault(f"the number {text[:_MOST_SHOWN]} is too large or too small to be worked with")
    return checked(Fraction(mantissa.replace("_", "")) * Fraction(10) ** int(exponent or 0))
