"""The application: middleware, routes and error handlers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware

from qosforge.api import docs
from qosforge.api.backend import Backend
from qosforge.api.middleware.audit_log import AuditMiddleware
from qosforge.api.middleware.error_boundary import ErrorBoundary
from qosforge.api.middleware.headers import RequestIdAndSecurityHeaders
from qosforge.api.middleware.limits import ConcurrencyLimit, RateLimit, SizeLimit, TimeLimit
from qosforge.api.middleware.request_log import RequestLog
from qosforge.api.middleware.unicode_guard import UnicodeGuard
from qosforge.api.problems import install_handlers
from qosforge.api.routes import (
    calls,
    devices,
    experiments,
    login,
    me,
    measurements,
    networks,
    policies,
    predictions,
    previews,
    reference,
    run_artifacts,
    run_events,
    run_measurements,
    runs,
    sweeps,
    sync,
    system,
    testers,
    tokens,
    users,
    webhooks,
)
from qosforge.release import release

PREFIX = "/api/v1"

PROBES = frozenset({f"{PREFIX}/health", f"{PREFIX}/ready"})
"""What watches the service; always let in."""

_LOGIN = f"{PREFIX}/login"
"""No trace tells of a login: a provider's codes stand in its address."""

ROUTERS: tuple[APIRouter, ...] = (
    system.router,
    reference.router,
    login.router,
    me.router,
    users.router,
    tokens.router,
    testers.router,
    webhooks.router,
    calls.router,
    networks.router,
    sync.router,
    devices.router,
    policies.router,
    previews.router,
    measurements.router,
    predictions.router,
    sweeps.router,
    experiments.router,
    runs.router,
    run_events.router,
    run_artifacts.router,
    run_measurements.router,
)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    # As many threads as requests that are let in: none waits for a thread.
    settings = app.state.backend.settings
    anyio.to_thread.current_default_thread_limiter().total_tokens = settings.requests_at_once
    yield


def create_app(backend: Backend) -> FastAPI:
    """Create the REST application of one service."""
    settings = backend.settings
    app = FastAPI(
        title="qosforge",
        version=release(),
        description="One QoS intent for many devices: compiled, checked, pushed, measured, kept or rolled back.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
        telemetry={
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
            "exclude": lambda scope: scope["path"].startswith(_LOGIN),
        },
        middleware=[  # the first one stands outermost
            Middleware(RequestIdAndSecurityHeaders),
            Middleware(RequestLog, metrics=backend.metrics, prefix=PREFIX, quiet=PROBES),
            Middleware(ErrorBoundary),
            Middleware(SizeLimit, body_bytes=settings.request_bytes),
            Middleware(RateLimit, per_minute=settings.requests_per_minute, probes=PROBES),
            Middleware(TimeLimit, seconds=settings.request_seconds),
            Middleware(UnicodeGuard),  # whoever still sends a body takes no place from others
            Middleware(ConcurrencyLimit, most=settings.requests_at_once, probes=PROBES),
            Middleware(AuditMiddleware, access=backend.access),
            Middleware(ErrorBoundary),  # so that the audit log sees how an unexpected one was answered
        ],
    )
    app.state.backend = backend
    app.state.streams = run_events.Streams()
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    install_handlers(app)
    app.openapi = cache(lambda: docs.document(app))  # type: ignore[method-assign]
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
