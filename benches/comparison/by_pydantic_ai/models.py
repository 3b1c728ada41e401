"""The model of all tasks: it has a price in every catalog."""

from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def model(url: str) -> OpenAIChatModel:
    return OpenAIChatModel("gpt-5.4-mini", provider=OpenAIProvider(base_url=url, api_key="sk-test"))
