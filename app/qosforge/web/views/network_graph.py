"""A large network as a graph to pan, zoom, filter and unfold: devices, what each hangs on, and their links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.device_state.qos_state import QosStatus
from qosforge.web.views.graph_layout import hierarchy
from qosforge.web.views.network_tables import search_text
from qosforge.web.views.networks import DeviceCard, LinkView, NetworkView

MANY_DEVICES = 40
"""Up to so many devices a network is read off its drawing."""
FEW_DEVICES = 12
"""Up to so many devices need no search, and a telephone shows their drawing whole."""

_WORST_FIRST = (
    "half_way",
    "unreached",
    QosStatus.DRIFTED.value,
    "changing",
    QosStatus.UNKNOWN.value,
    QosStatus.NONE.value,
    QosStatus.POLICY.value,
)


def network_graph(view: NetworkView, prefix: str) -> dict[str, Any]:
    """Devices and links of a network as data, with what devices are filtered by; links are below ``prefix``.

    ``above`` is the device that one hangs on, nearer to the middle of the network.
    """
    return {
        "devices": [
            _device(view, card, None if on is None else view.cards[on], prefix)
            for card, on in zip(view.cards, _above(view), strict=True)
        ],
        "links": [_link(view, link, prefix) for link in view.links],
    }


@dataclass(frozen=True)
class OutlineRow:
    """A device in the outline of a network, ``depth`` steps from the middle, with the links that lead there."""

    card: DeviceCard
    depth: int
    links: tuple[LinkView, ...]


def network_outline(view: NetworkView) -> tuple[OutlineRow, ...]:
    """The devices line by line, each below the one that it hangs on: a large network on paper."""
    above = _above(view)
    below: dict[int | None, list[int]] = {}
    for number, on in enumerate(above):
        below.setdefault(on, []).append(number)
    links: dict[frozenset[str], list[LinkView]] = {}
    for link in view.links:
        links.setdefault(frozenset(end.device for end in link.ends), []).append(link)
    rows: list[OutlineRow] = []
    waiting = [(number, 0) for number in reversed(below.get(None, ()))]
    while waiting:
        number, depth = waiting.pop()
        on = above[number]
        names = {view.cards[one].device.name for one in (number, on) if one is not None}
        rows.append(OutlineRow(view.cards[number], depth, tuple(links.get(frozenset(names), ()))))
        waiting += [(child, depth + 1) for child in reversed(below.get(number, ()))]
    return tuple(rows)


def _above(view: NetworkView) -> tuple[int | None, ...]:
    numbers = {card.device.name: number for number, card in enumerate(view.cards)}
    pairs = [(numbers[link.ends[0].device], numbers[link.ends[1].device]) for link in view.links]
    return hierarchy(len(view.cards), pairs)


def _device(view: NetworkView, card: DeviceCard, above: DeviceCard | None, prefix: str) -> dict[str, Any]:
    device = card.device
    return {
        "id": device.name,
        "label": f"{card.label}\n{card.kind}",
        "href": f"{prefix}/networks/{view.network.name}/devices/{device.name}",
        "state": card.worst,
        "states": list(card.states),
        "text": search_text(card),
        "site": device.site,
        "tags": sorted(device.tags),
        "platform": device.platform,
        "role": device.role.value,
        "above": above.device.name if above else "",
    }


def _link(view: NetworkView, link: LinkView, prefix: str) -> dict[str, Any]:
    states = [end.qos for end in link.ends]
    return {
        "id": f"link-{link.number}",
        "source": link.ends[0].device,
        "target": link.ends[1].device,
        "ends": [
            {
                "symbol": end.symbol,
                "state": end.qos,
                "title": f"{end.device} {end.port}",
                "href": f"{prefix}{view.address(end)}",
            }
            for end in link.ends
        ],
        "rate": link.rate,
        "state": next(state for state in _WORST_FIRST if state in states),
    }
