"""Errors raised at set-up and on people's own files; after set-up nothing of ours raises."""

from __future__ import annotations

__all__ = ["AgentPathError", "ConfigurationError", "FileFormatError", "MissingExtraError"]


class AgentPathError(Exception):
    """Root of every error this SDK raises."""


class ConfigurationError(AgentPathError, ValueError):
    """A setting or argument given at set-up is wrong."""


class FileFormatError(AgentPathError, ValueError):
    """A file from a person cannot be read: says which file, where in it, what was found, what was expected."""

    def __init__(self, problem: str, *, file: str, place: str = "", hint: str = "") -> None:
        self.file = file
        self.place = place
        self.problem = problem
        self.hint = hint
        where = f"{file}: {place}" if place else file
        super().__init__(f"{where}: {problem}" + (f" ({hint})" if hint else ""))


class MissingExtraError(AgentPathError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library!r} is not installed; run: pip install 'agentpath-sdk[{extra}]'")
