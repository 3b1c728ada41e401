"""names: Agent, output_type, instructions, run, output, Dataset, Case, name, inputs, expected_output, metadata, evaluators, EqualsExpected, evaluate, repeat, max_concurrency, progress, failures, cases, assertions, value"""

import asyncio
import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

from models import model

BASELINE = Path("letters.baseline.json")


class Label(BaseModel):
    team: Literal["billing", "repairs"]


async def letters_are_sorted(url: str, ask: str, blesses: bool) -> str:
    agent = Agent(model(url), output_type=Label, instructions=ask)
    rows = [json.loads(line) for line in Path("letters.jsonl").read_text().splitlines()]
    dataset = Dataset(
        name="letters",
        cases=[
            Case(name=row["letter"], inputs=row["letter"], expected_output=Label(**row["expected"]), metadata=row.get("must"))
            for row in rows
        ],
        evaluators=[EqualsExpected()],
    )

    async def sort(letter: str) -> Label:
        return (await agent.run(letter)).output

    report = await dataset.evaluate(sort, repeat=9 if blesses else 3, max_concurrency=8, progress=False)
    # By hand: musts, the baseline, a margin.
    assert not report.failures, f"unfinished: {len(report.failures)} of the calls failed"
    right = [case.assertions["EqualsExpected"].value for case in report.cases]
    wrong = [case.name for case, is_right in zip(report.cases, right) if case.metadata and not is_right]
    assert not wrong, f"must be right: {wrong}"
    mean = fmean(right)
    if blesses:
        BASELINE.write_text(json.dumps(mean))
        return "written"
    then = json.loads(BASELINE.read_text())
    assert mean >= then - 0.05, f"worse: {then:.3f}, now {mean:.3f}"
    return f"{then:.3f}, now {mean:.3f}"


async def main(url: str, folder: str, ask: str, word: str) -> None:
    try:
        print(json.dumps({"passes": await letters_are_sorted(url, ask, word == "bless")}))
    except Exception as error:
        print(json.dumps({"fails": str(error)}))


asyncio.run(main(*sys.argv[1:]))
