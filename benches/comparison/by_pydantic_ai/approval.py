"""names: Agent, instructions, output_type, DeferredToolRequests, DeferredToolResults, approvals, tool_plain, requires_approval, capabilities, StepPersistence, capture_frontier, SqliteStepStore, list_runs, conversation_id, continue_run, include_interrupted, run_id, ModelResponse, tool_calls, tool_call_id, message_history, deferred_tool_results, run, output"""

import asyncio
import json
import sys
import time

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelResponse
from pydantic_ai_harness import StepPersistence
from pydantic_ai_harness.step_persistence import SqliteStepStore, continue_run

from models import model


def refund(order: int, euros: int) -> str:
    """Pays money back."""
    with open("till", "a") as till:
        till.write(f"{order} {euros}\n")
    time.sleep(0.3)  # as a payment does
    return "paid back"


async def answer(url: str, system: str, letter: str, word: str) -> str | DeferredToolRequests:
    store = SqliteStepStore(database="runs.db")
    agent = Agent(
        model(url),
        instructions=system,
        output_type=[str, DeferredToolRequests],
        capabilities=[StepPersistence(store=store, capture_frontier=True)],
    )
    agent.tool_plain(requires_approval=True)(refund)
    if word == "ask":
        return (await agent.run(letter, conversation_id="order/17")).output
    # A person agrees to all calls that wait; what a dead process began goes on.
    runs = await store.list_runs(conversation_id="order/17")
    history = await continue_run(store, run_id=runs[-1].run_id, include_interrupted=True)
    agreed = None
    if isinstance(history[-1], ModelResponse):
        agreed = DeferredToolResults(approvals={call.tool_call_id: True for call in history[-1].tool_calls})
    result = await agent.run(message_history=history, deferred_tool_results=agreed, conversation_id="order/17")
    return result.output


async def main(url: str, folder: str, *words: str) -> None:
    try:
        said = await answer(url, *words)
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}))
        return
    print(json.dumps({"error": "paused"} if isinstance(said, DeferredToolRequests) else {"answer": said}))


asyncio.run(main(*sys.argv[1:]))
