"""The live half: an agent under one decorator, its spans and scores written as in production."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from agentpath_jsonl import JsonlScoreExporter, JsonlSpanExporter
from agentpath_sdk.cli.demo.tools import Corpus, load_data
from agentpath_sdk.configuration import configure
from agentpath_sdk.errors import AgentPathError, MissingExtraError
from agentpath_sdk.tracing.decorators import trace_agent

__all__ = ["AGENT", "Place", "ask_everything", "prepare"]

AGENT: Final = "planet-agent"
_FLUSH_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one demonstration, and the files in it."""

    folder: Path

    @property
    def gold(self) -> Path:
        """Gold paths of the live agent."""
        return self.folder / "gold.yaml"

    @property
    def spans(self) -> Path:
        """Spans of the live runs, as OTLP/JSON lines."""
        return self.folder / "spans.jsonl"

    @property
    def scores(self) -> Path:
        """Score records of the live runs."""
        return self.folder / "scores.jsonl"

    @property
    def recorded(self) -> Path:
        """The recorded public runs."""
        return self.folder / "recorded_runs.jsonl.gz"


def prepare(folder: Path) -> Place:
    """Return ``folder`` with the demonstration's inputs in it and the last demonstration's outputs gone.

    Raises:
        AgentPathError: the folder cannot be written.
    """
    place = Place(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in (place.gold, place.recorded):
            file.write_bytes(files(str(__package__)).joinpath("data", file.name).read_bytes())
        for file in (place.spans, place.scores):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise AgentPathError(
            f"{folder}: cannot be written: {error.strerror}; name another folder by --output"
        ) from None
    return place


def ask_everything(place: Place, told: Callable[[str, str], None]) -> None:
    """Ask the agent every question of the script; ``told`` gets each question and answer.

    Raises:
        AgentPathError: LangChain is missing, or nothing was recorded because the environment switches tracing off.
    """
    script = load_data("script.yaml")
    answer = _traced_agent(script)
    handle = configure(
        gold=place.gold,
        score_exporters=[JsonlScoreExporter(place.scores)],
        forward_to=JsonlSpanExporter(place.spans),
        # Said here, so that a shell set up for something else does not change the demonstration.
        capture_content=True,
        sample_rate=1.0,
    )
    with handle:
        for entry in script:
            told(entry["question"], answer(entry["question"]))
        sent = handle.flush(_FLUSH_SECONDS)
    # The exporters make their files at once, to find out early whether they may.
    if not sent or not all(file.exists() and file.stat().st_size for file in (place.spans, place.scores)):
        raise AgentPathError("no spans or no scores were written; run: agentpath doctor")


def _traced_agent(script: list[dict[str, object]]) -> Callable[[str], str]:
    try:
        from agentpath_sdk.cli.demo.agent import make_agent
    except ImportError:
        raise MissingExtraError("langchain-core", "langchain") from None
    agent = make_agent(script, Corpus(load_data("corpus.yaml")))
    return trace_agent(name=AGENT, query="question")(agent.answer)
