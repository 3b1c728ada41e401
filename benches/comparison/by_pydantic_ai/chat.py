"""names: Agent, instructions, run, message_history, all_messages, output, SqliteConversationStore, ConversationSummary, get, save, summary, messages"""

import asyncio
import json
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai_harness.step_persistence.conversations import ConversationSummary, SavedConversation, SqliteConversationStore

from models import model


async def opened(store: SqliteConversationStore) -> SavedConversation:
    try:
        return await store.get(conversation_id="acme/42")
    except LookupError:
        return SavedConversation(summary=ConversationSummary(id="acme/42", workspace="/"), messages=[])


async def answer(url: str, folder: str, system: str, question: str) -> str:
    store = SqliteConversationStore(database=Path(folder) / "chats.db")
    chat = await opened(store)
    agent = Agent(model(url), instructions=system)
    result = await agent.run(question, message_history=chat.messages)
    await store.save(summary=chat.summary, messages=result.all_messages())
    return result.output


async def main(url: str, folder: str, system: str, question: str) -> None:
    if question == "-":
        print(json.dumps({"answer": None}))  # a question that got no answer is not kept
        return
    try:
        print(json.dumps({"answer": await answer(url, folder, system, question)}))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}))


asyncio.run(main(*sys.argv[1:]))
