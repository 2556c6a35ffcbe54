"""Gold files that change under a running service."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.gold.reloading import ReloadingRegistry
from agentpath_sdk.trajectories.model import Trajectory


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _write(file: Path, name: str, query: str = "q") -> None:
    # As editors and deployments do: the new file takes the old one's place in one go.
    beside = file.with_suffix(".part")
    beside.write_text(f"id: {name}\nqueries: [{query}]\nsteps: []\n", encoding="utf-8")
    beside.replace(file)


def _id(registry: ReloadingRegistry) -> str | None:
    found = registry.look_up(Trajectory(query="q"))
    return found.path.id if found.path else None


def _counted(name: str) -> int:
    return HEALTH.counts().get(name, 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    _write(tmp_path / "gold.yaml", "first")
    return tmp_path / "gold.yaml"


def test_a_changed_file_takes_effect_at_the_next_check(file: Path) -> None:
    registry = ReloadingRegistry(file.parent)
    assert not registry.reload_if_changed(now=True)
    _write(file, "second")
    assert _id(registry) == "first"
    assert registry.reload_if_changed(now=True)
    assert _id(registry) == "second"
    assert registry.generation == 2
    assert not registry.reload_if_changed(now=True)


def test_files_are_looked_at_when_the_time_has_come(file: Path) -> None:
    clock = FakeClock()
    registry = ReloadingRegistry(file, check_seconds=5.0, clock=clock)
    _write(file, "second")
    clock.now += 4.9
    assert not registry.reload_if_changed()
    clock.now += 0.2
    assert registry.reload_if_changed()
    _write(file, "third")
    assert not registry.reload_if_changed()


def test_files_come_and_go(file: Path) -> None:
    registry = ReloadingRegistry(file.parent)
    _write(file.parent / "other.yaml", "other", "another query")
    assert registry.reload_if_changed(now=True)
    assert sorted(path.id for path in registry.paths) == ["first", "other"]
    file.unlink()
    assert registry.reload_if_changed(now=True)
    assert [path.id for path in registry.paths] == ["other"]


def test_a_change_of_the_same_length_within_one_tick_of_the_clock_is_seen(file: Path) -> None:
    registry = ReloadingRegistry(file)
    before = file.stat()
    with file.open("r+b") as opened:
        opened.write(b"id: fresh")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert file.stat().st_size == before.st_size
    assert registry.reload_if_changed(now=True)
    assert _id(registry) == "fresh"


def test_a_file_that_was_only_touched_is_not_loaded_again(file: Path) -> None:
    registry = ReloadingRegistry(file)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    current = registry.current
    assert not registry.reload_if_changed(now=True)
    assert registry.current is current


def test_a_file_that_has_been_the_same_for_a_while_is_not_read_to_know_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(file, (1_000_000_000, 1_000_000_000))
    registry = ReloadingRegistry(file)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("was read")

    monkeypatch.setattr(Path, "open", refused)
    assert not registry.reload_if_changed(now=True)


@pytest.mark.parametrize("broken", ["stps: []", "id: first\nsteps: [3]\n", "{", "\0"])
def test_a_reload_that_fails_keeps_the_old_paths_and_is_counted_and_logged_once(
    file: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    registry = ReloadingRegistry(file)
    HEALTH.reset()
    file.write_text(broken, encoding="utf-8")
    assert not registry.reload_if_changed(now=True)
    assert _id(registry) == "first"
    assert registry.generation == 1
    assert isinstance(registry.problem, FileFormatError)
    assert not registry.reload_if_changed(now=True)
    assert _counted("gold.reload_failed") == 1
    assert [record.getMessage() for record in caplog.records] == [
        "agentpath: gold.reload: changed gold files cannot be read, the paths from before stay in use"
    ]
    _write(file, "mended")
    assert registry.reload_if_changed(now=True)
    assert registry.problem is None
    assert _id(registry) == "mended"


def test_a_folder_that_vanishes_keeps_the_old_paths(file: Path, tmp_path: Path) -> None:
    registry = ReloadingRegistry(file.parent)
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    tmp_path.rename(moved)
    assert not registry.reload_if_changed(now=True)
    assert _id(registry) == "first"
    assert registry.problem is not None
    moved.rename(tmp_path)
    assert registry.reload_if_changed(now=True)
    assert registry.problem is None


def test_a_reload_with_one_bad_file_changes_nothing_at_all(file: Path) -> None:
    registry = ReloadingRegistry(file.parent)
    _write(file, "second")
    (file.parent / "bad.yaml").write_text("steps: 3", encoding="utf-8")
    assert not registry.reload_if_changed(now=True)
    assert _id(registry) == "first"


def test_the_first_load_of_a_bad_file_is_an_error(file: Path) -> None:
    file.write_text("steps: 3", encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 1, steps: expected a list"):
        ReloadingRegistry(file)


def test_an_unforeseen_fault_is_counted_and_the_old_paths_serve(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = ReloadingRegistry(file)
    _write(file, "second")

    def broken(*_: object, **__: object) -> GoldPathRegistry:
        raise MemoryError

    monkeypatch.setattr("agentpath_sdk.gold.reloading.GoldPathRegistry", broken)
    before = _counted("fault.gold.reload")
    assert not registry.reload_if_changed(now=True)
    assert _counted("fault.gold.reload") == before + 1
    assert _id(registry) == "first"


def test_paths_from_code_stay_through_reloads(file: Path) -> None:
    own = (GoldPath(id=f"own-{n}", queries=(f"own query {n}",)) for n in range(2))
    registry = ReloadingRegistry(own, file)
    _write(file, "second")
    assert registry.reload_if_changed(now=True)
    assert [path.id for path in registry.paths] == ["own-0", "own-1", "second"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_the_files_does_not_hold_up_the_check(file: Path) -> None:
    registry = ReloadingRegistry(file.parent)
    os.mkfifo(file.parent / "pipe.yaml")
    assert not registry.reload_if_changed(now=True)
    assert registry.problem is not None
    assert _id(registry) == "first"


def test_readers_always_see_one_whole_registry_while_others_reload(file: Path) -> None:
    """Two queries of one file always lead to paths of the same writing."""

    def write(number: int) -> None:
        beside = file.with_suffix(".part")
        beside.write_text(
            f"- {{id: a-{number}, query: qa, steps: []}}\n- {{id: b-{number}, query: qb, steps: []}}\n",
            encoding="utf-8",
        )
        beside.replace(file)

    write(0)
    registry = ReloadingRegistry(file)
    done = threading.Event()
    mixed: list[tuple[str, str]] = []
    seen: set[str] = set()
    errors: list[BaseException] = []

    def read() -> None:
        try:
            while not done.is_set():
                current = registry.current
                a, b = current.find(query="qa").path, current.find(query="qb").path
                assert a is not None
                assert b is not None
                seen.add(a.id)
                if a.id[1:] != b.id[1:]:
                    mixed.append((a.id, b.id))
        except BaseException as error:
            errors.append(error)

    def reload() -> None:
        try:
            while not done.is_set():
                registry.reload_if_changed(now=True)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for work in (read, read, read, reload, reload)]
    for thread in threads:
        thread.start()
    for number in range(1, 40):
        write(number)
        registry.reload_if_changed(now=True)
    done.set()
    for thread in threads:
        thread.join()
    # A thread may have been at it when the last file was written.
    registry.reload_if_changed(now=True)
    assert (mixed, errors) == ([], [])
    assert len(seen) > 1
    assert registry.current.find(query="qa").paths[0].id == "a-39"
    assert registry.problem is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_reloads_even_if_the_parent_was_reloading_at_the_fork(file: Path) -> None:
    registry = ReloadingRegistry(file)
    _write(file, "second")
    with registry._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if registry.reload_if_changed(now=True) and _id(registry) == "second" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
