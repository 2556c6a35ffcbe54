"""Without LangChain installed: nothing is imported, and what needs it says which extra brings it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest

needs_langchain = pytest.mark.skipif(find_spec("langchain_core") is None, reason="needs the extra langchain")

_BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Blocked())
"""


def _run(code: str, *blocked: str) -> str:
    program = _BLOCK.format(blocked=set(blocked)) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_integration_imports_no_langchain() -> None:
    code = """
    import agentpath_langchain
    from agentpath_langchain.integration import INTEGRATION
    with INTEGRATION.activate():
        assert INTEGRATION.current_key() is None
    assert INTEGRATION.classify_error(ValueError()) is None
    print([m for m in sys.modules if m.startswith(("langchain", "langgraph"))])
    """
    assert _run(code).strip() == "[]"


def test_the_handler_names_its_extra() -> None:
    code = """
    import agentpath_langchain
    try:
        agentpath_langchain.AgentPathCallbackHandler
    except ImportError as error:
        print(type(error).__name__, error)
    """
    told = _run(code, "langchain_core")
    assert told.startswith("MissingExtraError")
    assert "agentpath-sdk[langchain]" in told


def test_the_instrumentor_names_its_extra() -> None:
    code = """
    import opentelemetry
    sys.modules["opentelemetry.instrumentation"] = None
    import agentpath_langchain
    try:
        agentpath_langchain.AgentPathLangChainInstrumentor
    except ImportError as error:
        print(type(error).__name__, error)
    """
    told = _run(code)
    assert told.startswith("MissingExtraError")
    assert "agentpath-sdk[langchain]" in told


def test_a_decorated_agent_works_without_langchain() -> None:
    code = """
    from agentpath_sdk import trace_agent
    print(trace_agent(lambda q: q + "!")("x"))
    """
    assert _run(code, "langchain_core", "langgraph", "langchain").strip() == "x!"


@needs_langchain
def test_langchain_imported_after_the_instrumentor_is_heard() -> None:
    """Switching the instrumentor on imports no LangChain; importing it later is early enough."""
    code = """
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from agentpath_langchain import AgentPathLangChainInstrumentor
    from agentpath_sdk.tracing.recorder import get_recorder
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    get_recorder().use_provider(provider)
    AgentPathLangChainInstrumentor().instrument()
    assert not [m for m in sys.modules if m.startswith("langchain_core")]
    from langchain_core.tools import tool

    @tool
    def search(q: str) -> str:
        "Search."
        return q

    search.invoke({"q": "x"})
    print([s.name for s in exporter.get_finished_spans()])
    """
    assert _run(code).strip() == "['execute_tool search']"


@needs_langchain
def test_langchain_core_alone_is_enough() -> None:
    """LangGraph and the langchain package are not needed for tools, models and chains."""
    code = """
    from langchain_core.runnables import RunnableLambda
    from agentpath_langchain import AgentPathCallbackHandler
    from agentpath_sdk import trace_agent
    print(RunnableLambda(lambda x: x).invoke("a", {"callbacks": [AgentPathCallbackHandler()]}))
    print(trace_agent(RunnableLambda(lambda x: x), name="a").invoke("b"))
    """
    assert _run(code, "langgraph", "langchain").split() == ["a", "b"]
