"""names: Agent, output_type, retries, run, output, usage, RunUsage, total_tokens, cost"""

import asyncio
import json
import sys

from pydantic import BaseModel, Field
from pydantic_ai import Agent, RunUsage

from models import model


class Invoice(BaseModel):
    """An invoice."""

    number: str
    total: float = Field(ge=0)


async def read(agent: Agent[None, Invoice], letter: str, usage: RunUsage) -> str:
    try:
        invoice = (await agent.run(letter, usage=usage)).output
    except Exception as error:
        return type(error).__name__
    return f"{invoice.number} {invoice.total}"


async def main(url: str, folder: str, *letters: str) -> None:
    agent = Agent(model(url), output_type=Invoice, retries=2)
    usage = RunUsage()
    outcomes = await asyncio.gather(*(read(agent, letter, usage) for letter in letters))
    print(json.dumps({"outcomes": outcomes, "tokens": usage.total_tokens, "money": float(usage.cost or 0)}))


asyncio.run(main(*sys.argv[1:]))
