"""Tool calls written as text: fc-14, lc-01 and their kin."""

import itertools
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.markup import MarkupFilter
from enfilade_sdk.markup.broken import BrokenCall
from enfilade_sdk.markup.calls import MarkedCall
from enfilade_sdk.markup.kinds import ALL_MARKUPS, DSML, Markup, token

MENU: dict[str, dict[str, Any]] = {
    "weather": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    "tide": {},
}
CALL = '{"name": "weather", "arguments": {"city": "Oban"}}'
OBAN = MarkedCall("weather", {"city": "Oban"})
TIDE = '{"name": "tide", "arguments": {}}'


def taken(
    *parts: str,
    menu: dict[str, dict[str, Any]] = MENU,
    accepted: tuple[Markup, ...] = ALL_MARKUPS,
    strangers: bool = False,
) -> tuple[str, list[MarkedCall | BrokenCall]]:
    """Text shown and calls found."""
    markup = MarkupFilter(menu, accepted, strangers=strangers)
    shown = "".join(map(markup.feed, parts)) + markup.finish()
    return shown, markup.take_found()


PACKED = json.dumps({"name": "weather", "arguments": json.dumps({"city": "Oban"})})
FUNCTION = "<function=weather>\n<parameter=city>\nOban\n</parameter>\n</function>"
INVOKE = '<invoke name="weather"><parameter name="city">Oban</parameter></invoke>'
CITY = "<parameters><city>Oban</city></parameters>"
SPACE = "antml" + ":"
SPACED = (
    f'<{SPACE}function_calls>\n<{SPACE}invoke name="weather"><{SPACE}parameter name="city">Oban</{SPACE}parameter>'
    f"</{SPACE}invoke>\n</{SPACE}function_calls>"
)
OLD_CALL = f"<function_calls>\n<invoke>\n<tool_name>weather</tool_name>\n{CITY}\n</invoke>\n</function_calls>"
DSML_CALL = SPACED.replace(SPACE, DSML).replace('"city"', '"city" string="true"')


def deepseek(body: str) -> str:
    """The special tokens around a call."""
    inner = token("tool call begin") + body + token("tool call end")
    return token("tool calls begin") + inner + token("tool calls end")


KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
    '{"city": "Oban"}<|tool_call_end|><|tool_calls_section_end|>'
)
CALLS = {
    "tagged": f"<tool_call>\n{CALL}\n</tool_call>",
    "tagged, tight": f"<tool_call>{CALL}</tool_call>",
    "tagged, never closed": f"<tool_call>{CALL}",
    "tagged, text arguments": f"<tool_call>{PACKED}</tool_call>",
    "tagged, parameters": '<tool_call>{"name": "weather", "parameters": {"city": "Oban"}}</tool_call>',
    "tagged, in the function shell": f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
    "tagged, a list": f"<tool_call>[{CALL}]</tool_call>",
    "tagged, fenced inside": f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
    "tagged, with a prefix": '<tool_call>{"name": "functions.weather", "arguments": {"city": "Oban"}}</tool_call>',
    "tagged, name last": '<tool_call>{"arguments": {"city": "Oban"}, "name": "weather"}</tool_call>',
    "other tag": f"<function_call>{CALL}</function_call>",
    "tagged, keys and values": "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oban</arg_value>\n</tool_call>",
    "tagged, elements": f"<tool_call>\n{FUNCTION}\n</tool_call>",
    "function": '<function=weather>{"city": "Oban"}</function>',
    "function, elements": FUNCTION,
    "mistral": f"[TOOL_CALLS] [{CALL}]",
    "mistral, name first": '[TOOL_CALLS]weather{"city": "Oban"}',
    "mistral, args": '[TOOL_CALLS]weather[ARGS]{"city": "Oban"}</s>',
    "python tag": '<|python_tag|>{"name": "weather", "parameters": {"city": "Oban"}}<|eom_id|>',
    "tagged, quotes of Python": "<tool_call>{'name': 'weather', 'arguments': {'city': 'Oban'}}</tool_call>",
    "tagged, a last comma": '<tool_call>{"name": "weather", "arguments": {"city": "Oban",},}</tool_call>',
    "tagged, in Gemini's namespace": "<tool_call>default_api.weather(city='Oban')</tool_call>",
    "Granite": f"<|tool_call|>[{CALL}]",
    "Phi": f"<|tool_call|>[{CALL}]<|/tool_call|>",
    "Command": f'<|START_ACTION|>[\n{{"tool_call_id": "0", {CALL[1:]}\n]<|END_ACTION|>',
    "InternLM": f"<|action_start|><|plugin|>\n{CALL}<|action_end|>",
    "Nemotron": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "MiniMax": f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>",
    "Seed": f"<seed:tool_call>{FUNCTION}</seed:tool_call>",
    "sections of DeepSeek": deepseek(f'function{token("tool sep")}weather\n```json\n{{"city": "Oban"}}\n```'),
    "sections of DeepSeek, newer": deepseek(f'weather{token("tool sep")}{{"city": "Oban"}}'),
    "sections of Kimi": KIMI,
    "invoke": INVOKE,
    "invoke, wrapped": f"<function_calls>\n{INVOKE}\n</function_calls>",
    "invoke, in a namespace": SPACED,
    "invoke of DeepSeek": DSML_CALL,
    "invoke, as it used to be": OLD_CALL,
    "tagged, a name as an element": f"<tool_use>\n<name>weather</name>\n{CITY}\n</tool_use>",
    "tagged, an input as JSON": '<tool_use><name>weather</name><input>{"city": "Oban"}</input></tool_use>',
    "tagged, Python": "<tool_call>weather(city='Oban')</tool_call>",
    "mistral, with an id": '[TOOL_CALLS]weather[CALL_ID]abc123def[ARGS]{"city": "Oban"}',
    "python tag, a method": '<|python_tag|>weather.call(city="Oban")',
    "python tag, a call": '<|python_tag|>weather("Oban")',
    "function, tight": '<function=weather{"city": "Oban"}</function>',
    "fenced, code of Gemma": '```tool_code\nprint(weather(city="Oban"))\n```',
    "fenced, code": '```tool_code\nweather(city="Oban")\n```',
    "bare, Python": '[weather(city="Oban")]',
    "bare, Python of an object": "[weather({'city': 'Oban'})]",
    "fenced": f"```json\n{CALL}\n```",
    "fenced, without a word": f"```\n{CALL}\n```\n",
    "fenced, named": f"```tool_call\n{CALL}\n```",
    "fenced, tagged": f"```\n<tool_call>{CALL}</tool_call>\n```",
    "bare": CALL,
    "bare, a list": f"[{CALL}]",
    "bare, wrapped": f'{{"tool_calls": [{CALL}]}}',
}  # fmt: skip


@pytest.mark.parametrize("form", CALLS)
def test_each_form_of_a_call_is_found_and_nothing_of_it_is_shown(form: str) -> None:
    text = CALLS[form]
    assert taken(text) == ("", [OBAN])
    assert taken(*text) == ("", [OBAN])


@pytest.mark.parametrize("form", [form for form in CALLS if not form.startswith("bare")])
def test_text_before_a_call_is_shown_whole(form: str) -> None:
    assert taken("I will look.\n", *CALLS[form]) == ("I will look.\n", [OBAN])


def test_several_calls_come_in_order() -> None:
    assert taken(f"<tool_call>{CALL}</tool_call>\n<tool_call>{TIDE}</tool_call>\n") == (
        "",
        [OBAN, MarkedCall("tide", {})],
    )
    assert taken(f"[TOOL_CALLS] [{CALL}, {TIDE}]") == ("", [OBAN, MarkedCall("tide", {})])
    two = '[TOOL_CALLS]weather[ARGS]{"city": "Oban"}[TOOL_CALLS]tide[ARGS]{}'
    assert taken(two) == ("", [OBAN, MarkedCall("tide", {})])
    assert taken('[weather(city="Oban"), tide()]') == ("", [OBAN, MarkedCall("tide", {})])
    assert taken(f"```json\n{CALL}\n```\n```json\n{TIDE}\n```") == ("", [OBAN, MarkedCall("tide", {})])
    assert taken(f"<tool_call>{CALL}\n<tool_call>{TIDE}") == ("", [OBAN, MarkedCall("tide", {})])


def test_text_after_a_call_is_shown() -> None:
    assert taken(f"<tool_call>{CALL}</tool_call>\n\nThat will tell.") == ("That will tell.", [OBAN])


def test_an_end_marker_inside_a_string_is_part_of_the_string() -> None:
    call = '<tool_call>{"name": "weather", "arguments": {"city": "</tool_call>"}}</tool_call>'
    assert taken(call) == ("", [MarkedCall("weather", {"city": "</tool_call>"})])


def test_values_in_elements_are_typed_by_the_schema() -> None:
    text = "<function=weather><parameter=city>42</parameter><parameter=days>3</parameter></function>"
    assert taken(text) == ("", [MarkedCall("weather", {"city": "42", "days": 3})])


PROSE = {
    "an unknown tool": 'To call a tool, models write <tool_call>{"name": "x"}</tool_call> in their reply.',
    "a bare tag": "The tag <tool_call> opens a call and </tool_call> closes it.",
    "a known tool in a code span": f"Write `<tool_call>{CALL}</tool_call>` to call it.",
    "a known tool in a code block that goes on": f"```\nFor example <tool_call>{CALL}</tool_call>\n```\nSo it goes.",
    "a code block with an example, then words": f"```json\n{CALL}\n```\nThat is how it looks.",
    "a code block of another kind": "```python\nprint({'name': 'weather'})\n```",
    "an object that is no call": '{"city": "Oban"}',
    "an object with the name of a tool": '{"name": "weather", "unit": "metric"}',
    "an object with foreign keys": '{"name": "weather", "arguments": {}, "price": 3}',
    "an object with words behind": f"{CALL} is what I would send.",
    "words before an object": f"I would send {CALL}",
    "a list": "[1, 2, 3]",
    "broken JSON in a sentence": 'So <tool_call>{"name": "weather", "arguments": {"city": }}</tool_call> is wrong.',
    "cut JSON in a sentence": 'So <tool_call>{"name": "weather", "arguments": {"ci',
    "an object without arguments that is cut": '<tool_call>{"name": "weather", ',
    "marker of Mistral in words": "[TOOL_CALLS] are made by the model.",
    "invoke in words": "Use <invoke the tool> and wait.",
    "function in words": "<function=unknown>{}</function>",
    "python tag with code": "<|python_tag|>print(weather.call(city='Oban'))",
    "half an opener at the end": "a <tool_ca",
    "back-ticks at the end": "look: ``",
    "comparison": "if a < b and c[0] > {d}: pass",
    "four back-ticks": f"````\n{CALL}\n````",
    "Python that calculates": "<|python_tag|>weather(1 + x)",
    "a list of words": "[weather, tide]",
    "a call in words": "weather(city='Oban') is what I would call",
    "code that calls": "```python\nweather(city='Oban')\n```",
    "html": "<p>tea</p>\n<ul><li>one</li></ul>",
}  # fmt: skip


@pytest.mark.parametrize("kind", PROSE)
def test_prose_is_shown_unchanged(kind: str) -> None:
    text = PROSE[kind]
    assert taken(text) == (text, [])
    assert taken(*text) == (text, [])


def test_without_a_menu_or_with_nothing_accepted_all_text_passes_at_once() -> None:
    for markup in (MarkupFilter({}, ALL_MARKUPS), MarkupFilter(MENU, ())):
        assert markup.feed(f"<tool_call>{CALL}</tool_call>") == f"<tool_call>{CALL}</tool_call>"


def test_only_accepted_forms_are_looked_for() -> None:
    text = f"<tool_call>{CALL}</tool_call>"
    assert taken(text, accepted=("mistral", "bare")) == (text, [])
    assert taken(text, accepted=("tagged",)) == ("", [OBAN])


def test_text_is_held_back_no_longer_than_it_can_become_a_call() -> None:
    markup = MarkupFilter(MENU, ALL_MARKUPS)
    assert markup.feed("Rain <tool") == "Rain "
    assert markup.feed("s>") == "<tools>"
    assert markup.feed("<tool_call>") == ""
    assert markup.feed(' {"na') == ""
    assert markup.feed('me": "we') == ""
    assert markup.feed("ste") == '<tool_call> {"name": "weste'
    assert markup.feed("rn") == "rn"


def test_a_code_block_leaves_as_soon_as_it_is_no_call() -> None:
    markup = MarkupFilter(MENU, ALL_MARKUPS)
    assert markup.feed("```") == ""
    assert markup.feed("py") == "```py"
    assert markup.feed("thon\n") == "thon\n"


def test_a_block_that_never_ends_is_text_from_some_size_on() -> None:
    text = '<tool_call>{"name": "weather", "arguments": {"city": "' + "x" * 2**19
    assert taken(text) == (text, [])
    assert taken(*(text[at : at + 1000] for at in range(0, len(text), 1000))) == (text, [])


def test_a_call_in_whose_middle_the_reply_was_cut_is_a_broken_call_and_not_text() -> None:
    for start, arguments in (('<tool_call>{"name": "weather", "arguments": ', '{"ci'), ("<function=weather>", '{"ci')):
        markup = MarkupFilter(MENU, ALL_MARKUPS)
        assert markup.feed(f"Wait. {start}{arguments}") == "Wait. "
        assert markup.finish(cut=True) == ""
        assert markup.take_found() == [BrokenCall("weather", arguments)]


@pytest.mark.parametrize("end", ["</tool_call>", "", "</tool_call>\n"])
def test_a_reply_that_is_nothing_but_a_call_of_a_tool_that_there_is_not_is_a_call(end: str) -> None:
    text = '<tool_call>\n{"name": "forecast", "arguments": {"city": "Oban"}}\n' + end
    stranger = BrokenCall("forecast", '{"city": "Oban"}')
    assert taken(text, strangers=True) == taken(*text, strangers=True) == ("", [stranger])
    assert taken(text) == (text, [])
    assert taken(text.rstrip() + text, strangers=True)[1] == ([stranger, stranger] if end else [])


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "forecast", "arguments": {}}</tool_call> is how it looks.',
        '<tool_call>{"name": "forecast", "arguments": {}, "why": 1}</tool_call>',
        '<tool_call>{"name": "the forecast", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "forecast", "arguments": [1]}</tool_call>',
        '<tool_call>{"name": "forecast"}</tool_call>',
        'It rains. <tool_call>{"name": "forecast", "arguments": {}}</tool_call>',
    ],
)
def test_what_is_more_than_such_a_call_is_text(text: str) -> None:
    assert taken(text, strangers=True) == taken(*text, strangers=True) == (text, [])


BROKEN = {
    "a value that is missing": ('<tool_call>{"name": "weather", "arguments": {"city": }}</tool_call>', '{"city": }'),
    "arguments that are no object": ('<tool_call>{"name": "weather", "arguments": [1]}</tool_call>', "[1]"),
    "cut": ('<tool_call>{"name": "weather", "arguments": {"ci', '{"ci'),
    "the last bracket is missing": (f"<tool_call>{CALL[:-1]}</tool_call>", '{"city": "Oban"}'),
    "no quotes": ('<tool_call>{"name": "weather", "arguments": {city: Oban}}</tool_call>', "{city: Oban}"),
    "a function": ('<function=weather>{"city": }</function>', '{"city": }'),
    "a function, never closed": ('<function=weather>{"city": "Ob', '{"city": "Ob'),
    "Mistral": ('[TOOL_CALLS]weather[ARGS]{"city": }', '{"city": }'),
    "two calls, one unknown": (
        f'<tool_call>[{CALL}, {{"name": "x", "arguments": {{}}}}]</tool_call>',
        '{"city": "Oban"}}, {"name": "x", "arguments": {}}]',
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_markup_that_names_a_tool_but_cannot_be_read_is_a_broken_call_and_not_text(kind: str) -> None:
    text, arguments = BROKEN[kind]
    broken = BrokenCall("weather", arguments)
    assert taken(text) == taken(*text) == ("", [broken])
    assert taken(f"I look.\n{text}") == ("I look.\n", [broken])


PIECES = st.lists(
    st.sampled_from(
        [
            f"<tool_call>{CALL}</tool_call>", "<tool_call>", "</tool_call>", CALL, TIDE, "```", "```json\n", "\n```",
            "\n", " ", "a", "`", "``", "[TOOL_CALLS]", "[", "{", "<", "<function=weather>", "</function>",
            '{"name": "x"}', '{"city": "Oban"}', "<|python_tag|>", "<invoke ", 'name="weather">', "</invoke>",
        ]
    ),
    max_size=9,
)  # fmt: skip


@given(PIECES, st.lists(st.integers(0, 400), max_size=6))
def test_calls_and_text_do_not_depend_on_the_cuts(pieces: list[str], cuts: list[int]) -> None:
    whole = "".join(pieces)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    expected = taken(whole)
    assert taken(*(whole[a:b] for a, b in itertools.pairwise(places))) == expected
    assert taken(*pieces) == expected
    assert taken(*whole) == expected


@given(PIECES)
def test_without_calls_every_character_is_shown(pieces: list[str]) -> None:
    whole = "".join(pieces)
    shown, calls = taken(whole)
    if not calls:
        assert shown == whole
    assert shown.count("a") <= whole.count("a")


@pytest.mark.parametrize(
    "piece",
    ["<tool_call>", "<tool_call>{", "```json\n{", "<", "[TOOL_CALLS]", '<tool_call>{"name": "weather", "x": "', "`"],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = time.process_time()
    assert taken(*(text[at : at + 50] for at in range(0, len(text), 50)))[0] == text
    assert time.process_time() - started < 4
