"""What lists and drawings of a network show of a device: small, so that it is stored and not made at every look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qosforge.device_state.qos_state import PortQos, QosStatus, compare_device
from qosforge.errors import QosforgeError
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText


@dataclass(frozen=True, slots=True)
class PortSummary:
    """A port at a glance: how many queues it has and how they share it (``service``, in words), whether what it
    sends is told apart by class, and whether what comes in is marked.
    """

    qos: QosStatus = QosStatus.UNKNOWN
    queues: int = 0
    by_class: bool = False
    marks: bool = False
    service: str = ""

    @classmethod
    def of(cls, port: PortQos) -> PortSummary:
        """Of what is known of a port."""
        state = port.state
        if state is None:
            return cls(port.qos)
        return cls(port.qos, state.queues, state.by_class, state.marks, port.service)


@dataclass(frozen=True, slots=True)
class DeviceSummary:
    """A device by one reading: whether it drifted (``None`` where no run settled it), and its ports by name."""

    drifted: bool | None
    ports: Mapping[str, PortSummary]

    def document(self) -> dict[str, Any]:
        """As it is stored: ports that are alike share their entry of ``kinds``."""
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(self.ports.values()))}
        return {
            "drifted": self.drifted,
            "kinds": [[kind.qos.value, kind.queues, kind.by_class, kind.marks, kind.service] for kind in kinds],
            "ports": {name: kinds[port] for name, port in self.ports.items()},
        }

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> DeviceSummary:
        """As `document` wrote it."""
        kinds = [PortSummary(QosStatus(qos), *others) for qos, *others in document["kinds"]]
        return cls(document["drifted"], {name: kinds[number] for name, number in document["ports"].items()})


def summarize_device(network: Network, device: str, text: DeviceText, last: DeviceText | None) -> DeviceSummary:
    """What a configuration of a device amounts to, beside the one that a run settled."""
    found = compare_device(network, device, text, last)
    ports = {name: PortSummary.of(port) for name, port in found.ports.items()}
    return DeviceSummary(None if last is None else found.differs, ports)


def summarize_devices(
    network: Network, texts: Mapping[str, tuple[DeviceText, DeviceText | None]]
) -> dict[str, DeviceSummary | QosforgeError]:
    """Several devices, in a computing process; the error of those that cannot be summarized."""
    found: dict[str, DeviceSummary | QosforgeError] = {}
    for device, (text, last) in texts.items():
        try:
            found[device] = summarize_device(network, device, text, last)
        except QosforgeError as error:
            found[device] = error
    return found
