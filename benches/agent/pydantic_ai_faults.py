"""pydantic-ai: how one run ends, as a line of JSON.

pydantic_ai_faults.py URL MODEL QUESTION SECONDS"""

import asyncio
import json
import sys

from pydantic_ai import Agent, RunUsage, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

executed = 0


def count() -> None:
    global executed
    executed += 1


async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    count()
    return a + b


async def fail() -> None:
    """Fails."""
    count()
    raise OSError("the disk is full")


async def crash() -> None:
    """Crashes."""
    count()
    assert False, "a bug"


async def hang() -> None:
    """Hangs."""
    count()
    await asyncio.Event().wait()


async def main(url: str, model: str, question: str, seconds: str) -> None:
    model = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key="sk-test"))
    agent = Agent(model, tools=[add, fail, crash, Tool(hang, timeout=1)])
    # Counts also where the run fails.
    usage = RunUsage()
    try:
        await asyncio.wait_for(agent.run(question, usage=usage), float(seconds))
        how = "answered"
    except asyncio.TimeoutError:
        how = "hangs"
    except Exception as error:
        how = f"`{type(error).__name__}`"
    print(json.dumps({"how": how, "known": usage.total_tokens, "executed": executed}))


asyncio.run(main(*sys.argv[1:]))
