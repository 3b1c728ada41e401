"""Serves a model by llama.cpp's own HTTP server on a free loopback port: serve.py MODEL.gguf [TEMPLATE | --instruct NAME]

TEMPLATE is a chat template that knows tools. An instruct model has its own, and answers to NAME.
LLMNODE_CONTEXT is the window of an instruct model, in tokens; it is 8192 otherwise.

The key comes from LLMNODE_LLAMA_KEY, so that it shows in no process list. Prints one line, the base URL, once
the server answers; llama.cpp's log goes to stderr. Ends on a signal, or when the process that started it ends.
"""

import os
import sys
import time
import urllib.error
import urllib.request

import xllamacpp

SLOTS, CONTEXT_PER_SLOT = 4, 8192
READY_WITHIN_SECONDS = 60


def parameters(model, key, template, instruct):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {instruct or "tiny-random"}
    params.hostnames, params.port = ["127.0.0.1"], 0  # 0: the system picks a free one
    params.api_keys = [key]
    params.n_parallel, params.n_ctx = SLOTS, SLOTS * CONTEXT_PER_SLOT
    params.kv_unified = False  # each slot has its own share, whatever the others hold
    params.n_gpu_layers, params.cpuparams.n_threads = 0, 1
    if template or instruct:
        params.use_jinja = True
    if instruct:
        context = int(os.environ.get("LLMNODE_CONTEXT", CONTEXT_PER_SLOT))
        params.n_parallel, params.n_ctx = 2, 2 * context
    if template:
        with open(template, encoding="utf-8") as file:
            params.chat_template = file.read()
    params.warmup = params.fit_params = params.ui = False
    return params


def wait_until_it_answers(address):
    """llama.cpp listens before its model is loaded and says 503 on /health until then."""
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            direct.open(f"{address}/health", timeout=5).close()
            return
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > deadline:
                sys.exit(f"llama.cpp's server did not answer within {READY_WITHIN_SECONDS} s: {error}")
            time.sleep(0.05)


def main():
    starter = os.getppid()
    key = os.environ.get("LLMNODE_LLAMA_KEY")
    if len(sys.argv) not in (2, 3, 4) or not key:
        sys.exit("usage: LLMNODE_LLAMA_KEY=... serve.py MODEL.gguf [TEMPLATE | --instruct NAME]")
    template = sys.argv[2] if len(sys.argv) == 3 else None
    instruct = sys.argv[3] if len(sys.argv) == 4 else None
    server = xllamacpp.Server(parameters(sys.argv[1], key, template, instruct))
    address = server.listening_address
    wait_until_it_answers(address)
    print(f"{address}/v1", flush=True)
    while os.getppid() == starter:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
