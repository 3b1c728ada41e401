#!/usr/bin/env python3
"""The evaluation of beyond/llmnode-eval/tests/letters with pydantic-evals, each letter once: letters.py

Sends the messages that llmnode sent, one after the other, to the same server, and scores the answers with pydantic-evals' `EqualsExpected`.
Prints both scores, and fails if a case has another score where the answers are the same. LLMNODE_EVALUATION is the folder of llmnode's
reports, LETTERS the cases.
"""

import json
import sys
import time
from importlib.metadata import version

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

from sort import FOLDER, ROWS, sort

dataset = Dataset(
    name="letters",
    cases=[Case(name=str(place), inputs=row["letter"], expected_output=row["expected"]) for place, row in enumerate(ROWS)],
    evaluators=[EqualsExpected()],
)
begun = time.monotonic()
report = dataset.evaluate_sync(sort, max_concurrency=1, progress=False)
seconds = time.monotonic() - begun

with open(FOLDER / "once.json", encoding="utf-8") as file:
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
print(f"pydantic-evals: {right / len(ROWS):.3f} of {len(ROWS)} cases ({version('pydantic-evals')}, {seconds:.0f} s)")
print(f"the same answer in {same_answers} cases, of these the same score in {same_scores}")
sys.exit(same_answers != same_scores or same_answers < 0.9 * len(ROWS))
