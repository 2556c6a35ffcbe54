"""Where in a text the name of a secret stands before it: assignments of every notation, pairs, markup, flags, SQL.

A quotation mark may itself be quoted (JSON in JSON, to any depth) or written as in HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

__all__ = ["PHRASE_SIGNS", "QUERY_NAMES", "without_named"]

IsSecretName = Callable[[str], bool]

_QUOTE: Final = r"""(?:\\*["']|&quot;|&apos;|&#3[49];)"""
_OPENING: Final = re.compile(_QUOTE)
_NAME: Final = r"[A-Za-z][\w.-]{1,60}"
_SPACED_NAME: Final = r"(?i:api|access|secret|private|auth|client|signing|encryption) (?i:keys?)"

QUERY_NAMES: Final = frozenset(
    {"key", "token", "sig", "signature", "auth", "pass", "x-amz-signature", "x-goog-signature"}
    | {"x-amz-credential", "x-amz-security-token", "x-goog-credential", "apitoken", "password"}
)
# ?key=..., &access_token=..., also where a whole URL is a parameter of another.
_QUERY_NAME: Final = re.compile(r"(?:[?&;#]|%3[Ff]|%26|%23)((?:(?!%3[Dd])[\w.\[\]%-]){1,80})(?:=|%3[Dd])")
_QUERY_VALUE: Final = re.compile(r"(?:(?!%26)[^&#\s\"'<>])+")
# password=..., "api_key": "...", 'token': '...', --password=..., export SECRET_KEY=..., password := ..., pwd -> ...
_ASSIGNED: Final = re.compile(rf"(?<![\w?&.])({_QUOTE}?)({_NAME}|{_SPACED_NAME})\1(\s*(?:=>|->|:=|[:=])\s*)")
_BARE_VALUE: Final = re.compile(r"""[^\s,;&"'<>(){}\[\]]+""")
# {"name": "Cookie", "value": "..."}, <input name="password" value="...">
_PAIR: Final = re.compile(
    rf"(?i)(?<![\w.])({_QUOTE}?)(?:name|key|header|field|param)\1\s*[:=]\s*({_QUOTE})({_NAME}|{_SPACED_NAME})\2[\s,;]{{0,8}}"
    rf"({_QUOTE}?)(?:values?|val)\4\s*[:=]\s*"
)
# ("password", "..."), ['Authorization', '...']
_COUPLE: Final = re.compile(rf"[(\[]\s*({_QUOTE})({_NAME})\1\s*,\s*(?={_QUOTE})")
# name="password" and an empty line: a part of a form
_FORM_PART: Final = re.compile(rf"(name=({_QUOTE})({_NAME})\2[^\r\n]{{0,200}}(?:\r?\n){{2}})([^\r\n]+)")
_ELEMENT: Final = re.compile(rf"(<(?:[\w-]{{1,40}}:)?({_NAME})(?:\s[^<>]{{0,200}})?>)([^<>]{{1,4000}})(?=</)")
# ALTER USER bob PASSWORD '...', IDENTIFIED BY '...'
_SQL: Final = re.compile(rf"(?i)\b(?:password|passwd|pwd|passphrase|identified by)\s{{1,8}}(?={_QUOTE})")
# --password hunter2
_FLAG: Final = re.compile(r"(?<!\S)(--([A-Za-z][\w-]{1,60})\s+)(?!-)(\S+)")
# curl -u bob:hunter2
_USER_FLAG: Final = re.compile(
    r"(?<!\S)((?:-u|--user|--proxy-user)[ =][\"']?[^\s:\"']{0,200}:)(?=[^\s\"']{0,256}[A-Za-z])([^\s\"']{4,})"
)
# In words, with a digit in what is told: "the password is wrong" tells none.
_SPOKEN: Final = re.compile(
    r"(?i)(\b(?:password|passphrase|passcode|pwd)\s{1,3}(?:is|was)\s{0,3}:?\s{0,3}[\"'`]?"
    r"|\b(?:api|access|secret|private|auth|client|signing|encryption)\skeys?\s{0,3}(?:is|was)\s{0,3}:?\s{0,3}[\"'`]?)"
    r"(?=[^\s\"'`]{0,256}\d)([^\s\"'`]{4,})"
)
_PROSE_SAFE: Final = frozenset({"secret", "secrets", "token", "cookie", "cookies", "auth", "bearer", "authorization"})
_NO_VALUES: Final = frozenset({"null", "none", "true", "false", ""})
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_LONGEST_GROUP: Final = 4_000

PHRASE_SIGNS: Final = ("identified by ", "-u ", "-u=", "--user", "--proxy-user")
"""Beginnings of what the rules here find without the name of a secret."""


def without_named(text: str, marker: str, is_secret_name: IsSecretName) -> str:
    """Return ``text`` with what stands after the name of a secret replaced by ``marker``."""
    if "=" in text or "%3" in text:
        text = _replaced(text, marker, _queried(text, is_secret_name))
    if "=" in text or ":" in text or "->" in text:
        text = _replaced(text, marker, _assigned(text, is_secret_name))
        text = _replaced(text, marker, _paired(text, is_secret_name))
        text = _FORM_PART.sub(lambda m: m[1] + marker if is_secret_name(m[3]) else m[0], text)
    if "," in text:
        text = _replaced(text, marker, _coupled(text, is_secret_name))
    if "</" in text:
        text = _ELEMENT.sub(lambda m: m[1] + marker if is_secret_name(m[2]) and m[3].strip() else m[0], text)
    text = _replaced(text, marker, (_quoted_value(text, match.end()) for match in _SQL.finditer(text)))
    if "-" in text:
        text = _FLAG.sub(lambda m: m[1] + marker if is_secret_name(m[2]) else m[0], text)
        text = _USER_FLAG.sub(lambda m: m[1] + marker, text)
    return _SPOKEN.sub(lambda m: m[1] + marker if marker not in m[2] else m[0], text)


# --- places of values -----------------------------------------------------------------------------

Span = tuple[int, int]


def _replaced(text: str, marker: str, places: Iterator[Span | None]) -> str:
    """Return ``text`` with ``marker`` at each of ``places`` that holds something and is not inside an earlier one."""
    parts: list[str] = []
    done = 0
    for place in places:
        if place is None or place[0] < done or _is_no_secret(text[place[0] : place[1]], marker):
            continue
        parts += text[done : place[0]], marker
        done = place[1]
    return text if not parts else "".join((*parts, text[done:]))


def _is_no_secret(value: str, marker: str) -> bool:
    return marker in value or value.strip().lower() in _NO_VALUES


def _queried(text: str, is_secret_name: IsSecretName) -> Iterator[Span | None]:
    for match in _QUERY_NAME.finditer(text):
        name = unquote(match[1])
        if name.lower() in QUERY_NAMES or is_secret_name(name):
            value = _QUERY_VALUE.match(text, match.end())
            yield None if value is None else value.span()


def _assigned(text: str, is_secret_name: IsSecretName) -> Iterator[Span | None]:
    done = 0
    for match in _ASSIGNED.finditer(text):
        quote, name, sign = match.groups()
        if match.start() < done or not is_secret_name(name):
            continue
        value = _quoted_value(text, match.end())
        if value is None and not quote and ":" in sign and name.lower() in _PROSE_SAFE:
            # "the secret: be kind" is a sentence.
            continue
        if value is None:
            value = _group(text, match.end()) if quote else _bare_value(text, match.end())
        done = match.end() if value is None else value[1]
        yield value


def _paired(text: str, is_secret_name: IsSecretName) -> Iterator[Span | None]:
    for match in _PAIR.finditer(text):
        if is_secret_name(match[3]):
            yield _quoted_value(text, match.end()) or _bare_value(text, match.end())


def _coupled(text: str, is_secret_name: IsSecretName) -> Iterator[Span | None]:
    for match in _COUPLE.finditer(text):
        value = _quoted_value(text, match.end()) if is_secret_name(match[2]) else None
        if value is not None and text[value[1] :].lstrip("\\\"'&quotaps;#349 ")[:1] in (")", "]", ""):
            yield value


def _quoted_value(text: str, start: int) -> Span | None:
    """Return what is inside the quotation marks at ``start``: up to the same mark, the end of the line or the text."""
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    mark, first = opening[0], opening.end()
    line = text.find("\n", first)
    line = len(text) if line < 0 else line
    end = text.find(mark, first, line)
    while end > 0 and text[end - 1] == "\\" and mark[0] != "&":
        # A deeper mark, not this one.
        end = text.find(mark, end + 1, line)
    return first, line if end < 0 else end


def _bare_value(text: str, start: int) -> Span | None:
    found = _BARE_VALUE.match(text, start)
    return None if found is None else found.span()


def _group(text: str, start: int) -> Span | None:
    """Return a list, tuple or mapping at ``start``, to its end or as far as is looked; else a bare value."""
    closing = _CLOSING.get(text[start : start + 1])
    if closing is None:
        return _bare_value(text, start)
    opening, depth = text[start], 0
    for at in range(start, min(len(text), start + _LONGEST_GROUP)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return start, at + 1
    return start, min(len(text), start + _LONGEST_GROUP)
