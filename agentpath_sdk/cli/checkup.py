"""What `agentpath doctor` looks at in the installation: versions, extras, integrations, writable places."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias

__all__ = ["Check", "State", "installation", "places"]

State: TypeAlias = Literal["ok", "info", "warning", "error"]

_DISTRIBUTION: Final = "agentpath-sdk"
# `typer>=0.15; extra == "cli"`
_REQUIREMENT: Final = re.compile(r"^(?P<library>[\w.-]+)[^;]*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing looked at."""

    area: str
    name: str
    state: State
    found: str
    advice: str = ""
    """What to do; empty when there is nothing to do."""


def installation() -> Iterator[Check]:
    """Yield what is installed, and what the extras still lack."""
    yield from _versions()
    yield from _extras()
    for point in metadata.entry_points(group="agentpath_integrations"):
        yield _integration(point)


def _versions() -> Iterator[Check]:
    yield Check(area="versions", name="python", state="ok", found=f"{platform.python_version()} ({platform.system()})")
    for library in (_DISTRIBUTION, "opentelemetry-api", "opentelemetry-sdk", "langchain-core", "langgraph"):
        version = _version(library)
        if version is not None:
            yield Check(area="versions", name=library, state="ok", found=version)


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def _extras() -> Iterator[Check]:
    libraries: dict[str, list[str]] = {}
    for line in metadata.requires(_DISTRIBUTION) or []:
        match = _REQUIREMENT.match(line)
        if match and match["library"] != _DISTRIBUTION:
            libraries.setdefault(match["extra"], []).append(match["library"])
    libraries.pop("all", None)
    for extra, names in sorted(libraries.items()):
        yield _extra(extra, [name for name in names if _version(name) is None], names)


def _extra(extra: str, missing: list[str], names: list[str]) -> Check:
    if not missing:
        return Check(area="extras", name=extra, state="ok", found=", ".join(names))
    found = f"not installed: {', '.join(missing)} (pip install '{_DISTRIBUTION}[{extra}]')"
    return Check(area="extras", name=extra, state="info", found=found)


def _integration(point: metadata.EntryPoint) -> Check:
    area = "integrations"
    try:
        loaded = point.load()
        integration = loaded() if isinstance(loaded, type) else loaded
        module = str(integration.module)
    except Exception as error:  # a third party's entry point may fail in any way
        advice = f"reinstall or update the package that brings {point.value!r}"
        return Check(area=area, name=point.name, state="error", found=f"{type(error).__name__}: {error}", advice=advice)
    if find_spec(module) is None:
        return Check(area=area, name=point.name, state="info", found=f"{module} is not installed, nothing to trace")
    return Check(area=area, name=point.name, state="ok", found=f"{module} is traced inside trace_agent")


def places() -> Iterator[Check]:
    """Yield whether the places where files are likely to go can be written."""
    for name, folder in (("working folder", Path.cwd()), ("temporary folder", Path(tempfile.gettempdir()))):
        if os.access(folder, os.W_OK):
            yield Check(area="paths", name=name, state="ok", found=f"{folder} is writable")
        else:
            advice = f"make {folder} writable, or name another place for span and score files"
            yield Check(area="paths", name=name, state="warning", found=f"{folder} is not writable", advice=advice)
