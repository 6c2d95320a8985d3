"""A browser for tests: Debian's Chromium without a window, driven over its DevTools pipe with nothing but the standard library."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

import pytest

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]


class Browser:
    """One page at a time.  Messages are JSON with a zero byte behind, to descriptor 3 of the browser and from its 4."""

    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # The pipes get numbers above 4 first, so that neither is closed by what puts them in place.
        ends = [os.dup2(end, 20 + k) for k, end in enumerate((to_read, back_write))]

        def place():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", f"--user-data-dir={profile}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_read, back_write, *ends):
            os.close(end)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready = select.select([self.back], [], [], max(end - time.monotonic(), 0))[0]
            assert ready, "the browser does not answer"
            piece = os.read(self.back, 1 << 20)
            assert piece, "the browser has ended"
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        text = json.dumps(asked).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            answer = self.message(60)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1280, height=900):
        """Loads the file and waits until it is there; what happens meanwhile is in `events`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events = []
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message(60))

    def run(self, script):
        """What the expression is, in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def happened(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]

    def troubles(self):
        """Errors on the console, thrown, or logged."""
        return (self.happened("Runtime.exceptionThrown")
                + [said for said in self.happened("Runtime.consoleAPICalled") if said["type"] in ("error", "warning", "assert")]
                + [entry for entry in self.happened("Log.entryAdded") if entry["entry"]["level"] in ("error", "warning")])

    def picture(self, scale=1):
        """The whole page as PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": scale}
        shot = self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def screenshot(self, path):
        path.write_bytes(self.picture())

    def press(self, key, code=None):
        numbers = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
                   "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=numbers[key])

    def close(self):
        os.close(self.to)
        os.close(self.back)
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if not program:
        pytest.skip("no Chromium: scripts/setup installs chromium-headless-shell")
    started = Browser(program, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()
