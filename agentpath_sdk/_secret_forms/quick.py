"""A look at a text that costs little and says whether the rules need be asked at all."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Final

import ahocorasick_rs

from agentpath_sdk._secret_forms.forms import FORM_SIGNS
from agentpath_sdk._secret_forms.names import KEY_OWNERS
from agentpath_sdk._secret_forms.places import PHRASE_SIGNS, QUERY_NAMES

__all__ = ["may_hold_secret"]

_NAME_SIGNS: Final = (
    "auth", "pass", "pwd", "secret", "token", "key", "cookie", "credential", "creds", "bearer", "basic ", "jwt", "sig=",
    "signature",
)  # fmt: skip
"""Each secret name, and each word that announces a secret, holds one of these in some case of letters."""
_SIGNS: Final = (*FORM_SIGNS, *PHRASE_SIGNS, *_NAME_SIGNS)
_FIRST_NAME: Final = len(FORM_SIGNS) + len(PHRASE_SIGNS)
# Only this kind of match lets the library scan with vector instructions. It leaves out signs that begin inside another:
# such a name is judged as a whole anyway, and such a form does not begin a word.
_FINDER: Final = ahocorasick_rs.AhoCorasick(
    [sign.lower() for sign in _SIGNS], matchkind=ahocorasick_rs.MatchKind.LeftmostFirst
)
_NAME_LETTERS: Final = string.ascii_letters + string.digits + "_.-"
_LONGEST_NAME: Final = 80
_MANY: Final = 256


def may_hold_secret(text: str, is_secret_name: Callable[[str], bool]) -> bool:
    """Return False only if no rule can find anything in ``text`` or in the value whose JSON it is."""
    folded = text.lower()
    try:
        hits = _FINDER.find_matches_as_indexes(folded)
    except UnicodeEncodeError:  # a lone surrogate
        return True
    if hits and (len(hits) > _MANY or len(folded) != len(text)):
        return True
    for sign, start, end in hits:
        if sign < len(FORM_SIGNS):
            if text[start:end] == FORM_SIGNS[sign] and _begins_word(text, start):
                return True
        elif sign < _FIRST_NAME or _announces(text, start, end, is_secret_name):
            return True
    return "@" in text and "://" in text


def _begins_word(text: str, start: int) -> bool:
    before = text[start - 1] if start else " "
    # In JSON the letter before may be the end of an escape such as \\n.
    return not (before.isascii() and before.isalnum()) or "\\" in text[max(start - 6, 0) : start]


def _announces(text: str, start: int, end: int, is_secret_name: Callable[[str], bool]) -> bool:
    """Return whether the name around a sign is one that a secret may follow."""
    before = text[max(start - _LONGEST_NAME, 0) : start]
    first = start - len(before) + len(before.rstrip(_NAME_LETTERS))
    rest = text[end : end + _LONGEST_NAME]
    last = end + len(rest) - len(rest.lstrip(_NAME_LETTERS))
    name = text[first:last]
    # In JSON a name may stand after an escape such as \\n or \\u0001.
    escaped = first > 0 and text[first - 1] == "\\"
    if escaped and (is_secret_name(name[1:]) or is_secret_name(name[5:])):
        return True
    if is_secret_name(name):
        return True
    after = text[last : last + 1]
    if first > 0 and text[first - 1] == "%":
        # In a URL within a URL a name may stand after an escape such as %3F, and hold some.
        return True
    word = name.lower()
    if after == "=" or after == "%":
        return word.strip("-.") in QUERY_NAMES
    if word in ("key", "keys") and text[max(first - 1, 0) : first].isspace():
        return text[max(first - _LONGEST_NAME, 0) : first - 1].lower().endswith(_OWNERS)
    return after.isspace() and word.endswith(_SCHEMES)


_SCHEMES: Final = ("bearer", "basic", "token")
_OWNERS: Final = tuple(KEY_OWNERS)
