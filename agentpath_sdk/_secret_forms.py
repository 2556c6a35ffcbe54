"""What secrets look like, and which names they are kept under."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from typing import Final

import ahocorasick_rs

__all__ = ["clean_text", "may_hold_secret", "names_secret"]

# --- names ----------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# Said alone or anywhere in a name, these speak of a secret ...
_SECRET_WORDS: Final = frozenset(
    {
        "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "authorization",
        "cookie", "cookies", "credential", "credentials", "creds", "apikey", "apikeys", "accesskey", "secretkey",
        "privatekey", "accesstoken", "refreshtoken", "authtoken", "idtoken", "sessiontoken", "bearertoken",
        "clientsecret", "jwt", "bearer", "userpassword", "dbpassword", "setcookie", "signingkey", "encryptionkey",
    }
)  # fmt: skip
# ... unless one of these follows: a fact about the secret, not the secret.
_ABOUT: Final = frozenset(
    {
        "count", "counts", "limit", "limits", "length", "len", "size", "name", "names", "id", "ids", "type", "types",
        "policy", "hint", "expiry", "expires", "expired", "expiration", "ttl", "required", "enabled", "valid",
        "strength", "usage", "used", "budget", "field", "label", "manager", "rotation", "changed", "updated", "created",
        "at", "age", "rules", "banner", "consent", "url", "uri", "endpoint", "path", "file", "santa", "version",
        "status", "scope", "scopes", "provider", "method", "scheme", "index", "present", "exists", "in",
    }
)  # fmt: skip
# Secret only as the whole name.
_SECRET_NAMES: Final = frozenset(
    {("auth",), ("basic", "auth"), ("http", "auth"), ("x", "auth"), ("auth", "header"), ("pass",), ("userpass",)}
)
_TOKEN_OWNERS: Final = frozenset(
    {"access", "auth", "api", "refresh", "id", "bearer", "session", "secret", "oauth", "csrf", "xsrf", "user", "bot"}
)
# Tokens of text and of pages.
_HARMLESS_TOKENS: Final = frozenset(
    {
        "page", "next", "continuation", "cursor", "max", "min", "per", "first", "last", "eos", "bos", "pad", "unk",
        "mask", "sep", "cls", "stop", "special", "new", "total", "prompt", "completion", "num", "input", "output",
    }
)  # fmt: skip
_KEY_OWNERS: Final = frozenset(
    {
        "api", "access", "secret", "private", "signing", "encryption", "auth", "master", "account", "storage",
        "shared", "service", "subscription", "session", "ssh", "deploy", "webhook", "client", "app", "application",
        "functions", "host", "admin", "openai", "anthropic",
    }
)  # fmt: skip


def names_secret(name: str) -> bool:
    """Return whether ``name`` (snake, kebab, camel or header case) is that of a secret."""
    if len(name) > 200:
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _ABOUT:
        return False
    if not _SECRET_WORDS.isdisjoint(words) or tuple(words) in _SECRET_NAMES:
        return True
    before = words[-2] if len(words) > 1 else ""
    if words[-1] == "token":
        return before not in _HARMLESS_TOKENS
    if words[-1] == "tokens":
        return before in _TOKEN_OWNERS
    return words[-1] in ("key", "keys") and before in _KEY_OWNERS


# --- forms ----------------------------------------------------------------------------------------

_START: Final = r"(?<![A-Za-z0-9])"
_FORMS: Final = re.compile(
    "|".join(
        (
            # A digit somewhere: words such as sk-learn-based have none.
            _START + r"(?:sk|rk)[-_](?=[A-Za-z0-9_-]{0,256}\d)[A-Za-z0-9_-]{6,}",
            _START + r"(?:AKIA|ASIA)[0-9A-Z]{8,}",
            _START + r"gh[pousr]_[A-Za-z0-9]{8,}",
            _START + r"github_pat_[A-Za-z0-9_]{8,}",
            _START + r"(?:glpat|pypi|xai|xapp|xox[abeprs])-[A-Za-z0-9_-]{8,}",
            _START + r"AIza[0-9A-Za-z_-]{4,}",
            _START + r"ya29\.[0-9A-Za-z_-]{8,}",
            _START + r"(?:hf|gsk|npm|lsv2|dop_v1|shpat)_(?=[A-Za-z0-9_]{0,256}\d)[A-Za-z0-9_]{12,}",
            _START + r"SG\.[\w-]{10,}\.[\w-]{10,}",
            _START + r"eyJ[A-Za-z0-9_-]{8,2000}(?:\.[A-Za-z0-9_-]*){1,4}",
            r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[\s\S]*?(?:-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        )
    )
)
_SCHEME: Final = re.compile(
    r"(?i)(\b(?:bearer|basic|token)\s+)((?=\S{0,256}[\d=_.+/-])[A-Za-z0-9._~+/=-]{6,}|[A-Za-z]{20,})"
)
_HEADER: Final = re.compile(
    r"(?i)(\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?|\b(?:set-)?cookie[\"']?\s*:\s*[\"']?)([^\r\n\"']+)"
)
_URL_USER: Final = re.compile(r"(://)([^\s/?#@:\"'<>]*:[^\s/?#\"'<>]*|[^\s/?#@:\"'<>]{20,})(@)")
_QUERY_PART: Final = re.compile(r"([?&;#]([A-Za-z0-9_.\[\]-]{1,80})=)([^&#\s\"'<>]+)")
_QUERY_NAMES: Final = frozenset(
    {"key", "token", "sig", "signature", "auth", "pass", "x-amz-signature", "x-goog-signature"}
    | {"x-amz-credential", "x-amz-security-token", "x-goog-credential", "apitoken", "password"}
)
# password=..., "api_key": "...", 'token': '...', --password=..., export SECRET_KEY=...
_ASSIGNED: Final = re.compile(r"""(?<![\w?&.-])(\\?["']?)([A-Za-z][\w.-]{1,60})\1(\s*(?:=>|[:=])\s*)""")
_ASSIGNED_VALUE: Final = re.compile(r"""\\?"(?:[^"\\\r\n]|\\[^"])*\\?"?|'[^'\r\n]*'?|[^\s,;&"'<>(){}\[\]]+""")
# --password hunter2
_FLAG: Final = re.compile(r"(?<!\S)(--([A-Za-z][\w-]{1,60})\s+)(?!-)(\S+)")
_PROSE_SAFE: Final = frozenset({"secret", "secrets", "token", "cookie", "cookies", "auth", "bearer", "authorization"})


def clean_text(text: str, marker: str, is_secret_name: Callable[[str], bool]) -> str:
    """Return ``text`` with everything that looks like a secret replaced by ``marker``."""
    text = _FORMS.sub(marker, text)
    text = _HEADER.sub(lambda m: m[1] + marker, text)
    text = _SCHEME.sub(lambda m: m[1] + marker, text)
    if "@" in text and "://" in text:
        text = _URL_USER.sub(lambda m: m[1] + marker + m[3], text)
    if "=" in text:
        text = _QUERY_PART.sub(lambda m: m[1] + marker if _query_secret(m[2], is_secret_name) else m[0], text)
    if "=" in text or ":" in text:
        text = "".join(_assigned(text, marker, is_secret_name))
    if "--" in text:
        text = _FLAG.sub(lambda m: m[1] + marker if is_secret_name(m[2]) else m[0], text)
    return text


def _query_secret(name: str, is_secret_name: Callable[[str], bool]) -> bool:
    return name.lower() in _QUERY_NAMES or is_secret_name(name)


def _assigned(text: str, marker: str, is_secret_name: Callable[[str], bool]) -> Iterator[str]:
    """Yield ``text`` in parts, with what is assigned to a secret's name replaced."""
    done = 0
    for match in _ASSIGNED.finditer(text):
        quote, name, sign = match.groups()
        value = _ASSIGNED_VALUE.match(text, match.end())
        if match.start() < done or value is None or not is_secret_name(name) or _is_no_secret(value[0], marker):
            continue
        if not quote and ":" in sign and value[0][0] not in "\\\"'" and name.lower() in _PROSE_SAFE:
            # "the secret: be kind" is a sentence.
            continue
        edge = '\\"' if value[0].startswith('\\"') else value[0][0] if value[0][0] in "\"'" else ""
        yield f"{text[done : match.end()]}{edge}{marker}{edge}"
        done = value.end()
    yield text[done:]


def _is_no_secret(value: str, marker: str) -> bool:
    return marker in value or value.lower() in ("null", "none", "true", "false", '""', "''")


# --- a quick look ---------------------------------------------------------------------------------

_FORM_SIGNS: Final = (
    "sk-", "sk_", "rk-", "rk_", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "AIza", "ya29.", "hf_", "gsk_", "xai-", "npm_",
    "pypi-", "lsv2_", "dop_v1_", "shpat_", "SG.", "eyJ", "----BEGIN",
)  # fmt: skip
"""Each form above begins with one of these (the last one without its first dash, which may belong to a sign)."""
_NAME_SIGNS: Final = (
    "auth", "pass", "pwd", "secret", "token", "key", "cookie", "credential", "creds", "bearer", "basic ", "jwt", "sig=",
    "signature",
)  # fmt: skip
"""Each secret name, and each word that announces a secret, holds one of these in some case of letters."""
_SIGNS: Final = (*_FORM_SIGNS, *_NAME_SIGNS)
# Only this kind of match lets the library scan with vector instructions. It leaves out signs that begin inside another:
# such a name is judged as a whole anyway, and such a form does not begin a word.
_FINDER: Final = ahocorasick_rs.AhoCorasick(
    [sign.lower() for sign in _SIGNS], matchkind=ahocorasick_rs.MatchKind.LeftmostFirst
)
_NAME_LETTERS: Final = string.ascii_letters + string.digits + "_.-"
_LONGEST_NAME: Final = 80
_MANY: Final = 256


def may_hold_secret(text: str, is_secret_name: Callable[[str], bool]) -> bool:
    """Return False only if no rule above can find anything in ``text`` or in the value whose JSON it is."""
    folded = text.lower()
    hits = _FINDER.find_matches_as_indexes(folded)
    if hits and (len(hits) > _MANY or len(folded) != len(text)):
        return True
    for sign, start, end in hits:
        if sign < len(_FORM_SIGNS):
            if text[start:end] == _FORM_SIGNS[sign] and _begins_word(text, start):
                return True
        elif _announces(text, start, end, is_secret_name):
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
    after = text[last : last + 1]
    if after == "=" and name.lower().strip("-.") in _QUERY_NAMES:
        return True
    return is_secret_name(name) or (after.isspace() and name.lower().endswith(_SCHEMES))


_SCHEMES: Final = ("bearer", "basic", "token")
