"""The four programs of bin `cache`, by pydantic-ai with what its settings offer for the cache: cache_pydantic_ai.py PROGRAM RULES URL

PROGRAM is agent, map, single or chat; RULES openai, older_openai or anthropic; the texts come as JSON from standard input.
"""

import asyncio
import json
import sys

from pydantic_ai import Agent

TURNS_OF_CHAT = 30


def model_and_settings(rules, url):
    if rules == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
        settings = AnthropicModelSettings(
            max_tokens=1_000,
            anthropic_cache_instructions=True,
            anthropic_cache_tool_definitions=True,
            anthropic_cache_messages=True,
        )
        return AnthropicModel("claude-sonnet-5-5", provider=AnthropicProvider(anthropic_client=client)), settings
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import (
        OpenAIChatModel,
        OpenAIChatModelSettings,
        OpenAIResponsesModel,
        OpenAIResponsesModelSettings,
    )
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0))
    # Newer models take tools beside thoughts by Responses alone.
    if rules == "openai":
        settings = OpenAIResponsesModelSettings(openai_prompt_cache_key="bench")
        return OpenAIResponsesModel("gpt-6-luna", provider=provider), settings
    return OpenAIChatModel("gpt-5.5", provider=provider), OpenAIChatModelSettings(openai_prompt_cache_key="bench")


async def run(program, rules, url, texts):
    model, settings = model_and_settings(rules, url)
    if program == "agent":
        agent = Agent(model, instructions=texts["short"], model_settings=settings)

        @agent.tool_plain
        def look(page: int) -> str:
            """Looks a page up."""
            return texts["page"] + str(page)

        await agent.run("Sum the ledger up.")
    elif program == "map":
        agent = Agent(model, instructions=texts["long"], model_settings=settings)
        places = asyncio.Semaphore(8)

        async def sort(letter):
            async with places:
                await agent.run(f"Sort this letter: {letter}")

        await asyncio.gather(*(sort(letter) for letter in texts["letters"]))
    elif program == "single":
        agent = Agent(model, model_settings=settings)
        for document in texts["documents"]:
            await agent.run(f"Sum up in one sentence:\n{document}")
    else:
        agent = Agent(model, instructions=texts["short"], model_settings=settings)
        history = []
        for said in texts["said"]:
            result = await agent.run(said, message_history=history)
            history = result.all_messages()


asyncio.run(run(*sys.argv[1:4], json.load(sys.stdin)))
