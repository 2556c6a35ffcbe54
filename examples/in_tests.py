"""Agents under pytest: which tools they called, and how near they keep to the gold path.

    pytest examples/in_tests.py

The fixture `captured_trajectories` comes with the SDK. Nothing is sent anywhere and nothing waits.
"""

from pathlib import Path

import pytest

from agentpath_sdk import trace_agent, trace_tool
from agentpath_sdk.testing import Captured

GOLD = Path(__file__).parent / "gold" / "refund.yaml"


@trace_tool
def lookup(order: int) -> dict[str, float]:
    return {"price": 20.0}


@trace_tool
def refund(order: int, amount: float) -> str:
    return f"refunded {amount:.2f}"


@trace_agent(name="support", query="message")
def support(message: str, *, careless: bool = False) -> str:
    amount = 999.0 if careless else lookup(order=7)["price"]
    return f"We have {refund(order=7, amount=amount)}."


QUESTION = "My lamp from order 7 arrived broken, I want my money back."


def test_the_order_is_looked_up_before_money_is_paid(captured_trajectories: Captured) -> None:
    support(QUESTION)
    assert captured_trajectories.tools() == ["lookup", "refund"]


@pytest.mark.agentpath(gold=GOLD)
def test_the_agent_keeps_to_the_gold_path(captured_trajectories: Captured) -> None:
    support(QUESTION)
    score = captured_trajectories.score()
    assert score.value == 1.0
    assert score.label == "solid"


@pytest.mark.agentpath(gold=GOLD)
def test_a_careless_agent_is_found_out_though_its_answer_looks_right(captured_trajectories: Captured) -> None:
    """The answer check is passed, the path is not: that is what a lucky run is."""
    support(QUESTION, careless=True)
    score = captured_trajectories.score()
    assert score.label == "lucky"
    assert score.metrics["argument_accuracy"] < 0.5
