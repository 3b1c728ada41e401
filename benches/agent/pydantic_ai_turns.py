"""pydantic-ai: prints the processor time that a turn of an agent takes, in microseconds.

pydantic_ai_turns.py URL [AGENTS], with the URL that `agent serve` prints (benches/src/bin/agent.rs). The agent has 20 turns,
with two calls in each but the last."""

import asyncio
import statistics
import sys
import time

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

TURNS = 20
QUESTION = "What is 1 + 2, and which books are on rust?"
ANSWER = "It is 3, and there are two books."


# The tools are coroutines: those that are not run on threads of their own, which costs more.
async def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


async def search(word: str) -> list[str]:
    """Finds books by a word of their title.

    Args:
        word: A word of the title.
    """
    return [f"{word} in Action", f"Programming {word}"]


async def main(url: str, agents: int) -> None:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="sk-benchmark"))
    agent = Agent(model, tools=[add, search])
    limits = UsageLimits(request_limit=TURNS)
    times = []
    # The first ones warm up.
    for _ in range(agents + 5):
        begun = time.process_time()
        result = await agent.run(QUESTION, usage_limits=limits)
        times.append((time.process_time() - begun) * 1e6 / TURNS)
        assert result.output == ANSWER, result.output
    print(f"pydantic-ai: {statistics.median(times[5:]):.0f} µs a turn")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50))
