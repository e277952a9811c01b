"""Logging: one line for each event, as text or as JSON, on standard error.

What stands in `structlog.contextvars` (request id, run id) goes with every line of that call, also those of
libraries. Secrets are masked by their keys and by their shapes; a traceback never shows values of variables.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Mapping
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from qosforge.visible import visible, visible_json

REDACTED = "***"

_SECRET_KEY = re.compile(r"(?i)authorization|cookie|csrf|passw|secret|token$|api_?key")
_SECRET_TEXT = re.compile(
    r"qf_(?P<id>[0-9a-f]{16})_[0-9a-f]+"  # a token; its id may be told
    r"|(?<=://)(?P<user>[^/\s:@]*):[^/\s@]+(?=@)"  # the password in a URL
    r"|(?P<webhook>whsec_)[A-Za-z0-9+/=]+"
    r"|(?P<bearer>(?i:bearer|basic)) [A-Za-z0-9._~+/=-]{8,}"
)

_OURS = re.compile(r"qosforge(\.|$)")
"""Loggers of our own; of every other library only warnings are of interest."""

_EXTRA = structlog.stdlib.ExtraAdder()

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure_logs(form: Literal["text", "json"], stream: TextIO | None = None) -> None:
    """Send the log of this process, and of every library in it, to ``stream`` (standard error unless given)."""
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        _with_fields,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )
    rendered: list[Processor] = (
        [structlog.processors.JSONRenderer(_as_json, sort_keys=True, ensure_ascii=False)]
        if form == "json"
        else [_one_line, structlog.dev.ConsoleRenderer(colors=out.isatty())]
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    handler.addFilter(_is_of_interest)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)


def _is_of_interest(record: logging.LogRecord) -> bool:
    # Here and not by their levels: some libraries set their own.
    return record.levelno >= logging.WARNING or _OURS.match(record.name) is not None


def _with_fields(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Take over what our own modules give the standard library's loggers as ``extra``."""
    record = event.get("_record")
    ours = isinstance(record, logging.LogRecord) and _OURS.match(record.name)
    return _EXTRA(logger, method, event) if ours else event


def _one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Write control characters as escapes: what callers send can neither begin a line nor speak to a terminal."""
    return {key: _escape(key, value) if isinstance(value, str) else value for key, value in event.items()}


def _escape(key: str, value: str) -> str:
    if key == "exception":  # the only text of several lines; each of them stays one
        return visible(value)
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], visible(value) if not value.isascii() else value)


def _as_json(event: Any, **options: Any) -> str:
    return visible_json(json.dumps(event, **options))


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Mask secrets in one event, however deep they stand."""
    return {key: _redact(key, value) for key, value in event.items()}


def _redact(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _redact(str(name), one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_redact(key, one) for one in value]
    if not isinstance(value, str):
        return value
    return REDACTED if _SECRET_KEY.search(key) else _SECRET_TEXT.sub(_replacement, value)


def _replacement(found: re.Match[str]) -> str:
    if found["id"]:
        return f"qf_{found['id']}_{REDACTED}"
    if found["webhook"]:
        return f"{found['webhook']}{REDACTED}"
    if found["bearer"]:
        return f"{found['bearer']} {REDACTED}"
    return f"{found['user']}:{REDACTED}"
