#!/usr/bin/env python3
"""Compares bodies of requests with the types that OpenAI, Anthropic and Google publish: judge.py FOLDER

FOLDER has a JSON file for each body: {"api": "chat", "body": {..}}, as the tests write them where LLMNODE_REQUESTS_DIR is set.
Prints each kind of finding with a count and one file, then planted faults that should be found, then the counts. Ends with 1 if a
finding is not explained below, or too few planted faults are seen.

The published types forbid little: a TypedDict takes any member, `Iterable` takes an object, and numbers take texts. So each is
built anew, closed and strict. The types do not say what is empty, too long, or belongs together: the stub server's rules do.
"""
import json
import pathlib
import re
import sys
import types
import typing

import pydantic
import typing_extensions
from anthropic.types import message_create_params
from google.genai import types as google
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

# What the types do not have and some test sends on purpose: API, place, and why it is right.
EXPLAINED = json.loads(pathlib.Path(__file__).with_name("explained.json").read_text())
PLANTED = json.loads(pathlib.Path(__file__).with_name("planted.json").read_text())
SEEN_AT_LEAST = 16

built = {}


def bare(hint):
    """A hint without `Required` and the like, and whether it was required."""
    required = None
    while typing.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired, typing.Required, typing.NotRequired):
        required = typing.get_origin(hint) in (typing_extensions.Required, typing.Required)
        hint = typing.get_args(hint)[0]
    return hint, required


def rebuilt(hint):
    """The type with closed, strict objects and lists in it."""
    if typing_extensions.is_typeddict(hint):
        return closed(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return rebuilt(args[0])
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(rebuilt(arg) for arg in args)]
    if origin is typing.Literal or not args:
        return hint
    if origin is dict or getattr(origin, "__name__", "") == "Mapping":
        return typing.Dict[rebuilt(args[0]), rebuilt(args[1])]
    return typing.List[rebuilt(args[0])]


def closed(source):
    """A TypedDict that takes its own members alone. Types may contain themselves, so it is known before its members are."""
    if source in built:
        return built[source]
    new = typing_extensions.TypedDict(source.__name__, {}, total=False)
    new.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", strict=True)
    built[source] = new
    members, required = {}, set(source.__required_keys__)
    for name, hint in typing_extensions.get_type_hints(source, include_extras=True).items():
        hint, says = bare(hint)
        if says:
            required.add(name)
        members[name] = rebuilt(hint)
    new.__annotations__ = members
    new.__required_keys__ = frozenset(required)
    new.__optional_keys__ = frozenset(set(members) - required)
    return new


def adapter(module, name):
    streaming = rebuilt(getattr(module, name + "Streaming"))
    plain = rebuilt(getattr(module, name + "NonStreaming"))
    return pydantic.TypeAdapter(plain), pydantic.TypeAdapter(streaming)


JUDGES = {
    "chat": adapter(completion_create_params, "CompletionCreateParams"),
    "responses": adapter(response_create_params, "ResponseCreateParams"),
    "messages": adapter(message_create_params, "MessageCreateParams"),
}
GOOGLE = {
    "contents": pydantic.TypeAdapter(typing.List[google.Content]),
    "systemInstruction": pydantic.TypeAdapter(google.Content),
    "generationConfig": pydantic.TypeAdapter(google.GenerationConfig),
    "tools": pydantic.TypeAdapter(typing.List[google.Tool]),
    "toolConfig": pydantic.TypeAdapter(google.ToolConfig),
    "safetySettings": pydantic.TypeAdapter(typing.List[google.SafetySetting]),
    "cachedContent": pydantic.TypeAdapter(str),
    "labels": pydantic.TypeAdapter(typing.Dict[str, str]),
}


def faults(api, body):
    """(place, words) of what the types refuse."""
    if api == "gemini":
        for member, value in body.items():
            if member not in GOOGLE:
                yield member, "Extra inputs are not permitted"
            else:
                yield from of(GOOGLE[member], value, member)
        if "contents" not in body:
            yield "contents", "Field required"
        return
    plain, streaming = JUDGES[api]
    yield from of(streaming if body.get("stream") else plain, body, "")


def of(judge, value, before):
    """Of a union, what its nearest member refuses: the one with the deepest place."""
    try:
        judge.validate_json(json.dumps(value))
    except pydantic.ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        extra = [one for one in details if one["type"] == "extra_forbidden"]
        nearest = sorted(details, key=lambda one: -len(one["loc"]))
        for one in nearest[:1] if not extra else sorted(extra, key=lambda one: -len(one["loc"]))[:1]:
            steps = [str(step) for step in one["loc"] if isinstance(step, int) or re.fullmatch(r"[a-z_A-Z]+", str(step))]
            place = ".".join([before] * bool(before) + ["*" if step.isdigit() else step for step in steps])
            yield place, one["msg"]


def explained(api, place):
    """Whether the list names the place, or how it ends."""
    rows = [row["place"] for row in EXPLAINED if row["api"] == api]
    return any(place == row or place.endswith("." + row) for row in rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    counts, kinds = {}, {}
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text())
        counts[case["api"]] = counts.get(case["api"], 0) + 1
        for place, words in faults(case["api"], case["body"]):
            kinds.setdefault((case["api"], place, words), []).append(path)
    unexplained = 0
    for (api, place, words), found in sorted(kinds.items()):
        known = explained(api, place)
        unexplained += not known
        print(f"{'explained' if known else 'FINDING'}: {api} {place}: {words} ({len(found)}, {found[0].name})")
    seen = 0
    for row in PLANTED:
        found = next(iter(faults(row["api"], row["body"])), None)
        seen += found is not None
        print(f"planted, {'seen' if found else 'not seen'}: {row['api']} {row['fault']}")
    total = sum(counts.values())
    print(f"{total} bodies ({', '.join(f'{n} {api}' for api, n in sorted(counts.items()))}): {len(kinds)} kinds of findings, "
          f"{unexplained} unexplained; {seen} of {len(PLANTED)} planted faults seen")
    return 1 if unexplained or seen < SEEN_AT_LEAST or not total else 0


if __name__ == "__main__":
    sys.exit(main())
