"""A large network as a graph to pan, zoom and filter: what its script draws, at the places of the drawing."""

from __future__ import annotations

from typing import Any

from qosforge.device_state.qos_state import QosStatus
from qosforge.web.views.networks import DeviceCard, LinkView, NetworkView

MANY_DEVICES = 40
"""Up to so many devices a network is read off its drawing."""

_WORST_FIRST = (QosStatus.DRIFTED, QosStatus.UNKNOWN, QosStatus.NONE, QosStatus.POLICY)


def network_graph(view: NetworkView) -> dict[str, Any]:
    """Devices and links of a network as data."""
    return {
        "devices": [_device(view, card) for card in view.cards],
        "links": [_link(link) for link in view.links],
    }


def _device(view: NetworkView, card: DeviceCard) -> dict[str, Any]:
    area = card.place
    return {
        "id": card.device.name,
        "label": f"{card.label}\n{card.kind}",
        "href": f"/networks/{view.network.name}/devices/{card.device.name}",
        "state": card.state,
        "x": area.x + area.width / 2,
        "y": area.y + area.height / 2,
    }


def _link(link: LinkView) -> dict[str, Any]:
    states = [end.port_state.qos for end in link.ends]
    return {
        "id": f"link-{link.number}",
        "source": link.ends[0].device,
        "target": link.ends[1].device,
        "symbols": [end.symbol for end in link.ends],
        "rate": link.rate,
        "state": next(state.value for state in _WORST_FIRST if state in states),
    }
