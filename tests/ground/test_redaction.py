"""Redaction: no secret stays, what only looks like one does, and a fault never lets anything through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretBytes, SecretStr

from agentpath_sdk import redaction
from agentpath_sdk._encode import encode
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.redaction import FAILED, MARKER, add_rule, is_secret_name, redact, redact_text, suspicious

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK\n-----END RSA PRIVATE KEY-----"
SECRETS = [
    "sk-test-111",
    "sk-ant-api03-AbCdEf123456",
    "sk_live_51HabcDEF",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghij0123456789",
    "github_pat_11ABCDEFG0123456789",
    "glpat-abcdefgh12345678",
    "xoxb-123456789012-abcdef",
    "AIzaSyA1234567890abcdefghijk",
    "hf_abcdefghijklmnop1234",
    JWT,
    PEM,
]


@pytest.fixture(autouse=True)
def _fresh_health() -> Iterator[None]:
    HEALTH.reset()
    yield
    HEALTH.reset()


@pytest.mark.parametrize("secret", SECRETS, ids=lambda s: s[:8])
@pytest.mark.parametrize("text", ["{}", "call with {} failed", "a=1\n{}\n", '{{"note": "{}"}}', "({})", "x:{},y"])
def test_secret_forms_are_found_in_any_text(secret: str, text: str) -> None:
    clean = redact_text(text.format(secret))
    assert secret not in clean
    assert MARKER in clean


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer tok-333", "tok-333"),
        ("authorization=Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("sent bearer abc.def-123", "abc.def-123"),
        ("https://x.test/?key=AIza-555&q=mars", "AIza-555"),
        ("https://x.test/?a=1&access_token=abc123", "abc123"),
        ("GET /v1?api_key=zzz HTTP/1.1", "zzz"),
        ("postgres://bob:hunter2@db.test/x", "hunter2"),
        ("redis://:p@ss:w@cache.test", "p@ss"),
        ("password=hunter2 rejected", "hunter2"),
        ("{'password': 'hunter2'}", "hunter2"),
        ('{"clientSecret": "abc"}', '"abc"'),
        ('body: "{\\"api_key\\": \\"zzz9\\"}"', "zzz9"),
        ("export AWS_SECRET_ACCESS_KEY=wJalrXUtn", "wJalrXUtn"),
        ("run --password hunter2 now", "hunter2"),
        ("Cookie: sid=31d4d96e407aad42", "31d4d96e407aad42"),
        ("line\npassword=hunter2", "hunter2"),
        ("tool --api-key=hunter2", "hunter2"),
        ("password := hunter2", "hunter2"),
        ("password -> hunter2", "hunter2"),
        ("api key: hunter2", "hunter2"),
        ("the password is hunter2, said Bob", "hunter2"),
        ("('password', 'hunter2')", "hunter2"),
        ("[('user', 'bob'), ('Authorization', 'hunter2')]", "hunter2"),
        ("rejected: {'password': ['hunter1', 'hunter2']}", "hunter2"),
        ("rejected: {'name': 'api_key', 'value': 'hunter2'}", "hunter2"),
        ('<input name="password" value="hunter2">', "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ("<ns:apiKey kind='a'>hunter2</ns:apiKey>", "hunter2"),
        ("&quot;password&quot;:&quot;hunter2&quot;", "hunter2"),
        ("ALTER USER bob PASSWORD 'hunter2'", "hunter2"),
        ("CREATE USER bob IDENTIFIED BY 'hunter2'", "hunter2"),
        ("curl -u bob:hunter2 https://x.test", "hunter2"),
        ('form-data; name="password"\r\n\r\nhunter2\r\n', "hunter2"),
        ("https://x.test/?api%5Fkey=hunter2", "hunter2"),
        ("https://x.test/?next=https%3A//y.test/%3Fapi_key%3Dhunter2", "hunter2"),
        ("https://x.test/cb#/route?token=hunter2&x=1", "hunter2"),
        ("broken \ud800 password=hunter2", "hunter2"),
        ('{"user": "bob", "password": "hunter2', "hunter2"),
    ],
)
def test_secrets_are_found_by_what_announces_them(text: str, hidden: str) -> None:
    assert hidden not in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "No error was found",
        "insulin secretion and its regulation",
        "the secret: be kind",
        "a bearer of bad news",
        "risk-adjusted return 2024, task-12, desk-99",
        "max_tokens=100, token_count=5, session_count=3",
        "author=Ann; monkey=banana; keyboard=us",
        "see https://x.test/a?page_token=4&author=ann&keyword=mars",
        "mail ann@x.test or http://x.test",
        "sk-learn-based pipelines",
        "the password is wrong, the api key is missing",
        "reset your password at https://x.test/reset",
        "name='color', value='red'",
        '["username", "email"]',
        "<title>Hello</title>",
        "identified by the author as new",
        "curl --user-agent x; tar -u 12:30",
        "primary key: id; foreign key -> users.id",
        "https://x.test/?next=https%3A%2F%2Fy.test%2F%3Fpage%3D2",
        "Asia and Africa",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Password",
        "DB_PASSWORD",
        "userPassword",
        "passwd",
        "pwd",
        "secret",
        "client_secret",
        "clientSecret",
        "api_key",
        "apiKey",
        "X-Api-Key",
        "APIKEY",
        "OPENAI_API_KEY",
        "authorization",
        "Proxy-Authorization",
        "cookie",
        "Set-Cookie",
        "token",
        "access_token",
        "authToken",
        "XAuthToken",
        "refresh_tokens",
        "private_key",
        "SECRET_ACCESS_KEY",
        "credentials",
        "aws.credentials",
        "auth",
        "session_token",
        "passphrase",
        "jwt",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "author",
        "authors",
        "authority",
        "session_count",
        "session_id",
        "token_count",
        "max_tokens",
        "total_tokens",
        "tokens",
        "prompt_tokens",
        "page_token",
        "next_token",
        "secretion",
        "secretary",
        "keyboard",
        "key",
        "keys",
        "primary_key",
        "monkey",
        "passenger",
        "compass",
        "bypass",
        "password_policy",
        "secret_name",
        "access_key_id",
        "cookie_banner",
        "token_limit",
        "tokenizer",
    ],
)
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


def test_values_under_secret_names_go_whole_and_the_shape_stays() -> None:
    value = {
        "api_key": "abc",
        "headers": {"Authorization": "Bearer tok-333", "Accept": "json"},
        "cookies": {"sid": "1"},
        "credentials": ["a", "b"],
        "pin_token": 1234,
        "author": "Ann",
        "session_count": 3,
        "pairs": [["X-Api-Key", "zzz"], ["Accept", "json"]],
        "fields": [{"name": "password", "value": "hunter2"}, {"name": "city", "value": "Oslo"}],
        "token": None,
        "password": "",
        "auth": True,
    }
    assert redact(value) == {
        "api_key": MARKER,
        "headers": {"Authorization": MARKER, "Accept": "json"},
        "cookies": MARKER,
        "credentials": MARKER,
        "pin_token": MARKER,
        "author": "Ann",
        "session_count": 3,
        "pairs": [["X-Api-Key", MARKER], ["Accept", "json"]],
        "fields": [{"name": "password", "value": MARKER}, {"name": "city", "value": "Oslo"}],
        "token": None,
        "password": "",
        "auth": True,
    }
    assert value["api_key"] == "abc", "the value itself is never changed"


def test_secrets_of_pydantic_are_known_by_their_type() -> None:
    class Login(BaseModel):
        user: str
        entry: SecretStr
        raw: SecretBytes

    value = {"login": Login(user="ann", entry=SecretStr("pw-444"), raw=SecretBytes(b"pw-555"))}
    assert redact(value) == {"login": {"user": "ann", "entry": MARKER, "raw": MARKER}}


def test_a_secret_used_as_a_key_is_found() -> None:
    assert "sk-test-111" not in json.dumps(redact({"sk-test-111": 1}))


def test_names_can_be_kept_while_their_values_are_still_searched() -> None:
    assert redact({"token": "word", "x": 1}, keep={"token"}) == {"token": "word", "x": 1}
    assert redact({"token": "sk-test-111"}, keep={"token"}) == {"token": MARKER}


def test_own_rules_are_applied_everywhere_until_removed() -> None:
    remove = add_rule(lambda name, value: "[patient]" if name == "patient" else value)
    try:
        assert redact({"a": [{"patient": "Ann"}]}) == {"a": [{"patient": "[patient]"}]}
        assert suspicious("anything")
    finally:
        remove()
    assert redact({"patient": "Ann"}) == {"patient": "Ann"}


def test_a_rule_that_raises_lets_nothing_through_and_is_counted() -> None:
    def broken(name: str | None, value: Any) -> Any:
        raise ValueError("sk-test-111")

    remove = add_rule(broken)
    try:
        assert redact({"harmless": 1}) == FAILED
        assert redact_text("harmless") == FAILED
        encoded = encode({"a": "sk-test-111"}, 1_000, suspect=suspicious, redact=redact)
        assert encoded.text == json.dumps(FAILED)
    finally:
        remove()
    assert HEALTH.counts()["fault.redaction"] == 3


def test_a_secret_cut_by_the_limit_leaves_no_part() -> None:
    text = "x" * 180 + " sk-test-" + "1" * 4_000
    encoded = encode({"t": text}, 200, suspect=suspicious, redact=redact)
    assert "sk-test" not in encoded.text
    assert "111" not in encoded.text


@pytest.mark.parametrize("depth", range(1, 6))
@pytest.mark.parametrize(
    "inner", [{"password": "hunter2"}, [{"name": "password", "value": "hunter2"}], {"a": ["api_key", "hunter2"]}]
)
def test_secrets_in_json_inside_texts_are_found_at_any_depth(inner: object, depth: int) -> None:
    text = json.dumps(inner)
    for _ in range(depth):
        text = json.dumps({"body": text})
    assert "hunter2" not in redact_text(text)
    assert "hunter2" not in redact_text(f"failed with {text[:-1]}")
    assert "hunter2" not in encode({"t": text}, 10_000, suspect=suspicious, redact=redact).text


def test_json_inside_a_text_stays_as_it_is_where_it_holds_no_secret() -> None:
    text = '{ "token_count": 3,   "api_key": null }'
    assert redact_text(text) == text


def test_secrets_after_escapes_of_json_are_seen() -> None:
    for text in ("a\npassword=hunter2", "a\tsk-test-111", "\x01token=abc1", 'say "password=hunter2"'):
        clean = encode({"t": text}, 1_000, suspect=suspicious, redact=redact).text
        assert MARKER in clean, text


pieces = st.sampled_from(
    [
        *SECRETS,
        "password",
        "token",
        "author",
        "=",
        ":",
        "\n",
        '"',
        "\\",
        " ",
        "key",
        "Bearer",
        "x",
        "api key",
        "%3F",
        "%5F",
        "%3D",
        "&quot;",
        "'",
        "->",
        ",",
        "(",
        "[",
        "name=",
        "value=",
        "<password>",
        "</",
        "-u ",
        "IDENTIFIED BY ",
        "password is ",
        "7",
        "@",
        "://",
        "?",
        "&",
    ]
)
texts = st.lists(pieces | st.text(max_size=5), max_size=8).map("".join)
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_the_quick_look_never_overlooks_what_the_rules_would_find(value: Any) -> None:
    text = encode(value, 1_000_000).text
    if not suspicious(text):
        assert redact(value) == json.loads(text)


@given(values)
def test_redaction_is_total_keeps_lists_and_is_stable(value: Any) -> None:
    clean = redact(value)
    assert redact(clean) == clean or MARKER in json.dumps(clean)
    if isinstance(value, list) and not (len(value) == 2 and isinstance(value[0], str)):
        assert len(clean) == len(value)


def test_adversarial_texts_take_no_long_time() -> None:
    """Quadratic patterns would take minutes here; the suite's timeout is the judge."""
    for piece in (
        "sk-",
        "eyJ-",
        "://:",
        "bearer ",
        "--a ",
        "a=",
        '"',
        "key",
        "-----BEGIN ",
        "hf_",
        "\\",
        "?key%3D",
        "&quot;",
        "name='a' ",
        "('a',",
        "<a>",
        "-u a:",
        "password is ",
        "'password':[",
        '\\"',
        '{"a":"{',
    ):
        redaction.redact_text(piece * (60_000 // len(piece)))
