"""An MCP server over stdio with one tool, `search`: the paragraphs of docs/ that have most words of a query."""

import glob
import json
import os
import re
import sys

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "*.md")
TOOL = {
    "name": "search",
    "description": "Searches pages about llmnode, a Rust crate for calling language models.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


def words(text):
    return set(re.findall(r"\w{4,}", text.lower()))


def search(query):
    paragraphs = [part for file in sorted(glob.glob(DOCS)) for part in open(file).read().split("\n\n") if "|" not in part and "```" not in part]
    wanted = words(query)
    best = sorted(paragraphs, key=lambda part: -len(wanted & words(part)))[:2]
    return "\n\n".join(best)


def answer(method, parameters):
    if method == "initialize":
        return {"protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": search(str(parameters.get("arguments", {}).get("query", "")))}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
