"""Bodies of several parts (RFC 7578): the fields of a form and its files' names, of a body that was read."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser

MULTIPART = "multipart/form-data"


@dataclass(frozen=True)
class FormPart:
    """A field with its text, or a file with its name."""

    name: str
    text: str
    is_file: bool


async def read_parts(headers: Headers, body: bytes) -> list[FormPart] | None:
    """The parts of a body as the routes will read them; ``None`` where it has no such parts."""

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        form = await MultiPartParser(headers, stream()).parse()
    except (MultiPartException, KeyError):  # the latter: no boundary is named
        return None
    found = [
        FormPart(name, part, is_file=False)
        if isinstance(part, str)
        else FormPart(name, part.filename or "", is_file=True)
        for name, part in form.multi_items()
    ]
    await form.close()
    return found
