"""The shapes in which servers send tool calls, and the calls that they mean."""

import json
from typing import Any


def d(
    index: Any = None, id_: Any = None, name: str | None = None, arguments: Any = None, **more: Any
) -> dict[str, Any]:
    """A delta of a tool call without what is None."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    delta: dict[str, Any] = {} if index is None else {"index": index}
    if id_ is not None:
        delta["id"] = id_
    return {**delta, "function": function, **more}


ADA = '{"query": "Ada"}'
GRACE = '{"query": "Grace"}'
OBAN = '{"city": "Oban"}'
PORT = '{"port": "Oban"}'
ADA_AND_GRACE = [("a", "notes_search", {"query": "Ada"}), ("b", "notes_search", {"query": "Grace"})]
WEATHER = [("a", "weather", {"city": "Oban"})]
BOTH = [("a", "weather", {"city": "Oban"}), ("b", "tide", {"port": "Oban"})]
MINTED_BOTH = [("minted1", "weather", {"city": "Oban"}), ("minted2", "tide", {"port": "Oban"})]


SHAPES: dict[str, tuple[list[Any], list[tuple[str, str, Any]]]] = {
    "a new id opens a new call whatever the index says": (
        [d(0, "a", "notes_search", ADA), d(0, "b", "notes_search", GRACE)],
        ADA_AND_GRACE,
    ),
    "index 0 for all, calls opened first and filled later by id": (
        [d(0, "a", "notes_search", ""), d(0, "b", "notes_search", ""), d(0, "a", None, ADA), d(0, "b", None, GRACE)],
        ADA_AND_GRACE,
    ),
    "no index: what has no id continues the call opened last": (
        [
            d(None, "a", "weather", ""),
            d(None, None, None, '{"city": '),
            d(None, None, None, '"Oban"}'),
            d(None, "b", "tide", ""),
            d(None, None, None, PORT),
        ],
        BOTH,
    ),
    "the first call has index 0, the second none": (
        [
            d(0, "a", "weather", ""),
            d(0, None, None, '{"city": '),
            d(0, None, None, '"Oban"}'),
            d(None, "b", "tide", ""),
            d(None, None, None, PORT),
        ],
        BOTH,
    ),
    "the first call has no index, the second has 0": (
        [d(None, "a", "weather", ""), d(None, None, None, OBAN), d(0, "b", "tide", ""), d(0, None, None, PORT)],
        BOTH,
    ),
    "opened without an index, continued with one": (
        [d(None, "a", "weather", ""), d(0, None, None, '{"city": '), d(0, None, None, '"Oban"}')],
        WEATHER,
    ),
    "indexes start at 1": ([d(1, "a", "weather", OBAN), d(2, "b", "tide", PORT)], BOTH),
    "indexes are sparse": ([d(3, "a", "weather", OBAN), d(17, "b", "tide", PORT)], BOTH),
    "indexes are out of order": ([d(1, "b", "tide", PORT), d(0, "a", "weather", OBAN)], BOTH),
    "indexes interleave": (
        [
            d(0, "a", "weather", ""),
            d(1, "b", "tide", ""),
            d(1, None, None, '{"port":'),
            d(0, None, None, '{"city":'),
            d(0, None, None, ' "Oban"}'),
            d(1, None, None, ' "Oban"}'),
        ],
        BOTH,
    ),
    "the index is text": ([d("0", "a", "weather", ""), d(0, None, None, OBAN), d("1", "b", "tide", PORT)], BOTH),
    "the index is a word": (
        [d("x", "a", "weather", ""), d("y", "b", "tide", PORT), d("x", None, None, OBAN)],
        BOTH,
    ),
    "the index is a float": ([d(0.0, "a", "weather", ""), d(0, None, None, OBAN)], WEATHER),
    "the index is null": ([d(0, "a", "weather", "") | {"index": None}, d(0, None, None, OBAN)], WEATHER),
    "the index is no scalar": ([d([0], "a", "weather", ""), d({}, None, None, OBAN)], WEATHER),
    "the index counts chunks": (
        [d(0, "a", "weather", ""), d(1, None, None, '{"city": '), d(2, None, None, '"Oban"}')],
        WEATHER,
    ),
    "the index counts chunks and the id is repeated": (
        [d(0, "a", "weather", ""), d(1, "a", None, '{"city": '), d(2, "a", None, '"Oban"}')],
        WEATHER,
    ),
    "the closing delta repeats id and name and brings the last arguments": (
        [d(0, "a", "weather", ""), d(0, None, None, '{"city": "O'), d(0, "a", "weather", 'ban"}')],
        WEATHER,
    ),
    "every delta repeats id and name": (
        [d(0, "a", "weather", '{"ci'), d(0, "a", "weather", 'ty": "O'), d(0, "a", "weather", 'ban"}')],
        WEATHER,
    ),
    "every delta repeats id and name, without an index": (
        [d(None, "a", "weather", '{"ci'), d(None, "a", "weather", 'ty": "O'), d(None, "a", "weather", 'ban"}')],
        WEATHER,
    ),
    "the closing delta sends everything again": (
        [
            d(0, "a", "weather", ""),
            d(0, None, None, '{"city": "O'),
            d(0, None, None, 'ban"}'),
            d(0, "a", "weather", OBAN),
        ],
        WEATHER,
    ),
    "every delta is a longer snapshot": (
        [d(0, "a", "weather", '{"ci'), d(0, "a", "weather", '{"city": "Ob'), d(0, "a", "weather", OBAN)],
        WEATHER,
    ),
    "every delta is a larger object": (
        [d(0, "a", "weather", {}), d(0, "a", "weather", {"city": "O"}), d(0, "a", "weather", {"city": "Oban"})],
        WEATHER,
    ),
    "every delta is a larger whole JSON text": (
        [d(0, "a", "weather", '{"city": ""}'), d(0, "a", "weather", '{"city": "O"}'), d(0, "a", "weather", OBAN)],
        WEATHER,
    ),
    "an empty object stands in for the arguments at first": (
        [d(0, "a", "weather", "{}"), d(0, None, None, '{"city": '), d(0, None, None, '"Oban"}')],
        WEATHER,
    ),
    "honest repeats are kept": (
        [
            d(0, "a", "book", '{"amount": 7'),
            d(0, None, None, "00"),
            d(0, None, None, "00"),
            d(0, None, None, ', "tag": "tick'),
            d(0, None, None, "-tick"),
            d(0, None, None, "-tick"),
            d(0, None, None, '"}'),
        ],
        [("a", "book", {"amount": 70000, "tag": "tick-tick-tick"})],
    ),
    "the id comes only in the last delta": (
        [d(0, None, "weather", ""), d(0, None, None, '{"city": '), d(0, "a", None, '"Oban"}')],
        WEATHER,
    ),
    "the id comes after the arguments are whole": (
        [d(0, None, "weather", OBAN), d(0, "a", None, None)],
        WEATHER,
    ),
    "the id is empty first": ([d(0, "", "weather", ""), d(0, "a", None, OBAN)], WEATHER),
    "the id is a number": ([d(0, 7, "weather", OBAN)], [("7", "weather", {"city": "Oban"})]),
    "the id changes late": (
        [d(0, "a", "weather", ""), d(0, None, None, '{"city": '), d(0, "b", None, '"Oban"}')],
        WEATHER,
    ),
    "the id changes late, with the name": (
        [d(0, "a", "weather", ""), d(0, None, None, '{"city": '), d(0, "b", "weather", '"Oban"}')],
        WEATHER,
    ),
    "the id changes in the closing delta": (
        [d(0, "a", "weather", OBAN), d(0, "b", None, "")],
        WEATHER,
    ),
    "the id changes and the closing delta names the tool again": (
        [d(0, "a", "weather", OBAN), d(0, "b", "weather", "")],
        WEATHER,
    ),
    "the id is new in every delta": (
        [d(0, "a", "weather", ""), d(0, "x", None, '{"city": '), d(0, "y", None, '"Oban"}')],
        WEATHER,
    ),
    "the id is new in every delta, without an index": (
        [d(None, "a", "weather", ""), d(None, "x", None, '{"city": '), d(None, "y", None, '"Oban"}')],
        WEATHER,
    ),
    "no ids": ([d(0, None, "weather", OBAN), d(1, None, "tide", PORT)], MINTED_BOTH),
    "empty ids": ([d(0, "", "weather", OBAN), d(1, "", "tide", PORT)], MINTED_BOTH),
    "neither id nor index": ([d(None, None, "weather", OBAN), d(None, None, "tide", PORT)], MINTED_BOTH),
    "neither id nor index, in pieces": (
        [
            d(None, None, "weather", ""),
            d(None, None, None, '{"city": '),
            d(None, None, None, '"Oban"}'),
            d(None, None, "tide", ""),
            d(None, None, None, PORT),
        ],
        MINTED_BOTH,
    ),
    "no ids and index 0 for all": (
        [d(0, None, "weather", ""), d(0, None, None, OBAN), d(0, None, "tide", ""), d(0, None, None, PORT)],
        MINTED_BOTH,
    ),
    "no ids and index 0 for all, one tool": (
        [d(0, None, "notes_search", ADA), d(0, None, "notes_search", GRACE)],
        [("minted1", "notes_search", {"query": "Ada"}), ("minted2", "notes_search", {"query": "Grace"})],
    ),
    "one id for all calls": (
        [d(0, "a", "weather", OBAN), d(1, "a", "tide", PORT)],
        [("a", "weather", {"city": "Oban"}), ("minted1", "tide", {"port": "Oban"})],
    ),
    "one id and index 0 for all calls": (
        [d(0, "a", "notes_search", ADA), d(0, "a", "notes_search", GRACE)],
        [("a", "notes_search", {"query": "Ada"}), ("minted1", "notes_search", {"query": "Grace"})],
    ),
    "one id for all calls, in pieces": (
        [d(0, "a", "weather", ""), d(0, "a", None, OBAN), d(1, "a", "tide", ""), d(1, "a", None, PORT)],
        [("a", "weather", {"city": "Oban"}), ("minted1", "tide", {"port": "Oban"})],
    ),
    "several whole calls in one delta": ([[d(0, "a", "weather", OBAN), d(1, "b", "tide", PORT)]], BOTH),
    "several whole calls in one delta without index and id": (
        [[d(None, None, "weather", OBAN), d(None, None, "tide", PORT)]],
        MINTED_BOTH,
    ),
    "the same call twice in one delta is two calls": (
        [[d(None, None, "weather", OBAN), d(None, None, "weather", OBAN)]],
        [("minted1", "weather", {"city": "Oban"}), ("minted2", "weather", {"city": "Oban"})],
    ),
    "the same call twice with index 0": (
        [[d(0, None, "weather", OBAN), d(0, None, "weather", OBAN)]],
        [("minted1", "weather", {"city": "Oban"}), ("minted2", "weather", {"city": "Oban"})],
    ),
    "the same call twice, told apart by index": (
        [d(0, None, "weather", OBAN), d(1, None, "weather", OBAN)],
        [("minted1", "weather", {"city": "Oban"}), ("minted2", "weather", {"city": "Oban"})],
    ),
    "lists without index, filled by their places": (
        [
            [d(None, "a", "weather", ""), d(None, "b", "tide", "")],
            [d(None, None, None, '{"city": '), d(None, None, None, '{"port": ')],
            [d(None, None, None, '"Oban"}'), d(None, None, None, '"Oban"}')],
        ],
        BOTH,
    ),
    "pieces of one call in one delta": (
        [[d(0, "a", "weather", '{"city"'), d(0, None, None, ': "Oban"}')]],
        WEATHER,
    ),
    "the name comes in pieces": (
        [d(0, "a", "get_"), d(0, None, "tide_table"), d(0, None, None, PORT)],
        [("a", "get_tide_table", {"port": "Oban"})],
    ),
    "the name comes in pieces in one delta": (
        [[d(0, "a", "get_"), d(0, None, "tide_table", PORT)]],
        [("a", "get_tide_table", {"port": "Oban"})],
    ),
    "the name comes in pieces, each with the id": (
        [d(0, "a", "get_"), d(0, "a", "tide_"), d(0, "a", "table"), d(0, "a", None, PORT)],
        [("a", "get_tide_table", {"port": "Oban"})],
    ),
    "the name comes in growing snapshots": (
        [d(0, "a", "get_"), d(0, "a", "get_tide"), d(0, "a", "get_tide_table", PORT)],
        [("a", "get_tide_table", {"port": "Oban"})],
    ),
    "a name of two equal pieces, as the known tools tell": (
        [d(0, "a", "go"), d(0, None, "go"), d(0, None, None, "{}")],
        [("a", "gogo", {})],
    ),
    "the name is repeated whole in each delta": (
        [d(0, "a", "weather", '{"city":'), d(0, None, "weather", ' "Oban"}')],
        WEATHER,
    ),
    "the name comes only in the last delta": (
        [d(0, "a", None, '{"city": '), d(0, None, None, '"Oban"}'), d(0, None, "weather", None)],
        WEATHER,
    ),
    "the name is null at first": (
        [{"index": 0, "id": "a", "function": {"name": None}}, d(0, None, "weather", OBAN)],
        WEATHER,
    ),
    "the name has a prefix and spaces": ([d(0, "a", " functions.weather ", OBAN)], WEATHER),
    "the name has a channel behind it": ([d(0, "a", "weather<|channel|>commentary", OBAN)], WEATHER),
    "an unknown name stays as the model wrote it": (
        [d(0, "a", "weather_now", OBAN)],
        [("a", "weather_now", {"city": "Oban"})],
    ),
    "two unknown tools with ids and index 0": (
        [d(0, "a", "one", ""), d(0, "b", "two", "")],
        [("a", "one", {}), ("b", "two", {})],
    ),
    "calls without arguments": (
        [d(0, "a", "now", ""), d(1, "b", "now", "")],
        [("a", "now", {}), ("b", "now", {})],
    ),
    "calls without arguments, without index": (
        [d(None, "a", "now"), d(None, "b", "now")],
        [("a", "now", {}), ("b", "now", {})],
    ),
    "a call without arguments before one with": (
        [d(None, None, "now", ""), d(None, None, "weather", OBAN)],
        [("minted1", "now", {}), ("minted2", "weather", {"city": "Oban"})],
    ),
    "arguments are an object": ([d(0, "a", "weather", {"city": "Oban"})], WEATHER),
    "arguments are an object in pieces": (
        [d(0, "a", "book", {"amount": 7}), d(0, None, None, {"tag": "x"})],
        [("a", "book", {"amount": 7, "tag": "x"})],
    ),
    "arguments are a list of text": ([d(0, "a", "weather", ['{"city":', ' "Oban"}'])], WEATHER),
    "arguments are null": ([d(0, "a", "now") | {"function": {"name": "now", "arguments": None}}], [("a", "now", {})]),
    "arguments are called parameters": (
        [{"id": "a", "function": {"name": "weather", "parameters": {"city": "Oban"}}}],
        WEATHER,
    ),
    "arguments are called input, without a function shell": (
        [{"index": 0, "id": "a", "type": "tool_use", "name": "weather", "input": {"city": "Oban"}}],
        WEATHER,
    ),
    "a name with its namespace and number": ([d(0, "a", "functions.weather:0", OBAN)], WEATHER),
    "a name in Gemini's namespace": ([d(0, "a", "default_api.weather", OBAN)], WEATHER),
    "a name in quotes": ([d(0, "a", '"weather"', OBAN)], WEATHER),
    "a name like a call": ([d(0, "a", "weather()", OBAN)], WEATHER),
    "two calls in one of a tool that there is not": (
        [
            d(
                0,
                "a",
                "multi_tool_use.parallel",
                json.dumps(
                    {
                        "tool_uses": [
                            {"recipient_name": "functions.weather", "parameters": {"city": "Oban"}},
                            {"recipient_name": "functions.tide", "parameters": {"port": "Oban"}},
                        ]
                    }
                ),
            )
        ],
        [("a", "weather", {"city": "Oban"}), ("minted1", "tide", {"port": "Oban"})],
    ),
    "a tool that there is not, with other arguments": (
        [d(0, "a", "parallel", '{"tool_uses": 2}')],
        [("a", "parallel", {"tool_uses": 2})],
    ),
    "no function shell": ([{"index": 0, "id": "a", "name": "weather", "arguments": OBAN}], WEATHER),
    "an object instead of a list": ([d(0, "a", "weather", ""), d(0, None, None, OBAN)], WEATHER),
    "noise beside a call": (
        [[None, {}, {"function": None}, "x", 5], d(0, "a", "weather", OBAN), {"index": 1}, d(1, None, None, "")],
        WEATHER,
    ),
    "noise alone": ([[None], {}, [], None, {"index": 0, "function": {"arguments": ""}}], []),
}
