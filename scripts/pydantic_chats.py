#!/usr/bin/env python3
"""What a turn costs in a chat of 200 messages, with the SQLite store of pydantic-ai's harness: beside the
program `benches/src/bin/chats.rs`. Needs `pip install pydantic-ai-harness==0.62.0`.

A turn reads the conversation, asks a model that answers at once, and saves the conversation.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai_harness.step_persistence.conversations import ConversationSummary, SqliteConversationStore

TURNS, TIMED = 100, 20
QUESTION = "A question of some length? " * 4
ANSWER = "An answer of some length. " * 16


async def main() -> None:
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart(ANSWER)])), instructions="You are a librarian. Be brief.")
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "chats.db"
        store = SqliteConversationStore(database=database)
        summary = await store.save(summary=ConversationSummary(id="acme/42", workspace="/"), messages=[])
        turns = 0.0
        for turn in range(TURNS):
            begun = time.perf_counter()
            saved = await store.get(conversation_id=summary.id)
            result = await agent.run(QUESTION, message_history=saved.messages)
            await store.save(summary=saved.summary, messages=result.all_messages())
            if turn >= TURNS - TIMED:
                turns += time.perf_counter() - begun
        begun = time.perf_counter()
        for _ in range(TIMED):
            saved = await store.get(conversation_id=summary.id)
            assert len(saved.messages) == 2 * TURNS
        readings = time.perf_counter() - begun
        size = database.stat().st_size
    print(f"pydantic-ai's harness: {turns * 1e3 / TIMED:.2f} ms a turn, {readings * 1e3 / TIMED:.2f} ms a reading, {size} bytes in the file")


asyncio.run(main())
