"""`agentpath doctor`: says what is there, what is wrong, and what to do; never a secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("rich")

from agentpath_sdk.cli.counters import meaning_of

Command: TypeAlias = Callable[..., Any]
PROTOCOLS = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "OTEL_TRACES_SAMPLER", "AGENTPATH_GOLD", *PROTOCOLS):
        monkeypatch.delenv(name, raising=False)


def found(outcome: Any, name: str) -> dict[str, Any]:
    [check] = [line for line in outcome.lines if line["name"] == name]
    return dict(check)


def test_a_sound_installation_has_nothing_to_do(agentpath: Command) -> None:
    outcome = agentpath("doctor")
    assert outcome.code == 0
    assert "nothing to do" in outcome.out
    assert found(agentpath("doctor", "--json"), "agentpath")["state"] == "ok"


@pytest.mark.parametrize(
    ("name", "value", "check", "state", "advice"),
    [
        ("OTEL_SDK_DISABLED", "true", "OTEL_SDK_DISABLED", "error", "unset OTEL_SDK_DISABLED"),
        ("OTEL_TRACES_EXPORTER", "nosuch,agentpath", "nosuch", "error", "install the package"),
        ("OTEL_TRACES_EXPORTER", "otlp,agentpath", "otlp", "error", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "agentpath", "otlp", "warning", "otlp,agentpath"),
        ("OTEL_TRACES_SAMPLER", "traceidratio", "sampler", "warning", "parentbased"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "warning", "raise"),
        ("AGENTPATH_QUEUE_SIZE", "many", "environment", "error", "correct or unset"),
        ("AGENTPATH_QEUE_SIZE", "9", "AGENTPATH_QEUE_SIZE", "warning", "AGENTPATH_QUEUE_SIZE"),
        ("AGENTPATH_GOLD", "/nowhere", "AGENTPATH_GOLD", "error", "agentpath gold validate"),
    ],
)
def test_a_wrong_setting_is_found_with_advice(
    agentpath: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, check: str, state: str, advice: str
) -> None:
    """An error makes the exit code 2; a warning does not."""
    if "proto_grpc" in str(entry_points(group="opentelemetry_traces_exporter")) and value.startswith("otlp"):
        pytest.skip("the gRPC exporter is installed")
    monkeypatch.setenv(name, value)
    outcome = agentpath("doctor", "--json")
    entries = [line for line in outcome.lines if line["name"] == check and line["state"] == state]
    assert len(entries) == 1
    assert advice in entries[0]["advice"]
    assert outcome.code == (2 if state == "error" else 0)


def test_credentials_in_an_endpoint_are_not_shown(agentpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:pw-444@otel.test:4318/v1?key=sk-555")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer tok-333")
    outcome = agentpath("doctor", "--json")
    assert found(outcome, "OTEL_EXPORTER_OTLP_ENDPOINT")["found"] == "https://otel.test:4318/v1"
    for secret in ("pw-444", "sk-555", "tok-333"):
        assert secret not in outcome.out + outcome.err


def test_every_health_counter_in_the_source_has_a_meaning() -> None:
    """A counter nobody can explain is no help; names made at run time are judged with a placeholder."""
    sources = [
        file for folder in ("agentpath_sdk", "integrations", "exporters") for file in (ROOT / folder).rglob("*.py")
    ]
    call = re.compile(r'\b(count|fault|guard)\(\s*f?"([a-z_.{}]+(?:\{[^"]*\}[a-z_.]*)?)"')
    used = {
        ("" if kind == "count" else "fault.") + re.sub(r"\{[^}]*\}", "x", name)
        for file in sources
        for kind, name in call.findall(file.read_text(encoding="utf-8"))
        if "." in name.strip(".") and not name.startswith("fault.")
    }
    assert len(used) > 20
    assert {name for name in used if meaning_of(name) is None} == set()


def test_counters_are_explained_when_asked_for(agentpath: Command) -> None:
    assert "online.dropped_spans" not in agentpath("doctor").out
    assert "online.dropped_spans" in agentpath("doctor", "--counters").out
