"""Programs that DSPy saves, and the messages that DSPy makes of them after loading.

make.py OUT            writes one JSON object a line
make.py --types OUT      writes the messages for the types of Rust that tests/smart/forms.rs declares
make.py --answers OUT    writes answers in sections, and what DSPy reads from them
make.py --check OUT DIR  loads the programs DIR/NAME.json, which llmnode wrote, and compares their messages with those of OUT
"""

import json
import os
import random
import sys
import tempfile
from typing import Any, Literal, Optional

os.environ["DSPY_CACHEDIR"] = tempfile.mkdtemp()
import dspy  # noqa: E402
import pydantic  # noqa: E402
from dspy.adapters import ChatAdapter, JSONAdapter  # noqa: E402

BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
          "min_length": "minLength", "max_length": "maxLength", "multiple_of": "multipleOf"}
SPACE = [" ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\u2028", "\u00a0", "\u3000"]
NAMES = ["q", "text", "maxAge", "max_age2", "URLList", "a1b", "html2text", "context", "answer_short", "x_y_z", "foo", "bar",
         "baz", "item3", "HTTPServer", "n"]
FIGURES = [0.0, -0.0, 1.0, 0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, -2.5e-7, 3.14159, 1e22, 1e100, 5e-324, 100.0,
           9007199254740993.0]


class Answer(pydantic.BaseModel):
    """An answer."""

    text: str = pydantic.Field(description="the text")
    scores: list[int]


class QA(dspy.Signature):
    """Answer in one word."""

    question: str = dspy.InputField(desc="a question")
    answer: str = dspy.OutputField(desc="short answer")


class Multi(dspy.Signature):
    """Judge the claim.

    - Be strict.
      - Very strict.
    Say why."""

    context: list[str] = dspy.InputField(desc="facts")
    claim: str = dspy.InputField()
    verdict: Literal["true", "false", "it's unknown"] = dspy.OutputField(desc="the verdict")
    score: int = dspy.OutputField(desc="0 to 100")
    weight: float = dspy.OutputField()
    sure: bool = dspy.OutputField()
    tags: list[str] = dspy.OutputField(desc="tags")
    note: Optional[str] = dspy.OutputField()


class Plain(dspy.Signature):
    text: str = dspy.InputField()
    n: int = dspy.InputField()
    x: float = dspy.InputField()
    flag: bool = dspy.InputField()
    any_list: str = dspy.InputField(desc="given as a list")
    out: str = dspy.OutputField()


class Bounds(dspy.Signature):
    """Bounds."""

    q: str = dspy.InputField(max_length=9)
    n: int = dspy.OutputField(ge=1, le=5, desc="a number")
    x: float = dspy.OutputField(gt=0.5, multiple_of=0.25)
    m: dict[str, int] = dspy.OutputField()


class Struct(dspy.Signature):
    """Structured."""

    q: str = dspy.InputField()
    a: Answer = dspy.OutputField()
    more: list[Answer] = dspy.OutputField()


def by_hand():
    """Name, module, signature, demos, inputs."""
    qa = {"question": "capital of Norway?"}
    yield "qa", dspy.Predict, QA, [], qa
    shown = [{"augmented": True, "question": "capital of France?", "answer": "Paris"}, {"question": "2+2\nhow much?", "answer": "4"}]
    yield "demos", dspy.Predict, QA, shown, qa
    parts = [{"question": "only q"}, {"answer": "only a"}, {"question": "x", "answer": None}, {"question": "full", "answer": "yes"}]
    yield "incomplete", dspy.Predict, QA, parts, qa
    thought = [{"augmented": True, "question": "a", "reasoning": "because\nof b", "answer": "b"}, {"question": "labelled", "answer": "no reasoning"}]
    yield "thought", dspy.ChainOfThought, QA, thought, qa
    judged = [{"context": ["f"], "claim": "k", "verdict": "true", "score": 7, "weight": 0.5, "sure": True, "tags": ["a", "b"], "note": None},
              {"context": [], "claim": "k2", "verdict": "false", "score": 0, "weight": 1e20, "sure": False, "tags": [], "note": "n\u00e9"}]
    yield "multi", dspy.Predict, Multi, judged, {"context": ["one", "two\nlines", "with «quotes»"], "claim": "c"}
    yield "multi_thought", dspy.ChainOfThought, Multi, [], {"context": ["one"], "claim": "c"}
    for index, value in enumerate([["a"], [], ["a", "b\nc", "«d»"]]):
        figure = [1.0, 1e16, 1.5e-7][index]
        yield f"plain{index}", dspy.Predict, Plain, [], {"text": "  spaced  ", "n": 3, "x": figure, "flag": bool(index % 2), "any_list": value}
    yield "plain_missing", dspy.Predict, Plain, [], {"text": "t"}
    nested = {"k": [1, 2.0, None, True, "é"]}
    yield "plain_other", dspy.Predict, Plain, [], {"text": json.dumps({"a": 1}), "n": "3", "x": 0.1, "flag": True, "any_list": nested}
    yield "bounds", dspy.Predict, Bounds, [{"q": "a", "n": 2, "x": 0.75, "m": {"x": 1}}], {"q": "?"}
    answer = {"text": "t", "scores": [1, 2]}
    yield "struct", dspy.Predict, Struct, [{"q": "a", "a": answer, "more": [answer]}], {"q": "?"}
    texts = ["New instruction.", "  Indented\n    more\n  back", "line1\n\nline3\n", "tab\there\u2028sep\x0bvt", "", "trailing   "]
    for index, text in enumerate(texts):
        yield f"instructions{index}", dspy.Predict, QA.with_instructions(text), [], qa
    edited = QA.with_updated_fields("answer", desc="a very short answer", prefix="Final:")
    yield "described", dspy.ChainOfThought, edited, [], qa
    written = dspy.Signature("question, context: list[str] -> answer: str, score: float")
    yield "written", dspy.Predict, written, [], {"question": "q", "context": ["a", "b"]}


def at_random(count):
    r = random.Random(11)

    def text(n=30):
        letters = "abcXYZ09«»[]{}\"'\\#$é漢🙂`:"
        return "".join(r.choice(SPACE) if r.random() < 0.2 else r.choice(letters) for _ in range(r.randint(0, n)))

    def figure():
        return r.choice(FIGURES)

    def value(depth=0):
        kind = r.randint(0, 6 if depth < 2 else 4)
        return [lambda: text(8), lambda: r.randint(-9, 10**12), figure, lambda: r.random() < 0.5, lambda: None,
                lambda: [value(depth + 1) for _ in range(r.randint(0, 3))],
                lambda: {text(4): value(depth + 1) for _ in range(r.randint(0, 3))}][kind]()

    choices = ["a", "it's", 'say "x"']
    types = [(str, text), (int, lambda: r.randint(-5, 10**10)), (float, figure), (bool, lambda: r.random() < 0.5),
             (Literal["a", "it's", 'say "x"'], lambda: r.choice(choices)), (Literal[1, "b"], lambda: r.choice([1, "b"])),
             (list[str], lambda: [text(6) for _ in range(r.randint(0, 3))]),
             (list[float], lambda: [figure() for _ in range(r.randint(0, 3))]),
             (tuple[int, str], lambda: [r.randint(0, 9), text(4)]),
             (dict[str, Any], lambda: {text(3): value() for _ in range(r.randint(0, 3))}),
             (dict[str, list[int]], lambda: {text(3): [r.randint(0, 9)]}),
             (Optional[str], lambda: r.choice([None, text()])), (Optional[int], lambda: r.choice([None, r.randint(0, 9)])), (Any, value)]
    for index in range(count):
        fields, make = {}, {"reasoning": text}
        for field in (dspy.InputField, dspy.OutputField):
            for _ in range(r.randint(1, 4)):
                name = r.choice([name for name in NAMES if name not in fields])
                kind, make[name] = r.choice(types)
                fields[name] = (kind, field(**({"desc": text(12)} if r.random() < 0.5 else {})))
        signature = dspy.Signature(fields, text(60))
        module = r.choice([dspy.Predict, dspy.ChainOfThought])
        whole = module(signature).predictors()[0].signature
        demos = []
        for _ in range(r.randint(0, 3)):
            demo = {name: make[name]() for name in whole.fields if r.random() < 0.85}
            if r.random() < 0.5:
                demo["augmented"] = True
            demos.append(demo)
        inputs = {name: make[name]() if r.random() < 0.9 else [text(5) for _ in range(r.randint(0, 3))]
                  for name in whole.input_fields if r.random() < 0.95}
        yield f"random{index}", module, signature, demos, inputs


def cases():
    yield from by_hand()
    yield from at_random(400)


def schema(info):
    """The type as JSON Schema; bounds stand where schemars puts them."""
    kind = dict(pydantic.TypeAdapter(info.annotation).json_schema())
    if kind.get("type") in ("string", "integer", "number"):
        said = (info.json_schema_extra or {}).get("constraints") or ""
        for part in filter(None, said.split(", ")):
            words, bound = part.rsplit(": ", 1)
            key = next(key for key, start in dspy.signatures.field.PYDANTIC_CONSTRAINT_MAP.items() if start == f"{words}: ")
            kind[BOUNDS[key]] = json.loads(bound)
    return kind


def loaded(module, signature, path):
    program = module(signature)
    program.load(path)
    return program.predictors()[0]


def messages(predictor, inputs):
    written = [adapter.format(predictor.signature, predictor.demos, dict(inputs)) for adapter in (ChatAdapter(), JSONAdapter())]
    return [[[message["role"], message["content"]] for message in one] for one in written]


def declared(fields):
    return [[name, schema(info)] for name, info in fields.items()]


def make(out):
    folder = tempfile.mkdtemp()
    with open(out, "w") as file:
        for name, module, signature, demos, inputs in cases():
            path = os.path.join(folder, f"{name}.json")
            program = module(signature)
            program.predictors()[0].demos = demos
            program.save(path)
            predictor = loaded(module, signature, path)
            chat, plain = messages(predictor, inputs)
            # What both have in common is written once.
            plain = [other if other != one else None for one, other in zip(chat, plain)]
            row = {"name": name, "dspy": dspy.__version__, "think": module is dspy.ChainOfThought,
                   "inputs": declared(signature.input_fields), "outputs": declared(signature.output_fields),
                   "given": inputs, "program": json.load(open(path)), "chat": chat, "json": plain}
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def check(out, folder):
    rows = {row["name"]: row for row in map(json.loads, open(out))}
    same = count = 0
    for name, module, signature, _, inputs in cases():
        row = rows[name]
        chat, plain = messages(loaded(module, signature, os.path.join(folder, f"{name}.json")), inputs)
        wanted = [other if other is not None else one for one, other in zip(row["chat"], row["json"])]
        count += 2
        same += (chat == row["chat"]) + (plain == wanted)
        if (chat, plain) != (row["chat"], wanted):
            print("differs:", name)
    print(f"{same} of {count} lists of messages are the same after DSPy {dspy.__version__} loaded what llmnode wrote")
    sys.exit(same != count)


class Types(dspy.Signature):
    """Read the letter."""

    maybe: Optional[float] = dspy.InputField(desc="")
    sizes: list[float] = dspy.InputField(desc="")
    text: Optional[str] = dspy.OutputField(desc="")
    count: Optional[int] = dspy.OutputField(desc="")
    share: Optional[float] = dspy.OutputField(desc="")
    sure: Optional[bool] = dspy.OutputField(desc="")
    kind: Optional[Literal["good", "bad"]] = dspy.OutputField(desc="")
    floats: list[float] = dspy.OutputField(desc="")
    numbers: list[int] = dspy.OutputField(desc="")
    gaps: list[Optional[int]] = dspy.OutputField(desc="")
    counts: dict[str, int] = dspy.OutputField(desc="")
    shares: dict[str, Optional[float]] = dspy.OutputField(desc="")
    some: Optional[list[float]] = dspy.OutputField(desc="")
    table: Optional[dict[str, list[int]]] = dspy.OutputField(desc="how many of each")
    pair: tuple[int, float] = dspy.OutputField(desc="")


def types(out):
    with open(out, "w") as file:
        chat, plain = messages(dspy.Predict(Types), {"maybe": None, "sizes": [1.0, 2.5]})
        for form, written in (("chat", chat), ("json", plain)):
            file.write(json.dumps([form, written], ensure_ascii=False, separators=(",", ":")) + "\n")


class Read(dspy.Signature):
    """Read."""

    letter: str = dspy.InputField()
    text: str = dspy.OutputField()
    count: int = dspy.OutputField()
    share: float = dspy.OutputField()
    sure: bool = dspy.OutputField()
    kind: Literal["very_good", "bad", "it's odd"] = dspy.OutputField()
    names: list[str] = dspy.OutputField()
    near: Optional[int] = dspy.OutputField()
    note: Optional[str] = dspy.OutputField()
    flags: dict[str, bool] = dspy.OutputField()


def answers(out, count=600):
    """What models make of it: values in other words, sections moved, doubled, left out, and text around them."""
    r = random.Random(7)
    ways = {
        "text": ["a text", "two\nlines", "", "7", "true", "{\"a\": 1}", "'quoted'", "  spaced  ", "None"],
        "count": ["7", " 7 ", "-3", "7.0", "7.5", "\"7\"", "seven", "7 apples", "1e3", "0x10", "7,000", "", "+7", "007"],
        "share": ["0.5", "1", "1e-7", "-0.25", ".5", "\"0.5\"", "50%", "half", "nan", "1.", "0.1000000000000000055"],
        "sure": ["True", "False", "true", "false", "TRUE", "yes", "no", "1", "0", "\"true\"", "perhaps", "True."],
        "kind": ["very_good", "bad", "it's odd", "'bad'", "\"bad\"", "Literal[bad]", "Literal['bad']", "Bad", "very good", "bad.", "good"],
        "names": ["[\"a\", \"b\"]", "['a', 'b']", "[]", "[\"a\",]", "```json\n[\"a\"]\n```", "[1, \"a\"]", "a, b", "- a\n- b", "[\"a\", \"b\"", "\"a\"", "[[\"a\"]]"],
        "near": ["7", "None", "null", "\"7\"", "7.0", "many", "", "N/A"],
        "note": ["a note", "None", "null", "\"quoted\"", "7", "['a']", ""],
        "flags": ["{\"a\": true}", "{'a': True}", "{}", "{\"a\": \"true\"}", "{\"a\": 1}", "```\n{\"a\": false}\n```", "{a: true}", "[]", "{\"a\": true} or so"],
    }
    names = list(Read.output_fields)
    adapter = ChatAdapter()
    with open(out, "w") as file:
        for index in range(count):
            # One value at a time is odd, so that each shows.
            odd = names[index % len(names)]
            values = {name: r.choice(ways[name]) if name == odd else ways[name][0] for name in names}
            order = names[:]
            if r.random() < 0.3:
                r.shuffle(order)
            sections = [f"[[ ## {name} ## ]]\n{values[name]}" for name in order]
            if r.random() < 0.2:
                sections.insert(r.randint(0, len(sections)), f"[[ ## {r.choice(names)} ## ]]\n{r.choice(ways[odd])}")
            if r.random() < 0.2:
                sections.pop(r.randint(0, len(sections) - 1))
            if r.random() < 0.2:
                sections.insert(0, r.choice(["Sure, here it is:", "# Answer", "[[ ## thoughts ## ]]\nHm.", "Let me see.\n"]))
            answer = r.choice(["\n\n", "\n", "\n \n"]).join(sections) + r.choice(["\n\n[[ ## completed ## ]]", "", "\n[[ ## completed ## ]]\n"])
            try:
                read = adapter.parse(Read, answer)
                json.dumps(read, allow_nan=False)
            except Exception:  # noqa: BLE001
                read = None
            row = {"answer": answer, "read": read}
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--types":
        types(sys.argv[2])
    elif sys.argv[1] == "--answers":
        answers(sys.argv[2])
    elif sys.argv[1] == "--check":
        check(sys.argv[2], sys.argv[3])
    else:
        make(sys.argv[1])
