"""Build a Nornir inventory from documents that are already loaded.

It is what `nornir.plugins.inventory.SimpleInventory` makes of the same three files; that one reads them by itself,
with a reader of YAML that takes twenty times as long as ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from nornir.core.inventory import (
    ConnectionOptions,
    Defaults,
    Group,
    Groups,
    Host,
    Hosts,
    Inventory,
    ParentGroups,
)

Entry = TypeVar("Entry", Host, Group)

_BESIDE = ("hostname", "port", "username", "password", "platform")


def nornir_inventory(hosts: Mapping[str, Any], groups: Mapping[str, Any], defaults: Mapping[str, Any]) -> Inventory:
    """The inventory of hosts, groups and defaults as Nornir's files write them; they have the shape that is wanted
    (see `qosforge.inventory.nornir_files.misshapen`).
    """
    shared = Defaults(**_common(defaults))
    all_groups = Groups({name: _entry(Group, name, body, shared) for name, body in groups.items()})
    all_hosts = Hosts({name: _entry(Host, name, body, shared) for name, body in hosts.items()})
    for bodies, entries in ((groups, all_groups), (hosts, all_hosts)):
        for name, entry in entries.items():
            entry.groups = ParentGroups([all_groups[above] for above in bodies[name].get("groups") or ()])
    return Inventory(hosts=all_hosts, groups=all_groups, defaults=shared)


def _entry(kind: type[Entry], name: str, body: Mapping[str, Any], defaults: Defaults) -> Entry:
    return kind(name=name, defaults=defaults, **_common(body))


def _common(body: Mapping[str, Any]) -> dict[str, Any]:
    options = body.get("connection_options") or {}
    return {
        **{key: body.get(key) for key in _BESIDE},
        "data": body.get("data"),
        "connection_options": {name: _options(entry) for name, entry in options.items()},
    }


def _options(entry: Mapping[str, Any]) -> ConnectionOptions:
    return ConnectionOptions(**{key: entry.get(key) for key in _BESIDE}, extras=entry.get("extras"))
