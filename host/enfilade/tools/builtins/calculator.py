"""The tool `calculator`."""

from typing import Annotated

from enfilade.tools.builtins.arithmetic import written
from enfilade.tools.builtins.expression import evaluate


async def calculator(
    expression: Annotated[str, "Arithmetic such as (12.5 + 3) * 7, sqrt(2), 15% of 80, 2 ** 10, round(10 / 3, 2)."],
) -> str:
    """Works out arithmetic exactly and gives the number.

    Knows + - * / // % ** (also ^), brackets, percent, factorial (!), pi, e, tau, and functions: sqrt, cbrt, abs, min,
    max, sum, mean, round, floor, ceil, exp, ln, log, log10, log2, sin, cos, tan (radians), gcd, lcm, hypot and others.
    """
    return written(evaluate(expression))
