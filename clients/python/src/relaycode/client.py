"""The client for programs without ``asyncio``.

One thread reads what relay writes; functions that the program gave run on threads of their own, so they may call commands.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ._generated import RpcFrame as Frame
from ._generated import SyncCommands
from ._host import (
    MAX_STDERR_BYTES,
    Handler,
    HostMethods,
    HostState,
    answer_for,
    arguments_for,
    command_line,
    error_of,
)
from .errors import RelayClosed, RelayError

#: Seconds for relay to start, and to end.
START_SECONDS = 60.0
END_SECONDS = 30.0
#: Functions of the program's that run at once.
MAX_HANDLERS = 32


class RelayClient(HostMethods, SyncCommands):
    """relay's agent in a process of its own.

    ``args`` are options of ``relay rpc`` such as ``["--access", "read-only"]``; ``env`` replaces the environment. ``timeout`` is
    how long a command may take that is answered at once or soon.
    """

    def __init__(
        self,
        *,
        relay: str = "relay",
        cwd: Optional[str] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        timeout: float = 120.0,
    ) -> None:
        self._timeout = timeout
        self._host = HostState()
        self._lock = threading.Lock()
        # One of its own: what is being written may have to wait until relay's answers are read.
        self._write_lock = threading.Lock()
        self._sent = 0
        self._waiting: Dict[int, "Future[Any]"] = {}
        self._late: Dict[int, RelayError] = {}
        self._listeners: List["queue.SimpleQueue[Optional[Dict[str, Any]]]"] = []
        self._closed = False
        self._stderr = b""
        self._ready: "Future[Dict[str, Any]]" = Future()
        self._handlers = ThreadPoolExecutor(MAX_HANDLERS, "relaycode")
        self._process = subprocess.Popen(
            command_line(relay, args),
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._readers = [
            threading.Thread(target=work, name=f"relaycode-{name}", daemon=True)
            for name, work in (("out", self._read), ("err", self._read_stderr))
        ]
        for reader in self._readers:
            reader.start()
        try:
            #: The first frame: what session this is, and which version speaks.
            self.ready: Dict[str, Any] = self._ready.result(START_SECONDS)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "RelayClient":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> int:
        """Ends relay and whatever it runs; returns its exit code."""
        if self._process.stdin and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                pass
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        for reader in self._readers:
            reader.join(END_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        self._handlers.shutdown(wait=False)
        return code

    # Commands

    def call(self, command: str, params: Dict[str, Any]) -> Any:
        """Sends a command and waits for its answer; ``bash`` and ``compact`` may take as long as they take."""
        return self._call(command, params)[1]

    def _call(self, command: str, params: Dict[str, Any]) -> Any:
        answer: "Future[Any]" = Future()
        with self._lock:
            if self._closed:
                raise self._ended()
            self._sent += 1
            number = self._sent
            self._waiting[number] = answer
        self._send({"id": number, "type": command, **params})
        timeout = None if command in ("bash", "compact") else self._timeout
        try:
            return number, answer.result(timeout)
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def _send(self, line: Dict[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        stdin = self._process.stdin
        try:
            with self._write_lock:
                if stdin is None or stdin.closed:
                    raise self._ended()
                stdin.write(text.encode("utf-8", "surrogatepass"))
                stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None

    # Prompts

    def stream(self, message: str, **options: Any) -> Iterator[Frame]:
        """Lets the agent work on a prompt; gives every frame until it is done. Raises if it does not come to its end."""
        listener = self._listen()
        try:
            params = {"message": message, **{key: value for key, value in options.items() if value is not None}}
            number, data = self._call("prompt", params)
            while True:
                frame = listener.get()
                if frame is None:
                    raise self._ended()
                if frame["type"] == "late_failure":
                    if frame["id"] == number:
                        raise frame["error"]
                    continue
                if frame["type"] == "event" and frame["seq"] <= data["afterSeq"]:
                    continue
                yield frame  # type: ignore[misc]
                event = frame.get("event", {})
                if event.get("type") == "agent_end":
                    if event["reason"] == "done":
                        return
                    # The answer that says why comes with it.
                    continue
        finally:
            self._unlisten(listener)

    def run(self, message: str, **options: Any) -> str:
        """Lets the agent work on a prompt; its last answer."""
        for _ in self.stream(message, **options):
            pass
        return self.get_last_assistant_text()["text"] or ""

    def frames(self) -> Iterator[Frame]:
        """Every frame from now on that answers no command, until relay ends."""
        listener = self._listen()

        def follow() -> Iterator[Frame]:
            try:
                while True:
                    frame = listener.get()
                    if frame is None:
                        return
                    if frame["type"] != "late_failure":
                        yield frame  # type: ignore[misc]
            finally:
                self._unlisten(listener)

        return follow()

    # What the program brings

    def add_tool(
        self,
        name: str,
        description: str,
        parameters: Dict[str, Any],
        handler: Handler,
        *,
        read_only: Optional[bool] = None,
        timeout_ms: Optional[int] = None,
    ) -> List[str]:
        """A tool that this program runs: ``handler(arguments, call)`` gives a text or ``{"content": …}``."""
        options = {"readOnly": read_only, "timeoutMs": timeout_ms}
        tools = self._host.set_tool(name, description, parameters, handler, options)
        return list(self.set_host_tools(tools)["tools"])  # type: ignore[arg-type]

    # What relay writes

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            for line in stdout:
                frame = json.loads(line)
                self._take(frame)
        except (OSError, ValueError):
            pass
        with self._lock:
            self._closed = True
            waiting, self._waiting = list(self._waiting.values()), {}
            listeners = list(self._listeners)
        self._process.wait()
        # What it said last is why.
        self._readers[1].join(END_SECONDS)
        for answer in waiting:
            if not answer.done():
                answer.set_exception(self._ended())
        if not self._ready.done():
            self._ready.set_exception(self._ended())
        for listener in listeners:
            listener.put(None)

    def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        try:
            for line in stderr:
                self._stderr = (self._stderr + line)[-MAX_STDERR_BYTES:]
        except (OSError, ValueError):
            pass

    def _take(self, frame: Dict[str, Any]) -> None:
        kind = frame.get("type")
        if kind == "ready":
            self._ready.set_result(frame)
            return
        if kind == "response":
            self._take_response(frame)
            return
        if kind in ("host_tool_cancel", "host_uri_cancel"):
            self._host.cancel(frame["id"])
        handler = self._host.handler_for(frame)
        if handler is not None:
            self._handlers.submit(self._answer, frame, handler)
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.put(frame)

    def _take_response(self, frame: Dict[str, Any]) -> None:
        number = frame.get("id")
        with self._lock:
            answer = self._waiting.get(number) if isinstance(number, int) else None
            listeners = list(self._listeners)
        if answer is not None and not answer.done():
            if frame["success"]:
                answer.set_result(frame.get("data"))
            else:
                answer.set_exception(error_of(frame))
        elif not frame["success"]:
            late = {"type": "late_failure", "id": number, "error": error_of(frame)}
            for listener in listeners:
                listener.put(late)

    def _answer(self, frame: Dict[str, Any], handler: Handler) -> None:
        def update(request_id: str, text: str) -> None:
            self._send({"type": "host_tool_update", "id": request_id, "text": text})

        result, error = None, None
        try:
            result = handler(*arguments_for(frame, self._host, update))
        except Exception as caught:  # noqa: BLE001 - the model is told
            error = caught
        self._host.calls.pop(frame.get("id", ""), None)
        answer = answer_for(frame, result, error)
        if answer is not None:
            try:
                self._send(answer)
            except RelayClosed:
                pass

    def _listen(self) -> "queue.SimpleQueue[Optional[Dict[str, Any]]]":
        listener: "queue.SimpleQueue[Optional[Dict[str, Any]]]" = queue.SimpleQueue()
        with self._lock:
            if self._closed:
                listener.put(None)
            self._listeners.append(listener)
        return listener

    def _unlisten(self, listener: "queue.SimpleQueue[Optional[Dict[str, Any]]]") -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def _ended(self) -> RelayClosed:
        return RelayClosed(self._process.poll(), self._stderr.decode("utf-8", "replace"))
