"""The service below a path of its host, behind a proxy that has other things on it, too."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.datastructures import MutableHeaders
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.errors import InputError, Place

_LINKS = ("location", "hx-redirect")
"""Headers that lead a browser or a program on: routes write the path within the service."""


def serve_below(app: FastAPI, prefix: str) -> None:
    """Serve an application below ``prefix``: its routes and all middleware know paths within it.

    A proxy may pass addresses on as they are, or without the prefix. Pages write it before each link themselves.

    Raises:
        InputError: the prefix begins like an address of the service, so that the two could not be told apart.
    """
    mounts = (one.path for one in app.routes if isinstance(one, Mount))
    routes = (str(one.path_format) for one in iter_route_contexts(app.routes))
    if prefix.split("/")[1] in {path.split("/")[1] for path in (*mounts, *routes)}:
        raise InputError(
            f"the service has pages at {prefix} itself", Place(path="QOSFORGE_PUBLIC_URL"), "choose another path"
        )
    app.add_middleware(SubPath, prefix=prefix)


class SubPath:
    """Middleware that takes the prefix off addresses that come in, and puts it before links in headers."""

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def prefixed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in _LINKS:
                    link = headers.get(name, "")
                    if link.startswith("/") and not self._is_below(link):
                        headers[name] = self._prefix + link
            await send(message)

        path = scope["path"]
        if self._is_below(path):
            path = path.removeprefix(self._prefix) or "/"
        await self._app({**scope, "path": path}, receive, prefixed)

    def _is_below(self, path: str) -> bool:
        return path == self._prefix or path.startswith(self._prefix + "/")
