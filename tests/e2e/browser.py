"""A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): JSON messages, each with a NUL behind it."""

import base64
import fcntl
import itertools
import json
import os
import select
import subprocess
import time

import net


class Browser:
    """One page, in a namespace. `profile`: a folder of its own."""

    def __init__(self, namespace, chromium, profile):
        to_it, from_us = os.pipe()
        to_us, from_it = os.pipe()
        theirs = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_it, from_it)]  # not 3 or 4, which the protocol has
        for one in (to_it, from_it):
            os.close(one)
        self.reading, self.writing = to_us, from_us
        self.process = namespace.popen(
            "bash", "-c", f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}', "bash", chromium, "--headless", "--no-sandbox",
            "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank",
            pass_fds=theirs, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for one in theirs:
            os.close(one)
        self.buffer, self.numbers, self.session = b"", itertools.count(1), None
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]

    def close(self):
        os.close(self.writing)  # it ends with its pipe
        self.process.wait(30)
        os.close(self.reading)

    def receive(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.reading], [], [], left)[0], "the browser doesn't answer"
            got = os.read(self.reading, 1 << 20)
            assert got, "the browser has ended"
            self.buffer += got
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while (answer := self.receive(60)).get("id") != number:
            pass  # events
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        assert net.eventually(lambda: self.ask("location.href + ' ' + document.readyState") == url + " complete", 60)

    def ask(self, expression):
        """The value of a JavaScript expression."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def type(self, text):
        """Keys, into what has the focus."""
        for key in text:
            self.call("Input.dispatchKeyEvent", type="char", text=key)

    def resize(self, width, height, mobile):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1,
                  mobile=mobile)

    def shoot(self, path):
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))
