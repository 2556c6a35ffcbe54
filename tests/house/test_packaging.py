"""The wheel holds exactly the import packages, each typed, and the command works without a clone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The project's wheel, built from the tree."""
    pytest.importorskip("build", reason="needs the development group")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_wheel_holds_the_listed_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    """No folder called integrations, exporters or tests reaches site-packages."""
    tool = _pyproject()["tool"]
    assert isinstance(tool, dict)
    listed = {Path(name).name for name in tool["hatch"]["build"]["targets"]["wheel"]["packages"]}
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == listed


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_package_in_the_wheel_says_it_is_typed(wheel: zipfile.ZipFile) -> None:
    """Each import package ships py.typed."""
    names = set(wheel.namelist())
    tops = {name.split("/")[0] for name in names if name.endswith("/__init__.py")}
    assert {top for top in tops if f"{top}/py.typed" in names} == tops


def test_every_package_folder_is_in_the_wheel_list() -> None:
    """A new integration or exporter cannot be forgotten in pyproject."""
    tool = _pyproject()["tool"]
    assert isinstance(tool, dict)
    listed = set(tool["hatch"]["build"]["targets"]["wheel"]["packages"])
    folders = {
        str(init.parent.relative_to(ROOT))
        for folder in ("integrations", "exporters")
        for init in (ROOT / folder).glob("*/__init__.py")
    }
    assert folders | {"agentpath_sdk"} == listed


def test_top_level_exports_at_most_twenty_names() -> None:
    """The public surface stays small enough to learn."""
    import agentpath_sdk

    assert len(agentpath_sdk.__all__) <= 20
    assert list(agentpath_sdk.__all__) == sorted(agentpath_sdk.__all__)
    for name in agentpath_sdk.__all__:
        assert getattr(agentpath_sdk, name) is not None


def test_importing_the_sdk_loads_no_optional_library() -> None:
    """Heavy or optional libraries are loaded on first use only."""
    code = (
        "import sys, agentpath_sdk; "
        "print([m for m in ('langchain_core', 'langgraph', 'typer', 'rich', 'google.protobuf', 'numpy', 'pydantic_ai')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
