"""`agentpath doctor`: what is installed, what is set, and what to do about what is wrong."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from agentpath_sdk.cli.console import out, plain, write_json
from agentpath_sdk.cli.counters import COUNTER_MEANINGS
from agentpath_sdk.errors import AgentPathError
from agentpath_sdk.settings import OnlineSettings, ScoringSettings, TracingSettings, from_environment

__all__ = ["Check", "checks", "doctor"]

State: TypeAlias = Literal["ok", "info", "warning", "error"]

_DISTRIBUTION: Final = "agentpath-sdk"
_STYLES: Final[dict[State, str]] = {"ok": "green", "info": "dim", "warning": "yellow", "error": "red"}
# `typer>=0.15; extra == "cli"`
_REQUIREMENT: Final = re.compile(r"^(?P<library>[\w.-]+)[^;]*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
_SMALLEST_VALUE_LIMIT: Final = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing looked at."""

    area: str
    name: str
    state: State
    found: str
    advice: str = ""
    """What to do; empty when there is nothing to do."""


def doctor(*, as_json: bool) -> int:
    """Print all checks; return 2 when one of them is an error, else 0."""
    found = list(checks())
    if as_json:
        for check in found:
            write_json(asdict(check))
        for name, meaning in COUNTER_MEANINGS.items():
            write_json({"area": "health counters", "name": name, "state": "info", "found": meaning, "advice": ""})
    else:
        _print(found)
    return 2 if any(check.state == "error" for check in found) else 0


def _print(found: list[Check]) -> None:
    console = out()
    for area in dict.fromkeys(check.area for check in found):
        console.print(Text(area, style="bold"))
        console.print(_area_table([check for check in found if check.area == area]))
    console.print(Text("health counters (agentpath.health, and the handle's health())", style="bold"))
    console.print(_counter_table())
    advice = [check for check in found if check.advice]
    console.print(Text("what to do" if advice else "nothing to do", style="bold"))
    for check in advice:
        console.print(Text(f"  {check.name}: ", style=_STYLES[check.state]).append(plain(check.advice), "default"))


def _area_table(found: list[Check]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in found:
        table.add_row(Text(check.state, style=_STYLES[check.state]), plain(check.name), plain(check.found))
    return table


def _counter_table() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, meaning in COUNTER_MEANINGS.items():
        table.add_row(name, Text(meaning, style="dim"))
    return table


def checks() -> Iterator[Check]:
    """Yield every check, in the order of the report."""
    sections: tuple[Callable[[], Iterator[Check]], ...] = (
        _versions,
        _extras,
        _integrations,
        _exporters,
        _telemetry_environment,
        _settings,
        _gold,
        _paths,
    )
    for section in sections:
        yield from section()


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


def _integrations() -> Iterator[Check]:
    for point in metadata.entry_points(group="agentpath_integrations"):
        yield _integration(point)


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


def _exporters() -> Iterator[Check]:
    registered = {point.name for point in metadata.entry_points(group="opentelemetry_traces_exporter")}
    if "agentpath" in registered:
        yield Check(area="exporters", name="agentpath", state="ok", found="registered for OTEL_TRACES_EXPORTER")
    else:
        advice = "the installation has no entry points; reinstall agentpath-sdk"
        yield Check(area="exporters", name="agentpath", state="error", found="not registered", advice=advice)
    wanted = [name.strip() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()]
    for name in wanted:
        if name not in registered | {"none"}:
            advice = f"install the package that brings the exporter {name!r}, or take it out of OTEL_TRACES_EXPORTER"
            yield Check(area="exporters", name=name, state="error", found="asked for, not installed", advice=advice)
    if wanted == ["agentpath"]:
        advice = "use OTEL_TRACES_EXPORTER=otlp,agentpath if the spans shall reach a backend too"
        yield Check(
            area="exporters", name="otlp", state="warning", found="agentpath is the only exporter", advice=advice
        )


def _telemetry_environment() -> Iterator[Check]:
    area = "environment"
    env = os.environ
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        advice = "unset OTEL_SDK_DISABLED; nothing is traced or scored while it is true"
        yield Check(area=area, name="OTEL_SDK_DISABLED", state="error", found="true", advice=advice)
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"):
        if name in env:
            yield Check(area=area, name=name, state="ok", found=env[name])
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        if name in env:
            yield Check(area=area, name=name, state="ok", found=_without_credentials(env[name]))
    if env.get("OTEL_TRACES_SAMPLER", "").startswith("traceidratio"):
        advice = "use parentbased_traceidratio, so that a run is kept or dropped as a whole"
        yield Check(area=area, name="sampler", state="warning", found="decides span by span", advice=advice)
    yield from _attribute_limits()


def _without_credentials(url: str) -> str:
    """Return ``url`` without user, password and query: any of them may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _attribute_limits() -> Iterator[Check]:
    for name in ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        limit = os.environ.get(name, "")
        if limit.isdecimal() and int(limit) < _SMALLEST_VALUE_LIMIT:
            advice = f"raise {name} to {_SMALLEST_VALUE_LIMIT} or more; cut arguments are not evaluated"
            yield Check(area="environment", name=name, state="warning", found=limit, advice=advice)


def _settings() -> Iterator[Check]:
    for kind in (TracingSettings, ScoringSettings, OnlineSettings):
        try:
            from_environment(kind)
        except AgentPathError as error:
            advice = "correct or unset the variable"
            yield Check(area="settings", name=kind.__name__, state="error", found=str(error), advice=advice)
        else:
            yield Check(area="settings", name=kind.__name__, state="ok", found="environment and defaults are valid")


def _gold() -> Iterator[Check]:
    area, name = "gold paths", "AGENTPATH_GOLD"
    place = os.environ.get(name)
    if place is None:
        found = "not set; give configure(gold=...) or --gold"
        yield Check(area=area, name=name, state="info", found=found)
        return
    from agentpath_sdk.gold.registry import GoldPathRegistry

    try:
        registry = GoldPathRegistry(*filter(None, place.split(os.pathsep)))
    except (AgentPathError, OSError) as error:
        advice = "run: agentpath gold validate"
        yield Check(area=area, name=name, state="error", found=str(error), advice=advice)
    else:
        yield Check(area=area, name=name, state="ok", found=f"{place}: {len(registry.paths)} gold paths")


def _paths() -> Iterator[Check]:
    for name, folder in (("working folder", Path.cwd()), ("temporary folder", Path(tempfile.gettempdir()))):
        if os.access(folder, os.W_OK):
            yield Check(area="paths", name=name, state="ok", found=f"{folder} is writable")
        else:
            advice = f"make {folder} writable, or name another place for span and score files"
            yield Check(area="paths", name=name, state="warning", found=f"{folder} is not writable", advice=advice)
