"""Rounds appended to a SQLite file: each with its prompt, reply, tokens, five chunks of text, a tool call and a log.

`python -m benchmarks.records`
"""

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.figure import HEADER, Figure, middle
from enfilade.outcome import Status
from enfilade.store.run_record import RunRecord
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_sdk.messages import log_message, text_message
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelRequest,
    ModelResult,
    PromptMessage,
    ToolCall,
    ToolMessage,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)

TRIES = 5
RUNS = 200
ROUNDS = 10
AIM = 1000
RESULT = "low water at Oban at 14:10, " * 4
USED = Usage(prompt_tokens=120, completion_tokens=9, total_tokens=129)


async def records() -> list[Figure]:
    """Appended and written, with the time for the last batch; and the processor's time of it."""
    rates, costs = [], []
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            rate, cost = await _tried(Path(folder) / "records.db")
        rates.append(rate)
        costs.append(cost)
    rate = middle(rates)
    return [
        Figure("rounds recorded to SQLite", f"{rate:,.0f} /s", target=f"{AIM:,} /s", met=rate >= AIM),
        Figure("processor's time of a recorded round", f"{middle(costs) * 1e6:.0f} us"),
    ]


async def _tried(file: Path) -> tuple[float, float]:
    async with await Store.open(StoreSettings(url=f"sqlite:///{file}")) as store:
        began, spent = time.perf_counter(), time.process_time()
        for number in range(RUNS):
            await _run(await store.records.run_began(RunStart(f"run{number}", "fc", "Low water at Oban?")))
            await asyncio.sleep(0)
        await store.records.flush()
        count = RUNS * ROUNDS
        return count / (time.perf_counter() - began), (time.process_time() - spent) / count


async def _run(record: RunRecord) -> None:
    prompt: list[PromptMessage] = [UserMessage(content="Low water at Oban?")]
    for number in range(ROUNDS):
        asked = await record.model_began(ModelRequest(tuple(prompt)), model="large", provider="openai")
        for _ in range(5):
            await record.event(text_message("let me see ", meta={"round": number}))
        call = ToolCall(id=f"c{number}", name="tide", arguments='{"port": "Oban"}', parsed={"port": "Oban"})
        reply = AssistantMessage(content="let me see " * 5, tool_calls=(call,))
        asked.ended(ModelResult(reply, usage=USED))
        (await record.tool_began(ToolRequest("tide", {"port": "Oban"}, call.id))).ended(ToolResult(RESULT))
        await record.event(log_message("CALL tide"))
        prompt += [reply, ToolMessage(tool_call_id=call.id, content=RESULT, name="tide")]
    record.ended(Status.SUCCEEDED, answer="let me see")


if __name__ == "__main__":
    print(HEADER)
    for figure in asyncio.run(records()):
        print(figure.row())
