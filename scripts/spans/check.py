"""What MLflow shows of a run, beside what the ledger has: scripts/mlflow."""

import json
import sys
import time

import mlflow

ledger = json.load(open(sys.argv[1]))
for _ in range(60):
    traces = mlflow.search_traces(locations=["0"], return_type="list")
    if traces:
        break
    time.sleep(0.5)
assert len(traces) == 1, f"{len(traces)} traces"
spans = traces[0].data.spans
by_id = {span.span_id: span for span in spans}


def depth(span):
    return 0 if span.parent_id is None else 1 + depth(by_id[span.parent_id])


for span in sorted(spans, key=lambda span: span.start_time_ns):
    print(f"{'  ' * depth(span)}{span.name}  {span.span_type}  {span.status.status_code}")
asked = [span for span in spans if span.attributes.get("gen_ai.operation.name") == "chat"]
for name in ("input", "output"):
    total = sum(span.attributes.get(f"gen_ai.usage.{name}_tokens", 0) for span in asked)
    assert total == ledger[name], f"{name}: {total} by the spans, {ledger[name]} by the ledger"
assert len(asked) == ledger["requests"], f"{len(asked)} spans, {ledger['requests']} requests"
shown = traces[0].info.token_usage or {}
print("token usage by MLflow:", shown)
assert shown.get("input_tokens") == ledger["input"] and shown.get("output_tokens") == ledger["output"], shown
print(f"{ledger['requests']} requests, {ledger['input']} tokens in, {ledger['output']} out: as in the ledger")
