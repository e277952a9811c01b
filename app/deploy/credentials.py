"""Credentials: from the environment, or from the file a lab made for its own boxes. Never from elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import InputError, Place


@dataclass(frozen=True)
class Credentials:
    """What logs in to a box; never printed."""

    username: str
    password: str = field(repr=False)
    secret: str = field(repr=False)


def credentials(device: str, lab: Path | None, environment: Mapping[str, str] = os.environ) -> Credentials:
    """Credentials of a device.

    ``QOSFORGE_USERNAME``, ``QOSFORGE_PASSWORD`` and ``QOSFORGE_SECRET`` (enable), each with ``_<DEVICE>``
    appended for one device alone; without them ``credentials.json`` in the lab's state folder.

    Raises:
        InputError: neither is there, or the file cannot be read.
    """
    suffix = "_" + device.upper().replace("-", "_")

    def setting(name: str) -> str | None:
        return environment.get(f"QOSFORGE_{name}{suffix}", environment.get(f"QOSFORGE_{name}"))

    username, password = setting("USERNAME"), setting("PASSWORD")
    if username and password:
        return Credentials(username, password, setting("SECRET") or "")
    path = lab / "credentials.json" if lab else None
    if path is None or not path.is_file():
        raise InputError(
            "no credentials",
            Place(device=device),
            "set QOSFORGE_USERNAME and QOSFORGE_PASSWORD (and QOSFORGE_SECRET), or start the lab",
        )
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return Credentials(
            username or held["username"], password or held["password"], setting("SECRET") or held["secret"]
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"cannot be used: {error}", Place(file=str(path)), "start the lab again") from None
