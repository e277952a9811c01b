"""What a call of the audit log is about, by what was asked."""

from __future__ import annotations

from typing import Literal

Kind = Literal["runs", "policies", "networks", "people", "webhooks", "service", "sessions"]
KINDS: tuple[Kind, ...] = ("runs", "policies", "networks", "people", "webhooks", "service", "sessions")
"""What calls are about; ``sessions`` are those that log in and out."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PREFIXES = ("", "/api/v1")
_AREAS: dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "runs": (("/runs", "/measurements", "/sweeps"), ()),
    "policies": (("/policies", "/preview", "/compile", "/validate"), ()),
    "networks": (("/networks",), ("drift",)),
    "people": (("/users", "/me/", "/account", "/tokens", "/testers"), ("user", "token", "tester")),
    "webhooks": (("/webhooks",), ("webhook",)),
    "service": ((), ("backup", "database")),
    "sessions": (("/login", "/logout"), ()),
}
"""How the paths of each kind begin, and its commands. What is changed here concerns calls from then on: those in
the log keep the kind that they were written with.
"""


def _begins(kind: Kind) -> tuple[str, ...]:
    """How what was asked begins, of every call of a kind: of pages, of REST and of commands."""
    areas, commands = _AREAS[kind]
    paths = [f"{prefix}{area}" for prefix in _PREFIXES for area in areas]
    asked = tuple(f"{method} {path}" for path in paths for method in _METHODS)
    return asked + tuple(f"qosforge {command} " for command in commands)


_BEGINS = {kind: _begins(kind) for kind in KINDS}


def kind_of(action: str) -> Kind | Literal[""]:
    """The kind of a call by what was asked, ``POST /api/v1/runs``; empty where it belongs to none."""
    return next(iter(kinds_of(action)), "")


def kinds_of(action: str) -> list[Kind]:
    """Every kind that a call could be of; more than one is a mistake in what kinds begin with."""
    return [kind for kind in KINDS if action.startswith(_BEGINS[kind])]
