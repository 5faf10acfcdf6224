"""What both clients share: how the program answers what relay asks it."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence

from .errors import RelayError

#: Bytes of a line of relay's: the largest is an answer with images.
MAX_LINE_BYTES = 64 << 20
#: Bytes of relay's standard error that are kept.
MAX_STDERR_BYTES = 64 << 10

#: What may have to be awaited.
Handler = Callable[..., Any]


class ToolCall:
    """A call that runs: ``update`` tells what the tool prints, ``cancelled`` says that nobody waits any more."""

    def __init__(self, frame: Dict[str, Any], update: Callable[[str], Any]) -> None:
        self.id: str = frame["id"]
        self.tool_call_id: str = frame["toolCallId"]
        self.tool_name: str = frame["toolName"]
        self.timeout_ms: int = frame["timeoutMs"]
        self.cancelled = False
        self.update = update


class HostState:
    """The functions that a program gave for what relay asks."""

    def __init__(self) -> None:
        self.specs: Dict[str, Dict[str, Any]] = {}
        self.tools: Dict[str, Handler] = {}
        self.readers: Dict[str, Handler] = {}
        self.writers: Dict[str, Handler] = {}
        self.hook: Optional[Handler] = None
        self.question: Optional[Handler] = None
        self.gate: Optional[Handler] = None
        self.calls: Dict[str, ToolCall] = {}

    def set_tool(
        self, name: str, description: str, parameters: Dict[str, Any], handler: Handler, options: Dict[str, Any]
    ) -> List[Dict[str, Any]]:
        spec = {"name": name, "description": description, "parameters": parameters}
        spec.update({key: value for key, value in options.items() if value is not None})
        self.specs[name] = spec
        self.tools[name] = handler
        return list(self.specs.values())

    def set_files(self, scheme: str, read: Handler, write: Optional[Handler]) -> List[Dict[str, Any]]:
        self.readers[scheme] = read
        if write is not None:
            self.writers[scheme] = write
        return [{"scheme": known, "writable": known in self.writers} for known in self.readers]

    def handler_for(self, frame: Dict[str, Any]) -> Optional[Handler]:
        """Who answers a frame; ``None``: nobody."""
        kind = frame["type"]
        if kind == "host_tool_call":
            return self.tools.get(frame["toolName"])
        if kind == "host_uri_request":
            scheme = frame["url"].split("://", 1)[0]
            return (self.readers if frame["operation"] == "read" else self.writers).get(scheme)
        if kind == "hook_request":
            return self.hook
        if kind == "workflow_gate":
            return self.gate
        if kind == "event" and frame["event"]["type"] == "question_asked":
            return self.question
        return None

    def cancel(self, request_id: str) -> None:
        call = self.calls.get(request_id)
        if call is not None:
            call.cancelled = True


class HostMethods:
    """What a program gives: the same for both clients. With ``AsyncRelayClient``, each is awaited."""

    _host: HostState
    set_host_uri_schemes: Callable[..., Any]
    set_hooks: Callable[..., Any]
    set_attended: Callable[..., Any]

    def serve_files(self, scheme: str, read: Handler, write: Optional[Handler] = None) -> Any:
        """Files under ``scheme://``: ``read(url)`` gives the text, ``write(url, text)`` takes it."""
        return self.set_host_uri_schemes(self._host.set_files(scheme, read, write))

    def on_hook(self, hooks: Sequence[str], handler: Handler, *, timeout_ms: Optional[int] = None) -> Any:
        """``handler(hook, data)`` says whether it may happen: true, false, or ``None`` for the default; before a conversation is
        summed up (``session_before_compact``) also a text, which is taken as the summary."""
        self._host.hook = handler
        return self.set_hooks(list(hooks), timeout_ms=timeout_ms)

    def on_question(self, handler: Handler, *, timeout_ms: Optional[int] = None) -> Any:
        """``handler(question)`` gives the place of an option, a list of places, a text, or ``None`` for the default."""
        self._host.question = handler
        return self.set_attended(True, timeout_ms=timeout_ms)

    def on_gate(self, handler: Handler, *, timeout_ms: Optional[int] = None) -> Any:
        """``handler(gate)`` gives an answer that follows the gate's schema, or ``None``: then nothing is approved."""
        self._host.gate = handler
        return self.set_attended(True, timeout_ms=timeout_ms)


def arguments_for(frame: Dict[str, Any], state: HostState, update: Callable[[str, str], Any]) -> List[Any]:
    """What a function of the program's is called with."""
    kind = frame["type"]
    if kind == "host_tool_call":
        call = ToolCall(frame, lambda text: update(frame["id"], text))
        state.calls[call.id] = call
        return [frame["arguments"], call]
    if kind == "host_uri_request":
        return [frame["url"]] if frame["operation"] == "read" else [frame["url"], frame.get("content", "")]
    if kind == "hook_request":
        return [frame["hook"], frame["data"]]
    if kind == "workflow_gate":
        return [frame]
    return [frame["event"]["question"]]


def answer_for(frame: Dict[str, Any], result: Any, error: Optional[BaseException]) -> Optional[Dict[str, Any]]:
    """The line that answers a frame; ``None``: it is left to its deadline and its default."""
    kind = frame["type"]
    if kind == "host_tool_call":
        if error is not None:
            return {"type": "host_tool_result", "id": frame["id"], "content": str(error), "isError": True}
        if isinstance(result, dict) and "content" in result:
            return {"type": "host_tool_result", "id": frame["id"], **result}
        return {"type": "host_tool_result", "id": frame["id"], "content": "" if result is None else str(result)}
    if kind == "host_uri_request":
        content = str(error) if error is not None else ("" if result is None else str(result))
        return {"type": "host_uri_result", "id": frame["id"], "content": content, "isError": error is not None}
    if error is not None or result is None:
        return None
    answer: Dict[str, Any]
    if kind == "hook_request":
        answer = {"type": "hook_result", "id": frame["id"], "action": "continue" if result is True else "cancel"}
        if isinstance(result, str):
            answer.update(action="continue", summary=result)
        return answer
    if kind == "workflow_gate":
        return {"type": "workflow_gate_response", "id": None, "gate_id": frame["gate_id"], "answer": result}
    question = frame["event"]["question"]
    answer = {"type": "answer_question", "id": None, "questionId": question["id"]}
    if isinstance(result, str):
        answer["text"] = result
    elif isinstance(result, bool):
        answer["stop"] = True
    else:
        answer["chosen"] = [result] if isinstance(result, int) else list(result)
    return answer


def error_of(frame: Dict[str, Any]) -> RelayError:
    error = frame.get("error") or {}
    return RelayError(
        error.get("code", "internal"), error.get("message", ""), error.get("details"), frame.get("command", "")
    )


def is_coroutine(value: Any) -> bool:
    return inspect.isawaitable(value)


def command_line(relay: str, args: Any) -> List[str]:
    return [relay, "rpc", *args]
