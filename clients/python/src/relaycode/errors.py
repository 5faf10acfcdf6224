"""What goes wrong."""

from __future__ import annotations

from typing import Any, Optional


class RelayError(Exception):
    """A command was not carried out, or a prompt did not come to its end."""

    def __init__(self, code: str, message: str, details: Any = None, command: str = "") -> None:
        super().__init__(f"{command}: {message}" if command else message)
        #: Stable: one of ``ErrorCode``.
        self.code = code
        self.message = message
        self.details = details
        self.command = command


class RelayClosed(Exception):
    """relay has ended, or its output cannot be read any more."""

    def __init__(self, exit_code: Optional[int] = None, stderr: str = "") -> None:
        said = f"relay has ended (exit code {exit_code})"
        super().__init__(f"{said}: {stderr.strip()}" if stderr.strip() else said)
        self.exit_code = exit_code
        self.stderr = stderr
