"""What `agentpath doctor` looks at in the environment: exporters, limits, settings, gold paths."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import fields
from importlib import metadata
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from agentpath_sdk.cli.checkup import Check
from agentpath_sdk.errors import AgentPathError
from agentpath_sdk.settings import OnlineSettings, ScoringSettings, TracingSettings, resolve

__all__ = ["environment"]

_PREFIX: Final = "AGENTPATH_"
_GOLD_VARIABLE: Final = "AGENTPATH_GOLD"
_SMALLEST_VALUE_LIMIT: Final = 4_096
# How OpenTelemetry reads the exporter name `otlp`; without a protocol it takes gRPC.
_OTLP: Final = MappingProxyType({"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"})


def environment() -> Iterator[Check]:
    """Yield what the environment asks for, and what is wrong with it."""
    yield from _exporters()
    yield from _telemetry()
    yield from _settings()
    yield _gold()


def _exporters() -> Iterator[Check]:
    registered = {point.name for point in metadata.entry_points(group="opentelemetry_traces_exporter")}
    if "agentpath" in registered:
        yield Check(area="exporters", name="agentpath", state="ok", found="registered for OTEL_TRACES_EXPORTER")
    else:
        advice = "the installation has no entry points; reinstall agentpath-sdk"
        yield Check(area="exporters", name="agentpath", state="error", found="not registered", advice=advice)
    wanted = [name.strip() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()]
    yield from (_missing_exporter(name) for name in wanted if _entry_point(name) not in registered | {"none"})
    if wanted == ["agentpath"]:
        advice = "use OTEL_TRACES_EXPORTER=otlp,agentpath if the spans shall reach a backend too"
        yield Check(
            area="exporters", name="otlp", state="warning", found="agentpath is the only exporter", advice=advice
        )


def _entry_point(exporter: str) -> str:
    return _OTLP.get(_otlp_protocol(), exporter) if exporter == "otlp" else exporter


def _otlp_protocol() -> str:
    names = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    return next((os.environ[name].strip() for name in names if os.environ.get(name)), "grpc")


def _missing_exporter(name: str) -> Check:
    advice = f"install the package that brings the exporter {name!r}, or take it out of OTEL_TRACES_EXPORTER"
    found = "asked for, not installed"
    if name == "otlp":
        found = f"asked for with the protocol {_otlp_protocol()!r}, which is not installed"
        advice = (
            "set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf (pip install 'agentpath-sdk[otlp]' brings it), "
            "or install opentelemetry-exporter-otlp-proto-grpc"
        )
    return Check(area="exporters", name=name, state="error", found=found, advice=advice)


def _telemetry() -> Iterator[Check]:
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
    area = "settings"
    try:
        resolve({})
    except AgentPathError as error:
        advice = "correct or unset the variable"
        yield Check(area=area, name="environment", state="error", found=str(error), advice=advice)
    else:
        yield Check(area=area, name="environment", state="ok", found="all values are valid")
    kinds = (TracingSettings, ScoringSettings, OnlineSettings)
    known = {_PREFIX + field.name.upper() for kind in kinds for field in fields(kind)} | {_GOLD_VARIABLE}
    for name in sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in known):
        near = difflib.get_close_matches(name, known, n=1)
        advice = f"did you mean {near[0]}?" if near else "unset it; nothing reads it"
        yield Check(area=area, name=name, state="warning", found="is no setting", advice=advice)


def _gold() -> Check:
    area, name = "gold paths", _GOLD_VARIABLE
    place = os.environ.get(name)
    if place is None:
        found = "not set; give configure(gold=...) or --gold"
        return Check(area=area, name=name, state="info", found=found)
    from agentpath_sdk.gold.registry import GoldPathRegistry

    try:
        registry = GoldPathRegistry(*filter(None, place.split(os.pathsep)))
    except (AgentPathError, OSError) as error:
        advice = "run: agentpath gold validate"
        return Check(area=area, name=name, state="error", found=str(error), advice=advice)
    return Check(area=area, name=name, state="ok", found=f"{place}: {len(registry)} gold paths")
