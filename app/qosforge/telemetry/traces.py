"""Traces by OpenTelemetry, sent to a collector (OTLP over HTTP), if the installation names one.

Without one nothing of the SDK is imported, and a span costs a function call. A trace goes on over the queue: a run
keeps the ``traceparent`` (W3C Trace Context) of the request that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry import trace
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

    resource = Resource.create({"service.name": "qosforge", "service.version": release})
    provider = TracerProvider(resource=resource)
    exporter = OTLPSpanExporter(endpoint.rstrip("/") + "/v1/traces", timeout=5)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def current_traceparent() -> str | None:
    """The trace that the caller stands in, to be handed over to whoever goes on with it; ``None`` without one."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(_HEADER)


@contextmanager
def span(name: str, traceparent: str | None = None, **attributes: str | int) -> Iterator[None]:
    """A span around a block, in the trace that was handed over, else in the current one; an exception marks it."""
    parent = _W3C.extract({_HEADER: traceparent}) if traceparent else None
    tracer = trace.get_tracer("qosforge")
    named = {f"qosforge.{key}": value for key, value in attributes.items()}
    # The message of an exception may quote a device's configuration: only its class leaves the house.
    with tracer.start_as_current_span(
        name, parent, attributes=named, record_exception=False, set_status_on_exception=False
    ) as made:
        try:
            yield
        except BaseException as error:
            made.set_attribute("error.type", type(error).__qualname__)
            made.set_status(Status(StatusCode.ERROR))
            raise
