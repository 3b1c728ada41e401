"""The local page for graphs in Chromium, by WebDriver: scripts/browser-pages."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from look import Driver

GRAPH = {
    "format": "llmnode/graph",
    "version": 1,
    "name": "letters",
    "inputs": {"question": {"type": "string", "default": "Where is the key?"}},
    "nodes": [
        {"id": "find", "type": "agent", "data": {"label": "Find <b>facts</b>", "prompt": "Facts: {{ question }}", "save_as": "facts"}},
        {"id": "route", "type": "router", "data": {"source": "facts", "routes": [{"condition": "contains", "value": "nothing", "handle": "empty"}]}},
        {"id": "write", "type": "agent", "data": {"prompt": "Write: {{ facts }}", "save_as": "answer", "require_approval": True}},
    ],
    "edges": [
        {"source": "find", "target": "route"},
        {"source": "route", "target": "END", "sourceHandle": "empty"},
        {"source": "route", "target": "write"},
        {"source": "write", "target": "END"},
    ],
}


class Model(http.server.BaseHTTPRequestHandler):
    """Streams the prompt back, a word at a time."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = body["messages"][-1]
        words = ("<script>document.title='ran'</script> " + last["content"] + " slowly" * 20).split(" ")
        deltas, finish = [{"content": word + " "} for word in words], "stop"
        if body.get("tools") and last["role"] != "tool":
            function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps({"query": "journal of a run"})}
            deltas, finish = [{"tool_calls": [{"index": 0, "id": "call-1", "type": "function", "function": function}]}], "tool_calls"
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps({'id': 'x', 'model': 'm', **chunk})}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.03)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *arguments):
        pass


def wait(driver, script, what, seconds=10):
    end = time.time() + seconds
    while time.time() < end:
        if driver.run(f"return Boolean({script})"):
            return time.time()
        time.sleep(0.05)
    raise AssertionError(f"{what}: {driver.run('return document.body.innerText')}")


def text(panel):
    return f"document.getElementById('{panel}').innerText"


def press(driver, selector):
    """By the keyboard alone."""
    wait(driver, f"document.querySelector(\"{selector}\")", selector)
    driver.run(f"document.querySelector(\"{selector}\").focus()")
    for kind in ("rawKeyDown", "char", "keyUp"):
        key = {"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        driver.command("Input.dispatchKeyEvent", {**key, "text": "\r"} if kind == "char" else key)


def alive(driver):
    wait(driver, "document.querySelector('form[data-decide] button:not([disabled])')", "the buttons are alive")


def yes(driver):
    alive(driver)
    driver.run("document.querySelector('form[data-decide] button[value=yes]').click()")


def write(file, graph):
    with open(file, "w") as out:
        json.dump(graph, out, indent=2)


def edits(driver, file):
    wait(driver, f"{text('graph-0')}.includes('no mistakes')", "the graph is clean")
    wrong = json.loads(json.dumps(GRAPH))
    wrong["nodes"][2]["data"]["prompt"] = "Write: {{ fatcs }}"
    begun = time.time()
    write(file, wrong)
    shown = wait(driver, f"{text('graph-0')}.includes('did you mean')", "the mistake is shown")
    assert shown - begun < 1.0, shown - begun
    driver.run("document.querySelector('.mistakes a').click()")
    assert driver.run("return document.getElementById('node-0-2').open"), "the link opens the node"
    driver.screenshot(f"{os.path.dirname(file)}/serve-mistake.png")
    write(file, GRAPH)
    wait(driver, f"{text('graph-0')}.includes('no mistakes')", "the mistake goes")
    print(f"a mistake is at its node after {shown - begun:.2f} s")


def runs(driver, url, folder):
    wait(driver, "document.querySelector('form[data-run] button')", "the form is there")
    press(driver, "form[data-run] button")
    wait(driver, f"{text('run')}.toLowerCase().includes('running')", "the run begins")
    wait(driver, f"{text('texts')}.includes('slowly')", "text streams")
    driver.screenshot(f"{folder}/serve-running.png")
    # Reloaded in mid-run.
    driver.open(url)
    wait(driver, f"{text('texts')}.includes('Facts')", "the text is there after a reload")
    wait(driver, "document.querySelector('form[data-decide=write]')", "it waits for a person")
    driver.screenshot(f"{folder}/serve-waiting.png")
    driver.run("document.querySelector('[name=arguments]').value = JSON.stringify({facts: 'edited by hand'})")
    yes(driver)
    wait(driver, f"{text('outcome')}.includes('completed')", "the run ends")
    assert driver.run(f"return {text('outcome')}.includes('edited by hand')"), "the edit counts"
    assert driver.run("return document.title") == "completed · graph.json – llmnode", "a script of a model ran"
    framed = driver.run("return document.querySelector('iframe').src")
    assert "/pages/" in framed, framed
    time.sleep(1)
    driver.screenshot(f"{folder}/serve-outcome.png")

    press(driver, "button[data-again='1']")
    wait(driver, "document.querySelector('form[data-decide=write]')", "the second run waits")
    alive(driver)
    driver.run("document.querySelector('[name=why]').value = 'not today'")
    press(driver, "form[data-decide] button[value=no]")
    wait(driver, f"{text('outcome')}.includes('Run 2')", "a no ends the run")

    press(driver, "button[data-again='1']")
    wait(driver, "document.getElementById('stop')", "the third run begins")
    press(driver, "#stop")
    wait(driver, f"{text('outcome')}.includes('stopped')", "it is stopped")


def resident(process):
    with open(f"/proc/{process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def asked(url, path, body=None):
    address, key = url.split("#k=")
    headers = {"x-llmnode-key": key, "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address.rstrip("/") + path, data, headers), timeout=20) as answer:
        return answer.read().decode()


def many(url, server):
    """A thousand connections that say nothing, and a hundred runs."""
    port = int(url.split(":")[2].split("/")[0])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
    assert "<svg" in asked(url, "/"), "the page is there beside a thousand connections"
    [connection.close() for connection in idle]
    after = []
    for number in range(120):
        asked(url, "/api/run", {"file": 0, "inputs": {"question": "?"}, "requests": 5})
        asked(url, "/api/stop", {})
        time.sleep(0.05)
        if number in (19, 119):
            after.append(resident(server))
    print(f"resident after 20 runs {after[0]} KB, after 120 {after[1]} KB")
    assert after[1] - after[0] < 10_000, after


def researches(program, folder, name, variables):
    """The researcher of examples/data/graphs, behind an approval, with a tool of an MCP server, from the file to the approved answer."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(f"{here}/../../examples/data/graphs/react_flow_agent.json") as example:
        graph = json.load(example)
    graph["nodes"][0]["data"]["require_approval"] = True
    write(f"{folder}/researcher.json", graph)
    profile = {"base_url": variables["OPENAI_BASE_URL"], "model": variables["OPENAI_MODEL"], "api_key_env": "OPENAI_API_KEY", "settings": {"temperature": 0.0}}
    write(f"{folder}/profiles.json", {"format": "llmnode/profiles", "version": 1, "profiles": {"1": profile}})
    command = [program, "serve", f"{folder}/researcher.json", "--profiles", f"{folder}/profiles.json", "--mcp", f"web={sys.executable} {here}/web.py", "--mcp-allow", "web_search"]
    server = subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    driver = Driver()
    try:
        driver.window(1280, 900)
        driver.open(server.stdout.readline().strip())
        wait(driver, "document.querySelector('[data-name=messages]')", "there is a field for a message")
        driver.run("document.querySelector('[data-name=messages]').value = 'Look up llmnode journal on the web, then explain it in one sentence.'")
        press(driver, "form[data-run] button")
        wait(driver, "document.querySelector('form[data-decide]')", "a person is asked", 120)
        yes(driver)
        wait(driver, f"{text('texts')}.includes('web_search')", "the tool is called", 120)
        wait(driver, f"{text('outcome')}.includes('completed')", "the answer is there", 120)
        time.sleep(1)
        driver.screenshot(f"{folder}/serve-{name}.png")
        print(driver.run("return document.querySelector('#outcome pre').innerText"))
    finally:
        driver.close()
        server.terminate()


def main(program, folder):
    if "OPENAI_BASE_URL" in os.environ:
        return researches(program, folder, "real", {name: os.environ[name] for name in ("OPENAI_BASE_URL", "OPENAI_MODEL")})
    file = f"{folder}/graph.json"
    write(file, GRAPH)
    subprocess.run(["rm", "-rf", f"{folder}/.llmnode"], check=True)
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    planted = "sk-planted-9f2c41d7"
    variables = {"OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": planted}
    server = subprocess.Popen([program, "serve", file], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    driver = Driver()
    try:
        url = server.stdout.readline().strip()
        driver.window(1280, 900)
        driver.open(url)
        edits(driver, file)
        runs(driver, url, folder)
        # A second tab sees the same.
        first = driver.call("GET", f"{driver.session}/window")
        second = driver.call("POST", f"{driver.session}/window/new", {"type": "tab"})["handle"]
        driver.call("POST", f"{driver.session}/window", {"handle": second})
        driver.open(url)
        wait(driver, f"{text('history')}.includes('Again')", "the second tab has the history")
        driver.call("POST", f"{driver.session}/window", {"handle": first})
        for width, dark in [(1280, True), (360, False), (390, True)]:
            driver.window(width, 900, dark)
            driver.open(url)
            wait(driver, f"{text('history')}.includes('Again')", "the history is there")
            wide = driver.run("return document.documentElement.scrollWidth")
            assert wide <= width, f"the page is {wide} wide in a window of {width}"
            driver.screenshot(f"{folder}/serve-{width}{'-dark' if dark else ''}.png")
        logged = [entry for entry in driver.logged() if "favicon" not in entry["message"]]
        assert not logged, logged
        driver.open("about:blank")
        many(url, server)
        driver.open(url)
        wait(driver, f"{text('history')}.includes('Again')", "the history is there")
        shown = driver.run("return document.documentElement.outerHTML")
        assert planted not in shown, "the key is on the page"
        # Without the key there is the graph, and no more.
        driver.run("sessionStorage.clear()")
        driver.open("about:blank")
        driver.open(url.split("#")[0])
        wait(driver, f"{text('message')}.includes('it has a key')", "it says that the key is missing")
        assert driver.run("return document.querySelector('svg') !== null && !document.querySelector('form')")
        logged = [entry for entry in driver.logged() if "favicon" not in entry["message"]]
        assert not logged, logged
    finally:
        driver.close()
        server.terminate()
    researches(program, folder, "researcher", variables)
    print(f"the page for graphs works; screenshots are in {folder}")


main(sys.argv[1], sys.argv[2])
