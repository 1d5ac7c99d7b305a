"""The loop everyone writes first, on the openai client: what an agent's run is measured beside."""

import json
from typing import Any

import openai

from benchmarks.peers.contender import QUESTION, look

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks a word up.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}


async def hand_written(client: openai.AsyncOpenAI) -> str:
    """Asks, calls, asks again; checks nothing, keeps no record, isolates nothing."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        text = ""
        calls: dict[int, dict[str, str]] = {}
        stream: Any = await client.chat.completions.create(model="bench", messages=messages, tools=[TOOL], stream=True)
        async for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for delta in choice.delta.tool_calls or ():
                    call = calls.setdefault(delta.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] += delta.id or ""
                    call["name"] += delta.function.name or ""
                    call["arguments"] += delta.function.arguments or ""
        if not calls:
            return text
        functions = [{"id": c["id"], "type": "function", "function": c} for c in calls.values()]
        messages.append({"role": "assistant", "content": text, "tool_calls": functions})
        for call in calls.values():
            result = look(**json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
