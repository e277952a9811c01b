"""The whole site: the REST API and the pages."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.web.assets import FOLDER, assets
from qosforge.web.documentation import mount_documentation
from qosforge.web.forms import install_form_handler
from qosforge.web.head import HeadAsGet
from qosforge.web.plain_forms import PlainForms
from qosforge.web.problems import ProblemPages
from qosforge.web.routes import (
    account,
    audit,
    calls,
    devices,
    editor,
    experiments,
    home,
    login,
    networks,
    new_policy,
    new_run,
    policies,
    prediction,
    preview,
    run,
    run_actions,
    run_downloads,
    runs,
    sync,
    users,
    webhooks,
)
from qosforge.web.sub_path import serve_below

ROUTERS: tuple[APIRouter, ...] = (
    login.router,
    home.router,
    networks.router,
    audit.router,
    sync.router,
    devices.router,
    experiments.router,
    runs.router,
    new_policy.router,
    new_run.router,
    run.router,
    run_actions.router,
    editor.router,  # before the policies: /policies/new is an editor
    policies.router,
    preview.router,
    prediction.router,
    account.router,
    users.router,
    webhooks.router,
    calls.router,
    run_downloads.router,
)
"""Pages, in the order of the navigation. The interface's document does not have them."""


def create_site(backend: Backend) -> FastAPI:
    """Create the site: the API under ``/api/v1``, the documentation under ``/docs``, pages everywhere else."""
    app = create_app(backend)
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)
    app.mount(f"/{FOLDER}", assets())
    mount_documentation(app)
    install_form_handler(app)
    app.user_middleware.append(Middleware(PlainForms))  # inside the limits: it reads the body
    app.add_middleware(ProblemPages)  # outside the API's own middleware, which may reject a request itself
    app.add_middleware(HeadAsGet)
    if prefix := backend.settings.path_prefix:
        serve_below(app, prefix)
    return app
