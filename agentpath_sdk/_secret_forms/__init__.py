"""What secrets look like, which names they are kept under, and where in a text such a name stands before one."""

from __future__ import annotations

from collections.abc import Callable

from agentpath_sdk._secret_forms.forms import without_forms
from agentpath_sdk._secret_forms.names import names_secret
from agentpath_sdk._secret_forms.places import without_named
from agentpath_sdk._secret_forms.quick import may_hold_secret

__all__ = ["clean_text", "may_hold_secret", "names_secret"]


def clean_text(text: str, marker: str, is_secret_name: Callable[[str], bool]) -> str:
    """Return ``text`` with everything that looks like a secret replaced by ``marker``."""
    return without_named(without_forms(text, marker), marker, is_secret_name)
