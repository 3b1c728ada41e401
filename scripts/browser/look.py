"""Pages of runs in Chromium, by WebDriver: scripts/browser-pages."""

import base64
import glob
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

INJECTED = "<script>document.title='ran'</script>"


class Driver:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["chromedriver", f"--port={self.port}", "--log-level=SEVERE"])
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        arguments = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
        options = {"args": arguments, "binary": "/usr/bin/chromium"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def command(self, name, parameters):
        return self.call("POST", f"{self.session}/goog/cdp/execute", {"cmd": name, "params": parameters})

    def window(self, width, height, dark=False):
        self.command("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", {"features": [scheme]})

    def open(self, url):
        self.call("POST", f"{self.session}/url", {"url": url})

    def run(self, script):
        return self.call("POST", f"{self.session}/execute/sync", {"script": script, "args": []})

    def logged(self):
        return self.call("POST", f"{self.session}/se/log", {"type": "browser"})

    def screenshot(self, file):
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return innerWidth")
        self.command("Emulation.setDeviceMetricsOverride", {"width": width, "height": min(height, 4000), "deviceScaleFactor": 1, "mobile": False})
        with open(file, "wb") as png:
            png.write(base64.b64decode(self.call("GET", f"{self.session}/screenshot")))

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.process.terminate()


def serve(folder):
    """Over HTTP every further request is seen, also one for a file."""
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def do_GET(self):
            requests.append(self.path)
            super().do_GET()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", requests


def look(driver, url, name, folder, requests):
    requests.clear()
    driver.window(1280, 900)
    driver.open(f"{url}/{name}.html")
    title = driver.run("return document.title")
    assert title.endswith("– llmnode"), title
    found = driver.run(
        "return [document.scripts.length, document.querySelectorAll('[style],[src],link,iframe,form').length,"
        " performance.getEntriesByType('resource').length, document.querySelectorAll('h1').length,"
        " getComputedStyle(document.querySelector('h1')).fontSize]"
    )
    assert found == [0, 0, 0, 1, "28px"], f"scripts, foreign parts, requests, headings, size: {found}"
    driver.run("const s = document.createElement('script'); s.textContent = \"document.title = 'ran'\"; document.body.append(s);")
    assert driver.run("return document.title") == title, "a script ran"
    refused = [entry for entry in driver.logged() if "Content Security Policy" in entry["message"]]
    assert len(refused) == 1, "the policy refuses the script that the test adds, and nothing else"
    driver.open(f"{url}/{name}.html")
    logged = [entry for entry in driver.logged() if "favicon" not in entry["message"]]
    assert not logged, logged
    asked = [path for path in requests if path != "/favicon.ico"]
    # The second time it may come from the cache.
    assert set(asked) == {f"/{name}.html"}, asked
    # A call that is closed, behind a link of the chart.
    opened = driver.run(
        "const link = [...document.querySelectorAll('.row a')].find(a => !document.querySelector(a.hash).closest('details').open);"
        " if (!link) return null; location.hash = link.hash; return link.hash"
    )
    if opened:
        time.sleep(0.3)
        assert driver.run(f"return document.querySelector('{opened}').closest('details').open"), f"{opened} stays closed"
    for width, dark in [(1280, False), (1280, True), (360, False)]:
        driver.window(width, 900, dark)
        driver.open(f"{url}/{name}.html")
        wide = driver.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide in a window of {width}"
        driver.screenshot(f"{folder}/{name}-{width}{'-dark' if dark else ''}.png")
    return len(driver.run("return document.body.innerText"))


def main(folder):
    names = sorted(os.path.basename(file)[:-5] for file in glob.glob(f"{folder}/*.html"))
    assert len(names) >= 8, names
    url, requests = serve(folder)
    driver = Driver()
    try:
        for name in names:
            print(f"{name}: {look(driver, url, name, folder, requests)} characters, as they should be")
        driver.window(1280, 900)
        driver.open(f"{url}/injected.html")
        text = driver.run("return document.body.textContent")
        # The prompt, the answer, a tool's arguments and result, the node, the label.
        assert text.count(INJECTED) >= 6, text.count(INJECTED)
    finally:
        driver.close()
    print(f"{len(names)} pages; screenshots are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1])
