"""The `agentpath` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command; without the extra ``cli`` say so in one line and exit with 2."""
    missing = [library for library in ("typer", "rich") if find_spec(library) is None]
    if missing:
        libraries = " and ".join(missing)
        print(  # noqa: T201 - the command's own voice, before there is a console
            f"agentpath: the command needs {libraries}; run: pip install 'agentpath-sdk[cli]'", file=sys.stderr
        )
        sys.exit(2)
    from agentpath_sdk.cli.app import run

    sys.exit(run(sys.argv[1:]))
