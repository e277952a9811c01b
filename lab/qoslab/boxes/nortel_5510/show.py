"""Answers of a 5510 to ``show``: the configuration listing and the QoS tables.

The head and the sections of the listing and the layouts of ``show qos action`` and ``show qos
if-shaper`` are published.  The other tables follow the same house style (head rows, a row of
underscores, fixed columns), which is the lab's assumption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from qoslab.boxes.nortel_5510.plane import discipline
from qoslab.boxes.nortel_5510.resources import acl_precedences, usage
from qoslab.boxes.nortel_5510.state import Action, Agent, Printed, QosConfig, bucket, port_list
from qoslab.boxes.nortel_5510.system import SECTIONS
from qoslab.boxes.nortel_5510.tables import (
    AUTOSAVE_SECONDS,
    BUCKETS,
    BUFFER_BYTES,
    MAX_SHAPED_RATE,
    PORT_CLASSIFIERS,
    PORT_COUNTERS,
    PORT_MASKS,
    PORT_METERS,
    PORTS,
    QUEUE_SET_WEIGHTS,
    RATE_STEP,
    STRICT,
)
from qoslab.wiring import Announcement

MODEL = "5510-48T"
VERSION = "v5.1.0.014"
"""Software that the published guides describe."""

_NO_ADDRESS = "0.0.0.0"  # noqa: S104  (printed where a switch has none)

Column = tuple[str, int]
"""Heading (lines parted by ``/``) and width."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table in the house style: as many head rows as the tallest heading, underscores, rows."""
    heads = [heading.split("/") for heading, _ in columns]
    widths = [width for _, width in columns]
    for level in range(max(len(head) for head in heads)):
        yield _cells([head[level] if level < len(head) else "" for head in heads], widths)
    yield _cells(["_" * width for width in widths], widths)
    for row in rows:
        yield _cells([str(value) for value in row], widths)


def _cells(values: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(value[:width].ljust(width) for value, width in zip(values, widths, strict=True)).rstrip()


# -- listing ------------------------------------------------------------------------------------------


def listing(config: QosConfig, *, everything: bool = False) -> Iterator[str]:
    """``show running-config``: what differs from the default, or ``everything``, section by section."""
    yield from (
        "! Embedded ASCII Configuration Generator Script",
        f"! Model = Ethernet Routing Switch {MODEL}",
        f"! Software version = {VERSION}",
        "!",
        "! Displaying all parameters" if everything else "! Displaying only parameters different to default",
        "!================================================",
        "enable",
        "configure terminal",
    )
    for section in SECTIONS:
        lines = [line.text for line in config.plain.get(section, ())]
        if section == "INTERFACE" and lines:
            lines = ["interface FastEthernet ALL", *lines, "exit"]
        yield from _section(section, lines)
    lines = list(config.lines(everything))
    if config.shapers:
        shapers = (config.shapers[port].line() for port in sorted(config.shapers))
        lines += ["interface FastEthernet ALL", *shapers, "exit"]
    yield from _section("QOS", lines)


def _section(name: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("!", f"! *** {name} ***", "!", *lines)


# -- QoS tables ---------------------------------------------------------------------------------------


def agent(wanted: Agent, now: Agent) -> Iterator[str]:
    """``show qos agent``: the queue set and buffer in force, and what holds after the next reset."""
    yield f"QoS NVRam Commit Delay: {wanted.nvram_delay} seconds"
    yield f"QoS Queue Set: {now.queue_set}"
    yield f"QoS Queue Set (after reset): {wanted.queue_set}"
    yield f"QoS Buffering: {now.buffer.capitalize()}"
    yield f"QoS Buffering (after reset): {wanted.buffer.capitalize()}"
    yield f"QoS UBP Support Level: {wanted.ubp or 'default'}"
    yield f"QoS Default Statistics Tracking: {wanted.statistics or 'default'}"


def queue_sets(only: int | None, buffer: str) -> Iterator[str]:
    """``show qos queue-set [N]``."""
    columns = [
        ("Set/ID", 3), ("Queue/ID", 5), ("General/Discipline", 20), ("Bandwidth/(%)", 9),
        ("Absolute/Bandwidth/(Kbps)", 9), ("Bandwidth/Allocation", 10), ("Service/Order", 7), ("Size/(Bytes)", 8),
    ]  # fmt: skip
    rows = []
    for queue_set, weights in QUEUE_SET_WEIGHTS.items():
        if only in {None, queue_set}:
            strict = [queue for queue in range(1, len(weights) + 1) if discipline(queue_set, queue) == STRICT]
            for queue, weight in enumerate(weights, start=1):
                # All weighted queues share the one order that follows the strict ones.
                order = queue if queue in strict else len(strict) + 1
                how = discipline(queue_set, queue)
                rows.append((queue_set, queue, how, weight, 0, "Relative", order, BUFFER_BYTES[buffer]))
    return table(columns, rows)


def queue_assignment(config: QosConfig, only: int | None) -> Iterator[str]:
    """``show qos queue-set-assignment [queue-set N]``."""
    for queue_set in QUEUE_SET_WEIGHTS:
        if only in {None, queue_set}:
            yield f"Queue Set {queue_set}"
            rows = [(priority, config.queue_of[(queue_set, priority)]) for priority in range(8)]
            yield from table([("802.1p/Priority", 8), ("Queue", 5)], rows)


def groups(config: QosConfig) -> Iterator[str]:
    """``show qos if-group``."""
    rows = [(name, kind.capitalize(), "Other") for name, kind in config.groups.items()]
    return table([("Role Combination", 32), ("Interface/Class", 14), ("Storage/Type", 7)], rows)


def assignment(config: QosConfig, ports: Sequence[int]) -> Iterator[str]:
    """``show qos if-assign [port P]``."""
    rows = [(1, port, port, config.group_of(port)) for port in ports]
    return table([("Unit", 4), ("Port", 4), ("IfIndex", 7), ("Role Combination", 32)], rows)


def egress_map(config: QosConfig, only: int | None) -> Iterator[str]:
    """``show qos egressmap [ds N]``."""
    rows = [
        (
            dscp,
            row.priority,
            "High Drop" if row.drop_precedence == "high-drop" else "Low Drop",
            row.new_dscp,
            row.name,
        )
        for dscp, row in config.egress_map.items()
        if only in {None, dscp}
    ]
    return table(
        [("DSCP", 4), ("802.1p/Priority", 8), ("Drop/Precedence", 10), ("New/DSCP", 4), ("Name", 16)], rows
    )


def ingress_map(config: QosConfig) -> Iterator[str]:
    """``show qos ingressmap``."""
    rows = [(priority, row.dscp, row.name) for priority, row in config.ingress_map.items()]
    return table([("802.1p/Priority", 8), ("DSCP", 4), ("Name", 16)], rows)


_DROP = {"enable": "Yes", "disable": "No", "deferred-pass": "DPass"}


def actions(listed: Iterable[tuple[Action, str]]) -> Iterator[str]:
    """``show qos action``: every action with its storage type."""
    rows = []
    for action, storage in listed:
        dscp = "Ignore" if action.dscp is None else f"0x{action.dscp:X}"
        words = {"": "Ignore", "use-tos-prec": "Use TOS", "use-egress": "Use Egress"}
        priority = words.get(action.priority, f"Priority {action.priority}")
        high = "High Drop" if action.drop_precedence == "high-drop" else "Low Drop"
        rows.append((action.number, action.name, _DROP[action.drop], dscp, priority, high, "", storage))
    for number, name, dscp, priority, drop in (
        (64001, "UntrustedClfrs1", "Ing 1p", "Ignore", "Low Drop"),
        (64002, "UntrustedClfrs2", "0x0", "Priority 0", "High Drop"),
    ):
        rows.append((number, name, "DPass", dscp, priority, drop, "", "Other"))
    columns = [
        ("Id", 5), ("Name", 16), ("Drop", 5), ("Update/DSCP", 6), ("802.1p/Priority", 12),
        ("Set Drop/Precedence", 11), ("Extension", 9), ("Storage/Type", 7),
    ]  # fmt: skip
    return table(columns, rows)


def shapers(config: QosConfig, ports: Sequence[int]) -> Iterator[str]:
    """``show qos if-shaper [port P]``: the box tells the bucket, not what was typed."""
    held = [config.shapers[port] for port in ports if port in config.shapers]
    rows = [
        (1, one.port, one.port, one.name, one.rate, bucket(one.rate, one.burst_rate, one.duration)) for one in held
    ]
    columns = [
        ("Unit", 4), ("Port", 4), ("IfIndex", 7), ("Name", 16), ("Rate//(Kbps)", 8), ("Burst/Size/(Bytes)", 8),
    ]  # fmt: skip
    return table(columns, rows)


def objects(what: str, held: Mapping[int, Printed]) -> Iterator[str]:
    """``show qos ip-element`` and its like: id and definition."""
    rows = [
        (identity, one.line().removeprefix(f"qos {what} ").removeprefix(f"{identity} "))
        for identity, one in sorted(held.items())
    ]
    return table([("Id", 5), ("Definition", 120)], rows)


def statistics(policy: int, name: str, counted: tuple[int, int]) -> Iterator[str]:
    """``show qos statistics N``: packets of a policy in and out of profile."""
    columns = [("Id", 5), ("Policy Name", 16), ("In-Profile/Packets", 20), ("Out-of-Profile/Packets", 20)]
    return table(columns, [(policy, name, *counted)])


def diag(config: QosConfig, ports: Sequence[int]) -> Iterator[str]:
    """``show qos diag``: which mask precedences are taken on each port (high to low)."""
    ladder = range(PORT_MASKS, 0, -1)
    yield "Unit/Port  Mask Precedence Usage"
    yield "           " + " ".join(f"{precedence:>2}" for precedence in ladder)
    for port in ports:
        taken = {policy.precedence for policy in config.policies_on(port)}
        taken.update(*acl_precedences(config, port).values())
        marks = " ".join(" Q" if precedence in taken else "  " for precedence in ladder)
        yield f"1/{port:<8} {marks}".rstrip()
    yield "AR=ARP DH=DHCP Q=QoS IS=IPSG"


def acl_assignment(config: QosConfig) -> Iterator[str]:
    """``show qos acl-assign``."""
    rows = [
        (number, held.name, "Enabled" if held.enabled else "Disabled", held.kind.upper(), port_list(held.ports))
        for number, held in sorted(config.acl_assignments.items())
    ]
    return table([("Id", 5), ("Name", 16), ("State", 8), ("ACL/Type", 4), ("Ports", 32)], rows)


def capability(config: QosConfig) -> Iterator[str]:
    """``show qos capability``: rates of meters and shapers, and what each port's filters can still take."""
    yield f"Meter and Shaper Rate: {RATE_STEP}..{MAX_SHAPED_RATE} Kbps in steps of {RATE_STEP} Kbps"
    yield f"Bucket Sizes (Bytes): {' '.join(map(str, BUCKETS))}"
    rows = []
    for port in range(1, PORTS + 1):
        used = usage(config, port)
        left = (
            PORT_MASKS - used.masks,
            PORT_CLASSIFIERS - used.classifiers,
            PORT_COUNTERS - used.counters,
            PORT_METERS - used.meters,
        )
        rows.append((1, port, *left))
    columns = [
        ("Unit", 4), ("Port", 4), ("Masks/Free", 5), ("Classifiers/Free", 11), ("Counters/Free", 8),
        ("Meters/Free", 6),
    ]  # fmt: skip
    yield from table(columns, rows)


def system(name: str, seconds: float, now: str = "") -> Iterator[str]:
    """``show sys-info``; ``now`` is the time by SNTP, as a record of ntc-templates prints it, "" without SNTP."""
    minutes = int(seconds) // 60
    up = f"{minutes // 60 % 24:02}:{minutes % 60:02}:{int(seconds) % 60:02}"
    yield from (
        "Operation Mode:        Switch",
        "Reset Count:           1",
        "Autotopology:          Enabled",
        "Power Status:          Primary Power",
        f"sysDescr:              Ethernet Routing Switch {MODEL}",
        f"                       HW:02       FW:5.0.0.3   SW:{VERSION}",
        f"sysUpTime:             {minutes // 1440} days, {up}",
        *([f"sysNtpTime:            {now}"] if now else []),
        f"sysName:               {name}",
        "Serial #:              LBNNTM5510LAB",
        f"Operational Software:  FW:5.0.0.3   SW:{VERSION}",
    )


def ports(rows: Iterable[tuple[int, bool, int]]) -> Iterator[str]:
    """``show interfaces``: of each port whether it is up, and its speed in Mb/s.

    The columns are those of recorded answers of the ERS family, which print no speed of a port without a link.
    """
    yield "            Status                   Auto                       Flow"
    yield "Port Trunk  Admin   Oper Link LinkTrap Negotiation  Speed    Duplex Control"
    yield "---- ----- ------- ---- ---- -------- ----------- -------- ------ -------"
    for port, up, speed in rows:
        state = "Up   Up  " if up else "Down Down"
        agreed = f"{speed}Mbps".ljust(8) + " Full   Disable" if up else ""
        yield f"{port:<4}       Enable  {state} Enabled  Enabled     {agreed}".rstrip()


def topology(own: tuple[str, str], heard: Iterable[tuple[int, Announcement]]) -> Iterator[str]:
    """``show autotopology nmm-table``: the box itself (address, MAC), then each neighbour.

    As M. McNamara's account of the protocol prints it of a 5530 ("Nortel Discovery Protocol"); the columns of a
    switch that is no stack are not shown there, so it counts as unit 1.
    """
    yield "LSlot                                                                     RSlot"
    yield "LPort IP Addr         Seg ID   MAC Addr     Chassis Type     BT LS  CS   RPort"
    yield "----- --------------- -------- ------------ ---------------- -- --- ---- -----"
    address, mac = own
    yield f" 0/ 0 {address or _NO_ADDRESS:<15} 0x000000 {mac.upper()} {MODEL:<16} 12 Yes HTBT    NA"
    for port, told in heard:
        far = int(told.port)
        address = told.address or _NO_ADDRESS
        yield (
            f" 1/{port:>2} {address:<15} 0x{0x100 + far:06X} {told.mac.upper()} {told.platform:<16} 12 Yes HTBT"
            f"  1/{far:>2}"
        )


def autosave(enabled: bool) -> str:
    """``show autosave``."""
    return f"Auto Save: {'Enabled' if enabled else 'Disabled'} (every {AUTOSAVE_SECONDS:.0f} seconds)"
