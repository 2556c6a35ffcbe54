"""A LangChain tool-calling agent, its spans and scores in files. Needs the extra `langchain`; no key.

Run it, then look at what it wrote:

    python examples/langchain_agent.py
    agentpath score spans.jsonl --gold examples/gold/refund.yaml
"""

import sys
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool

from agentpath_jsonl import JsonlScoreExporter, JsonlSpanExporter
from agentpath_sdk import configure, trace_agent, use_conversation

ORDERS = {7: {"item": "lamp", "price": 20.0}}


@tool
def lookup(order: int) -> dict[str, object]:
    """Return an order."""
    return ORDERS[order]


@tool
def refund(order: int, amount: float) -> str:
    """Pay money back."""
    return f"refunded {amount:.2f} for order {order}"


TOOLS = {"lookup": lookup, "refund": refund}


def a_model() -> BaseChatModel:
    """Return a model that plays a script; in your application this is ChatOpenAI(...).bind_tools([...])."""
    return GenericFakeChatModel(
        messages=iter(
            [
                AIMessage("", tool_calls=[{"name": "lookup", "args": {"order": 7}, "id": "c1"}]),
                AIMessage("", tool_calls=[{"name": "refund", "args": {"order": 7, "amount": 20.0}, "id": "c2"}]),
                AIMessage("I am sorry. I have refunded 20.00."),
            ]
        )
    )


@trace_agent(name="support")
def support(question: str, model: BaseChatModel) -> str:
    """Answer a customer; LangChain's own calls are picked up because they happen inside."""
    messages: list[BaseMessage] = [HumanMessage(question)]
    while True:
        reply = model.invoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            return str(reply.content)
        messages += [TOOLS[call["name"]].invoke(call) for call in reply.tool_calls]


def main(folder: Path) -> None:
    """Run the agent once, with its files in ``folder``."""
    gold = Path(__file__).parent / "gold" / "refund.yaml"
    with (
        configure(
            gold=gold,
            score_exporters=[JsonlScoreExporter(folder / "scores.jsonl")],
            forward_to=JsonlSpanExporter(folder / "spans.jsonl"),
        ),
        use_conversation("ticket-4711"),
    ):
        print(support("My lamp from order 7 arrived broken, I want my money back.", a_model()))
    print(f"spans and scores are in {folder.resolve()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
