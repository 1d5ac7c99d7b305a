"""Asks an agent from Python: once with its messages, once for the outcome alone."""

import asyncio

from enfilade import AgentConfig, Host


async def main() -> None:
    agent = AgentConfig(model="demo", tools=("calculator",))
    async with Host() as host:
        async for message in host.run(agent, "What is 12 * 7?"):
            print(message.type, message.message)
        outcome = await host.ask(agent, "What is 2 ** 10?")
        print(outcome.answer, outcome.usage)


asyncio.run(main())
