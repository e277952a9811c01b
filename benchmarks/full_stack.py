"""Overloaded ports by ns-3 with its whole stack: sockets, UDP, IP, routing, traffic control, devices.

That is more work for every packet than the twin does: real headers, an address looked up at every hop, a packet
object that carries tags and metadata. The ratio says what the same question costs there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import seconds
from benchmarks.vector import BYTES, CLASSES, GAP, LIMIT, LINE, PS, STARTS

PORT = 9
POINT_TO_POINT = 2
"""Bytes of a frame around the IP packet on ns-3's point-to-point devices."""
HEADERS = 28
"""IP and UDP."""
TYPE_OF_SERVICE = (0x10, 0x18, 0x08, 0x00)
"""Of the first class and so on; ns-3 makes them the priorities 6, 4, 2 and 0."""
PRIORITY_MAP = "3 3 2 2 1 1 0 0 3 3 3 3 3 3 3 3"


@dataclass(frozen=True)
class Sender:
    """A constant stream: its class, bytes of a frame, time between frames and of the first one."""

    traffic_class: int
    frame_bytes: int
    gap_ps: int
    start_ps: int


def by_ns3() -> tuple[int, int, int, float]:
    """Packets offered, sent and dropped in the first queue in one second, and the processor time of the run."""
    from ns import ns  # noqa: PLC0415  # only where it is installed, and seconds to load

    senders = [Sender(number % CLASSES, BYTES, GAP, start) for number, start in enumerate(STARTS)]
    queue = network(ns, senders, LINE, strict_priority)
    ns.Simulator.Stop(ns.Seconds(1))
    took = seconds(ns.Simulator.Run)
    classes = [queue.GetQueueDiscClass(number).GetQueueDisc().GetStats() for number in range(CLASSES)]
    offered = sum(int(each.nTotalReceivedPackets) for each in classes)
    counts = offered, int(queue.GetStats().nTotalSentPackets), int(classes[0].nTotalDroppedPackets)
    ns.Simulator.Destroy()
    return *counts, took


def strict_priority(ns: Any, control: Any) -> None:
    """Four queues, the first served first."""
    root = control.SetRootQueueDisc("ns3::PrioQueueDisc", "Priomap", ns.StringValue(PRIORITY_MAP))
    for each in control.AddQueueDiscClasses(root, CLASSES, "ns3::QueueDiscClass"):
        control.AddChildQueueDisc(root, each, "ns3::FifoQueueDisc", "MaxSize", ns.StringValue(f"{LIMIT}p"))


def network(
    ns: Any, senders: Sequence[Sender], line_bps: int, discipline: Callable[[Any, Any], None], stop_ps: int = PS
) -> Any:
    """Senders on lines that never fill, and two routers with a discipline between them: the queue disc."""
    sources, routers = ns.NodeContainer(), ns.NodeContainer()
    sources.Create(len(senders))
    routers.Create(2)
    stack, addresses = ns.InternetStackHelper(), ns.Ipv4AddressHelper()
    stack.Install(sources)
    stack.Install(routers)
    mask = ns.Ipv4Mask("255.255.255.0")
    access = _line(ns, "100Gbps")
    for number in range(len(senders)):
        ends = access.Install(sources.Get(number), routers.Get(0))
        addresses.SetBase(ns.Ipv4Address(f"10.0.{number}.0"), mask)
        addresses.Assign(ends)
    line = _line(ns, f"{line_bps}bps")
    line.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.StringValue("1p"))
    ends = line.Install(routers)
    control = ns.TrafficControlHelper()
    discipline(ns, control)
    queue = control.Install(ns.NetDeviceContainer(ends.Get(0))).Get(0)
    addresses.SetBase(ns.Ipv4Address("10.1.0.0"), mask)
    target = addresses.Assign(ends).GetAddress(1)
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    for number, sender in enumerate(senders):
        _send(ns, sources.Get(number), target, sender, stop_ps)
    ns.UdpServerHelper(PORT).Install(routers.Get(1)).Start(ns.Seconds(0))
    return queue


def _line(ns: Any, rate: str) -> Any:
    helper = ns.PointToPointHelper()
    helper.SetDeviceAttribute("DataRate", ns.StringValue(rate))
    # Frames are of the model's size, more than Ethernet's: no packet is to be cut.
    helper.SetDeviceAttribute("Mtu", ns.UintegerValue(BYTES))
    helper.SetChannelAttribute("Delay", ns.StringValue("0ns"))
    return helper


def _send(ns: Any, node: Any, target: Any, sender: Sender, stop_ps: int) -> None:
    client = ns.UdpClientHelper(target.ConvertTo(), PORT)
    client.SetAttribute("Interval", ns.TimeValue(ns.PicoSeconds(sender.gap_ps)))
    client.SetAttribute("PacketSize", ns.UintegerValue(sender.frame_bytes - POINT_TO_POINT - HEADERS))
    client.SetAttribute("MaxPackets", ns.UintegerValue(0))
    client.SetAttribute("Tos", ns.UintegerValue(TYPE_OF_SERVICE[sender.traffic_class]))
    application = client.Install(node)
    application.Start(ns.PicoSeconds(sender.start_ps))
    application.Stop(ns.PicoSeconds(stop_ps))
