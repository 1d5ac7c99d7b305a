"""Numbers that are exact where they can be, and the operations and functions on them, all of them bounded."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from enfilade_sdk.errors import InvalidParamsError

Number = Fraction | float
"""A fraction is exact; a float comes of roots, logarithms and the like."""

Function = Callable[[str, Sequence[Number]], Number]
"""A function by the name it was called with, and its arguments."""

MAX_BITS = 13_000
"""Size of an exact number, about 3,900 digits: Python writes out no more than 4,300."""

MAX_FACTORIAL = 1_300
"""Above that the result has more digits than are written out."""

_EXACT_FLOAT = 1e15
_LARGEST_ROOT = 64


class ArithmeticFault(InvalidParamsError):  # noqa: N818 - it is the fault of what was asked
    """An expression has no value that could be given; the text says why and where."""


def written(value: Number) -> str:
    """The number as people write it: whole numbers without a point, decimals where they end, else 16 digits."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT_FLOAT else repr(value)
    if value.denominator == 1:
        return str(value.numerator)
    decimal = _ending_decimal(value)
    if decimal is not None:
        return decimal
    if 1 / _EXACT_FLOAT < abs(value) < _EXACT_FLOAT:
        return repr(float(value))
    with localcontext(prec=16):  # a float's exponent may not reach that far
        return f"{Decimal(value.numerator) / Decimal(value.denominator):g}".lower()


def _ending_decimal(value: Fraction) -> str | None:
    """The decimal notation of a fraction that has one of at most 30 places."""
    for places in range(1, 31):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            return f"{'-' if scaled < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return None


def checked(value: Number) -> Number:
    """The value, if it is finite and not too large to go on with.

    Raises:
        ArithmeticFault: It is not.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArithmeticFault("the result is too large for a number with a decimal point")
        return value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ArithmeticFault("a number on the way has more than 3,900 digits; that is too large to be worked out")
    return value


def _real(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ArithmeticFault("a number is too large to be worked with beside one that is not exact") from None


def _pair(left: Number, right: Number) -> tuple[Fraction, Fraction] | tuple[float, float]:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left, right
    return _real(left), _real(right)


def _add(left: Number, right: Number) -> Number:
    left, right = _pair(left, right)
    return left + right


def _subtract(left: Number, right: Number) -> Number:
    left, right = _pair(left, right)
    return left - right


def _multiply(left: Number, right: Number) -> Number:
    left, right = _pair(left, right)
    return left * right


def _divide(left: Number, right: Number) -> Number:
    left, right = _pair(left, _not_zero(right))
    return left / right


def _whole_quotient(left: Number, right: Number) -> Number:
    left, right = _pair(left, _not_zero(right))
    quotient = left // right
    return Fraction(quotient) if isinstance(quotient, int) else quotient


def _remainder(left: Number, right: Number) -> Number:
    left, right = _pair(left, _not_zero(right))
    return left % right


def _not_zero(value: Number) -> Number:
    if value == 0:
        raise ArithmeticFault("division by zero has no result")
    return value


OPERATIONS: dict[str, Callable[[Number, Number], Number]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "of": _multiply,
    "/": _divide,
    "//": _whole_quotient,
    "%": _remainder,
}


def power(base: Number, exponent: Number) -> Number:
    """The power, exact for whole exponents and for roots that come out even.

    Raises:
        ArithmeticFault: It is too large, or no real number.
    """
    if exponent < 0:
        _not_zero(base)
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits > 1 and abs(exponent.numerator) * (bits - 1) > MAX_BITS:
            raise ArithmeticFault("the power has more than 3,900 digits; that is too large to be worked out")
        return checked(Fraction(base**exponent.numerator))
    try:
        value = _real(base) ** _real(exponent)
    except OverflowError:
        raise ArithmeticFault("the power is too large to be worked out") from None
    if isinstance(value, complex):
        raise ArithmeticFault("a power of a negative number with a fraction as exponent is no real number")
    return checked(_even_root(base, exponent, value))


def _even_root(base: Number, exponent: Number, value: float) -> Number:
    """The whole number that a root comes to, as in 16 ** 0.5; else the float."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and abs(value) < _EXACT_FLOAT:
        near = Fraction(round(value))
        small = max(abs(exponent.numerator), exponent.denominator) < _LARGEST_ROOT
        if small and near**exponent.denominator == base ** abs(exponent.numerator) and exponent > 0:
            return near
    return value


def factorial(value: Number) -> Number:
    """The factorial of a whole number.

    Raises:
        ArithmeticFault: It is none, or too large.
    """
    if value < 0 or value > MAX_FACTORIAL or value != math.floor(value):
        raise ArithmeticFault(f"factorial takes whole numbers from 0 to {MAX_FACTORIAL:,}, got {written(value)}")
    return Fraction(math.factorial(math.floor(value)))


def _of(number: str, work: Callable[..., Number], least: int, most: int | None) -> Function:
    def call(name: str, arguments: Sequence[Number]) -> Number:
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise ArithmeticFault(f"{name} takes {number}, got {len(arguments)}")
        return work(*arguments)

    return call


def _one(work: Callable[[Number], Number]) -> Function:
    return _of("one number", work, 1, 1)


def _float(work: Callable[[float], float], domain: str = "") -> Function:
    def apply(value: Number) -> Number:
        try:
            return work(_real(value))
        except ValueError:
            raise ArithmeticFault(f"{domain or 'the function'} has no value for {written(value)}") from None
        except OverflowError:
            raise ArithmeticFault("the result is too large for a number with a decimal point") from None

    return _one(apply)


def _absolute(value: Number) -> Number:
    return -value if value < 0 else value


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise ArithmeticFault(f"the square root of a negative number ({written(value)}) is no real number")
    if isinstance(value, Fraction):
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return math.sqrt(_real(value))


def _cbrt(value: Number) -> Number:
    root = power(_absolute(value), Fraction(1, 3))
    return -root if value < 0 else root


def _round(value: Number, places: Number = Fraction(0)) -> Number:
    """Rounds halves away from zero, as is taught at school."""
    if places != math.floor(places) or _absolute(places) > 100:  # noqa: PLR2004 - more places than anyone reads
        raise ArithmeticFault(f"round takes a whole number of places, at most 100, got {written(places)}")
    scale = Fraction(10) ** math.floor(places)
    exact = value if isinstance(value, Fraction) else Fraction(repr(value))
    whole = math.floor(abs(exact) * scale + Fraction(1, 2)) / scale
    return Fraction(-whole if exact < 0 else whole)


def _log(value: Number, base: Number | None = None) -> Number:
    if value <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise ArithmeticFault("a logarithm takes a number above 0, and a base above 0 that is not 1")
    natural = _natural_log(value)
    return natural if base is None else natural / _natural_log(base)


def _natural_log(value: Number) -> float:
    if isinstance(value, Fraction):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value)


def _log10(value: Number) -> Number:
    if isinstance(value, Fraction) and value > 0 and value.denominator == 1:
        return math.log10(value.numerator)
    return _log(value, Fraction(10))


def _log2(value: Number) -> Number:
    if isinstance(value, Fraction) and value > 0 and value.denominator == 1:
        return math.log2(value.numerator)
    return _log(value, Fraction(2))


def _sum(*values: Number) -> Number:
    total: Number = Fraction(0)
    for value in values:
        total = checked(_add(total, value))
    return total


def _whole(value: Number) -> int:
    if value != math.floor(value):
        raise ArithmeticFault(f"gcd and lcm take whole numbers, got {written(value)}")
    return math.floor(value)


CONSTANTS: dict[str, float] = {"pi": math.pi, "π": math.pi, "e": math.e, "tau": math.tau, "τ": math.tau}

FUNCTIONS: dict[str, Function] = {
    "abs": _one(_absolute),
    "acos": _float(math.acos, "acos"),
    "asin": _float(math.asin, "asin"),
    "atan": _float(math.atan),
    "atan2": _of("two numbers", lambda y, x: math.atan2(_real(y), _real(x)), 2, 2),
    "avg": _of("one number or more", lambda *values: _divide(_sum(*values), Fraction(len(values))), 1, None),
    "cbrt": _one(_cbrt),
    "ceil": _one(lambda value: Fraction(math.ceil(value))),
    "cos": _float(math.cos),
    "degrees": _float(math.degrees),
    "exp": _float(math.exp),
    "factorial": _one(factorial),
    "floor": _one(lambda value: Fraction(math.floor(value))),
    "gcd": _of("one number or more", lambda *values: Fraction(math.gcd(*map(_whole, values))), 1, None),
    "hypot": _of("one number or more", lambda *values: _sqrt(_sum(*(_multiply(v, v) for v in values))), 1, None),
    "lcm": _of("one to twenty numbers", lambda *values: Fraction(math.lcm(*map(_whole, values))), 1, 20),
    "ln": _one(_log),
    "log": _of("a number, and a base (e if it is left out)", _log, 1, 2),
    "log10": _one(_log10),
    "log2": _one(_log2),
    "max": _of("one number or more", max, 1, None),
    "mean": _of("one number or more", lambda *values: _divide(_sum(*values), Fraction(len(values))), 1, None),
    "min": _of("one number or more", min, 1, None),
    "mod": _of("two numbers", _remainder, 2, 2),
    "pow": _of("two numbers", power, 2, 2),
    "radians": _float(math.radians),
    "round": _of("a number, and how many decimal places", _round, 1, 2),
    "sin": _float(math.sin),
    "sqrt": _one(_sqrt),
    "sum": _of("one number or more", _sum, 1, None),
    "tan": _float(math.tan),
    "trunc": _one(lambda value: Fraction(math.trunc(value))),
}
