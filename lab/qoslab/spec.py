"""What a lab consists of: the network file."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from qoslab.errors import SpecError

_LARGEST_FILE = 4 * 1024 * 1024


class BoxSpec(BaseModel):
    """One box. ``port`` 0 lets the system choose at the first start; ``secret`` "" logs in privileged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")
    platform: str
    image: str = ""
    features: dict[str, bool] = Field(default_factory=dict)
    username: str
    password: str
    secret: str = ""
    startup_config: Path | None = None
    port: int = Field(default=0, ge=0, le=65535)


End = tuple[str, str]
"""A box and one of its ports, as the box prints it."""


class StationSpec(BaseModel):
    """A host at a port, which Linux routers carry packets to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    address: str


class LinkSpec(BaseModel):
    """A cable between two ports, or (without ``b``) from a port to a station; ``rate`` in bits per second."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    a: End
    b: End | None = None
    station: StationSpec | None = None
    rate: int = Field(gt=0)


class NetworkSpec(BaseModel):
    """A whole lab. ``clock_scale`` 60 makes a box's minute last one second. ``virtual_time``: its Linux routers run
    in a guest whose clock counts instructions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")
    boxes: list[BoxSpec]
    links: list[LinkSpec] = Field(default_factory=list)
    clock_scale: float = Field(default=1.0, gt=0)
    virtual_time: bool = False


def load(path: Path) -> NetworkSpec:
    """Read a network file (YAML or JSON); relative startup paths are taken from its folder.

    Raises SpecError naming the file and the first thing that is wrong.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SpecError(f"{path}: larger than {_LARGEST_FILE} bytes")
        raw = YAML(typ="safe", pure=True).load(path.read_text())
    except (OSError, UnicodeDecodeError, YAMLError) as bad:
        raise SpecError(f"{path}: {bad}") from bad
    try:
        spec = NetworkSpec.model_validate(raw)
    except ValidationError as bad:
        first = bad.errors()[0]
        raise SpecError(f"{path}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from bad
    names = [box.name for box in spec.boxes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SpecError(f"{path}: two boxes are called {twice!r}")
    ends = [end for link in spec.links for end in (link.a, link.b) if end is not None]
    for box, port in ends:
        if box not in names:
            raise SpecError(f"{path}: a link ends at {box!r}, which is no box")
        if ends.count((box, port)) > 1:
            raise SpecError(f"{path}: {box} {port} has two links")
    return spec.model_copy(update={"boxes": [_resolved(box, path.parent) for box in spec.boxes]})


def _resolved(box: BoxSpec, folder: Path) -> BoxSpec:
    if box.startup_config is None or box.startup_config.is_absolute():
        return box
    return box.model_copy(update={"startup_config": (folder / box.startup_config).resolve()})
