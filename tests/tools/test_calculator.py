import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.builtins.arithmetic import ArithmeticFault, written
from enfilade.tools.builtins.calculator import calculator
from enfilade.tools.builtins.expression import evaluate
from tests.support.tool_calls import call, engine_of


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("12 * 7", "84"),
        ("128*6", "768"),
        ("12*7 =", "84"),
        ("12 * 7?", "84"),
        ("0.1 + 0.2", "0.3"),
        ("10 / 4", "2.5"),
        ("6 / 2", "3"),
        ("1 / 3", "0.3333333333333333"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7 % 3", "1"),
        ("2 ** 10", "1024"),
        ("2 ^ 10", "1024"),
        ("-2 ** 2", "-4"),
        ("2 ** -1", "0.5"),
        ("2 ** 3 ** 2", "512"),
        ("0 ** 0", "1"),
        ("2 ** 0.5", "1.4142135623730951"),
        ("16 ** 0.5", "4"),
        ("27 ** (1 / 3)", "3"),
        ("(1 + 2) * [3 + 4]", "21"),
        ("15% of 80", "12"),
        ("20%", "0.2"),
        ("200 * 15%", "30"),
        ("100 - 20% - 5", "94.8"),
        ("5!", "120"),
        ("1,234.5 * 2", "2469"),
        ("1_000 * 3", "3000"),
        ("12 x 7", "84"),
        ("3 \u00d7 4 \u00f7 2 \u2212 1", "5"),
        (".5 + 5.", "5.5"),
        ("1.5e3", "1500"),
        ("pi", "3.141592653589793"),
        ("2 * PI", "6.283185307179586"),
        ("sin(pi / 2)", "1"),
        ("sqrt(16)", "4"),
        ("sqrt(2)", "1.4142135623730951"),
        ("sqrt(0.25)", "0.5"),
        ("cbrt(-27)", "-3"),
        ("round(2.5)", "3"),
        ("round(-2.675, 2)", "-2.68"),
        ("round(1234, -2)", "1200"),
        ("round(10 / 3, 2)", "3.33"),
        ("min(3, 1, 2) + max(1, 2)", "3"),
        ("abs(-3.5)", "3.5"),
        ("floor(-1.5) + ceil(1.2)", "0"),
        ("log(100, 10)", "2"),
        ("log10(1000)", "3"),
        ("ln(e)", "1"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("hypot(3, 4)", "5"),
        ("mean(1, 2, 6)", "3"),
        ("sum(1, 2, 3)", "6"),
        ("factorial(20)", "2432902008176640000"),
        ("12345678901234567890 * 98765432109876543210", "1219326311370217952237463801111263526900"),
        ("1e-400", "1e-400"),
        ("1e20 / 3", "3.333333333333333e+19"),
    ],
)
def test_arithmetic_comes_out_right_and_exact_where_it_can(expression: str, result: str) -> None:
    assert written(evaluate(expression)) == result


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "the expression is empty; give one such as 12 * 7"),
        ("1 / 0", "division by zero has no result"),
        ("1 // 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("1 +", "'1 +' breaks off; a number is missing at its end"),
        ("(1 + 2", "a bracket is not closed in '(1 + 2'"),
        ("1 + 2)", "')' at position 6 of '1 + 2)' is not expected there"),
        ("1 2", "'2' at position 3"),
        ("2(3)", "'(' at position 2"),
        ("1, 2", "',' at position 2"),
        ("* 3", "'*' at position 1"),
        ("sqrt", "the function 'sqrt' needs brackets"),
        ("sqrt(-1)", "the square root of a negative number (-1) is no real number"),
        ("(-8) ** (1 / 3)", "is no real number"),
        ("log(0)", "a logarithm takes a number above 0"),
        ("asin(2)", "asin has no value for 2"),
        ("max()", "max takes one number or more, got 0"),
        ("sqrt(1, 2)", "sqrt takes one number, got 2"),
        ("sqr(4)", "there is no function 'sqr'. Did you mean 'sqrt'"),
        ("x + 1", "'x' is no number and no known name"),
        ("0.5!", "factorial takes whole numbers from 0 to 1,300, got 0.5"),
        ("9 ** 9 ** 9", "more than 3,900 digits"),
        ("2 ** 100000", "more than 3,900 digits"),
        ("10 ** 3000 * 10 ** 3000", "more than 3,900 digits"),
        ("2000!", "factorial takes whole numbers from 0 to 1,300"),
        ("1e9999", "too large or too small"),
        ("exp(1000)", "too large"),
        ("1e400 * pi", "too large"),
        ("9" * 2_001, "at most 2,000 are read"),
        ("(" * 100 + "1" + ")" * 100, "nested more than 40 levels deep"),
        ("-" * 100 + "1", "nested more than 40 levels deep"),
        ("__import__('os').system('true')", "is not arithmetic"),
        ("open('x')", "is not arithmetic"),
        ("1; 2", "';' at position 2 of '1; 2' is not arithmetic"),
        ("a.b", "'.' at position 2"),
        ("[x for x in y]", "'x' is no number"),
        ("lambda: 1", "':' at position 7"),
        ("\u0661 + 1", "is not arithmetic"),
    ],
)
def test_what_has_no_value_is_refused_with_the_reason(expression: str, words: str) -> None:
    with pytest.raises(ArithmeticFault) as caught:
        evaluate(expression)
    assert words in caught.value.message
    assert len(caught.value.message) < 700


@pytest.mark.parametrize(
    "expression",
    [
        "9" * 1_900 + "!",
        "*".join(["9" * 60] * 30),
        "/".join(["7" * 60] * 30),
        "+".join(f"1/{n}" for n in range(1, 350)),
        "**".join(["9"] * 600),
        "lcm(" + ",".join(str(n) for n in range(1000, 1020)) + ")",
        "round(pi, 100)" + " + 1.1" * 200,
        "1e3000 + 1e-3000",
        "!".join("33333"),
    ],
)
def test_nothing_takes_long(expression: str) -> None:
    started = time.process_time()
    with contextlib.suppress(ArithmeticFault):
        written(evaluate(expression))
    assert time.process_time() - started < 0.5


@given(st.text(alphabet="0123456789.+-*/%^!(), episqrtxof", max_size=40))
def test_every_text_has_a_value_or_a_reason(expression: str) -> None:
    try:
        assert written(evaluate(expression))
    except ArithmeticFault as fault:
        assert fault.message


@given(
    st.recursive(
        st.integers(0, 99).map(str),
        lambda e: st.tuples(e, st.sampled_from("+-*"), e).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    )
)
def test_whole_numbers_come_out_as_in_python(expression: str) -> None:
    try:
        result = written(evaluate(expression))
    except ArithmeticFault:
        return  # nested too deeply
    assert result == str(eval(expression))


async def test_the_calculator_is_a_tool() -> None:
    async with engine_of("calculator") as engine:
        [offered] = engine.menu()
        assert offered.name == "calculator"
        assert offered.parameters["required"] == ["expression"]
        assert "exactly" in offered.description
        assert (await call(engine, "calculator", '{"expression": "12 * 7"}')).text == "84"
        assert (await call(engine, "calculator", "12 * 7")).text == "84"
        failed = await call(engine, "calculator", '{"expression": "1 / 0"}')
    assert failed.result.is_error
    assert failed.text == "the tool calculator failed: division by zero has no result"
    assert await calculator("1 + 1") == "2"
