"""DSPy's BootstrapFewShot on the tasks of tests/calls/optimise/beside_dspy.rs: prints the score of each as JSON.

bootstrap.py INPUT   {"base_url", "tasks": [{"name", "train": [[question, answer]], "validation"}]}
"""

import json
import os
import sys
import tempfile

os.environ["DSPY_CACHEDIR"] = tempfile.mkdtemp()
import dspy  # noqa: E402


class Ask(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def exact(example, prediction, trace=None):
    return example.answer == prediction.answer


def examples(pairs):
    return [dspy.Example(question=question, answer=answer).with_inputs("question") for question, answer in pairs]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    scores = {}
    for task in given["tasks"]:
        def model(of):
            return dspy.LM(f"openai/{of}-{task['name']}", api_base=given["base_url"], api_key="none", cache=False, num_retries=0)

        dspy.configure(lm=model("student"), adapter=dspy.ChatAdapter())
        train, validation = examples(task["train"]), examples(task["validation"])
        student = dspy.ChainOfThought(Ask)
        evaluate = dspy.Evaluate(devset=validation, metric=exact, num_threads=1, display_progress=False)
        start = evaluate(student).score
        optimiser = dspy.BootstrapFewShot(metric=exact, max_bootstrapped_demos=4, max_labeled_demos=8, max_rounds=1,
                                          teacher_settings={"lm": model("teacher")})
        compiled = optimiser.compile(student, trainset=train)
        scores[task["name"]] = max(start, evaluate(compiled).score) / 100
    print(json.dumps(scores))


main()
