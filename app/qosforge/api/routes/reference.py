"""Swagger UI for the OpenAPI document; it loads nothing from other hosts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import fastapi_offline
from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

# Swagger UI sets styles of its elements by itself, and has its icons as data.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>qosforge: the REST interface</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon.png">
</head>
<body>
<div id="interface"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

_START = b"""SwaggerUIBundle({
  url: "openapi.json", dom_id: "#interface", deepLinking: true, validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis], layout: "BaseLayout",
});
"""

_TYPES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "start.js": "text/javascript",
    "favicon.png": "image/png",
}


@router.get("/docs")
def page() -> HTMLResponse:
    """The page."""
    return HTMLResponse(_PAGE, headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/{name}")
def part(name: str) -> Response:
    """One of the page's parts, by its name."""
    if name not in _TYPES:
        raise HTTPException(404)
    return Response(_bytes(name), media_type=_TYPES[name], headers={"Cache-Control": "public, max-age=86400"})


@cache
def _bytes(name: str) -> bytes:
    if name == "start.js":
        return _START
    return (Path(fastapi_offline.__file__).parent / "static" / name).read_bytes()
