"""A chat model as a plain callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["ChatModel", "Message"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


ChatModel: TypeAlias = Callable[[Sequence[Message]], str]
"""Returns the text of the model's answer; raises when there is none to be had."""
