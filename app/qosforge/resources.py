"""Data files, read from a wheel and from a checkout alike.

In a checkout ``templates``, ``policies`` and ``inventories`` stand at its top; a wheel carries them inside the
package (``qosforge/data``: ``pyproject.toml`` says which), so that they are wherever pip puts the code.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from yaml.cyaml import CSafeLoader

from qosforge.errors import ServiceError

SOURCES = Path(__file__).resolve().parents[1]
"""The folder that holds the package: ``app/`` of a checkout, ``site-packages`` of an installation."""


@cache
def root() -> Path:
    """The folder that holds ``policies/`` and ``templates/``: the checkout, or ``qosforge/data`` of a wheel."""
    for candidate in (SOURCES / "qosforge" / "data", SOURCES.parent):
        if (candidate / "templates").is_dir():
            return candidate
    raise ServiceError("the data files of qosforge are missing", hint="install it again")


def path_of(name: str) -> Path:
    """Where a data file is: ``qosforge/...`` is beside the code, any other path is below `root`."""
    return (SOURCES if name.startswith("qosforge/") else root()) / name


def read_text(name: str) -> str:
    """The text of a data file, named as `path_of` takes it.

    Raises:
        ServiceError: it is missing.
    """
    try:
        return path_of(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ServiceError(f"data file {name} cannot be read: {error.strerror}") from None


def read_yaml(name: str) -> Any:
    """What a data file in YAML 1.1 holds, named as `path_of` takes it.

    Read by libyaml, seven times as fast as by the reader that policies need for their places.

    Raises:
        ServiceError: it is missing.
    """
    return yaml.load(read_text(name), Loader=CSafeLoader)
