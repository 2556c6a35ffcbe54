"""The shortest use: an agent, one decorator, a gold path of six lines. Needs the extra `langchain`; no key."""

from collections.abc import Sequence
from pathlib import Path

from langchain_core.tools import tool

from agentpath_sdk import configure, trace_agent
from agentpath_sdk.online.record import ExportResult, ScoreRecord


@tool
def search(query: str) -> str:
    """Find facts about planets."""
    return "The average temperature on Mars is 210 K."


@tool
def calculator(expression: str) -> float:
    """Subtract two numbers."""
    left, right = expression.split(" - ")
    return float(left) - float(right)


@trace_agent  # the one line added to the agent
def agent(question: str) -> str:
    facts = search.invoke({"query": "average temperature of Mars"})
    kelvin = facts.split()[-2]
    celsius = calculator.invoke({"expression": f"{kelvin} - 273.15"})
    return f"About {celsius:.2f} °C."


class PrintScores:
    """A place where scores go: the terminal."""

    def export(self, records: Sequence[ScoreRecord]) -> ExportResult:
        for record in records:
            print(f"{record.agent}: {record.score.name} {record.score.value}, {record.score.label}")
        return ExportResult(exported=len(records))

    def flush(self, timeout: float) -> bool:
        return True

    def shutdown(self, timeout: float) -> None:
        pass


if __name__ == "__main__":
    gold = Path(__file__).parent / "gold" / "mars.yaml"
    with configure(gold=gold, score_exporters=[PrintScores()]):
        print(agent("What is the average temperature on Mars, in degrees Celsius?"))
