"""Sorts letters by OpenAI's batch API, as one writes it by hand: overnight_by_hand.py URL LETTERS SECONDS_BETWEEN_LOOKS"""

import json
import sys
import time

from openai import OpenAI

TOPICS = {"billing", "repairs", "other"}
SCHEMA = {
    "type": "object",
    "properties": {"topic": {"type": "string", "enum": sorted(TOPICS)}},
    "required": ["topic"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "Topic", "strict": True, "schema": SCHEMA}}

url, letters, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
client = OpenAI(base_url=url, api_key="k")


def body(messages):
    return {"model": "gpt-5.6-luna", "messages": messages, "max_tokens": 50, "response_format": FORMAT}


def ask(conversations):
    lines = [
        json.dumps({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body(messages)})
        for key, messages in conversations.items()
    ]
    file = client.files.create(file=("letters.jsonl", "\n".join(lines).encode()), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    while batch.status not in ("completed", "failed", "expired", "cancelled"):
        time.sleep(pause)
        batch = client.batches.retrieve(batch.id)
    answers = {}
    for name in (batch.output_file_id, batch.error_file_id):
        if not name:
            continue
        for line in client.files.content(name).text.splitlines():
            result = json.loads(line)
            response = result["response"]
            if response and response["status_code"] == 200:
                answers[result["custom_id"]] = response["body"]["choices"][0]["message"]["content"]
    return answers


def topic(text):
    try:
        found = json.loads(text)["topic"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if found in TOPICS else None


waiting = {
    f"letter-{number}": [{"role": "user", "content": f"What is this letter about?\nNo. {number}: the roof leaks."}]
    for number in range(letters)
}
topics = {}
for attempt in range(2):
    wrong = {}
    for key, text in ask(waiting).items():
        found = topic(text)
        if found:
            topics[key] = found
        else:
            wrong[key] = waiting[key] + [
                {"role": "assistant", "content": text},
                {"role": "user", "content": f"The topic is none of {sorted(TOPICS)}. Answer again."},
            ]
    waiting = wrong
    if not waiting:
        break
print(f"{len(topics)} of {letters} letters are sorted")
