"""The same tasks by instructor and pydantic-ai: peers.py WAY [EVERY]

WAY: instructor_json, instructor_schema, pydantic_ai. The model is the one of OPENAI_BASE_URL; run by benches/models/run.
"""

import asyncio
import json
import os
import sys
import time
from enum import Enum
from pathlib import Path
from typing import Optional

from pydantic import BaseModel, Field, ValidationInfo, field_validator

MAX_TOKENS, RETRIES = 200, 2


class Booking(BaseModel):
    guest: str = Field(description="The guest's name, without a title.")
    people: int = Field(description="How many come in all.", ge=0, le=65535)
    time: str = Field(description="HH:MM.")


class Customer(BaseModel):
    name: str
    city: str


class Line(BaseModel):
    item: str
    quantity: int = Field(ge=0)


class Order(BaseModel):
    order: int = Field(description="The order's number.", ge=0)
    customer: Customer
    lines: list[Line]


class Meeting(BaseModel):
    subject: str = Field(description="What it is about.")
    date: str = Field(description="YYYY-MM-DD.")
    room: Optional[str] = None
    people: list[str] = Field(description="Who takes part.")


class Kind(str, Enum):
    Billing = "Billing"
    Bug = "Bug"
    Account = "Account"
    Wish = "Wish"


class Ticket(BaseModel):
    kind: Kind = Field(description="What the ticket is about.")


ITEMS = []


class Choice(BaseModel):
    item: str = Field(description="One of the available items, spelled as listed.")

    @field_validator("item")
    @classmethod
    def item_is_available(cls, item, info: ValidationInfo):
        if item not in ITEMS:
            raise ValueError(f"{item!r} is not available; allowed: {', '.join(ITEMS)}")
        return item


NODES = {
    "flat": (Booking, "Read this booking.\n\n{text}"),
    "nested": (Order, "Read this order.\n\n{text}"),
    "meeting": (Meeting, "Read what this says about a meeting.\n\n{text}"),
    "class": (Ticket, "Classify this ticket.\n\n{text}"),
    "choice": (Choice, "Goal: {text}\nAvailable items:\n{items}\nChoose one."),
}


class Counted:
    """Counts requests and tokens of whatever uses its HTTP client."""

    def __init__(self):
        self.requests = self.prompt = self.completion = 0

    async def hook(self, response):
        await response.aread()
        self.requests += 1
        usage = response.json().get("usage", {})
        self.prompt += usage.get("prompt_tokens", 0)
        self.completion += usage.get("completion_tokens", 0)


def by_instructor(counted, mode):
    import httpx
    import instructor
    import openai

    http = httpx.AsyncClient(event_hooks={"response": [counted.hook]}, timeout=300)
    client = instructor.from_openai(openai.AsyncOpenAI(http_client=http), mode=getattr(instructor.Mode, mode))

    async def ask(kind, type_, messages):
        return await client.chat.completions.create(
            model=os.environ["OPENAI_MODEL"], messages=messages, response_model=type_,
            max_retries=RETRIES, temperature=0, max_tokens=MAX_TOKENS)

    return ask


def by_pydantic_ai(counted):
    import httpx
    import openai
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    http = httpx.AsyncClient(event_hooks={"response": [counted.hook]}, timeout=300)
    model = OpenAIChatModel(os.environ["OPENAI_MODEL"],
                            provider=OpenAIProvider(openai_client=openai.AsyncOpenAI(http_client=http)))

    async def ask(kind, type_, messages):
        system = [one["content"] for one in messages if one["role"] == "system"]
        agent = Agent(model, output_type=NativeOutput(type_), system_prompt=system, retries=RETRIES,
                      model_settings={"temperature": 0, "max_tokens": MAX_TOKENS})
        return (await agent.run(messages[-1]["content"])).output

    return ask


def same(answer, right):
    if isinstance(answer, str) and isinstance(right, str):
        return answer.strip().rstrip(".").lower() == right.strip().rstrip(".").lower()
    if isinstance(answer, list) and isinstance(right, list):
        return len(answer) == len(right) and all(map(same, answer, right))
    if isinstance(answer, dict) and isinstance(right, dict):
        return all(same(answer.get(name), value) for name, value in right.items())
    return answer == right


async def main():
    way, every = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counted = Counted()
    ask = by_pydantic_ai(counted) if way == "pydantic_ai" else by_instructor(
        counted, {"instructor_json": "JSON", "instructor_schema": "JSON_SCHEMA"}[way])
    tasks = json.loads((Path(__file__).parent / "tasks.json").read_text())
    number = valid = right = first = asked = 0
    kinds, began = {}, time.monotonic()
    for kind, (type_, prompt) in NODES.items():
        for task in tasks[kind]:
            number += 1
            if (number - 1) % every:
                continue
            ITEMS[:] = task.get("items", [])
            items = "\n".join(f"- {item}" for item in ITEMS)
            messages = [{"role": "user", "content": prompt.format(text=task["text"], items=items)}]
            if kind == "choice":
                messages.insert(0, {"role": "system", "content": "You are a careful adventurer."})
            asked, before, answer = asked + 1, counted.requests, None
            try:
                answer = (await ask(kind, type_, messages)).model_dump(mode="json")
            except Exception as error:
                if os.environ.get("SHOW"):
                    print(kind, type(error).__name__, str(error)[:300].replace("\n", " "), file=sys.stderr)
            is_right = answer is not None and same(answer, task["right"])
            valid, right = valid + (answer is not None), right + is_right
            first += answer is not None and counted.requests == before + 1
            of = kinds.setdefault(kind, [0, 0, 0])
            kinds[kind] = [of[0] + (answer is not None), of[1] + is_right, of[2] + 1]
            if os.environ.get("SHOW"):
                print(kind, counted.requests - before, is_right, answer, file=sys.stderr)
    each = ", ".join(f"{kind} {v}/{r} of {n}" for kind, (v, r, n) in kinds.items())
    print(f"| {way} | {asked} | {valid} | {right} | {first} | {counted.requests} | {counted.prompt} | "
          f"{counted.completion} | {time.monotonic() - began:.0f} | {each} |")


asyncio.run(main())
