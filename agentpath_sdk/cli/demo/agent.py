"""The demonstration agent: a LangChain tool-calling loop around a scripted chat model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from agentpath_sdk.cli.demo.tools import CalculatorError, Corpus, calculate

__all__ = ["PlanetAgent", "ScriptedChatModel", "make_agent", "make_tools"]

_GIVE_UP: Final = "I could not find that."
_INSTRUCTIONS: Final = "Answer questions about the planets. Look facts up with retrieval, compute with calculator."


class ScriptedChatModel(BaseChatModel):
    """A chat model that plays a script keyed by the question, and can only call the tools bound to it."""

    script: dict[str, list[dict[str, Any]]]
    """Question -> turns, as in ``data/script.yaml``."""
    bound: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Return a copy that may call ``tools``; their schemas go with every request, as with a real model."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        names = tuple(schema["function"]["name"] for schema in schemas)
        return self.model_copy(update={"bound": names}).bind(tools=schemas, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: Sequence[BaseMessage]) -> AIMessage:
        question = next(str(message.content) for message in messages if isinstance(message, HumanMessage))
        turns = self.script.get(question, [])
        values: dict[str, str] = {}
        index = 0
        # A model holds no state between requests: what earlier turns read is read again from the messages.
        for message in messages:
            if isinstance(message, AIMessage):
                index += 1
            elif isinstance(message, ToolMessage) and index < len(turns):
                values |= _read(turns[index].get("read", {}), str(message.content))
        return self._speak(turns[index], index, values) if index < len(turns) else AIMessage(_GIVE_UP)

    def _speak(self, turn: dict[str, Any], index: int, values: dict[str, str]) -> AIMessage:
        if not set(turn.get("read", {})) <= set(values):
            return AIMessage(_GIVE_UP)
        if "say" in turn:
            return AIMessage(turn["say"].format_map(values))
        tool = turn["call"]["tool"]
        if tool not in self.bound:
            raise ValueError(f"the script calls {tool!r}, bound are {self.bound!r}")
        arguments = {name: text.format_map(values) for name, text in turn["call"]["arguments"].items()}
        return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call_{index + 1}"}])


def _read(patterns: dict[str, str], text: str) -> dict[str, str]:
    found = {name: re.search(pattern, text) for name, pattern in patterns.items()}
    return {name: match.group(1) for name, match in found.items() if match}


def make_tools(corpus: Corpus) -> list[BaseTool]:
    """Return the agent's two tools; an error of the calculator goes back to the model as a tool message."""

    def retrieval(query: str) -> list[dict[str, str]]:
        """Find documents about the planets."""
        return corpus.search(query)

    def calculator(expression: str) -> float:
        """Compute an arithmetic expression."""
        try:
            return calculate(expression)
        except CalculatorError as error:
            raise ToolException(str(error)) from error

    return [
        StructuredTool.from_function(retrieval),
        StructuredTool.from_function(calculator, handle_tool_error=True),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanetAgent:
    """Asks the model, runs the tools it calls, and goes on until it answers."""

    model: BaseChatModel
    tools: Sequence[BaseTool]
    max_turns: int = 8

    def answer(self, question: str) -> str:
        """Return the final answer to ``question``."""
        model = self.model.bind_tools(list(self.tools))
        by_name = {tool.name: tool for tool in self.tools}
        messages: list[BaseMessage] = [SystemMessage(_INSTRUCTIONS), HumanMessage(question)]
        for _ in range(self.max_turns):
            reply = model.invoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return str(reply.content)
            messages += [by_name[call["name"]].invoke(call) for call in reply.tool_calls]
        return _GIVE_UP


def make_agent(script: Sequence[dict[str, Any]], corpus: Corpus) -> PlanetAgent:
    """Return the agent with both tools and a model that plays ``script``."""
    model = ScriptedChatModel(script={entry["question"]: entry["turns"] for entry in script})
    return PlanetAgent(model=model, tools=make_tools(corpus))
