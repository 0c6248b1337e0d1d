"""Redaction: remove API tokens from log records, error messages and tracebacks."""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

HIDDEN = "[hidden]"
_CLIENTS = ("dwave", "urllib3", "requests")  # loggers whose records may contain tokens that are not registered
_MARKED = re.compile(  # a value after the name of a credential: X-Auth-Token: ..., 'token': '...', token=..., Bearer ...
    r"""((?:[\w-]*token|authorization|client_secret|password)["']?\s*[:=]\s*(?:bearer\s+)?|\bbearer\s+)"""
    r"""(?!None\b|null\b)(?:b?"[^"]*"|b?'[^']*'|[^\s,;&'")}\]]+)""",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"\b[0-9A-Za-z]{2,4}-[0-9A-Fa-f]{16,}\b")  # D-Wave's tokens, such as DEV-0123...
_PART = 8  # smallest length of a part to hide, if a token contains white space
_secrets: set[str] = set()


def add_secret(secret: str | None) -> None:
    """Register a token that `redact` must hide. The token is stored in memory only.

    Args:
        secret: API token.
    """
    if secret and secret.strip():
        # Hide each part of a token with white space, because messages escape line breaks in several ways.
        parts = [part for part in secret.split() if len(part) >= _PART]
        _secrets.update({secret, secret.strip(), *parts})


def redact(text: str) -> str:
    """Return a text in which registered tokens, and anything that looks like a token, are replaced by `[hidden]`.

    Args:
        text: text to clean, such as an error message.

    >>> redact("GET /problems with {'X-Auth-Token': 'DEV-0123'}, token=abc")
    "GET /problems with {'X-Auth-Token': [hidden]}, token=[hidden]"
    """
    return _TOKENS.sub(HIDDEN, _MARKED.sub(rf"\g<1>{HIDDEN}", _hide_secrets(text)))


def _hide_secrets(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):  # longest first: a token may contain another
        text = text.replace(secret, HIDDEN).replace(repr(secret)[1:-1], HIDDEN)
    return text


def safe_cause(error: BaseException) -> BaseException | None:
    """Return the given error if its traceback contains no token, otherwise None. Use the result in `raise ... from`.

    Args:
        error: error that caused another error.
    """
    text = "".join(traceback.format_exception(error))
    return error if _TOKENS.sub(HIDDEN, _hide_secrets(text)) == text else None


def redact_logs() -> None:
    """Remove tokens from all future log records, before any handler gets them."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def make_redacted_record(*arguments: Any, **keywords: Any) -> logging.LogRecord:
        record = make(*arguments, **keywords)
        clean = redact if record.name.split(".")[0] in _CLIENTS else _hide_secrets
        try:
            message = record.getMessage()
        except Exception:  # invalid arguments: logging reports them
            message = str(record.msg)
        if (safe := clean(message)) != message:
            record.msg, record.args = safe, ()
        if record.exc_info and record.exc_info[0] is not None:
            text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (safe := clean(text)) != text:
                record.exc_text, record.exc_info = safe, None
        return record

    make_redacted_record.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_redacted_record)
