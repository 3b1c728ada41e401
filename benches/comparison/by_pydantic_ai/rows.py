"""names: Agent, output_type, instructions, max_concurrency, run, output, OpenAIChatModel, OpenAIProvider, http_client, create_async_httpx2_client, AsyncHTTPX2TenacityTransport, RetryConfig, wait_retry_after"""

import asyncio
import json
import sys
from pathlib import Path

from httpx2 import HTTPStatusError, Response
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models import create_async_httpx2_client
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.retries import AsyncHTTPX2TenacityTransport, RetryConfig, wait_retry_after
from tenacity import retry_if_exception_type, stop_after_attempt


class Label(BaseModel):
    topic: str


def refuse(response: Response) -> None:
    if response.status_code in (429, 502, 503, 504):
        response.raise_for_status()


def patient_model(url: str) -> OpenAIChatModel:
    transport = AsyncHTTPX2TenacityTransport(
        RetryConfig(
            retry=retry_if_exception_type(HTTPStatusError),
            wait=wait_retry_after(max_wait=120),
            stop=stop_after_attempt(10),
            reraise=True,
        ),
        validate_response=refuse,
    )
    client = create_async_httpx2_client(transport=transport)
    return OpenAIChatModel("gpt-5.4-mini", provider=OpenAIProvider(base_url=url, api_key="sk-test", http_client=client))


async def main(url: str, folder: str, ask: str, rows: str) -> None:
    agent = Agent(patient_model(url), output_type=Label, instructions=ask, max_concurrency=32)
    path = Path(folder) / "done.jsonl"
    # By hand: a file of what is done. It has a line for each row.
    kept = {int(line.split()[0]) for line in path.read_text().splitlines()} if path.exists() else set()
    errors = []
    done = len(kept)
    with path.open("a", buffering=1) as file:

        async def sort(row: int) -> None:
            nonlocal done
            try:
                label = (await agent.run(f"letter {row:04}")).output
            except Exception as error:
                errors.append(str(error))
                return
            file.write(f"{row} {label.topic}\n")
            done += 1

        await asyncio.gather(*(sort(row) for row in range(int(rows)) if row not in kept))
    print(json.dumps({"done": done, "error": errors[0] if errors else None}))


asyncio.run(main(*sys.argv[1:]))
