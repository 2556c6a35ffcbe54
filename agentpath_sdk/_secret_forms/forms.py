"""What secrets look like, whatever they are called."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["FORM_SIGNS", "without_forms"]

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

FORM_SIGNS: Final = (
    "sk-", "sk_", "rk-", "rk_", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "AIza", "ya29.", "hf_", "gsk_", "xai-", "npm_",
    "pypi-", "lsv2_", "dop_v1_", "shpat_", "SG.", "eyJ", "----BEGIN",
)  # fmt: skip
"""Each form above begins with one of these (the last one without its first dash, which may belong to a sign)."""


def without_forms(text: str, marker: str) -> str:
    """Return ``text`` with what has the form of a secret, and what follows a scheme's name, replaced by ``marker``."""
    text = _FORMS.sub(marker, text)
    text = _HEADER.sub(lambda m: m[1] + marker, text)
    text = _SCHEME.sub(lambda m: m[1] + marker, text)
    if "@" in text and "://" in text:
        text = _URL_USER.sub(lambda m: m[1] + marker + m[3], text)
    return text
