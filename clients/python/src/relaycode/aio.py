"""The client for programs with ``asyncio``. Functions that the program gives may be coroutines."""

from __future__ import annotations

import asyncio
import json
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Set

from ._generated import AsyncCommands
from ._generated import RpcFrame as Frame
from ._host import (
    MAX_LINE_BYTES,
    MAX_STDERR_BYTES,
    Handler,
    HostMethods,
    HostState,
    answer_for,
    arguments_for,
    command_line,
    error_of,
    is_coroutine,
)
from .client import END_SECONDS, START_SECONDS
from .errors import RelayClosed


class AsyncRelayClient(HostMethods, AsyncCommands):
    """relay's agent in a process of its own: ``async with AsyncRelayClient(cwd=…) as relay``."""

    def __init__(
        self,
        *,
        relay: str = "relay",
        cwd: Optional[str] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        timeout: float = 120.0,
    ) -> None:
        self._command = command_line(relay, args)
        self._cwd = cwd
        self._env = None if env is None else dict(env)
        self._timeout = timeout
        self._host = HostState()
        self._sent = 0
        self._waiting: Dict[int, "asyncio.Future[Any]"] = {}
        self._listeners: List[Any] = []
        self._tasks: Set["asyncio.Task[Any]"] = set()
        self._closed = False
        self._stderr = b""
        #: Made with the loop; several tasks may not wait for the pipe at once.
        self._write_lock: Optional[asyncio.Lock] = None
        self._process: Optional[asyncio.subprocess.Process] = None
        #: The first frame: what session this is, and which version speaks.
        self.ready: Dict[str, Any] = {}

    async def __aenter__(self) -> "AsyncRelayClient":
        await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._cwd,
            env=self._env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_LINE_BYTES,
        )
        self._write_lock = asyncio.Lock()
        self._ready: "asyncio.Future[Dict[str, Any]]" = asyncio.get_running_loop().create_future()
        said = self._spawn(self._read_stderr())
        self._spawn(self._read(said))
        try:
            self.ready = await asyncio.wait_for(self._ready, START_SECONDS)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> Optional[int]:
        """Ends relay and whatever it runs; returns its exit code."""
        process = self._process
        if process is None:
            return None
        if process.stdin is not None:
            process.stdin.close()
        try:
            code = await asyncio.wait_for(process.wait(), END_SECONDS)
        except asyncio.TimeoutError:
            process.kill()
            code = await process.wait()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)
        return code

    # Commands

    async def call(self, command: str, params: Dict[str, Any]) -> Any:
        """Sends a command and waits for its answer; ``bash`` and ``compact`` may take as long as they take."""
        return (await self._call(command, params))[1]

    async def _call(self, command: str, params: Dict[str, Any]) -> Any:
        if self._closed:
            raise self._ended()
        self._sent += 1
        number = self._sent
        answer: "asyncio.Future[Any]" = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._send({"id": number, "type": command, **params})
            timeout = None if command in ("bash", "compact") else self._timeout
            return number, await asyncio.wait_for(answer, timeout)
        finally:
            self._waiting.pop(number, None)

    async def _send(self, line: Dict[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        if self._process is None or self._process.stdin is None or self._write_lock is None:
            raise self._ended()
        try:
            async with self._write_lock:
                self._process.stdin.write(text.encode("utf-8", "surrogatepass"))
                await self._process.stdin.drain()
        except (OSError, RuntimeError):
            raise self._ended() from None

    # Prompts

    async def stream(self, message: str, **options: Any) -> AsyncIterator[Frame]:
        """Lets the agent work on a prompt; gives every frame until it is done. Raises if it does not come to its end."""
        listener = self._listen()
        try:
            params = {"message": message, **{key: value for key, value in options.items() if value is not None}}
            number, data = await self._call("prompt", params)
            while True:
                frame = await listener.get()
                if frame is None:
                    raise self._ended()
                if frame["type"] == "late_failure":
                    if frame["id"] == number:
                        raise frame["error"]
                    continue
                if frame["type"] == "event" and frame["seq"] <= data["afterSeq"]:
                    continue
                yield frame
                event = frame.get("event", {})
                if event.get("type") == "agent_end" and event["reason"] == "done":
                    return
        finally:
            self._unlisten(listener)

    async def run(self, message: str, **options: Any) -> str:
        """Lets the agent work on a prompt; its last answer."""
        async for _ in self.stream(message, **options):
            pass
        return (await self.get_last_assistant_text())["text"] or ""

    def frames(self) -> AsyncIterator[Frame]:
        """Every frame from now on that answers no command, until relay ends."""
        listener = self._listen()

        async def follow() -> AsyncIterator[Frame]:
            try:
                while True:
                    frame = await listener.get()
                    if frame is None:
                        return
                    if frame["type"] != "late_failure":
                        yield frame
            finally:
                self._unlisten(listener)

        return follow()

    # What the program brings

    async def add_tool(
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
        return list((await self.set_host_tools(tools))["tools"])  # type: ignore[arg-type]

    # What relay writes

    async def _read(self, said: "asyncio.Task[Any]") -> None:
        assert self._process is not None and self._process.stdout is not None
        try:
            while True:
                line = await self._process.stdout.readline()
                if not line:
                    break
                self._take(json.loads(line))
        except (OSError, ValueError):
            pass
        self._closed = True
        await self._process.wait()
        # What it said last is why.
        await asyncio.wait([said], timeout=END_SECONDS)
        for answer in list(self._waiting.values()):
            if not answer.done():
                answer.set_exception(self._ended())
        if not self._ready.done():
            self._ready.set_exception(self._ended())
        for listener in list(self._listeners):
            listener.put_nowait(None)

    async def _read_stderr(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        while True:
            chunk = await self._process.stderr.read(4096)
            if not chunk:
                return
            self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]

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
            self._spawn(self._answer(frame, handler))
        for listener in list(self._listeners):
            listener.put_nowait(frame)

    def _take_response(self, frame: Dict[str, Any]) -> None:
        answer = self._waiting.get(frame.get("id"))  # type: ignore[arg-type]
        if answer is not None and not answer.done():
            if frame["success"]:
                answer.set_result(frame.get("data"))
            else:
                answer.set_exception(error_of(frame))
        elif not frame["success"]:
            late = {"type": "late_failure", "id": frame.get("id"), "error": error_of(frame)}
            for listener in list(self._listeners):
                listener.put_nowait(late)

    async def _answer(self, frame: Dict[str, Any], handler: Handler) -> None:
        def update(request_id: str, text: str) -> Any:
            return self._spawn(self._send({"type": "host_tool_update", "id": request_id, "text": text}))

        result, error = None, None
        try:
            result = handler(*arguments_for(frame, self._host, update))
            if is_coroutine(result):
                result = await result
        except Exception as caught:  # noqa: BLE001 - the model is told
            error = caught
        self._host.calls.pop(frame.get("id", ""), None)
        answer = answer_for(frame, result, error)
        if answer is not None:
            try:
                await self._send(answer)
            except RelayClosed:
                pass

    def _spawn(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _listen(self) -> Any:
        listener: Any = asyncio.Queue()
        if self._closed:
            listener.put_nowait(None)
        self._listeners.append(listener)
        return listener

    def _unlisten(self, listener: Any) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _ended(self) -> RelayClosed:
        code = None if self._process is None else self._process.returncode
        return RelayClosed(code, self._stderr.decode("utf-8", "replace"))
