"""relay's coding agent, used from Python over ``relay rpc``."""

from ._generated import COMMANDS, EVENT_TYPES, PROTOCOL_VERSION
from .aio import AsyncRelayClient
from .client import RelayClient
from .errors import RelayClosed, RelayError

__all__ = [
    "COMMANDS",
    "EVENT_TYPES",
    "PROTOCOL_VERSION",
    "AsyncRelayClient",
    "RelayClient",
    "RelayClosed",
    "RelayError",
]
