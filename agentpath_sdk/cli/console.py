"""Where the command writes: tables for people, JSON lines for programs, notes and errors on stderr."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console

from agentpath_sdk._encode import json_line

__all__ = ["abandon_output", "err", "note", "out", "plain", "prepare_streams", "write_json"]

# Control characters, direction overrides, lone surrogates.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# A pipe has no width of its own; 80 would fold every table.
_PIPE_WIDTH: Final = 140


def prepare_streams() -> None:
    """Make text output total: what the terminal's encoding cannot show is written as an escape.

    A standard stream that the caller has closed (``>&-``) is an empty or a bottomless one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Send what is still buffered for stdout nowhere: writing it at exit would fail again, with a traceback."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def out() -> Console:
    """Return the console for results; colour only on a terminal and without NO_COLOR."""
    return _console(stderr=False)


def err() -> Console:
    """Return the console for notes, errors and progress."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    # Queries and results are people's data: no markup, emoji codes or highlighting may be read into them.
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def note(text: str, *, style: str | None = None) -> None:
    """Write one line to stderr, never folded: it is read by programs too."""
    err().print(plain(text), style=style, soft_wrap=True)


def plain(text: object, limit: int | None = None) -> str:
    """Return ``text`` on one line, cut to ``limit`` characters, with control characters made visible.

    People's data may hold terminal escape sequences; none may reach the terminal.
    """
    cleaned = _UNSAFE.sub(_escape, " ".join(str(text).split()))
    return cleaned if limit is None or len(cleaned) <= limit else cleaned[: max(limit - 1, 0)] + "…"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def write_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object and a newline to stdout, in UTF-8 whatever the locale says."""
    line = json_line(value) + b"\n"
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a test's text stream
        sys.stdout.write(line.decode())
        return
    sys.stdout.flush()
    buffer.write(line)
