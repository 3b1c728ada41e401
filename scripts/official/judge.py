#!/usr/bin/env python3
"""Compares bodies of requests with the types that OpenAI, Anthropic and Google publish: judge.py FOLDER

FOLDER has a JSON file for each body: {"api": "chat", "body": {..}}, as the tests write them where LLMNODE_REQUESTS_DIR is set.
Beside the four APIs, `api` is a part of an order of a batch: `openai file` (the fields of its form), `openai line`, `openai batch`,
`messages batch`, `gemini batch`.
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
from anthropic.types.messages import batch_create_params as anthropic_batches
from google import genai
from google.genai import batches as google_batches
from google.genai import types as google
from openai.types import batch_create_params, file_create_params, file_purpose
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

# What the types do not have and some test sends on purpose: API, place, and why it is right.
EXPLAINED = json.loads(pathlib.Path(__file__).with_name("explained.json").read_text())
PLANTED = json.loads(pathlib.Path(__file__).with_name("planted.json").read_text())
SEEN_AT_LEAST = 30

built = {}


def bare(hint):
    """A hint without `Required` and the like, and whether it was required."""
    required = None
    while typing.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired, typing.Required, typing.NotRequired):
        required = typing.get_origin(hint) in (typing_extensions.Required, typing.Required)
        hint = typing.get_args(hint)[0]
    return hint, required


def is_answer(hint):
    """Anthropic's client takes the blocks of its answers back, which are classes that hold any member: what they write is a dict."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return is_answer(args[0])
    if origin in (typing.Union, types.UnionType):
        return all(is_answer(arg) for arg in args)
    return isinstance(hint, type) and issubclass(hint, pydantic.BaseModel)


def rebuilt(hint):
    """The type with closed, strict objects and lists in it."""
    if typing_extensions.is_typeddict(hint):
        return closed(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return rebuilt(args[0])
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(rebuilt(arg) for arg in args if not is_answer(arg))]
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


OPENAI_BATCH = pydantic.TypeAdapter(rebuilt(batch_create_params.BatchCreateParams))
ANTHROPIC_BATCH = pydantic.TypeAdapter(rebuilt(anthropic_batches.BatchCreateParams))


class UploadFields(typing_extensions.TypedDict, total=False):
    """FileCreateParams without the file, which is no JSON."""

    __pydantic_config__ = pydantic.ConfigDict(extra="forbid", strict=True)
    purpose: typing_extensions.Required[file_purpose.FilePurpose]
    expires_after: rebuilt(file_create_params.ExpiresAfter)


class FileLine(typing_extensions.TypedDict):
    """A line of a batch's file. The package has no type for it: its members are those of OpenAI's guide on batches."""

    __pydantic_config__ = pydantic.ConfigDict(extra="forbid", strict=True)
    custom_id: str
    method: typing.Literal["POST"]
    url: typing_extensions.get_type_hints(batch_create_params.BatchCreateParams)["endpoint"]
    body: dict


UPLOAD = pydantic.TypeAdapter(UploadFields)
LINE = pydantic.TypeAdapter(FileLine)
LINE_APIS = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}


def google_order():
    """A batch as Google's client writes it: the package has no type for what is sent, only the function that makes it."""
    request = google.InlinedRequest(contents=[google.Content(role="user", parts=[google.Part(text="Hi")])], metadata={"key": "1"})
    source = google.BatchJobSource(inlined_requests=[request])
    config = google.CreateBatchJobConfig(display_name="name")
    order = google._CreateBatchJobParameters(model="m", src=source, config=config)
    written = google_batches._CreateBatchJobParameters_to_mldev(genai.Client(api_key="none")._api_client, order)
    return {"batch": written["batch"]}


GOOGLE_ORDER = google_order()


def faults(api, body):
    """(place, words) of what the types refuse."""
    if api == "gemini":
        yield from gemini_faults(body)
    elif api in PARTS:
        yield from PARTS[api](body)
    else:
        plain, streaming = JUDGES[api]
        yield from of(streaming if body.get("stream") else plain, body, "")


def gemini_faults(body):
    for member, value in body.items():
        if member not in GOOGLE:
            yield member, "Extra inputs are not permitted"
        else:
            yield from of(GOOGLE[member], value, member)
    if "contents" not in body:
        yield "contents", "Field required"


def file_faults(fields):
    """The fields of a form are texts, those of an object are named `object[member]`."""
    body = {}
    for name, value in fields.items():
        outer, bracket, inner = name.partition("[")
        if bracket:
            member = inner.rstrip("]")
            body.setdefault(outer, {})[member] = int(value) if member == "seconds" and value.isdigit() else value
        else:
            body[name] = value
    yield from of(UPLOAD, body, "")


def line_faults(line):
    found = list(of(LINE, line, ""))
    yield from found
    if not found and line["url"] in LINE_APIS:
        for place, words in faults(LINE_APIS[line["url"]], line["body"]):
            yield "body." + place, words


def google_batch_faults(body):
    yield from unlike(GOOGLE_ORDER, body, "")
    for one in body["batch"]["inputConfig"]["requests"]["requests"]:
        for place, words in gemini_faults(one["request"]):
            yield "request." + place, words


def unlike(example, value, place):
    """Members that the example lacks, down to the request and what the program names itself."""
    if isinstance(example, list):
        for one in value:
            yield from unlike(example[0], one, place + ".*")
        return
    if not isinstance(example, dict) or place.endswith((".request", ".metadata")):
        return
    for member in sorted(value.keys() - example.keys()):
        yield f"{place}.{member}".lstrip("."), "Extra inputs are not permitted"
    for member in sorted(example.keys() - value.keys()):
        yield f"{place}.{member}".lstrip("."), "Field required"
    for member in sorted(example.keys() & value.keys()):
        yield from unlike(example[member], value[member], f"{place}.{member}")


PARTS = {
    "openai file": file_faults,
    "openai line": line_faults,
    "openai batch": lambda body: of(OPENAI_BATCH, body, ""),
    "messages batch": lambda body: of(ANTHROPIC_BATCH, body, ""),
    "gemini batch": google_batch_faults,
}


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
    """Whether the list names the place, or how it ends. What is said of an API holds for the lines of its batches."""
    apis = {"openai line": ["chat", "responses"], "messages batch": ["messages"], "gemini batch": ["gemini"]}.get(api, [])
    rows = [row["place"] for row in EXPLAINED if row["api"] in [api, *apis]]
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
