"""Gold files that a command writes: to a file that is not there yet, or to stdout."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.model import GoldPath

__all__ = ["check_free", "gold_text", "today", "write_file", "write_gold"]


def check_free(files: Iterable[Path | None], *, force: bool) -> None:
    """Make sure that no file is there yet, before any work is done.

    Raises:
        ConfigurationError: one is, and ``force`` is False.
    """
    for file in files:
        if file is not None and file.exists() and not force:
            raise ConfigurationError(f"{file} is there already; give another name, or --force to replace it")


def today() -> str:
    """Return the date as it stands in a file's provenance."""
    return datetime.now(UTC).date().isoformat()


def gold_text(paths: Sequence[GoldPath], heading: Sequence[str]) -> str:
    """Return the paths as a gold file, headed by comments."""
    lines = [f"# {' '.join(line.split())}" for line in heading]
    return "\n".join([*lines, dump_paths(paths)])


def write_gold(paths: Sequence[GoldPath], output: Path | None, heading: Sequence[str]) -> None:
    """Write the paths to ``output``, else to stdout.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    text = gold_text(paths, heading)
    if output is not None:
        write_file(output, text)
        return
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a test's text stream
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())
        buffer.flush()


def write_file(file: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        ConfigurationError: it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            # Temporary files are for their owner alone; this one is meant for version control.
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
