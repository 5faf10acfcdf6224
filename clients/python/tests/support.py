"""What the tests start from: a project, a user's directory, a scripted model.

``RELAY_BINARY`` is the program, ``RELAY_SCRIPTED_MODEL_URL`` the address of a ``relay-scripted-model``.
"""

import json
import os
import sys
import tempfile
import threading
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))

from relaycode import AsyncRelayClient, RelayClient  # noqa: E402

BINARY = os.environ.get("RELAY_BINARY", "relay")
MODEL_URL = os.environ.get("RELAY_SCRIPTED_MODEL_URL", "")

MODELS = """providers:
  work:
    baseUrl: {url}
    api: anthropic-messages
    apiKey: sk-test-0123456789
    models:
      - {{id: m1, reasoning: true, input: [text, image], contextWindow: {window}, maxTokens: 4000, cost: {{input: 3, output: 15}}}}
      - {{id: m2, contextWindow: {larger}, maxTokens: 4000, cost: {{input: 3, output: 15}}}}
roles: {{default: work/m1}}
"""
RETRY = "retry: {maxRetries: 1, baseDelayMs: 1, requestMaxRetries: 1, streamMaxRetries: 0}\n"


def text(words):
    return {"text": words}


def call(name, **arguments):
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def request(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(MODEL_URL + path, data=data), timeout=30) as answer:
        return json.loads(answer.read() or b"null")


#: What was sent and told in all tests, for the last one.
CALLED = set()
SEEN = set()


class NotingClient(RelayClient):
    def _send(self, line):
        CALLED.add(line["type"])
        super()._send(line)

    def _take(self, frame):
        if frame["type"] == "event":
            SEEN.add(frame["event"]["type"])
        super()._take(frame)


class NotingAsyncClient(AsyncRelayClient):
    async def _send(self, line):
        CALLED.add(line["type"])
        await super()._send(line)


class RelayCase(unittest.TestCase):
    """Each test has a project and a user of its own."""

    def setUp(self):
        if not MODEL_URL:
            self.skipTest("RELAY_SCRIPTED_MODEL_URL names no scripted model")
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        root = os.path.realpath(self.directory.name)
        self.project, self.home = os.path.join(root, "project"), os.path.join(root, "home")
        os.mkdir(self.project)
        os.mkdir(self.home)
        self.put("a.txt", "one\ntwo\n")
        self.models(RETRY)

    def put(self, name, content):
        path = os.path.join(self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def read(self, name):
        with open(os.path.join(self.project, name), encoding="utf-8") as file:
            return file.read()

    def models(self, more, window=32_000, promotes=False):
        file_text = MODELS.format(url=MODEL_URL, window=window, larger=10 * window if promotes else window)
        if promotes:
            file_text = file_text.replace("{id: m1,", "{id: m1, contextPromotionTarget: m2,")
        with open(os.path.join(self.home, "models.yml"), "w", encoding="utf-8") as file:
            file.write(file_text + more)

    def config(self, content):
        with open(os.path.join(self.home, "config.yml"), "w", encoding="utf-8") as file:
            file.write(content)

    def script(self, *turns, **more):
        request("/__relay/reset", {"consume": "any", "turns": list(turns), **more})

    def sent(self):
        """The bodies of the requests that the model got."""
        asked = [one for one in request("/__relay/requests") if one["path"].endswith("/messages")]
        return [json.dumps(one["body"]) for one in asked]

    def options(self, *args):
        env = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TMPDIR": self.directory.name, "RELAY_HOME": self.home}
        return {"relay": BINARY, "cwd": self.project, "args": list(args), "env": env}


class Frames:
    """Keeps every frame, and waits for one."""

    def __init__(self, client):
        self.seen = []
        self.bell = threading.Condition()
        frames = client.frames()
        threading.Thread(target=self._follow, args=(frames,), daemon=True).start()

    def _follow(self, frames):
        for frame in frames:
            with self.bell:
                self.seen.append(frame)
                self.bell.notify_all()

    def wait(self, is_it, what="a frame"):
        with self.bell:
            found = self.bell.wait_for(lambda: next((f for f in self.seen if is_it(f)), None), 60)
            assert found, f"{what} did not come"
            return found

    def event(self, kind):
        return self.wait(lambda f: f["type"] == "event" and f["event"]["type"] == kind, kind)["event"]

    def frame(self, kind):
        return self.wait(lambda f: f["type"] == kind, kind)

    def events(self):
        with self.bell:
            return [frame["event"]["type"] for frame in self.seen if frame["type"] == "event"]
