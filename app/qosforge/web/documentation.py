"""The product's documentation, a site that `make docs` builds into the package: served at ``/docs`` where it is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from qosforge.resources import path_of

PREFIX = "/docs"
FOLDER = path_of("qosforge/documentation")

NO_PAGE = "the documentation has no such page"
"""What is answered for an address below it that leads nowhere."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
"""Content Security Policy of its pages: that of all pages, but the theme's icons are data of its styles."""


@cache
def _is_page(folder: Path, name: str) -> bool:
    return (folder / name / "index.html").is_file()


def documentation(page: str = "", anchor: str = "", *, prefix: str = "") -> str | None:
    """The URL of a page of the documentation below the service's ``prefix``, ``findings`` for one; ``None`` where
    this installation has it not.

    Without a name it is the first page. Templates show a link only where there is a URL.
    """
    if not _is_page(FOLDER, page):
        return None
    return f"{prefix}{PREFIX}/{page}{'/' if page else ''}{f'#{anchor}' if anchor else ''}"


class _Documentation(StaticFiles):
    """The built files, with the policy of their pages."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            answer = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code == 404:
                raise HTTPException(404, NO_PAGE) from None
            raise
        answer.headers["Content-Security-Policy"] = POLICY
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def mount_documentation(app: FastAPI) -> None:
    """Serve the documentation to everybody: it holds no secret. Without it there is no such address."""
    if _is_page(FOLDER, ""):
        app.mount(PREFIX, GZipMiddleware(_Documentation(directory=FOLDER, html=True)))
