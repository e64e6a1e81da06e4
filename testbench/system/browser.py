"""A headless Chromium, driven over a pipe by the DevTools protocol: pages, scripts in them, keys, screenshots."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def program():
    """The browser of this machine, None without one; RNIC_BROWSER names another."""
    return os.environ.get("RNIC_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    pass


class Browser:
    """One page at a time. `problems` has the errors that the console, the network or exceptions have reported since open()."""

    def __init__(self, width=1280, height=900, patience_s=600):
        self.patience_s = patience_s
        self.profile = tempfile.TemporaryDirectory(prefix="report_browser", ignore_cleanup_errors=True)
        (read, their_write), (their_read, write) = os.pipe(), os.pipe()
        self.read, self.write = read, write

        def take_pipes():  # the browser reads from 3 and writes to 4; neither end may be overwritten while it is needed
            ends = os.dup(their_read), os.dup(their_write)
            low = [os.dup(end) for end in ends] if min(ends) < 5 else ends
            os.dup2(low[0], 3)
            os.dup2(low[1], 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             "--force-color-profile=srgb", "--lang=en", f"--window-size={width},{height}",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=take_pipes)
        os.close(their_read)
        os.close(their_write)
        self.buffer, self.last_id, self.session = b"", 0, None
        self.events, self.problems = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.profile.cleanup()

    def _message(self, end):
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise BrowserError("the browser does not answer")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise BrowserError("the browser has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def _take(self, message):
        """An event: problems of the page are kept, other events only by name."""
        method, parameters = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.problems.append(f"request to {url}")

    def call(self, method, **parameters):
        self.last_id += 1
        request = {"id": self.last_id, "method": method, "params": parameters}
        if self.session is not None:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + self.patience_s
        while True:
            message = self._message(end)
            if message.get("id") != self.last_id:
                self._take(message)
            elif "error" in message:
                raise BrowserError(f"{method}: {message['error']['message']}")
            else:
                return message["result"]

    def open(self, path):
        self.events, self.problems = [], []
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        end = time.monotonic() + self.patience_s
        while "Page.loadEventFired" not in self.events:
            self._take(self._message(end))

    def open_report(self, path):
        """A page of rnicsim report, which unpacks its data after it has loaded."""
        self.open(path)
        self.wait_for("'shown' in document.documentElement.dataset || document.querySelector('main > .bad') !== null")

    def run(self, expression):
        """The value of a JavaScript expression; waits for a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            raise BrowserError(result["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return result["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + self.patience_s
        while not (value := self.run(expression)):
            if time.monotonic() > end:
                raise BrowserError(f"never true: {expression}")
            time.sleep(0.05)
        return value

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, scheme="light", medium=""):
        self.call("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def settle(self):
        """Waits until pending changes are drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")

    def key(self, name, text=None):
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35}.get(name, ord(name[0]))
        key = {"key": name, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path, whole=True):
        result = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                           **({"clip": self._whole_page()} if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(result["data"]))

    def _whole_page(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def print_pdf(self, path):
        result = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(result["data"]))
