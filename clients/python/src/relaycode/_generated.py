"""The types and methods of the protocol. Written by `cargo xtask docs` from the code; change the code instead."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

PROTOCOL_VERSION = 1

class _ImageParam(TypedDict):
    data: str
    mimeType: str


class ImageParam(_ImageParam, total=False):
    type: Optional[str]


StreamingBehavior = Literal["steer", "followUp"]

class PromptData(TypedDict):
    """The answer to a prompt."""

    afterSeq: int
    queued: bool


class DoneData(TypedDict):
    """Whether there was something to do."""

    done: bool


StatePart = Literal["queue", "todos", "tools", "goal", "open"]

class _StateData(TypedDict):
    session_id: str
    sessionFile: str
    isStreaming: bool
    isRunningCommand: bool
    model: str
    thinkingLevel: str
    contextWindow: int
    contextTokens: int
    access: str
    cwd: str
    root: str
    lastSeq: int
    autoRetry: bool
    autoCompaction: bool
    isCompacting: bool
    isAttended: bool
    mode: str


class StateData(_StateData, total=False):
    sessionName: Optional[str]
    queue: Optional[QueueState]
    todos: Optional[List[TodoPhase]]
    goal: Optional[Goal]
    tools: Optional[List[str]]
    questions: Optional[List[AgentQuestion]]
    gates: Optional[List[OpenGateData]]


class QueueState(TypedDict):
    """What waits to be said, and how it will be."""

    steering: List[str]
    followUp: List[str]
    steeringMode: QueueMode
    followUpMode: QueueMode
    interruptMode: InterruptMode


QueueMode = Literal["one-at-a-time", "all"]

InterruptMode = Literal["immediate", "wait"]

class TodoPhase(TypedDict):
    """A part of what is to be done."""

    name: str
    tasks: List[TodoItem]


class _TodoItem(TypedDict):
    content: str


class TodoItem(_TodoItem, total=False):
    status: TodoStatus
    notes: List[str]


TodoStatus = Literal["pending", "in_progress", "completed", "abandoned"]

class _Goal(TypedDict):
    objective: str
    status: GoalStatus


class Goal(_Goal, total=False):
    """What the agent works towards."""

    evidence: Optional[str]


GoalStatus = Literal["complete", "dropped", "active", "paused"]

class _AgentQuestion(TypedDict):
    id: str
    toolCallId: str
    text: str


class AgentQuestion(_AgentQuestion, total=False):
    options: List[str]
    several: bool
    default: Optional[int]
    timeoutMs: Optional[int]
    freeText: bool
    about: Optional[QuestionAbout]


class _QuestionAboutPermission(TypedDict):
    kind: Literal["permission"]
    reason: str
    rule: str


class QuestionAboutPermission(_QuestionAboutPermission, total=False):
    """Whether something may be done: the first option is a yes for once, the last one a no."""

    command: Optional[str]
    always: Optional[str]


class QuestionAboutPlan(TypedDict):
    """Whether a plan is carried out."""

    kind: Literal["plan"]
    title: str


QuestionAbout = Union["QuestionAboutPermission", "QuestionAboutPlan"]

class OpenGateData(TypedDict):
    gate_id: str
    stage: str


class ReplayData(TypedDict):
    after: int
    lastSeq: int


class TodosData(TypedDict):
    phases: List[TodoPhase]


class MessagesData(TypedDict):
    messages: List[MessageData]
    total: int
    hasEarlier: bool
    hasLater: bool


class MessageData(TypedDict):
    entryId: str
    message: Dict[str, Any]


class LastTextData(TypedDict, total=False):
    text: Optional[str]


class SessionStatsData(TypedDict):
    session_id: str
    entries: int
    messages: int
    prompts: int
    answers: int
    toolCalls: int
    tokens: TokensData
    cost: float
    contextTokens: int
    contextWindow: int


class TokensData(TypedDict):
    input: int
    output: int
    cacheRead: int
    cacheWrite: int


class BranchMessagesData(TypedDict):
    messages: List[BranchMessageData]


class BranchMessageData(TypedDict):
    entryId: str
    text: str


class ExportData(TypedDict):
    path: str
    entries: int


class _SessionMoveData(TypedDict):
    session_id: str
    messages: int


class SessionMoveData(_SessionMoveData, total=False):
    """Where the conversation is now."""

    text: Optional[str]


NoData = Dict[str, Any]

class ModelsData(TypedDict):
    models: List[ModelData]


class ModelData(TypedDict):
    model: str
    provider: str
    id: str
    name: str
    contextWindow: int
    maxTokens: int
    reasoning: bool
    images: bool
    inputPrice: float
    outputPrice: float


class ChosenModelData(TypedDict):
    """What answers now."""

    model: ModelData
    thinkingLevel: str
    fromNextPrompt: bool


ThinkingName = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]

RpcMode = Literal["none", "plan"]

class ModeData(TypedDict):
    requested: bool


class PlanData(TypedDict):
    plan: str
    planFile: str
    digest: str


class GoalData(TypedDict):
    goal: Goal


GoalChange = Literal["pause", "resume", "drop"]

class _CompactData(TypedDict):
    requested: bool


class CompactData(_CompactData, total=False):
    action: Optional[CompactionAction]
    tokensBefore: Optional[int]
    tokensAfter: Optional[int]
    entryId: Optional[str]
    why: Optional[str]


CompactionAction = Literal[
    "pruned",
    "promoted",
    "summarized",
    "summarized_by_rule",
    "nothing",
    "aborted",
    "cancelled",
]

class _BashData(TypedDict):
    command: str
    output: str
    isError: bool
    cancelled: bool


class BashData(_BashData, total=False):
    exitCode: Optional[int]
    artifact: Optional[str]


class _ChangeStepData(TypedDict):
    title: str


class ChangeStepData(_ChangeStepData, total=False):
    """What was taken back or brought back."""

    id: Optional[str]
    next: Optional[str]


class _HostToolSpec(TypedDict):
    name: str
    description: str
    parameters: Any


class HostToolSpec(_HostToolSpec, total=False):
    """What a program can do for the model."""

    readOnly: bool
    timeoutMs: Optional[int]


class ToolNamesData(TypedDict):
    tools: List[str]


class _HostUriScheme(TypedDict):
    scheme: str


class HostUriScheme(_HostUriScheme, total=False):
    writable: bool


HookName = Literal["session_before_switch", "session_before_branch", "session_before_tree", "session_before_compact"]

HookAction = Literal["continue", "cancel"]

class GateReceiptAccepted(TypedDict):
    status: Literal["accepted"]


class GateReceiptRejected(TypedDict):
    """It does not follow the schema; the gate stays open."""

    status: Literal["rejected"]
    errors: List[str]


GateReceipt = Union["GateReceiptAccepted", "GateReceiptRejected"]

HostToolContent = Union[str, List["ContentPiece"]]

class ContentPieceText(TypedDict):
    type: Literal["text"]
    text: str


class ContentPieceImage(TypedDict):
    type: Literal["image"]
    data: str
    mimeType: str


ContentPiece = Union["ContentPieceText", "ContentPieceImage"]

class RpcFrameReady(TypedDict):
    """The first line."""

    type: Literal["ready"]
    protocol_version: int
    session_id: str
    relayVersion: str
    lastSeq: int
    cwd: str
    model: str
    access: str


class _RpcFrameResponse(TypedDict):
    type: Literal["response"]
    command: str
    success: bool


class RpcFrameResponse(_RpcFrameResponse, total=False):
    """The answer to a command. A prompt that fails later is answered a second time."""

    id: Optional[RequestId]
    data: Any
    error: Optional[RpcError]


class RpcFrameEvent(TypedDict):
    """Something happened."""

    type: Literal["event"]
    protocol_version: int
    session_id: str
    seq: int
    event: AgentEvent


RpcFrameEventsMissed = TypedDict(
    "RpcFrameEventsMissed",
    {
        "type": "Literal[\"events_missed\"]",
        "session_id": "str",
        "from": "int",
        "to": "int",
        "count": "int",
    },
)

class RpcFrameSessionChanged(TypedDict):
    """The conversation is another one now, or at another place. Events have numbers of their own from here on."""

    type: Literal["session_changed"]
    reason: SessionChangeReason
    session_id: str
    previousSessionId: str
    lastSeq: int


class RpcFrameHostToolCall(TypedDict):
    """The model called a tool of the program's: `host_tool_result` answers, with this id."""

    type: Literal["host_tool_call"]
    id: str
    toolCallId: str
    toolName: str
    arguments: Dict[str, Any]
    timeoutMs: int


class RpcFrameHostToolCancel(TypedDict):
    """Nobody waits for this call any more."""

    type: Literal["host_tool_cancel"]
    id: str


class _RpcFrameHostUriRequest(TypedDict):
    type: Literal["host_uri_request"]
    id: str
    operation: HostUriOperation
    url: str
    timeoutMs: int


class RpcFrameHostUriRequest(_RpcFrameHostUriRequest, total=False):
    """The agent reads or writes a file of the program's: `host_uri_result` answers, with this id."""

    content: Optional[str]


class RpcFrameHostUriCancel(TypedDict):
    """Nobody waits for this file any more."""

    type: Literal["host_uri_cancel"]
    id: str


class RpcFrameHookRequest(TypedDict):
    """May this happen? `hook_result` answers, with this id."""

    type: Literal["hook_request"]
    id: str
    hook: HookName
    data: Any
    timeoutMs: int
    default: HookAction


class RpcFrameWorkflowGate(TypedDict):
    """Something for the program to decide: `workflow_gate_response` answers."""

    type: Literal["workflow_gate"]
    gate_id: str
    stage: str
    kind: GateKind
    schema: Any
    schema_hash: str
    options: List[str]
    context: Any
    timeoutMs: int


class RpcFrameWorkflowGateClosed(TypedDict):
    """It is decided, or nobody waits for it any more."""

    type: Literal["workflow_gate_closed"]
    gate_id: str
    status: GateStatus


RpcFrame = Union[
    "RpcFrameReady",
    "RpcFrameResponse",
    "RpcFrameEvent",
    "RpcFrameEventsMissed",
    "RpcFrameSessionChanged",
    "RpcFrameHostToolCall",
    "RpcFrameHostToolCancel",
    "RpcFrameHostUriRequest",
    "RpcFrameHostUriCancel",
    "RpcFrameHookRequest",
    "RpcFrameWorkflowGate",
    "RpcFrameWorkflowGateClosed",
]

RequestId = Union[str, float]

class _RpcError(TypedDict):
    code: RpcErrorCode
    message: str


class RpcError(_RpcError, total=False):
    """Told to the program: a stable code, and a sentence for people."""

    details: Any


RpcErrorCode = Literal[
    "unknown_command",
    "unknown_question",
    "already_answered",
    "unknown_gate",
    "already_resolved",
    "unknown_model",
    "unknown_session",
    "unknown_entry",
    "parse_error",
    "line_too_long",
    "invalid_request",
    "invalid_params",
    "busy",
    "nothing_to_do",
    "not_available",
    "not_allowed",
    "unknown_request",
    "not_an_option",
    "cancelled",
    "conflict",
    "queue_full",
    "aborted",
    "run_failed",
    "failed",
    "internal",
]

class AgentEventAgentStart(TypedDict):
    """A prompt is being worked on."""

    type: Literal["agent_start"]
    sessionId: str
    model: str
    thinking: str
    cwd: str
    tools: List[str]


class _AgentEventAgentEnd(TypedDict):
    type: Literal["agent_end"]
    reason: EndReason
    usage: RunUsage


class AgentEventAgentEnd(_AgentEventAgentEnd, total=False):
    """It is done, whatever came of it."""

    message: Optional[str]


class AgentEventTurnStart(TypedDict):
    """The model is asked."""

    type: Literal["turn_start"]
    turn: int


class AgentEventTurnEnd(TypedDict):
    """It has answered, and its tools have run."""

    type: Literal["turn_end"]
    turn: int


class AgentEventMessageStart(TypedDict):
    """The model begins to answer."""

    type: Literal["message_start"]


class AgentEventMessageUpdate(TypedDict):
    """More of its answer; all of it comes again with `message_end`."""

    type: Literal["message_update"]
    update: MessageUpdate


class AgentEventMessageEnd(TypedDict):
    """A message is in the session."""

    type: Literal["message_end"]
    entryId: str
    message: Dict[str, Any]


class AgentEventToolExecutionStart(TypedDict):
    """A call begins."""

    type: Literal["tool_execution_start"]
    toolCallId: str
    toolName: str
    args: Any


class AgentEventToolExecutionUpdate(TypedDict):
    """Live output; only the newest counts."""

    type: Literal["tool_execution_update"]
    toolCallId: str
    update: Any


class AgentEventToolExecutionEnd(TypedDict):
    """Its result is in the session: the next `message_end` of a tool result."""

    type: Literal["tool_execution_end"]
    toolCallId: str
    toolName: str
    isError: bool
    card: Any
    durationMs: int


class AgentEventRequestRetry(TypedDict):
    """A request got no answer and is sent again; nothing of an answer was seen yet."""

    type: Literal["request_retry"]
    attempt: int
    maxAttempts: int
    delayMs: int
    errorMessage: str


class AgentEventAutoRetryStart(TypedDict):
    """An answer failed, and the turn is tried again."""

    type: Literal["auto_retry_start"]
    attempt: int
    maxAttempts: int
    delayMs: int
    errorMessage: str


class _AgentEventAutoRetryEnd(TypedDict):
    type: Literal["auto_retry_end"]
    success: bool
    attempt: int


class AgentEventAutoRetryEnd(_AgentEventAutoRetryEnd, total=False):
    """The turn has its answer after all, or is given up."""

    finalError: Optional[str]


class AgentEventCredentialSwitched(TypedDict):
    """Another key of the provider is used from now on, the `key`th of `of`, since this was said of the one before."""

    type: Literal["credential_switched"]
    provider: str
    key: int
    of: int
    errorMessage: str


AgentEventRetryFallbackApplied = TypedDict(
    "AgentEventRetryFallbackApplied",
    {
        "type": "Literal[\"retry_fallback_applied\"]",
        "from": "str",
        "to": "str",
        "role": "str",
    },
)

class AgentEventRetryFallbackSucceeded(TypedDict):
    """It has answered."""

    type: Literal["retry_fallback_succeeded"]
    model: str
    role: str


class AgentEventQueueUpdate(TypedDict):
    """What waits to be said to the model."""

    type: Literal["queue_update"]
    steering: List[str]
    followUp: List[str]


class AgentEventQuestionAsked(TypedDict):
    """Somebody has to answer."""

    type: Literal["question_asked"]
    question: AgentQuestion


class AgentEventQuestionAnswered(TypedDict):
    """It is decided, by whom ever; other clients withdraw it."""

    type: Literal["question_answered"]
    id: str
    answer: HostAnswer


class AgentEventConversationRewound(TypedDict):
    """The model went back to a mark: what was said after it is no longer part of the conversation, this report is."""

    type: Literal["conversation_rewound"]
    entryId: str
    report: str


class AgentEventGoalChanged(TypedDict):
    """The goal is another, or its status is."""

    type: Literal["goal_changed"]
    goal: Goal


class AgentEventGoalContinued(TypedDict):
    """The model was told to go on towards its goal, for the `round`th time of `most`."""

    type: Literal["goal_continued"]
    round: int
    most: int


class _AgentEventModeChanged(TypedDict):
    type: Literal["mode_changed"]
    mode: str
    isFresh: bool


class AgentEventModeChanged(_AgentEventModeChanged, total=False):
    """Another mode holds from now on: `plan`, or `none`."""

    data: Any


class AgentEventPlanProposed(TypedDict):
    """A plan is whole; somebody is asked about it next."""

    type: Literal["plan_proposed"]
    title: str
    plan: str
    planFile: str
    isEdited: bool


class AgentEventAutoCompactionStart(TypedDict):
    """Room is made in the conversation."""

    type: Literal["auto_compaction_start"]
    reason: CompactionReason
    tokensBefore: int


class _AgentEventAutoCompactionEnd(TypedDict):
    type: Literal["auto_compaction_end"]
    reason: CompactionReason
    action: CompactionAction
    tokensBefore: int
    tokensAfter: int
    willRetry: bool
    durationMs: int


class AgentEventAutoCompactionEnd(_AgentEventAutoCompactionEnd, total=False):
    """It was made, or not."""

    entryId: Optional[str]
    errorMessage: Optional[str]


AgentEventContextPromoted = TypedDict(
    "AgentEventContextPromoted",
    {
        "type": "Literal[\"context_promoted\"]",
        "from": "str",
        "to": "str",
    },
)

class AgentEventCompactionUndone(TypedDict):
    """A compaction does not count any more."""

    type: Literal["compaction_undone"]
    entryId: str
    tokens: int


class _AgentEventConversationMoved(TypedDict):
    type: Literal["conversation_moved"]


class AgentEventConversationMoved(_AgentEventConversationMoved, total=False):
    """The conversation goes on from another place."""

    entryId: Optional[str]
    summary: Optional[str]


class AgentEventProjectCheckStart(TypedDict):
    """The model is done, and the project's own check runs on what it changed."""

    type: Literal["project_check_start"]
    command: str


class _AgentEventProjectCheckEnd(TypedDict):
    type: Literal["project_check_end"]
    command: str
    result: str
    told: bool


class AgentEventProjectCheckEnd(_AgentEventProjectCheckEnd, total=False):
    """The check has ended."""

    errors: Optional[int]
    newErrors: Optional[int]


class AgentEventSessionTitled(TypedDict):
    """The session has a title, or a better one."""

    type: Literal["session_titled"]
    title: str


class AgentEventTtsrTriggered(TypedDict):
    """What the model wrote matches rules: it is told them."""

    type: Literal["ttsr_triggered"]
    rules: List[TriggeredRule]
    interrupted: bool


class AgentEventNotice(TypedDict):
    """Something people should know."""

    type: Literal["notice"]
    level: NoticeLevel
    text: str


AgentEvent = Union[
    "AgentEventAgentStart",
    "AgentEventAgentEnd",
    "AgentEventTurnStart",
    "AgentEventTurnEnd",
    "AgentEventMessageStart",
    "AgentEventMessageUpdate",
    "AgentEventMessageEnd",
    "AgentEventToolExecutionStart",
    "AgentEventToolExecutionUpdate",
    "AgentEventToolExecutionEnd",
    "AgentEventRequestRetry",
    "AgentEventAutoRetryStart",
    "AgentEventAutoRetryEnd",
    "AgentEventCredentialSwitched",
    "AgentEventRetryFallbackApplied",
    "AgentEventRetryFallbackSucceeded",
    "AgentEventQueueUpdate",
    "AgentEventQuestionAsked",
    "AgentEventQuestionAnswered",
    "AgentEventConversationRewound",
    "AgentEventGoalChanged",
    "AgentEventGoalContinued",
    "AgentEventModeChanged",
    "AgentEventPlanProposed",
    "AgentEventAutoCompactionStart",
    "AgentEventAutoCompactionEnd",
    "AgentEventContextPromoted",
    "AgentEventCompactionUndone",
    "AgentEventConversationMoved",
    "AgentEventProjectCheckStart",
    "AgentEventProjectCheckEnd",
    "AgentEventSessionTitled",
    "AgentEventTtsrTriggered",
    "AgentEventNotice",
]

EndReason = Literal[
    "turn_limit",
    "time_limit",
    "cost_limit",
    "done",
    "length",
    "aborted",
    "model_failed",
    "context_overflow",
    "repetition",
    "compacted",
    "session_failed",
    "tool_failed",
]

class RunUsage(TypedDict):
    """What a run has used."""

    turns: int
    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    cost: float
    contextTokens: int


class MessageUpdateTextDelta(TypedDict):
    type: Literal["text_delta"]
    contentIndex: int
    delta: str


class MessageUpdateThinkingDelta(TypedDict):
    type: Literal["thinking_delta"]
    contentIndex: int
    delta: str


class MessageUpdateToolcallStart(TypedDict):
    """The tool's name is known."""

    type: Literal["toolcall_start"]
    contentIndex: int
    toolName: str


class MessageUpdateToolcallDelta(TypedDict):
    """JSON text."""

    type: Literal["toolcall_delta"]
    contentIndex: int
    delta: str


MessageUpdate = Union[
    "MessageUpdateTextDelta",
    "MessageUpdateThinkingDelta",
    "MessageUpdateToolcallStart",
    "MessageUpdateToolcallDelta",
]

class HostAnswerOptions(TypedDict):
    """By their places in the question."""

    kind: Literal["options"]
    chosen: List[int]


class HostAnswerText(TypedDict):
    kind: Literal["text"]
    text: str


class HostAnswerTimedOut(TypedDict):
    """Nobody answered in time; the default, if there is one, counts."""

    kind: Literal["timedOut"]


class HostAnswerStop(TypedDict):
    """The user wants the whole run to stop."""

    kind: Literal["stop"]


class HostAnswerUnavailable(TypedDict):
    """There is nobody to ask."""

    kind: Literal["unavailable"]


HostAnswer = Union[
    "HostAnswerOptions",
    "HostAnswerText",
    "HostAnswerTimedOut",
    "HostAnswerStop",
    "HostAnswerUnavailable",
]

CompactionReason = Literal["threshold", "overflow", "manual", "idle"]

class TriggeredRule(TypedDict):
    """A rule, as people and programs are told of it."""

    name: str
    path: str


NoticeLevel = Literal["info", "warning"]

SessionChangeReason = Literal["new", "resume", "branch", "tree"]

HostUriOperation = Literal["read", "write"]

GateKind = Literal["question", "approval", "execution"]

GateStatus = Literal["timed_out", "accepted", "cancelled"]

#: Every kind of event.
EVENT_TYPES = [
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "request_retry",
    "auto_retry_start",
    "auto_retry_end",
    "credential_switched",
    "retry_fallback_applied",
    "retry_fallback_succeeded",
    "queue_update",
    "question_asked",
    "question_answered",
    "conversation_rewound",
    "goal_changed",
    "goal_continued",
    "mode_changed",
    "plan_proposed",
    "auto_compaction_start",
    "auto_compaction_end",
    "context_promoted",
    "compaction_undone",
    "conversation_moved",
    "project_check_start",
    "project_check_end",
    "session_titled",
    "ttsr_triggered",
    "notice",
]

#: Every command.
COMMANDS = [
    "prompt",
    "steer",
    "follow_up",
    "abort",
    "abort_and_prompt",
    "get_state",
    "replay",
    "set_todos",
    "get_messages",
    "get_last_assistant_text",
    "get_session_stats",
    "get_branch_messages",
    "export_html",
    "new_session",
    "switch_session",
    "branch",
    "navigate_tree",
    "set_session_name",
    "get_available_models",
    "set_model",
    "cycle_model",
    "set_thinking_level",
    "cycle_thinking_level",
    "set_mode",
    "get_plan",
    "approve_plan",
    "set_goal",
    "change_goal",
    "set_steering_mode",
    "set_follow_up_mode",
    "set_interrupt_mode",
    "set_auto_retry",
    "abort_retry",
    "compact",
    "undo_compaction",
    "set_auto_compaction",
    "bash",
    "abort_bash",
    "undo",
    "redo",
    "set_host_tools",
    "set_host_uri_schemes",
    "set_hooks",
    "set_attended",
    "answer_question",
    "workflow_gate_response",
    "host_tool_update",
    "host_tool_result",
    "host_uri_result",
    "hook_result",
]


class SyncCommands:
    """A method for each command."""

    def call(self, command: str, params: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
        streaming_behavior: Optional[StreamingBehavior] = None,
    ) -> PromptData:
        """Lets the agent work on a prompt. Answered at once; `agent_end` tells of the end, and a prompt that does not come to its end is answered a second time, with an error."""
        params = {"message": message, "images": images, "streamingBehavior": streaming_behavior}
        return self.call("prompt", {name: value for name, value in params.items() if value is not None})

    def steer(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Says something to the model as soon as possible, while it works."""
        params = {"message": message, "images": images}
        return self.call("steer", {name: value for name, value in params.items() if value is not None})

    def follow_up(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Says something to the model when it is done with what it works on."""
        params = {"message": message, "images": images}
        return self.call("follow_up", {name: value for name, value in params.items() if value is not None})

    def abort(
        self,
    ) -> DoneData:
        """Ends what the agent does; what is finished stays. What waits in the queue waits on."""
        params = {}
        return self.call("abort", {name: value for name, value in params.items() if value is not None})

    def abort_and_prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Ends what the agent does, and lets it work on this prompt instead. Answered when that begins."""
        params = {"message": message, "images": images}
        return self.call("abort_and_prompt", {name: value for name, value in params.items() if value is not None})

    def get_state(
        self,
        *,
        include: Optional[List[StatePart]] = None,
    ) -> StateData:
        """Tells what session this is, what the agent does and how it is set."""
        params = {"include": include}
        return self.call("get_state", {name: value for name, value in params.items() if value is not None})

    def replay(
        self,
        after: int,
    ) -> ReplayData:
        """Sends the events after a number again, and then those that follow. Messages are always among them; of deltas and live output, what is still kept."""
        params = {"after": after}
        return self.call("replay", {name: value for name, value in params.items() if value is not None})

    def set_todos(
        self,
        phases: List[TodoPhase],
    ) -> TodosData:
        """Replaces the list of what is to be done, and tells the model. Not while the agent works."""
        params = {"phases": phases}
        return self.call("set_todos", {name: value for name, value in params.items() if value is not None})

    def get_messages(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> MessagesData:
        """The conversation as the model would read it, in pieces of at most 4 MB."""
        params = {"after": after, "limit": limit}
        return self.call("get_messages", {name: value for name, value in params.items() if value is not None})

    def get_last_assistant_text(
        self,
    ) -> LastTextData:
        """The text of the model's last answer, with what was hidden from it."""
        params = {}
        return self.call("get_last_assistant_text", {name: value for name, value in params.items() if value is not None})

    def get_session_stats(
        self,
    ) -> SessionStatsData:
        """Counts of messages, tokens and money."""
        params = {}
        return self.call("get_session_stats", {name: value for name, value in params.items() if value is not None})

    def get_branch_messages(
        self,
    ) -> BranchMessagesData:
        """The prompts at which `branch` can begin: the last thousand."""
        params = {}
        return self.call("get_branch_messages", {name: value for name, value in params.items() if value is not None})

    def export_html(
        self,
        *,
        output_path: Optional[str] = None,
    ) -> ExportData:
        """Writes the conversation to one HTML page, which is the user's alone. A file that is there stays."""
        params = {"outputPath": output_path}
        return self.call("export_html", {name: value for name, value in params.items() if value is not None})

    def new_session(
        self,
    ) -> SessionMoveData:
        """Begins a new session. Like the next three, it ends what the agent does, and is answered when it is done."""
        params = {}
        return self.call("new_session", {name: value for name, value in params.items() if value is not None})

    def switch_session(
        self,
        session: str,
    ) -> SessionMoveData:
        """Goes on with another session of this directory."""
        params = {"session": session}
        return self.call("switch_session", {name: value for name, value in params.items() if value is not None})

    def branch(
        self,
        entry_id: str,
    ) -> SessionMoveData:
        """Begins a session with everything before a prompt of this one, and gives that prompt's text."""
        params = {"entryId": entry_id}
        return self.call("branch", {name: value for name, value in params.items() if value is not None})

    def navigate_tree(
        self,
        entry_id: str,
    ) -> SessionMoveData:
        """Goes to another entry of this session: before it, if it is a prompt, and behind it else. Nothing is lost: what was said stays as a branch."""
        params = {"entryId": entry_id}
        return self.call("navigate_tree", {name: value for name, value in params.items() if value is not None})

    def set_session_name(
        self,
        name: str,
    ) -> NoData:
        """Names the session."""
        params = {"name": name}
        return self.call("set_session_name", {name: value for name, value in params.items() if value is not None})

    def get_available_models(
        self,
    ) -> ModelsData:
        """The models that have a key, or need none."""
        params = {}
        return self.call("get_available_models", {name: value for name, value in params.items() if value is not None})

    def set_model(
        self,
        model: str,
    ) -> ChosenModelData:
        """Another model from the next prompt on."""
        params = {"model": model}
        return self.call("set_model", {name: value for name, value in params.items() if value is not None})

    def cycle_model(
        self,
    ) -> ChosenModelData:
        """The next of the models that can be used."""
        params = {}
        return self.call("cycle_model", {name: value for name, value in params.items() if value is not None})

    def set_thinking_level(
        self,
        level: ThinkingName,
    ) -> ChosenModelData:
        """How much the model thinks from the next prompt on."""
        params = {"level": level}
        return self.call("set_thinking_level", {name: value for name, value in params.items() if value is not None})

    def cycle_thinking_level(
        self,
    ) -> ChosenModelData:
        """The next level of thinking; `off` after the last."""
        params = {}
        return self.call("cycle_thinking_level", {name: value for name, value in params.items() if value is not None})

    def set_mode(
        self,
        mode: RpcMode,
    ) -> ModeData:
        """Begins to plan, or ends that without a plan. While the agent works, before its next answer."""
        params = {"mode": mode}
        return self.call("set_mode", {name: value for name, value in params.items() if value is not None})

    def get_plan(
        self,
    ) -> PlanData:
        """The plan that waits for somebody to approve it, as its file is now. Not while the agent works."""
        params = {}
        return self.call("get_plan", {name: value for name, value in params.items() if value is not None})

    def approve_plan(
        self,
        digest: str,
    ) -> NoData:
        """Approves the plan that waits: the agent no longer plans, and the next prompt carries it out. Not while the agent works; then `workflow_gate` asks."""
        params = {"digest": digest}
        return self.call("approve_plan", {name: value for name, value in params.items() if value is not None})

    def set_goal(
        self,
        objective: str,
    ) -> GoalData:
        """Gives the agent a goal; the next prompt begins to work towards it. Not while the agent works."""
        params = {"objective": objective}
        return self.call("set_goal", {name: value for name, value in params.items() if value is not None})

    def change_goal(
        self,
        change: GoalChange,
    ) -> GoalData:
        """Lets the goal wait, go on with the next prompt, or be none. Not while the agent works."""
        params = {"change": change}
        return self.call("change_goal", {name: value for name, value in params.items() if value is not None})

    def set_steering_mode(
        self,
        mode: QueueMode,
    ) -> NoData:
        """How much of what was said with `steer` the model hears at once."""
        params = {"mode": mode}
        return self.call("set_steering_mode", {name: value for name, value in params.items() if value is not None})

    def set_follow_up_mode(
        self,
        mode: QueueMode,
    ) -> NoData:
        """How much of what was said with `follow_up` the model hears at once."""
        params = {"mode": mode}
        return self.call("set_follow_up_mode", {name: value for name, value in params.items() if value is not None})

    def set_interrupt_mode(
        self,
        mode: InterruptMode,
    ) -> NoData:
        """Whether what was said with `steer` skips the calls that have not begun."""
        params = {"mode": mode}
        return self.call("set_interrupt_mode", {name: value for name, value in params.items() if value is not None})

    def set_auto_retry(
        self,
        enabled: bool,
    ) -> NoData:
        """Whether an answer that failed is asked for again; counts at once."""
        params = {"enabled": enabled}
        return self.call("set_auto_retry", {name: value for name, value in params.items() if value is not None})

    def abort_retry(
        self,
    ) -> DoneData:
        """Gives up instead of waiting for the next try."""
        params = {}
        return self.call("abort_retry", {name: value for name, value in params.items() if value is not None})

    def compact(
        self,
        *,
        custom_instructions: Optional[str] = None,
    ) -> CompactData:
        """Replaces the older part of the conversation by a summary. Answered when it is done; while the agent works, at once: it happens before the next request."""
        params = {"customInstructions": custom_instructions}
        return self.call("compact", {name: value for name, value in params.items() if value is not None})

    def undo_compaction(
        self,
    ) -> DoneData:
        """Lets the model read again what the latest summary stands for. Not while the agent works."""
        params = {}
        return self.call("undo_compaction", {name: value for name, value in params.items() if value is not None})

    def set_auto_compaction(
        self,
        enabled: bool,
    ) -> NoData:
        """Whether the older part of the conversation is replaced by a summary by itself when the model's window is nearly full."""
        params = {"enabled": enabled}
        return self.call("set_auto_compaction", {name: value for name, value in params.items() if value is not None})

    def bash(
        self,
        command: str,
        *,
        timeout: Optional[float] = None,
        exclude_from_context: Optional[bool] = None,
    ) -> BashData:
        """Runs a command as the agent's are run, and tells the model of it with the next prompt. Answered when it has ended; its output comes as events meanwhile. Not while the agent works."""
        params = {"command": command, "timeout": timeout, "excludeFromContext": exclude_from_context}
        return self.call("bash", {name: value for name, value in params.items() if value is not None})

    def abort_bash(
        self,
    ) -> DoneData:
        """Ends a command that `bash` runs."""
        params = {}
        return self.call("abort_bash", {name: value for name, value in params.items() if value is not None})

    def undo(
        self,
        *,
        any_branch: Optional[bool] = None,
    ) -> ChangeStepData:
        """Takes the newest change of the project back, as `relay undo` does. Later edits stay. Not while the agent works."""
        params = {"anyBranch": any_branch}
        return self.call("undo", {name: value for name, value in params.items() if value is not None})

    def redo(
        self,
        *,
        any_branch: Optional[bool] = None,
    ) -> ChangeStepData:
        """Brings back what `undo` took back last."""
        params = {"anyBranch": any_branch}
        return self.call("redo", {name: value for name, value in params.items() if value is not None})

    def set_host_tools(
        self,
        tools: List[HostToolSpec],
    ) -> ToolNamesData:
        """Tools that the program runs itself: `host_tool_call` asks it to."""
        params = {"tools": tools}
        return self.call("set_host_tools", {name: value for name, value in params.items() if value is not None})

    def set_host_uri_schemes(
        self,
        schemes: List[HostUriScheme],
    ) -> NoData:
        """Files that the program serves: `read` and `write` of `scheme://…` become `host_uri_request`."""
        params = {"schemes": schemes}
        return self.call("set_host_uri_schemes", {name: value for name, value in params.items() if value is not None})

    def set_hooks(
        self,
        hooks: List[HookName],
        *,
        timeout_ms: Optional[int] = None,
        default: Optional[HookAction] = None,
    ) -> NoData:
        """Before what the program is asked: `hook_request`, answered by `hook_result`."""
        params = {"hooks": hooks, "timeoutMs": timeout_ms, "default": default}
        return self.call("set_hooks", {name: value for name, value in params.items() if value is not None})

    def set_attended(
        self,
        attended: bool,
        *,
        timeout_ms: Optional[int] = None,
    ) -> NoData:
        """The program answers questions (`question_asked`) and decides about changes (`workflow_gate`) for the user. Until it says so, nobody is there to ask, and what needs an answer is not done."""
        params = {"attended": attended, "timeoutMs": timeout_ms}
        return self.call("set_attended", {name: value for name, value in params.items() if value is not None})

    def answer_question(
        self,
        question_id: str,
        *,
        chosen: Optional[List[int]] = None,
        text: Optional[str] = None,
        stop: Optional[bool] = None,
    ) -> NoData:
        """Answers what `question_asked` told, with one of `chosen`, `text` and `stop`."""
        params = {"questionId": question_id, "chosen": chosen, "text": text, "stop": stop}
        return self.call("answer_question", {name: value for name, value in params.items() if value is not None})

    def workflow_gate_response(
        self,
        gate_id: str,
        answer: Any,
    ) -> GateReceipt:
        """Decides what `workflow_gate` asks. An answer that does not follow the schema is no failure of the command: its data say `rejected` and why, and another one may come."""
        params = {"gate_id": gate_id, "answer": answer}
        return self.call("workflow_gate_response", {name: value for name, value in params.items() if value is not None})


class AsyncCommands:
    """A method for each command."""

    async def call(self, command: str, params: Dict[str, Any]) -> Any:
        raise NotImplementedError

    async def prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
        streaming_behavior: Optional[StreamingBehavior] = None,
    ) -> PromptData:
        """Lets the agent work on a prompt. Answered at once; `agent_end` tells of the end, and a prompt that does not come to its end is answered a second time, with an error."""
        params = {"message": message, "images": images, "streamingBehavior": streaming_behavior}
        return await self.call("prompt", {name: value for name, value in params.items() if value is not None})

    async def steer(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Says something to the model as soon as possible, while it works."""
        params = {"message": message, "images": images}
        return await self.call("steer", {name: value for name, value in params.items() if value is not None})

    async def follow_up(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Says something to the model when it is done with what it works on."""
        params = {"message": message, "images": images}
        return await self.call("follow_up", {name: value for name, value in params.items() if value is not None})

    async def abort(
        self,
    ) -> DoneData:
        """Ends what the agent does; what is finished stays. What waits in the queue waits on."""
        params = {}
        return await self.call("abort", {name: value for name, value in params.items() if value is not None})

    async def abort_and_prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageParam]] = None,
    ) -> PromptData:
        """Ends what the agent does, and lets it work on this prompt instead. Answered when that begins."""
        params = {"message": message, "images": images}
        return await self.call("abort_and_prompt", {name: value for name, value in params.items() if value is not None})

    async def get_state(
        self,
        *,
        include: Optional[List[StatePart]] = None,
    ) -> StateData:
        """Tells what session this is, what the agent does and how it is set."""
        params = {"include": include}
        return await self.call("get_state", {name: value for name, value in params.items() if value is not None})

    async def replay(
        self,
        after: int,
    ) -> ReplayData:
        """Sends the events after a number again, and then those that follow. Messages are always among them; of deltas and live output, what is still kept."""
        params = {"after": after}
        return await self.call("replay", {name: value for name, value in params.items() if value is not None})

    async def set_todos(
        self,
        phases: List[TodoPhase],
    ) -> TodosData:
        """Replaces the list of what is to be done, and tells the model. Not while the agent works."""
        params = {"phases": phases}
        return await self.call("set_todos", {name: value for name, value in params.items() if value is not None})

    async def get_messages(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> MessagesData:
        """The conversation as the model would read it, in pieces of at most 4 MB."""
        params = {"after": after, "limit": limit}
        return await self.call("get_messages", {name: value for name, value in params.items() if value is not None})

    async def get_last_assistant_text(
        self,
    ) -> LastTextData:
        """The text of the model's last answer, with what was hidden from it."""
        params = {}
        return await self.call("get_last_assistant_text", {name: value for name, value in params.items() if value is not None})

    async def get_session_stats(
        self,
    ) -> SessionStatsData:
        """Counts of messages, tokens and money."""
        params = {}
        return await self.call("get_session_stats", {name: value for name, value in params.items() if value is not None})

    async def get_branch_messages(
        self,
    ) -> BranchMessagesData:
        """The prompts at which `branch` can begin: the last thousand."""
        params = {}
        return await self.call("get_branch_messages", {name: value for name, value in params.items() if value is not None})

    async def export_html(
        self,
        *,
        output_path: Optional[str] = None,
    ) -> ExportData:
        """Writes the conversation to one HTML page, which is the user's alone. A file that is there stays."""
        params = {"outputPath": output_path}
        return await self.call("export_html", {name: value for name, value in params.items() if value is not None})

    async def new_session(
        self,
    ) -> SessionMoveData:
        """Begins a new session. Like the next three, it ends what the agent does, and is answered when it is done."""
        params = {}
        return await self.call("new_session", {name: value for name, value in params.items() if value is not None})

    async def switch_session(
        self,
        session: str,
    ) -> SessionMoveData:
        """Goes on with another session of this directory."""
        params = {"session": session}
        return await self.call("switch_session", {name: value for name, value in params.items() if value is not None})

    async def branch(
        self,
        entry_id: str,
    ) -> SessionMoveData:
        """Begins a session with everything before a prompt of this one, and gives that prompt's text."""
        params = {"entryId": entry_id}
        return await self.call("branch", {name: value for name, value in params.items() if value is not None})

    async def navigate_tree(
        self,
        entry_id: str,
    ) -> SessionMoveData:
        """Goes to another entry of this session: before it, if it is a prompt, and behind it else. Nothing is lost: what was said stays as a branch."""
        params = {"entryId": entry_id}
        return await self.call("navigate_tree", {name: value for name, value in params.items() if value is not None})

    async def set_session_name(
        self,
        name: str,
    ) -> NoData:
        """Names the session."""
        params = {"name": name}
        return await self.call("set_session_name", {name: value for name, value in params.items() if value is not None})

    async def get_available_models(
        self,
    ) -> ModelsData:
        """The models that have a key, or need none."""
        params = {}
        return await self.call("get_available_models", {name: value for name, value in params.items() if value is not None})

    async def set_model(
        self,
        model: str,
    ) -> ChosenModelData:
        """Another model from the next prompt on."""
        params = {"model": model}
        return await self.call("set_model", {name: value for name, value in params.items() if value is not None})

    async def cycle_model(
        self,
    ) -> ChosenModelData:
        """The next of the models that can be used."""
        params = {}
        return await self.call("cycle_model", {name: value for name, value in params.items() if value is not None})

    async def set_thinking_level(
        self,
        level: ThinkingName,
    ) -> ChosenModelData:
        """How much the model thinks from the next prompt on."""
        params = {"level": level}
        return await self.call("set_thinking_level", {name: value for name, value in params.items() if value is not None})

    async def cycle_thinking_level(
        self,
    ) -> ChosenModelData:
        """The next level of thinking; `off` after the last."""
        params = {}
        return await self.call("cycle_thinking_level", {name: value for name, value in params.items() if value is not None})

    async def set_mode(
        self,
        mode: RpcMode,
    ) -> ModeData:
        """Begins to plan, or ends that without a plan. While the agent works, before its next answer."""
        params = {"mode": mode}
        return await self.call("set_mode", {name: value for name, value in params.items() if value is not None})

    async def get_plan(
        self,
    ) -> PlanData:
        """The plan that waits for somebody to approve it, as its file is now. Not while the agent works."""
        params = {}
        return await self.call("get_plan", {name: value for name, value in params.items() if value is not None})

    async def approve_plan(
        self,
        digest: str,
    ) -> NoData:
        """Approves the plan that waits: the agent no longer plans, and the next prompt carries it out. Not while the agent works; then `workflow_gate` asks."""
        params = {"digest": digest}
        return await self.call("approve_plan", {name: value for name, value in params.items() if value is not None})

    async def set_goal(
        self,
        objective: str,
    ) -> GoalData:
        """Gives the agent a goal; the next prompt begins to work towards it. Not while the agent works."""
        params = {"objective": objective}
        return await self.call("set_goal", {name: value for name, value in params.items() if value is not None})

    async def change_goal(
        self,
        change: GoalChange,
    ) -> GoalData:
        """Lets the goal wait, go on with the next prompt, or be none. Not while the agent works."""
        params = {"change": change}
        return await self.call("change_goal", {name: value for name, value in params.items() if value is not None})

    async def set_steering_mode(
        self,
        mode: QueueMode,
    ) -> NoData:
        """How much of what was said with `steer` the model hears at once."""
        params = {"mode": mode}
        return await self.call("set_steering_mode", {name: value for name, value in params.items() if value is not None})

    async def set_follow_up_mode(
        self,
        mode: QueueMode,
    ) -> NoData:
        """How much of what was said with `follow_up` the model hears at once."""
        params = {"mode": mode}
        return await self.call("set_follow_up_mode", {name: value for name, value in params.items() if value is not None})

    async def set_interrupt_mode(
        self,
        mode: InterruptMode,
    ) -> NoData:
        """Whether what was said with `steer` skips the calls that have not begun."""
        params = {"mode": mode}
        return await self.call("set_interrupt_mode", {name: value for name, value in params.items() if value is not None})

    async def set_auto_retry(
        self,
        enabled: bool,
    ) -> NoData:
        """Whether an answer that failed is asked for again; counts at once."""
        params = {"enabled": enabled}
        return await self.call("set_auto_retry", {name: value for name, value in params.items() if value is not None})

    async def abort_retry(
        self,
    ) -> DoneData:
        """Gives up instead of waiting for the next try."""
        params = {}
        return await self.call("abort_retry", {name: value for name, value in params.items() if value is not None})

    async def compact(
        self,
        *,
        custom_instructions: Optional[str] = None,
    ) -> CompactData:
        """Replaces the older part of the conversation by a summary. Answered when it is done; while the agent works, at once: it happens before the next request."""
        params = {"customInstructions": custom_instructions}
        return await self.call("compact", {name: value for name, value in params.items() if value is not None})

    async def undo_compaction(
        self,
    ) -> DoneData:
        """Lets the model read again what the latest summary stands for. Not while the agent works."""
        params = {}
        return await self.call("undo_compaction", {name: value for name, value in params.items() if value is not None})

    async def set_auto_compaction(
        self,
        enabled: bool,
    ) -> NoData:
        """Whether the older part of the conversation is replaced by a summary by itself when the model's window is nearly full."""
        params = {"enabled": enabled}
        return await self.call("set_auto_compaction", {name: value for name, value in params.items() if value is not None})

    async def bash(
        self,
        command: str,
        *,
        timeout: Optional[float] = None,
        exclude_from_context: Optional[bool] = None,
    ) -> BashData:
        """Runs a command as the agent's are run, and tells the model of it with the next prompt. Answered when it has ended; its output comes as events meanwhile. Not while the agent works."""
        params = {"command": command, "timeout": timeout, "excludeFromContext": exclude_from_context}
        return await self.call("bash", {name: value for name, value in params.items() if value is not None})

    async def abort_bash(
        self,
    ) -> DoneData:
        """Ends a command that `bash` runs."""
        params = {}
        return await self.call("abort_bash", {name: value for name, value in params.items() if value is not None})

    async def undo(
        self,
        *,
        any_branch: Optional[bool] = None,
    ) -> ChangeStepData:
        """Takes the newest change of the project back, as `relay undo` does. Later edits stay. Not while the agent works."""
        params = {"anyBranch": any_branch}
        return await self.call("undo", {name: value for name, value in params.items() if value is not None})

    async def redo(
        self,
        *,
        any_branch: Optional[bool] = None,
    ) -> ChangeStepData:
        """Brings back what `undo` took back last."""
        params = {"anyBranch": any_branch}
        return await self.call("redo", {name: value for name, value in params.items() if value is not None})

    async def set_host_tools(
        self,
        tools: List[HostToolSpec],
    ) -> ToolNamesData:
        """Tools that the program runs itself: `host_tool_call` asks it to."""
        params = {"tools": tools}
        return await self.call("set_host_tools", {name: value for name, value in params.items() if value is not None})

    async def set_host_uri_schemes(
        self,
        schemes: List[HostUriScheme],
    ) -> NoData:
        """Files that the program serves: `read` and `write` of `scheme://…` become `host_uri_request`."""
        params = {"schemes": schemes}
        return await self.call("set_host_uri_schemes", {name: value for name, value in params.items() if value is not None})

    async def set_hooks(
        self,
        hooks: List[HookName],
        *,
        timeout_ms: Optional[int] = None,
        default: Optional[HookAction] = None,
    ) -> NoData:
        """Before what the program is asked: `hook_request`, answered by `hook_result`."""
        params = {"hooks": hooks, "timeoutMs": timeout_ms, "default": default}
        return await self.call("set_hooks", {name: value for name, value in params.items() if value is not None})

    async def set_attended(
        self,
        attended: bool,
        *,
        timeout_ms: Optional[int] = None,
    ) -> NoData:
        """The program answers questions (`question_asked`) and decides about changes (`workflow_gate`) for the user. Until it says so, nobody is there to ask, and what needs an answer is not done."""
        params = {"attended": attended, "timeoutMs": timeout_ms}
        return await self.call("set_attended", {name: value for name, value in params.items() if value is not None})

    async def answer_question(
        self,
        question_id: str,
        *,
        chosen: Optional[List[int]] = None,
        text: Optional[str] = None,
        stop: Optional[bool] = None,
    ) -> NoData:
        """Answers what `question_asked` told, with one of `chosen`, `text` and `stop`."""
        params = {"questionId": question_id, "chosen": chosen, "text": text, "stop": stop}
        return await self.call("answer_question", {name: value for name, value in params.items() if value is not None})

    async def workflow_gate_response(
        self,
        gate_id: str,
        answer: Any,
    ) -> GateReceipt:
        """Decides what `workflow_gate` asks. An answer that does not follow the schema is no failure of the command: its data say `rejected` and why, and another one may come."""
        params = {"gate_id": gate_id, "answer": answer}
        return await self.call("workflow_gate_response", {name: value for name, value in params.items() if value is not None})


