"""Redaction: keep API tokens out of log records, error messages and tracebacks."""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

HIDDEN = "[hidden]"
_CLIENTS = ("dwave", "urllib3", "requests")  # loggers whose records may quote requests and configurations
_MARKED = re.compile(  # a value after the name of a credential: X-Auth-Token: ..., 'token': '...', token=..., Bearer ...
    r"""((?:[\w-]*token|authorization|client_secret|password)["']?\s*[:=]\s*(?:bearer\s+)?|\bbearer\s+)"""
    r"""(?!None\b|null\b)(?:b?"[^"]*"|b?'[^']*'|[^\s,;&'")}\]]+)""",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"\b[0-9A-Za-z]{2,4}-[0-9A-Fa-f]{16,}\b")  # D-Wave's tokens, such as DEV-0123...
_PART = 8  # the shortest part of a broken token that is hidden on its own
_secrets: set[str] = set()


def add_secret(secret: str | None) -> None:
    """Remember a token, so that `redact` finds it in any form; it is kept in memory only.

    Args:
        secret: the token.
    """
    if secret and secret.strip():
        parts = [part for part in secret.split() if len(part) >= _PART]  # messages may quote line breaks in several ways
        _secrets.update({secret, secret.strip(), *parts})


def redact(text: str) -> str:
    """Replace known tokens, and whatever looks like one, in a text.

    Args:
        text: such as an error message.

    >>> redact("GET /problems with {'X-Auth-Token': 'DEV-0123'}, token=abc")
    "GET /problems with {'X-Auth-Token': [hidden]}, token=[hidden]"
    """
    return _TOKENS.sub(HIDDEN, _MARKED.sub(rf"\g<1>{HIDDEN}", _hide_secrets(text)))


def _hide_secrets(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):  # one may be part of another
        text = text.replace(secret, HIDDEN).replace(repr(secret)[1:-1], HIDDEN)
    return text


def safe_cause(error: BaseException) -> BaseException | None:
    """The error itself where its traceback shows no token, otherwise None; for `raise ... from`.

    Args:
        error: what another error is raised from.
    """
    shown = "".join(traceback.format_exception(error))
    return error if _TOKENS.sub(HIDDEN, _hide_secrets(shown)) == shown else None


def redact_logs() -> None:
    """Redact all log records that are made from now on, whatever handlers they go to."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def make_redacted_record(*arguments: Any, **keywords: Any) -> logging.LogRecord:
        record = make(*arguments, **keywords)
        clean = redact if record.name.split(".")[0] in _CLIENTS else _hide_secrets
        try:
            message = record.getMessage()
        except Exception:  # arguments that do not fit: logging reports them itself
            message = str(record.msg)
        if (safe := clean(message)) != message:
            record.msg, record.args = safe, ()
        if record.exc_info and record.exc_info[0] is not None:
            shown = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (safe := clean(shown)) != shown:
                record.exc_text, record.exc_info = safe, None
        return record

    make_redacted_record.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_redacted_record)
