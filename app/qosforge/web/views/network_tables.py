"""The tables of a network's page: devices and links that fit a search, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query

from qosforge.device_names import natural_order
from qosforge.platforms.base import installed, platform
from qosforge.web.views.networks import DeviceCard, LinkView, NetworkView
from qosforge.web.views.table_pages import TablePage, table_page

SORTS = ("name", "platform", "site", "role", "state", "read")
DEVICE_STATES = ("half_way", "changing", "drifted", "unreached", "unsaved", "settled", "new", "pending", "unknown")


@dataclass(frozen=True)
class DeviceSearch:
    """What a person looks for in a network; every word has to stand somewhere in what is said of a device.

    ``sort`` is one of `SORTS`, with ``-`` before it from the last to the first; empty is the inventory's order.
    """

    q: Annotated[str, Query(max_length=200)] = ""
    site: Annotated[str, Query(max_length=63)] = ""
    tag: Annotated[str, Query(max_length=63)] = ""
    platform: Annotated[str, Query(max_length=63)] = ""
    role: Annotated[str, Query(max_length=63)] = ""
    state: Annotated[str, Query(max_length=63)] = ""
    sort: Annotated[str, Query(max_length=63)] = ""
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in small letters."""
        return tuple(self.q.lower().split())

    def query(self, **changes: Any) -> str:
        """The query of an address that asks for the same, but for these changes."""
        fields = ("q", "site", "tag", "platform", "role", "state", "sort")
        chosen = {name: getattr(self, name) for name in fields} | {"page": self.number} | changes
        return urlencode({name: value for name, value in chosen.items() if value and (name, value) != ("page", 1)})


@dataclass(frozen=True)
class Choices:
    """The values that a network's devices can be filtered by."""

    sites: tuple[str, ...]
    tags: tuple[str, ...]
    platforms: tuple[str, ...]
    roles: tuple[str, ...]


class NetworkTables:
    """The devices and links of a network that a search finds."""

    def __init__(self, view: NetworkView, search: DeviceSearch) -> None:
        self.view = view
        self.search = search

    @cached_property
    def choices(self) -> Choices:
        """What can be chosen from."""
        devices = self.view.network.devices
        return Choices(
            sites=_sorted({device.site for device in devices if device.site}),
            tags=_sorted({tag for device in devices for tag in device.tags}),
            platforms=_sorted({device.platform for device in devices}),
            roles=_sorted({device.role.value for device in devices}),
        )

    @property
    def devices(self) -> TablePage[DeviceCard]:
        """The page of devices."""
        found = [card for card in self.view.cards if self._fits(card)]
        key, reverse = self.search.sort.removeprefix("-"), self.search.sort.startswith("-")
        if key in _SORT_KEYS:
            found.sort(key=_SORT_KEYS[key], reverse=reverse)
        return table_page(found, len(self.view.cards), self.search.number)

    @property
    def links(self) -> TablePage[LinkView]:
        """The page of links: each word stands in the name of a device or port at an end."""
        found = [link for link in self.view.links if self._link_fits(link)]
        return table_page(found, len(self.view.links), self.search.number)

    def _fits(self, card: DeviceCard) -> bool:
        device, asked = card.device, self.search
        if (asked.site and device.site != asked.site) or (asked.tag and asked.tag not in device.tags):
            return False
        if (asked.platform and device.platform != asked.platform) or (asked.role and device.role != asked.role):
            return False
        if asked.state and asked.state not in card.states:
            return False
        text = search_text(card) if asked.words else ""
        return all(word in text for word in asked.words)

    def _link_fits(self, link: LinkView) -> bool:
        states = [state for end in link.ends for state in end.states]
        if self.search.state and self.search.state not in states:
            return False
        text = " ".join(f"{end.device} {end.port}" for end in link.ends).lower() if self.search.words else ""
        return all(word in text for word in self.search.words)


def search_text(card: DeviceCard) -> str:
    """What of a device is searched, in small letters."""
    device = card.device
    hosts = (one.station.name for one in card.hosts)
    title = platform(device.platform).family.title if device.platform in installed() else device.platform
    return " ".join((device.name, title, device.image, device.site, *sorted(device.tags), *hosts)).lower()


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=natural_order))


_SORT_KEYS: dict[str, Callable[[DeviceCard], Any]] = {
    "name": lambda card: natural_order(card.device.name),
    "platform": lambda card: (card.device.platform, natural_order(card.device.image)),
    "site": lambda card: natural_order(card.device.site),
    "role": lambda card: card.device.role.value,
    "state": lambda card: DEVICE_STATES.index(card.states[0]),
    "read": lambda card: card.read.at.timestamp() if card.read else 0.0,
}
"""By what devices are sorted; those that are equal stay as the inventory has them."""
