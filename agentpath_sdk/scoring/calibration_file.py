"""The settings file that a calibration writes, and that ``configure`` and gold files can name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import yaml

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.scoring.calibration import Calibration
from agentpath_sdk.scoring.calibration_auc import Area

__all__ = ["SETTING_OF", "CalibratedSettings", "calibration_yaml", "read_calibration", "write_calibration"]

SETTING_OF: Final[Mapping[str, str]] = {"composite": "weights", "effect_score": "effect_weights"}
"""Score -> the setting that holds its weights."""

_KEYS: Final = frozenset({*SETTING_OF.values(), "good_path", "calibration"})
_HEAD: Final = """\
# Written by `agentpath calibrate`; name it with configure(weights="this file") or as `weights` in a gold file.
# A calibrated score ranks runs; it is no probability.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibratedSettings:
    """What such a file sets; None = it does not say."""

    weights: Mapping[str, float] | None = None
    effect_weights: Mapping[str, float] | None = None
    good_path: float | None = None

    def given(self) -> dict[str, Any]:
        """Return what is set, by the name of the setting."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in named.items() if value is not None}


def calibration_yaml(result: Calibration) -> str:
    """Return the file's text; equal results give equal texts."""
    content: dict[str, Any] = {
        SETTING_OF.get(result.name, "weights"): dict(result.fitted.weights),
        "good_path": result.fitted.good_path,
        "calibration": {
            "score": result.name,
            "kept_defaults": result.kept_defaults,
            "forced": result.forced,
            "runs": result.runs,
            "tasks": result.tasks,
            "reached": result.reached,
            "auc_default": _area(result.default),
            "auc_fitted": _area(result.apparent),
            "auc_corrected": _number(result.corrected),
            "auc_held_out": _area(result.held_out),
            "auc_within_tasks": _number(result.within),
            "auc_task_only": _number(result.task_only),
        },
    }
    dump = cast("Callable[..., str]", yaml.dump)  # its stub leaves types open
    return _HEAD + dump(content, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True)


def write_calibration(result: Calibration, path: str | os.PathLike[str]) -> None:
    """Write the settings file whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(calibration_yaml(result), encoding="utf-8")
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def read_calibration(path: str | os.PathLike[str]) -> CalibratedSettings:
    """Return the settings of a file that ``write_calibration`` wrote, or that somebody wrote like it.

    Raises:
        FileFormatError: it cannot be read, has another key, or a weight is no number of 0 or more.
    """
    file = os.fspath(path)
    content = _mapping(file)
    if unknown := sorted(set(map(str, content)) - _KEYS):
        raise FileFormatError(f"unknown key {unknown[0]!r}", file=file, hint=f"there are {', '.join(sorted(_KEYS))}")
    return CalibratedSettings(
        weights=_weights(content, "weights", file),
        effect_weights=_weights(content, "effect_weights", file),
        good_path=_good_path(content.get("good_path"), file),
    )


def _mapping(file: str) -> Mapping[str, Any]:
    try:
        found: Any = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror or error}", file=file) from None
    except UnicodeDecodeError:
        raise FileFormatError("is not text in UTF-8", file=file) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}"
        raise FileFormatError("is no valid YAML", file=file, place=place) from None
    if not isinstance(found, dict):
        raise FileFormatError("expected a mapping of settings", file=file, hint="such as: weights: {...}")
    return cast("dict[str, Any]", found)


def _weights(content: Mapping[str, Any], key: str, file: str) -> Mapping[str, float] | None:
    found = content.get(key)
    if found is None:
        return None
    if not isinstance(found, dict) or not found:
        raise FileFormatError("expected metrics with their weights", file=file, place=key)
    weights: dict[str, float] = {}
    for name, weight in cast("dict[str, Any]", found).items():
        if not _is_number(weight) or weight < 0:
            raise FileFormatError(f"expected a number of 0 or more, found {weight!r}", file=file, place=f"{key}.{name}")
        weights[str(name)] = float(weight)
    if not any(weights.values()):
        raise FileFormatError("expected a weight above 0", file=file, place=key)
    return weights


def _good_path(found: Any, file: str) -> float | None:
    if found is None:
        return None
    if not _is_number(found) or not 0 <= found <= 1:
        raise FileFormatError(f"expected a number from 0 to 1, found {found!r}", file=file, place="good_path")
    return float(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _area(found: Area) -> list[float | None]:
    """Return value, low, high."""
    return [_number(found.value), _number(found.low), _number(found.high)]
