"""The decorator changes nothing but adds a span."""

from __future__ import annotations

import asyncio
import copy
import functools
import importlib.util
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing import trace_agent, trace_step, trace_tool

HERE = Path(__file__).parent
DECORATORS: list[Callable[[Any], Any]] = [
    trace_tool,
    trace_tool(name="t"),
    trace_agent,
    trace_agent(name="a", gold_path="g"),
    trace_step(phase="p"),
]
decorated_by = pytest.mark.parametrize("decorate", DECORATORS, ids=["tool", "tool()", "agent", "agent()", "step"])


def sync(a: int, /, b: str = "x", *rest: int, c: float = 1.0, **more: Any) -> dict[str, Any]:
    """Return what came in."""
    return {"a": a, "b": b, "rest": rest, "c": c, "more": more}


async def coroutine(a: int, b: str = "x") -> tuple[int, str]:
    """Return both."""
    return a, b


def generator(n: int) -> Iterator[int]:
    """Yield numbers."""
    yield from range(n)


async def async_generator(n: int) -> AsyncIterator[int]:
    """Yield numbers, later."""
    for number in range(n):
        yield number


def options(config: Any, name: str, metadata: Any, run_id: str, **kwargs: Any) -> Any:
    """Return arguments that are called like an SDK's own."""
    return config, name, metadata, run_id, kwargs


FUNCTIONS = [sync, coroutine, generator, async_generator, options]


@decorated_by
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_decorated_function_looks_like_itself(decorate: Any, function: Any) -> None:
    traced = decorate(function)
    assert inspect.signature(traced) == inspect.signature(function)
    assert typing.get_type_hints(traced) == typing.get_type_hints(function)
    for attribute in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__defaults__"):
        assert getattr(traced, attribute) == getattr(function, attribute)
    for test in (
        inspect.isfunction,
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        asyncio.iscoroutinefunction,
        callable,
    ):
        assert test(traced) == test(function), test.__name__
    assert inspect.unwrap(traced) is function


@decorated_by
def test_results_are_the_same(spans: Any, decorate: Any) -> None:
    assert decorate(sync)(1, "y", 2, 3, c=2.0, d=4) == sync(1, "y", 2, 3, c=2.0, d=4)
    assert asyncio.run(decorate(coroutine)(1, b="z")) == (1, "z")
    assert list(decorate(generator)(3)) == [0, 1, 2]

    async def read() -> list[int]:
        return [number async for number in decorate(async_generator)(3)]

    assert asyncio.run(read()) == [0, 1, 2]
    given = {"config": {"a": 1}, "name": "n", "metadata": None, "run_id": "r", "call_id": "c", "key": "k", "door": "d"}
    assert decorate(options)(**given) == options(**given)
    assert len(spans.all()) == 5


@decorated_by
def test_wrong_arguments_raise_as_without_us(decorate: Any) -> None:
    for function in (sync, coroutine, generator, async_generator):
        with pytest.raises(TypeError) as ours:
            decorate(function)(unknown=1)
        with pytest.raises(TypeError) as bare:
            function(unknown=1)  # type: ignore[operator]  # the mistake under test
        assert str(ours.value) == str(bare.value)


@decorated_by
def test_methods_of_every_kind_called_on_class_and_instance(spans: Any, decorate: Any) -> None:
    class Thing:
        factor = 3

        @decorate
        def instance(self, n: int) -> int:
            return n * self.factor

        @classmethod
        @decorate
        def on_class_inside(cls, n: int) -> int:
            return n * cls.factor

        @decorate
        @classmethod
        def on_class_outside(cls, n: int) -> int:
            return n * cls.factor

        @staticmethod
        @decorate
        def static_inside(n: int) -> int:
            return n

        @decorate
        @staticmethod
        def static_outside(n: int) -> int:
            return n

        @property
        @decorate
        def read(self) -> int:
            return self.factor

    thing = Thing()
    assert [thing.instance(2), Thing.instance(thing, 2), Thing.instance(thing, n=2)] == [6, 6, 6]
    assert [Thing.on_class_inside(2), thing.on_class_inside(2)] == [6, 6]
    assert [Thing.on_class_outside(2), thing.on_class_outside(2)] == [6, 6]
    assert [Thing.static_inside(2), thing.static_inside(2)] == [2, 2]
    assert [Thing.static_outside(2), thing.static_outside(2)] == [2, 2]
    assert thing.read == 3
    for span in spans.of("execute_tool"):
        recorded = span.attributes["gen_ai.tool.call.arguments"]
        assert recorded in ('{"n":2}', "{}"), "neither self nor cls is recorded"


def test_partials_and_callable_objects(spans: Any) -> None:
    class Adder:
        """Adds."""

        name = "adder"

        def __init__(self, n: int) -> None:
            self.n = n

        def __call__(self, m: int) -> int:
            return self.n + m

    class AsyncAdder(Adder):
        async def __call__(self, m: int) -> int:  # type: ignore[override]  # async on purpose
            return self.n + m

    partial = trace_tool(functools.partial(sync, 1, b="y"))
    adder = trace_tool(Adder(1))
    assert partial(c=3.0)["c"] == 3.0
    assert (adder(2), adder.n, isinstance(adder, Adder)) == (3, 1, True)
    assert asyncio.run(trace_tool(AsyncAdder(1))(2)) == 3
    assert spans.names() == ["execute_tool sync", "execute_tool adder", "execute_tool adder"]
    assert spans.arguments("sync") == {"c": 3.0}


def test_lambdas_and_builtins(spans: Any) -> None:
    assert trace_tool(lambda n: n + 1, name="inc")(1) == 2
    assert trace_tool(len)([1, 2]) == 2
    assert spans.names() == ["execute_tool inc", "execute_tool len"]


def test_decorating_twice_makes_one_span(spans: Any) -> None:
    assert trace_tool(trace_tool(sync), name="again")(1)["a"] == 1
    assert spans.names() == ["execute_tool again"]


def test_functions_are_copied_as_functions_are() -> None:
    traced = trace_tool(sync)
    assert copy.copy(traced) is traced
    assert copy.deepcopy({"tool": traced})["tool"] is traced


def test_attributes_set_on_the_function_are_kept() -> None:
    def function() -> None: ...

    function.tag = "x"  # type: ignore[attr-defined]  # as frameworks do
    traced = trace_tool(function)
    traced.other = "y"  # type: ignore[attr-defined]  # as frameworks do
    assert (traced.tag, function.other) == ("x", "y")  # type: ignore[attr-defined]  # same


def load_module() -> ModuleType:
    name = "agentpath_module_functions"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "module_functions.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def test_module_functions_and_methods_pickle() -> None:
    module = load_module()
    for function in (module.double, module.ask):
        assert pickle.loads(pickle.dumps(function)) is function
    method = pickle.loads(pickle.dumps(module.Worker(3).times))
    assert method(2) == 6


def test_a_stand_in_under_another_name_pickles_by_its_function() -> None:
    module = load_module()
    other = trace_tool(module.double.__wrapped__, name="other")
    assert pickle.loads(pickle.dumps(other))(4) == 8


@pytest.mark.slow
def test_module_functions_run_in_a_spawned_process() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import module_functions as m, multiprocessing, concurrent.futures\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:\n"
        "        print(pool.submit(m.double, 4).result(), pool.submit(m.ask, 'x').result(), "
        "pool.submit(m.Worker(3).times, 2).result())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(HERE)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "8 x4 6", done.stderr


TYPED = """
from collections.abc import AsyncIterator, Callable, Iterator
from typing import assert_type
from agentpath_sdk.tracing import trace_agent, trace_step, trace_tool

@trace_tool
def plain(a: int, b: str = "x") -> float: return 1.0
@trace_tool(name="t")
async def later(a: int) -> str: return ""
@trace_agent(gold_path="g", query="question")
def agent(question: str) -> Iterator[int]: yield 1
@trace_step(phase="audit")
def audit(x: bytes) -> bytes: return x
@trace_agent
class Agent:
    def __init__(self, n: int) -> None: self.n = n
    def run(self, question: str) -> str: return question

assert_type(plain(1, b="y"), float)
assert_type(agent("q"), Iterator[int])
assert_type(audit(b""), bytes)
assert_type(Agent(1).run("q"), str)
assert_type(trace_agent(Agent(1)), Agent)
async def use() -> None:
    assert_type(await later(1), str)
    await later(a="wrong")  # type: ignore[arg-type]
plain("wrong")  # type: ignore[arg-type]
"""


@pytest.mark.slow
def test_a_strict_type_checker_sees_the_original_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", str(file)],
        capture_output=True, text=True, cwd=tmp_path, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: trace_tool(3), "trace_tool cannot trace a int"),
        (lambda: trace_agent({"a": 1}), "trace_agent cannot trace a dict"),
        (lambda: trace_agent(query="qestion")(coroutine), "coroutine() has no parameter 'qestion'.*a, b"),
        (lambda: trace_tool(redact=["passwort"])(coroutine), "passwort"),
        (lambda: trace_tool(redact="password"), r"\['password'\]"),
        (lambda: trace_tool(name=" "), "name='' is empty"),
        (lambda: trace_step(phase=""), "needs a name for the phase"),
    ],
)
def test_mistakes_at_set_up_are_said_in_words(wrong: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words.replace("(", r"\(").replace(")", r"\)")):
        wrong()
