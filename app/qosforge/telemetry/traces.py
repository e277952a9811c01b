"""Traces by OpenTelemetry, sent to a collector (OTLP over HTTP), if the installation names one.

Without one nothing of the SDK is imported, and a span costs a function call. A trace goes on over the queue: a run
keeps the ``traceparent`` (W3C Trace Context) of the request that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()
_HEADER = "traceparent"


def start_traces(endpoint: str | None, release: str) -> Callable[[], None]:
    """Send this process's spans to the collector at ``endpoint`` from here on; once in a process's life.

    Returns what sends the last ones and stops it. Without an endpoint nothing happens.
    """
    if endpoint is None:
        return lambda: None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    from qosforge.telemetry.database_spans import trace_databases  # noqa: PLC0415

    resource = Resource.create({"service.name": "qosforge", "service.version": release})
    provider = TracerProvider(resource=resource)
    exporter = OTLPSpanExporter(endpoint.rstrip("/") + "/v1/traces", timeout=5)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    ending = ExitStack()
    ending.callback(provider.shutdown)
    ending.callback(trace_databases())
    return ending.close


def current_traceparent() -> str | None:
    """The trace that the caller stands in, to be handed over to whoever goes on with it; ``None`` without one."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(_HEADER)


def current_trace() -> Context:
    """Where the caller stands in its trace, for the threads that it hands work to."""
    return context.get_current()


@contextmanager
def span(name: str, within: Context | str | None = None, **attributes: str | int) -> Iterator[None]:
    """A span around a block; an exception marks it.

    It belongs to the trace ``within``, which another thread (`current_trace`) or process (a traceparent) handed
    over, else to the current one. Attributes that are empty are left out.
    """
    parent = _W3C.extract({_HEADER: within}) if isinstance(within, str) else within
    tracer = trace.get_tracer("qosforge")
    named = {f"qosforge.{key}": value for key, value in attributes.items() if value != ""}
    # The message of an exception may quote a device's configuration: only its class leaves the house.
    with tracer.start_as_current_span(
        name, parent, attributes=named, record_exception=False, set_status_on_exception=False
    ):
        try:
            yield
        except BaseException as error:
            mark_failed(error)
            raise


def mark_failed(error: BaseException) -> None:
    """Let the span that the caller stands in have failed, where the error is a value and not raised through it."""
    current = trace.get_current_span()
    current.set_attribute("error.type", type(error).__qualname__)
    current.set_status(Status(StatusCode.ERROR))
