"""A span for each statement that a database is sent within a trace: what it does, to which tables, and how long.

The package of OpenTelemetry for SQLAlchemy writes the statement's text into the span, and a trace of its own for
each look at the queue. Neither the text nor a value leaves the process here, and what is in no trace has no span.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from sqlalchemy import event
from sqlalchemy.sql.util import find_tables

_SPAN = "qosforge_span"
"""Attribute of an execution that holds its span."""


def trace_databases() -> Callable[[], None]:
    """Make spans of the statements of all databases of this process from here on; what ends that."""
    listeners = (("before_cursor_execute", _begin), ("after_cursor_execute", _end), ("handle_error", _fail))
    for name, listener in listeners:
        event.listen(sa.Engine, name, listener)

    def stop() -> None:
        for name, listener in listeners:
            event.remove(sa.Engine, name, listener)

    return stop


def _begin(
    connection: sa.Connection, _cursor: Any, statement: str, _parameters: Any, execution: Any, _many: bool
) -> None:
    if not trace.get_current_span().is_recording():
        return
    operation = statement.split(maxsplit=1)[0].upper()
    compiled = getattr(execution, "compiled", None)
    tables = _tables(compiled.statement) if compiled is not None else ""
    attributes = {"db.system.name": connection.dialect.name, "db.operation.name": operation}
    if tables:
        attributes["db.collection.name"] = tables
    tracer = trace.get_tracer("qosforge")
    made = tracer.start_span(f"{operation} {tables}".strip(), kind=SpanKind.CLIENT, attributes=attributes)
    setattr(execution, _SPAN, made)


def _tables(statement: sa.ClauseElement) -> str:
    found = find_tables(statement, include_selects=True, include_crud=True, include_joins=True)
    return ", ".join(sorted({table.name for table in found if isinstance(table, sa.Table)}))


def _end(*arguments: Any) -> None:
    made = getattr(arguments[4], _SPAN, None)
    if made is not None:
        made.end()


def _fail(failure: sa.engine.ExceptionContext) -> None:
    made = getattr(failure.execution_context, _SPAN, None)
    if made is not None:
        # The message of the exception quotes the statement with its values.
        made.set_attribute("error.type", type(failure.original_exception).__qualname__)
        made.set_status(Status(StatusCode.ERROR))
        made.end()
