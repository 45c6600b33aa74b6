"""Drives headless Chromium through its debugging pipe: JSON messages that end in a zero byte, on
two file descriptors. Needs the browser and nothing else."""

import json
import os
import select
import shutil
import time

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
          "--no-first-run", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars")


class Page:
    """One tab, which records what its pages complain of and what they ask for."""

    def __init__(self, profile):
        commands, self._in = os.pipe()
        self._out, answers = os.pipe()
        # The browser reads descriptor 3 and writes 4, which here may be other files.
        high = [os.dup2(fd, 200 + i, inheritable=False) for i, fd in enumerate((commands, answers))]
        self._process = os.posix_spawn(
            BROWSER,
            [BROWSER, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            # A sanitizer's library is not for the browser, which would never answer.
            {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
            file_actions=[(os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4),
                          (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
        )
        for fd in (commands, answers, *high):
            os.close(fd)
        self._count = 0
        self._buffer = b""
        self._session = None
        self.complaints = []  # of the console, and uncaught exceptions
        self.requests = []  # addresses
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self):
        os.close(self._in)
        os.close(self._out)
        os.waitpid(self._process, 0)

    def send(self, method, **params):
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _read(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._out], [], [], 240)
            assert ready, "the browser has not answered for four minutes"
            part = os.read(self._out, 1 << 16)
            assert part, "the browser ended"
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        params = message.get("params", {})
        kind = message.get("method")
        if kind == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"])
        elif kind == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"])
        elif kind == "Runtime.consoleAPICalled":
            if params["type"] in ("error", "warning", "assert"):
                self.complaints.append(params)
        elif kind == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        return message

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, script):
        deadline = time.monotonic() + 120
        while not self.run(script):
            assert time.monotonic() < deadline, f"never came true: {script}"
            time.sleep(0.01)

    def open(self, url):
        self.send("Page.navigate", url=url)
        self.wait_for(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def show_as(self, scheme="light", width=1200, height=900):
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def type(self, text):
        for letter in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def press(self, key):
        code = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "Escape": 27}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code)
