"""Which names are those of secrets."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["KEY_OWNERS", "names_secret"]

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
KEY_OWNERS: Final = frozenset(
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
    return words[-1] in ("key", "keys") and before in KEY_OWNERS
