"""The gate of beyond/llmnode-eval/tests/letters with pydantic-evals: benches/evaluations.md has both tests beside each other.

    BLESS=letters python test_letters.py    # asks each letter nine times, and writes the baseline
    python test_letters.py                  # asks each three times, and fails if the prompt is worse
"""

import json
import os
from functools import partial
from statistics import fmean

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

from sort import FOLDER, ROWS, sort

BASELINE = FOLDER / "letters.pydantic_evals.json"
BLESSES = os.environ.get("BLESS") == "letters"
REPEATS = 3


def chance_of_fall(differences: list[float], steps: int) -> float:
    """Of all ways to choose the signs of the differences, the share whose sum is as low as the one that was seen."""
    counted = [round(difference * steps) for difference in differences]
    shares = {0: 1.0}
    for step in filter(None, counted):
        after: dict[int, float] = {}
        for total, share in shares.items():
            for sign in (-1, 1):
                after[total + sign * abs(step)] = after.get(total + sign * abs(step), 0.0) + share / 2
        shares = after
    return sum(share for total, share in shares.items() if total <= sum(counted))


def test_letters_are_sorted():
    dataset = Dataset(
        name="letters",
        cases=[Case(name=row["letter"], inputs=row["letter"], expected_output=row["expected"]) for row in ROWS],
        evaluators=[EqualsExpected()],
    )
    repeats = REPEATS * 3 if BLESSES else REPEATS
    report = dataset.evaluate_sync(partial(sort, temperature=0.5), task_name="sort", repeat=repeats, max_concurrency=2, progress=False)
    assert not report.failures, "an outage and a wrong setting are the same to it: nothing is known of the prompt"

    runs: dict[str, list[bool]] = {}
    for case in report.cases:
        # With repeats, the name of the case is that of its source.
        runs.setdefault(case.source_case_name or case.name, []).append(case.assertions["EqualsExpected"].value)
    wrong = [row["letter"] for row in ROWS if row.get("must") and not all(runs[row["letter"]])]
    assert not wrong, f"these must be right and are not: {wrong}"

    scores = {name: fmean(right) for name, right in runs.items()}
    if BLESSES:
        BASELINE.write_text(json.dumps({"repeats": repeats, "scores": scores}, indent=0), encoding="utf-8")
        return
    then = json.loads(BASELINE.read_text(encoding="utf-8"))
    both = sorted(scores.keys() & then["scores"].keys())
    assert len(both) >= 0.8 * max(len(scores), len(then["scores"])), "other data"
    differences = [scores[name] - then["scores"][name] for name in both]
    fell = fmean(differences)
    p = chance_of_fall(differences, repeats * then["repeats"])
    worst = sorted(zip(differences, both))[:20]
    assert not (fell < 0 and p <= 0.05), f"worse: {fell:+.3f}, p = {p:.3f}: {worst}"
    # "No worse" needs a lower limit beside it, which is not written here: so it passes wherever it cannot tell.


if __name__ == "__main__":
    test_letters_are_sorted()
