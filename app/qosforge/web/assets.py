"""Static assets of the pages: our style sheets and scripts, and bundles of scripts from npm."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from mimetypes import guess_type
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = "static"

_OWN = Path(__file__).parent / FOLDER
_BUNDLES = "qosforge_browser"
"""The package that carries scripts of others (``browser``)."""

_FOREVER = "public, max-age=31536000, immutable"  # the address changes with the content
_REVALIDATE = "no-cache"


@cache
def _content(name: str) -> bytes | None:
    found = _assets().get(name)  # compared with what is there, never made a path
    return None if found is None else found.read_bytes()


@cache
def _assets() -> dict[str, Traversable]:
    bundles = [path for path in files(_BUNDLES).iterdir() if path.name.endswith(".js")]
    return {path.name: path for path in (*bundles, *_OWN.iterdir())}


@cache
def _digest(name: str) -> str:
    content = _content(name)
    if content is None:
        raise ValueError(f"there is no asset {name!r}")
    return hashlib.sha256(content).hexdigest()[:12]


def asset(name: str, *, prefix: str = "") -> str:
    """The URL of an asset below the service's ``prefix``, with a hash of its content.

    Raises:
        ValueError: there is no such asset.
    """
    return f"{prefix}/{FOLDER}/{name}?v={_digest(name)}"


async def _serve(scope: Scope, receive: Receive, send: Send) -> None:
    name = scope["path"].rpartition("/")[2]
    content = _content(name)
    if content is None or scope["path"] != f"/{FOLDER}/{name}":
        raise HTTPException(404, "there is no such file")
    if scope["method"] not in ("GET", "HEAD"):
        raise HTTPException(405, "this is only read", {"Allow": "GET, HEAD"})
    asked = scope["query_string"].decode("latin-1")
    headers = {"Cache-Control": _FOREVER if asked == f"v={_digest(name)}" else _REVALIDATE}
    kind = guess_type(name)[0] or "application/octet-stream"
    await Response(content, headers=headers, media_type=kind)(scope, receive, send)


def assets() -> ASGIApp:
    """The ASGI application that serves the assets, compressed: none holds a secret."""
    return GZipMiddleware(_serve)
