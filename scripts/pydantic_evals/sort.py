"""What the program of both evaluations calls: a letter goes to the model, its team comes back.

The messages are those that llmnode wrote for the same letters, in `messages.json` of LLMNODE_EVALUATION.
"""

import json
import os
import urllib.request
from pathlib import Path

FOLDER = Path(os.environ["LLMNODE_EVALUATION"])
ROWS = [json.loads(line) for line in Path(os.environ["LETTERS"]).read_text(encoding="utf-8").splitlines()]
MESSAGES = dict(zip((row["letter"] for row in ROWS), json.loads((FOLDER / "messages.json").read_text(encoding="utf-8"))))
TEAM = {"type": "string", "enum": ["billing", "repairs", "delivery", "sales"]}
SCHEMA = {"type": "object", "properties": {"team": TEAM}, "required": ["team"], "additionalProperties": False}
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def sort(letter: str, temperature: float = 0.0) -> dict:
    url = os.environ["LLMNODE_QWEN_URL"] + "/chat/completions"
    key = os.environ["LLMNODE_LLAMA_KEY"]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = {
        "model": "Qwen2.5-Coder-0.5B-Instruct",
        "temperature": temperature,
        "max_tokens": 40,
        "messages": MESSAGES[letter],
        "response_format": {"type": "json_schema", "json_schema": {"name": "Label", "schema": SCHEMA, "strict": True}},
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with direct.open(request, timeout=120) as response:
        answer = json.load(response)
    return json.loads(answer["choices"][0]["message"]["content"])
