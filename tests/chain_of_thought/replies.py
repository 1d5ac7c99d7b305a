"""Replies for tests: pieces of the format, well put together or not, and ways to cut them into chunks."""

import random

TOOLS = ("search", "calc", "stock_level", "delete_note")

LABELS = (
    "Thought:", "Thought: ", "thought:", "**Thought:** ", "Thought 1: ", "1. Thought: ", "Thought\uff1a",
    "Action:", "Action: ", "action: ", "**Action**: ", "**Action:** ", "### Action: ", "- Action: ", "2. Action: ",
    "Action 3: ", "Actions: ", "### Action\n", "Action\uff1a", "Action\u00a0: ", "\u200bAction: ", "    Action: ",
    "Action Input:", "Action Input: ", "action_input: ", "ActionInput: ", "Action 3 Input: ", "**Action Input:**",
    "Input: ",
    "Observation:", "Observation: ", "observation: 9\n", "**Observation:** ",
    "Final Answer:", "Final Answer: ", "FinalAnswer: ", "**Final Answer:** ", "**Final Answer: ",
    "## Final Answer\n", "Final Answer\n",
    "final_answer: ", "Answer: ", "Answer:", "> Action: ", "`Action: ", '"Action: ',
    "Tool: ", "Tool Name:", "Function: ", "Tool Input: ", "\u3010Action\u3011",
    "\u3010Thought\u3011", "\u3010Final Answer\u3011: ",
    "\u273fFUNCTION\u273f: ", "\u273fARGS\u273f:", "\U0001f527 Action: ",
    "\U0001f4e5\ufe0f Action Input: ", "\u2192 Thought: ", "Response: ",
)  # fmt: skip

NAMES = (
    "search",
    "calc",
    "unknown_tool",
    "Final Answer",
    "final_answer",
    "none",
    "N/A",
    "`search`",
    '"calc"',
    "[search]",
    "",
)

CALLS = (
    'search("x")', "search[x]", 'search(query="x", limit=3)', "calc: 1+1", "search for fees", "search(", "search[",
    "calc()", "name: search", "tool = calc", "the search tool",
    "Use search with x", "Final Answer(42)", "finish", "functions.search",
    'search({"query": "x"})', "Finish[42]", "search with", "use search", "final_answer(", "Final Answer: 42",
)  # fmt: skip

OBJECTS = (
    '{"action": "search", "action_input": {"query": "x"}}',
    '{"action": "search", "action_input": "x"}',
    '{"action_input": {"q": [1, 2, {"a": null}]}, "action": "calc"}',
    "{'action': 'search', 'action_input': {'q': None, 'it': 'it's'}}",
    '{"name": "calc", "arguments": "{\\"a\\": 1}"}',
    '{"tool_calls": [{"type": "function", "function": {"name": "search", "arguments": "{}"}}]}',
    '[{"action": "search", "action_input": "a"}, {"action": "calc", "action_input": "b"}]',
    '{"action": "unknown", "action_input": {}}',
    '{"action": "Final Answer", "action_input": "It is \\u00e9\\ud83d\\ude00\\n| a |\\t \\"q\\" done"}',
    '{"action_input": "late", "action": "Final Answer"}',
    '{"final_answer": "ok"}',
    '{"title": {"text": "x"}, "action": "search", "action_input": {}}',
    '{"query": "x"}',
    '{"note": "a\nAction: wait\nFinal Answer: no"}',
    '{"action": "search", "action_input": {"query": "a { b ``` \\" c',
    '{"action": "search", "action_input": {"query": "x"}',
    '{"action": "search", "action_input": {"query": "x",',
    '{"action": "Final Answer", "action_input": "cut',
    "{action: search, action_input: {q: x}}",
    '{"action": "search" "action_input": }', "{}", "[]", "[1]", "{{",
    '{{"action": "search", "action_input": {{"query": "x"}}}}',
    '{"action": "search", "query": "x"}', '{"action": "none", "final_answer": "ok"}',
    '{"query": "x", # why\n "limit": 3}',
    "query: x\nlimit: 3", 'query="x", limit=3', '"""a\nb"""', "[[", '{"', '{"a', "{'a':", '{"a":1,', "[{",
    '[{"action"',
    '"text"', '"unclosed', "42", "null", "-1.5e3", "true",
)  # fmt: skip

PIECES = (
    "```", "```json\n", "```\n", "```python\n", "~~~\n", "`", "``", "````", "<think>", "</think>", "<thinking>",
    "</thinking>", "<th",
    "</t", "<", "<tool_call>", "</tool_call>", "<tool_call>\n", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t",
    "\u00a0", "\u200b", "\ufeff",
    "I need the stock figure. ", "It is 42.", "The shape is:\n", "so, ", ":", "\uff1a", "\\", "\\u", "\\ud83d",
    "\\n", '"', "'", "}", "]", "{",
    "[", ",", "=", "(", ")", "*", "**", "_", "#", "-", "1.", "\u5317\u4ed3", "\U0001f600", "\x00", "Act", "Final",
    "Thou", "/", "//", "/*", "*/",
    "Thought/Action/Observation", "mention of Final Answer: x ", "and Action: {", " Action_input: {", "e\u0301",
    "\u2028", "\x85", "\u3010", "\u3011", "\u273f", "\U0001f527", "\u2192", "# ",
    "Action 1: search[x]", "Action: `calc(", "\nTool:",
)  # fmt: skip

MARKUP = (
    "<tool_call>", "</tool_call>", "<tool_call>\n", "<action>", "</action>", "<tool>", "<action_input>",
    "</action_input>",
    "<final_answer>", "</final_answer>", "<function=search>", "</function>", '<invoke name="search">', "</invoke>",
    "<parameter=query>x</parameter>", '<parameter name="query">x</parameter>', "<function_calls>", "</function_calls>",
    "[TOOL_CALLS]", '[TOOL_CALLS] [{"name": "search", "arguments": {}}]', '[TOOL_CALLS]calc[ARGS]{"a": 1}',
    "<|python_tag|>", "<|python_tag|>calc()", "<|tool_calls_section_begin|>", "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>", "[search(", "[calc()]", "```tool_code\n", "print(search())\n",
    "search\n", "search", "; ", '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>',
    "<tool_call>calc\n", "<arg_key>a</arg_key>", "<arg_value>1</arg_value>", "[TOOL", "<|", '{"query": "x"}',
    "search</action><action_input>x</action_input>", "\n", "\n", " ", "I look. ", "`", "```\n", "<tool_use>",
    "<name>search</name>", "<input>{}</input>", "</tool_use>",
)  # fmt: skip

_GROUPS = (LABELS, NAMES, CALLS, OBJECTS, PIECES, PIECES, MARKUP, ("\n",))


def random_reply(rng: random.Random) -> str:
    """A reply of up to 30 pieces; now and then with random characters in it or its end cut off."""
    kind = rng.random()
    if kind < 0.3:
        text = _likely(rng)
    elif kind < 0.5:
        text = "".join(rng.choice(MARKUP) for _ in range(rng.randint(1, 12)))
    else:
        text = "".join(rng.choice(rng.choice(_GROUPS)) for _ in range(rng.randint(1, 30)))
    if rng.random() < 0.2 and text:
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) for _ in range(3))
            + text[at:]
        )
    if rng.random() < 0.2:
        text = text[: rng.randrange(len(text) + 1)]
    if rng.random() < 0.05:
        text = text * rng.randint(2, 5)
    return text


def _likely(rng: random.Random) -> str:
    """Lines in the order of the format."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        lines.append(rng.choice(LABELS[:7]) + rng.choice(PIECES))
        lines.append(rng.choice(LABELS[7:22]) + rng.choice(rng.choice((NAMES, CALLS, OBJECTS))))
        lines.append(rng.choice(LABELS[22:29]) + rng.choice(OBJECTS))
        lines.append(rng.choice(LABELS[29:]) + rng.choice(PIECES))
    return rng.choice(("\n", "\n", "\n\n", "\r\n", " ")).join(line for line in lines if rng.random() < 0.7)


def cuts(text: str, rng: random.Random) -> list[str]:
    """The text in chunks of random lengths."""
    most = rng.choice((1, 2, 4, 20, 100))
    chunks = []
    at = 0
    while at < len(text):
        end = at + rng.randint(1, most)
        chunks.append(text[at:end])
        at = end
    return chunks
