"""A reverse proxy on the loopback that has a service below ``/qosforge``, and another site everywhere else."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

PREFIX = "/qosforge"

_OF_A_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding"})
_METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]


@dataclass
class Proxy:
    """The proxy: ``service`` is where it passes requests on to, ``strips`` whether without the prefix, and
    ``strays`` are the addresses outside the prefix that were asked for.
    """

    port: int
    service: str = ""
    strips: bool = False
    strays: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        """The whole site."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The service as browsers reach it."""
        return self.host + PREFIX

    async def answer(self, request: Request) -> Response:
        """Pass a request on, or note that it strayed."""
        path = request.url.path
        if path != PREFIX and not path.startswith(PREFIX + "/"):
            self.strays.append(path)
            return PlainTextResponse("another site", 404)
        if self.strips:
            path = path.removeprefix(PREFIX) or "/"
        query = f"?{request.url.query}" if request.url.query else ""
        client = httpx2.AsyncClient(timeout=60)
        passed = client.build_request(
            request.method, self.service + path + query, headers=request.headers.raw, content=await request.body()
        )
        answered = await client.send(passed, stream=True)

        async def body() -> AsyncIterator[bytes]:
            try:
                async for part in answered.aiter_raw():
                    yield part
            finally:
                await answered.aclose()
                await client.aclose()

        made = StreamingResponse(body(), answered.status_code)
        made.raw_headers = [
            (name.lower(), value)
            for name, value in answered.headers.raw
            if name.lower().decode() not in _OF_A_CONNECTION
        ]
        return made


@contextmanager
def proxying() -> Iterator[Proxy]:
    """A proxy while the block lasts; it is told the service later, which has to know its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = Proxy(listening.getsockname()[1])
        app = Starlette(routes=[Route("/{path:path}", proxy.answer, methods=_METHODS)])
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield proxy
        finally:
            server.should_exit = True
            thread.join()
