"""Data files, read from a wheel and from a checkout alike."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from app.errors import ServiceError


@cache
def root() -> Path:
    """The folder that holds ``app/`` and ``templates/``: the checkout, or where a wheel put them."""
    for candidate in (Path(__file__).resolve().parent.parent, Path(sys.prefix) / "share" / "qosforge"):
        if (candidate / "templates").is_dir():
            return candidate
    raise ServiceError("the data files of qosforge are missing", hint="install it again")


def path_of(name: str) -> Path:
    """Where a data file is, named by its path below the project's root: beside the code, or below `root`."""
    package = Path(__file__).resolve().parent.parent / name
    return package if package.is_file() else root() / name


def read_text(name: str) -> str:
    """The text of a data file, named by its path below the project's root.

    Raises:
        ServiceError: it is missing.
    """
    try:
        return path_of(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ServiceError(f"data file {name} cannot be read: {error.strerror}") from None
