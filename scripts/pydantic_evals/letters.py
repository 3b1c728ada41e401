#!/usr/bin/env python3
"""The evaluation of beyond/llmnode-eval/tests/letters with pydantic-evals: letters.py FOLDER LETTERS.

Sends the messages that llmnode sent, one after the other, to the same server, and scores the answers with pydantic-evals' `EqualsExpected`.
Prints both scores, and fails if a case has another score where the answers are the same.
"""

import json
import os
import sys
import time
import urllib.request
from importlib.metadata import version

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

folder, letters = sys.argv[1:]
with open(f"{folder}/messages.json", encoding="utf-8") as file:
    messages = json.load(file)
with open(letters, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
TEAM = {"type": "string", "enum": ["billing", "repairs", "delivery", "sales"]}
SCHEMA = {"type": "object", "properties": {"team": TEAM}, "required": ["team"], "additionalProperties": False}
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def sort(place: int) -> dict:
    """What a program calls: the place stands for the letter, whose messages llmnode has written."""
    url = os.environ["LLMNODE_QWEN_URL"] + "/chat/completions"
    key = os.environ["LLMNODE_LLAMA_KEY"]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = {
        "model": "Qwen2.5-Coder-0.5B-Instruct",
        "temperature": 0.0,
        "max_tokens": 40,
        "messages": messages[place],
        "response_format": {"type": "json_schema", "json_schema": {"name": "Label", "schema": SCHEMA, "strict": True}},
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with direct.open(request, timeout=120) as response:
        answer = json.load(response)
    return json.loads(answer["choices"][0]["message"]["content"])


# The test as one writes it with pydantic-evals.
dataset = Dataset(
    name="letters",
    cases=[Case(name=str(place), inputs=place, expected_output=row["expected"]) for place, row in enumerate(rows)],
    evaluators=[EqualsExpected()],
)
begun = time.monotonic()
report = dataset.evaluate_sync(sort, max_concurrency=1, progress=False)
seconds = time.monotonic() - begun

with open(f"{folder}/once.json", encoding="utf-8") as file:
    ours = json.load(file)["cases"]
theirs = {int(case.name): case for case in report.cases}
same_answers = same_scores = 0
for place, case in enumerate(ours):
    their = theirs[place]
    is_right = their.assertions["EqualsExpected"].value
    if their.output != case["output"]:
        print(f"case {place}: the server answered otherwise: {case['output']}, then {their.output}")
        continue
    same_answers += 1
    same_scores += float(is_right) == case["score"]
right = sum(case.assertions["EqualsExpected"].value for case in report.cases)
print(f"llmnode:        {sum(case['score'] for case in ours) / len(ours):.3f} of {len(ours)} cases")
print(f"pydantic-evals: {right / len(rows):.3f} of {len(rows)} cases ({version('pydantic-evals')}, {seconds:.0f} s)")
print(f"the same answer in {same_answers} cases, of these the same score in {same_scores}")
sys.exit(same_answers != same_scores or same_answers < 0.9 * len(rows))
