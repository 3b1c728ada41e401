"""Approvals on the local page, by real keys and clicks in Chromium: scripts/browser-pages. What was paid is in the file of bank.py."""

import http.server
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time

from look import Driver

ACCOUNT = 90071992547409931
PAYMENTS = [
    {"account": ACCOUNT, "amount": 20, "note": "rent\u202eyadot"},
    {"account": ACCOUNT, "amount": 99999, "note": "the second"},
]
# 24 nodes, so that the page is long.
NODES = [{"id": f"step-{n}", "type": "router", "data": {"source": "question", "routes": []}} for n in range(23)]
GRAPH = {
    "format": "llmnode/graph",
    "version": 1,
    "name": "payments",
    "inputs": {"question": {"type": "string", "default": "Pay the rent."}, "number": {"type": "integer", "default": 1}},
    "nodes": [*NODES, {"id": "payer", "type": "agent", "data": {"prompt": "{{ question }} {{ number }}", "tools": ["bank_pay"], "save_as": "answer"}}],
    "edges": [{"source": f"step-{n}", "target": f"step-{n + 1}" if n < 22 else "payer"} for n in range(23)] + [{"source": "payer", "target": "END"}],
}
ASKED = []
# Both payments in one answer of the model.
TOGETHER = []


class Model(http.server.BaseHTTPRequestHandler):
    """Calls `bank_pay` once for each payment, then says what it was told."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ASKED.append(body)
        results = [message for message in body["messages"] if message["role"] == "tool"]
        if results and "not allowed" in results[-1]["content"]:
            deltas, finish = [{"content": f"Refused: {results[-1]['content']}\nNothing more is paid."}], "stop"
        elif TOGETHER and not results:
            calls = [{"index": at, "id": f"call-{at}", "type": "function", "function": {"name": "bank_pay", "arguments": json.dumps(PAYMENTS[at])}} for at in range(2)]
            deltas, finish = [{"tool_calls": calls}], "tool_calls"
        elif len(results) < len(PAYMENTS):
            function = {"name": "bank_pay", "arguments": json.dumps(PAYMENTS[len(results)], ensure_ascii=False)}
            call = {"index": 0, "id": f"call-{len(results)}", "type": "function", "function": function}
            deltas, finish = [{"tool_calls": [call]}], "tool_calls"
        else:
            deltas, finish = [{"content": "All is paid.\nBoth of them."}], "stop"
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps({'id': 'x', 'model': 'm', **chunk})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *arguments):
        pass


class Person:
    """Who presses keys and buttons of a mouse, and reads."""

    def __init__(self, driver, paid):
        self.driver = driver
        self.paid = paid

    def see(self, script):
        return self.driver.run(f"return {script}")

    def wait(self, script, what, seconds=10):
        end = time.time() + seconds
        while time.time() < end:
            if self.see(f"Boolean({script})"):
                return
            time.sleep(0.03)
        raise AssertionError(f"{what}: {self.see('document.body.innerText')[:3000]}")

    def click(self, selector, times=1):
        place = self.see(
            f"(() => {{ const e = document.querySelector(\"{selector}\"); e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        self.click_at(place, times)

    def click_at(self, place, times=1):
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.driver.command("Input.dispatchMouseEvent", {"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": count})

    def key(self, key, text=None, code=13):
        for kind in ("rawKeyDown", "char", "keyUp"):
            if kind == "char" and text is None:
                continue
            event = {"type": kind, "key": key, "code": key if key != " " else "Space", "windowsVirtualKeyCode": code}
            self.driver.command("Input.dispatchKeyEvent", {**event, "text": text} if kind == "char" else event)

    def enter(self):
        self.key("Enter", "\r")

    def write(self, text):
        self.driver.command("Input.insertText", {"text": text})

    def replace(self, selector, text):
        self.click(selector)
        self.driver.run("document.activeElement.select()")
        self.write(text)

    def begin(self):
        self.wait("document.querySelector('form[data-run] button:not([disabled])')", "it can be run")
        self.driver.run("document.activeElement.blur()")
        self.click("form[data-run] button")
        self.pauses("20")

    def pauses(self, amount):
        """Waits for a form that is alive and asks for this amount."""
        self.wait(f"document.querySelector('[name=arguments]')?.value.includes('\"amount\": {amount}')", f"it asks for {amount}")

    def alive(self):
        self.wait("document.querySelector('form[data-decide] button:not([disabled])')", "the buttons are alive")

    def ends(self, what):
        self.wait(f"document.getElementById('outcome').innerText.includes('{what}') && !document.querySelector('form[data-decide]')", f"it ends: {what}")

    def payments(self):
        if not os.path.exists(self.paid):
            return []
        with open(self.paid) as lines:
            return [json.loads(line) for line in lines]

    def forget(self):
        if os.path.exists(self.paid):
            os.remove(self.paid)

    def stop(self):
        self.click("#stop")
        self.wait("!document.getElementById('stop')", "it is stopped")


def refuses(person):
    """A reason and Enter is a No."""
    person.forget()
    person.begin()
    person.wait("document.activeElement.tagName === 'H2'", "the heading has the focus")
    person.alive()
    person.click("[name=why]")
    person.enter()
    time.sleep(0.3)
    person.wait("document.querySelector('form[data-decide]')", "Enter without a reason decides nothing")
    person.write("too dear")
    person.click("button[value=yes]")
    person.wait("document.getElementById('message').innerText.includes('belongs to No')", "a reason belongs to No")
    person.click("[name=why]")
    person.enter()
    person.ends("completed")
    assert person.payments() == [], person.payments()
    assert "too dear" in person.see("document.getElementById('outcome').innerText")
    print("a reason and Enter refuses, and pays nothing")


def enter_in_each_place(person):
    person.forget()
    person.begin()
    person.alive()
    person.click("[name=arguments]")
    person.enter()
    for selector in ("button[value=yes]", "h2[tabindex]"):
        person.driver.run(f"document.querySelector(\"#waiting {selector}\").focus()")
        person.enter()
    time.sleep(0.5)
    assert person.payments() == [] and person.see("document.querySelector('form[data-decide]') !== null"), "Enter decided"
    person.stop()
    print("Enter in the arguments, on Yes and on the heading decides nothing")


def double_clicks(person):
    person.forget()
    person.begin()
    place = person.see("(() => { const e = document.querySelector('button[value=yes]'); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()")
    person.click_at(place)
    time.sleep(0.2)
    assert person.payments() == [], "a button of a new pause is dead"
    person.alive()
    person.click("button[value=yes]", 2)
    person.pauses("99999")
    person.wait("document.activeElement.tagName === 'H2'", "the heading of the second has the focus")
    for _ in range(4):
        if person.see("document.querySelector('button[value=yes]') !== null"):
            person.click("button[value=yes]", 2)
    assert [payment["amount"] for payment in person.payments()] == [20], person.payments()
    person.alive()
    person.click("button[value=no]")
    person.ends("completed")
    assert [payment["amount"] for payment in person.payments()] == [20], person.payments()
    print("a double click approves what was seen, and no more")


def moved_buttons_are_dead(person):
    """Two payments wait at once: the second form moves to the place of the first."""
    person.forget()
    TOGETHER.append(True)
    person.begin()
    person.wait("document.querySelectorAll('form[data-decide]').length === 2", "both wait")
    person.alive()
    place = "(() => { const e = document.querySelector('button[value=yes]'); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()"
    person.driver.run("document.querySelector('button[value=yes]').scrollIntoView({block: 'center'})")
    person.click_at(person.see(place))
    person.wait("document.querySelectorAll('form[data-decide]').length === 1", "one of them is decided")
    assert person.see("document.activeElement.tagName === 'H2'"), "the heading of the second has the focus"
    # A click of its own, and no double click.
    person.click_at(person.see(place))
    time.sleep(0.5)
    assert person.see("document.querySelector('[name=arguments]')?.value.includes('99999')"), "the second waits"
    # An edit of the one that waits stays, and a wrong one decides nothing.
    person.alive()
    person.replace("[name=arguments]", json.dumps({"account": "mine", "amount": 1}))
    person.click("button[value=yes]")
    person.wait("document.getElementById('message').innerText.includes('does not take that')", "the tool does not take it")
    assert "mine" in person.see("document.querySelector('[name=arguments]').value")
    assert person.payments() == [], "nothing runs until all is decided"
    person.click("[name=why]")
    person.write("too dear")
    person.enter()
    person.ends("completed")
    assert [payment["amount"] for payment in person.payments()] == [20], person.payments()
    TOGETHER.clear()
    print("buttons that move are dead, and an edit that the tool does not take stays")


def edits(person):
    person.forget()
    person.begin()
    shown = person.see("document.querySelector('[name=arguments]').value")
    assert str(ACCOUNT) in shown and "\\u202e" in shown, shown
    assert person.see("(() => { const a = document.querySelector('[name=arguments]'); return a.scrollHeight <= a.clientHeight + 4 })()"), "they stand whole"
    assert "Nobody has checked that" in person.see("document.getElementById('waiting').innerText"), "the hints of the server are shown"
    assert "Pay the rent." in person.see("document.querySelector('.conversation').innerText"), "the conversation stands beside them"
    person.alive()
    person.replace("[name=arguments]", '{"account": 1, ')
    person.click("button[value=yes]")
    person.wait("document.getElementById('message').innerText.includes('nothing is decided')", "it is refused")
    person.replace("[name=arguments]", '{"account": 123456789012345678901, "amount": 21}')
    person.click("button[value=yes]")
    person.wait("document.getElementById('message').innerText.includes('more digits')", "digits are not lost")
    assert person.payments() == []
    person.replace("[name=arguments]", json.dumps({"account": ACCOUNT + 2, "amount": 21}))
    assert person.see("document.querySelector('button[value=yes]').innerText") == "Yes, as edited"
    person.click("button[value=yes]")
    person.pauses("99999")
    assert person.payments() == [{"account": ACCOUNT + 2, "amount": 21}], person.payments()
    person.stop()
    print("an edit is taken with all digits, or refused")


def typing_goes_on(person):
    """A pause does not take the focus from who types."""
    person.forget()
    person.wait("document.querySelector('form[data-run] button:not([disabled])')", "it can be run")
    person.driver.run("document.querySelector('[data-name=question]').scrollIntoView({block: 'center'})")
    top = "document.querySelector('[data-name=question]').getBoundingClientRect().top"
    before = person.see(top)
    person.driver.run("document.querySelector('form[data-run]').requestSubmit(); document.querySelector('[data-name=question]').focus({preventScroll: true})")
    person.write("typed ")
    person.pauses("20")
    person.write("on")
    assert abs(person.see(top) - before) < 2, f"the field stays in its place: {before}, {person.see(top)}"
    assert person.see("document.activeElement.dataset.name") == "question"
    assert "typed on" in person.see("document.querySelector('[data-name=question]').value")
    person.wait("document.title.startsWith('waits for you')", "the title says it")
    seen = person.see("(() => { const r = document.getElementById('now').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && document.getElementById('now').innerText })()")
    assert "waits for you" in seen, seen
    person.driver.run("scrollTo(0, document.body.scrollHeight)")
    assert person.see("document.getElementById('now').getBoundingClientRect().top >= 0"), "it is there wherever the page is scrolled"
    person.stop()
    assert "stopped" in person.see("document.title"), person.see("document.title")
    print("who types goes on typing, and sees that the run waits")


def two_tabs(person, url):
    driver = person.driver
    person.forget()
    person.begin()
    first = driver.call("GET", f"{driver.session}/window")
    second = driver.call("POST", f"{driver.session}/window/new", {"type": "tab"})["handle"]
    driver.call("POST", f"{driver.session}/window", {"handle": second})
    driver.open(url)
    person.pauses("20")
    person.alive()
    person.click("button[value=yes]")
    person.pauses("99999")
    driver.call("POST", f"{driver.session}/window", {"handle": first})
    person.pauses("99999")
    assert [payment["amount"] for payment in person.payments()] == [20], person.payments()
    person.stop()
    driver.call("POST", f"{driver.session}/window", {"handle": second})
    driver.call("DELETE", f"{driver.session}/window")
    driver.call("POST", f"{driver.session}/window", {"handle": first})
    print("two tabs show the same")


def ten_runs(person):
    """Each with a question of its own; the result of the fourth is found again."""
    for run in range(10):
        person.wait("document.querySelector('form[data-run] button:not([disabled])')", "it can be run")
        person.replace("[data-name=question]", f"Question {run}")
        person.click("form[data-run] button")
        person.pauses("20")
        person.alive()
        person.click("[name=why]")
        person.write(f"reason {run}")
        person.enter()
        person.ends("completed")
        person.wait(f"document.getElementById('outcome').innerText.includes('reason {run}')", "its result is there")
    row = person.see("[...document.querySelectorAll('#history tr')].find((row) => row.innerText.includes('Question 4')).querySelector('a[data-show]').dataset.show")
    person.click(f"a[data-show='{row}']")
    person.wait(f"document.getElementById('shown').innerText === 'The page of run {row}'", "it is said which")
    person.wait("(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight / 2 })()", "the page is in sight")
    frame = person.driver.call("POST", f"{person.driver.session}/element", {"using": "css selector", "value": "iframe"})
    person.driver.call("POST", f"{person.driver.session}/frame", {"id": frame})
    person.wait("document.body.innerText.includes('Refused: not allowed: reason 4')", "the result of the fourth is shown")
    person.driver.call("POST", f"{person.driver.session}/frame", {"id": None})
    print("the result of one of ten runs is found")


CONTRAST = """
const number = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
const behind = (e) => { for (; e; e = e.parentElement) { const c = number(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
const poor = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest('svg') || e.disabled) continue;
  const [a, b] = [light(number(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(e.tagName + ' ' + e.textContent.trim().slice(0, 40) + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
}
const nameless = [...document.querySelectorAll('input, textarea, select, button')].filter((e) => !(e.labels?.length || e.innerText?.trim())).map((e) => e.outerHTML);
return [poor, nameless, document.documentElement.scrollWidth - innerWidth];
"""


def looks(person, url, folder, name):
    for width in (1280, 390):
        for dark in (False, True):
            person.driver.window(width, 900, dark)
            person.driver.open("about:blank")
            person.driver.open(url)
            person.wait("document.querySelector('#waiting form, #outcome section')", "it is there")
            time.sleep(1.2)
            poor, nameless, wide = person.driver.run(CONTRAST)
            assert not poor and not nameless and wide <= 0, (width, dark, poor, nameless, wide)
            person.driver.screenshot(f"{folder}/decide-{name}-{width}-{'dark' if dark else 'light'}.png")
    person.driver.window(1280, 900)
    person.driver.open("about:blank")
    person.driver.open(url)


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().split(")")[1].split()[0] != "Z"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as own:
        return [int(child) for child in own.read().split()]


def ends_with_its_children(command, environment):
    """Asked to end, or when its terminal is closed."""
    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, "closed"):
        if how == "closed":
            process, terminal = pty.fork()
            if process == 0:
                os.execve(command[0], command, environment)
            while b"#k=" not in os.read(terminal, 4096):
                pass
            started = children(process)
            os.close(terminal)
        else:
            server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
            process = server.pid
            server.stdout.readline()
            started = children(process)
            server.send_signal(how)
        assert started, "the server of the tool is a child"
        end = time.time() + 10
        while any(alive(pid) for pid in [process, *started]) and time.time() < end:
            time.sleep(0.05)
        assert not any(alive(pid) for pid in [process, *started]), how
    print("servers of tools end with the command, also when its terminal is closed")


def main(program, folder):
    file, paid = f"{folder}/payments.json", f"{folder}/paid.jsonl"
    with open(file, "w") as out:
        json.dump(GRAPH, out, indent=2)
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    variables = {"OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "sk-planted-11"}
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["rm", "-rf", f"{folder}/.llmnode"], check=True)
    command = [program, "serve", file, "--mcp", f"bank={sys.executable} {here}/bank.py {paid}"]
    ends_with_its_children([*command, "--runs", f"{folder}/ended"], {**os.environ, **variables})
    start = lambda: subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    server = start()
    driver = Driver()
    person = Person(driver, paid)
    try:
        url = server.stdout.readline().strip()
        driver.window(1280, 900)
        driver.open(url)
        refuses(person)
        looks(person, url, folder, "ended")
        enter_in_each_place(person)
        double_clicks(person)
        moved_buttons_are_dead(person)
        edits(person)
        typing_goes_on(person)
        two_tabs(person, url)
        ten_runs(person)
        looks(person, url, folder, "ten")
        person.forget()
        person.begin()
        looks(person, url, folder, "waits")
        # The terminal is closed while it waits; the run is there after a restart.
        started = children(server.pid)
        assert started, "the server of the tool is a child"
        server.send_signal(signal.SIGHUP)
        server.wait(15)
        assert not any(alive(pid) for pid in started), "the children end with the process"
        asked = len(ASKED)
        server = start()
        url = server.stdout.readline().strip()
        driver.open("about:blank")
        driver.open(url)
        person.pauses("20")
        rows = person.see("document.querySelectorAll('#history td:first-child').length")
        assert rows >= 5, f"{rows} runs are listed after a restart"
        person.alive()
        person.click("button[value=yes]")
        person.pauses("99999")
        assert [payment["amount"] for payment in person.payments()] == [20], person.payments()
        assert len(ASKED) == asked + 1, "what was asked before the restart is not asked again"
        person.alive()
        person.click("button[value=yes]")
        person.ends("completed")
        assert [payment["amount"] for payment in person.payments()] == [20, 99999]
        logged = [entry for entry in driver.logged() if not any(known in entry["message"] for known in ("favicon", "409", "net::"))]
        assert not logged, logged
    finally:
        driver.close()
        server.terminate()
    print(f"approvals by real keys and clicks; screenshots are in {folder}")


main(sys.argv[1], sys.argv[2])
