"""names: Agent, instructions, tools, run, output, RunUsage, usage, total_tokens, Model, OpenAIChatModel, OpenAIProvider, AnthropicModel, AnthropicProvider, GoogleModel, GoogleProvider, base_url, api_key"""

import asyncio
import json
import sys

from pydantic_ai import Agent, RunUsage
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider


def stock(item: str) -> int:
    """Says how much of an item is in stock."""
    return len(item)


def model_of(provider: str, url: str) -> Model:
    match provider:
        case "anthropic":
            return AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(base_url=url, api_key="sk-test"))
        case "gemini":
            return GoogleModel("gemini-3-flash-preview", provider=GoogleProvider(base_url=url, api_key="sk-test"))
        case _:
            return OpenAIChatModel("gpt-5.4-mini", provider=OpenAIProvider(base_url=url, api_key="sk-test"))


async def main(url: str, folder: str, provider: str) -> None:
    agent = Agent(model_of(provider, url), instructions="You keep a shop.", tools=[stock])
    usage = RunUsage()
    try:
        said = {"answer": (await agent.run("How many pens are there?", usage=usage)).output}
    except Exception as error:
        said = {"error": str(error)}
    print(json.dumps(said | {"tokens": usage.total_tokens}))


asyncio.run(main(*sys.argv[1:]))
