"""Fixed data of the BayStack 5510: service classes, default maps, queue sets, ranges.

Values marked UNCONFIRMED have no published source.  They are the lab's assumption about the box:
nothing outside the lab may take them for fact, and a client should read them from the box.
"""

from __future__ import annotations

from dataclasses import dataclass

PORTS = 48
"""Front ports of a 5510-48T."""

MAX_SHAPED_RATE = 1_023_000
RATE_STEP = 1_000
"""Meter and shaper rates of a 5510 port in kb/s (1 Mb/s steps, TCG 5.3)."""

BUCKETS = tuple(4096 << step for step in range(8))
"""Token bucket sizes in bytes, 4 K to 512 K (TCG p. 22)."""

AUTOSAVE_SECONDS = 60.0
"""How long after a change the box writes NVRAM on its own.  UNCONFIRMED."""

DEFAULT_QUEUE_SET = 2
DEFAULT_BUFFER = "large"
DEFAULT_NVRAM_DELAY = 10
"""Factory settings of ``qos agent``.  UNCONFIRMED."""

PORT_MASKS = 15
PORT_CLASSIFIERS = 114
PORT_COUNTERS = 32
PORT_METERS = 63
"""What one port's filter hardware holds: masks (precedences), classifiers by way of blocks, in-profile
counters, meters (TCG 3.4)."""

ACL_MASKS = 8
"""Precedences that access-lists can take on a port (TCG p. 26)."""

DEFAULT_TRACKING = "aggregate"
"""How a policy that says nothing counts while ``qos agent`` says nothing.  UNCONFIRMED."""

DEFAULT_PORT_PRIORITY = 0
"""802.1p priority that an untagged frame gets at its port."""

DEFAULT_GROUP = "allQoSPolicyIfcs"
"""Interface group (class untrusted) that holds every port not assigned elsewhere.  UNCONFIRMED."""


@dataclass(frozen=True)
class ServiceClass:
    """One predefined action: what it does to drop, DSCP, 802.1p and drop precedence."""

    name: str
    drop: str
    dscp: int | None
    priority: int | None
    drop_precedence: str


SERVICE_CLASSES: dict[int, ServiceClass] = {
    1: ServiceClass("Drop_Traffic", "enable", None, None, "high-drop"),
    2: ServiceClass("Standard_Service", "deferred-pass", 0, 0, "high-drop"),
    3: ServiceClass("Bronze_Service", "deferred-pass", 10, 2, "low-drop"),
    4: ServiceClass("Silver_Service", "deferred-pass", 18, 3, "low-drop"),
    5: ServiceClass("Gold_Service", "deferred-pass", 26, 4, "low-drop"),
    6: ServiceClass("Platinum_Service", "deferred-pass", 34, 5, "low-drop"),
    7: ServiceClass("Premium_Service", "deferred-pass", 46, 6, "low-drop"),
    8: ServiceClass("Network_Service", "deferred-pass", 48, 7, "low-drop"),
    9: ServiceClass("Null_Action", "deferred-pass", None, None, "low-drop"),
}
"""Ids 1 to 9 of ``show qos action`` (TCG p. 41)."""

STRICT = "Priority Queuing"
WEIGHTED = "Weighted Round Robin"

QUEUE_SET_WEIGHTS: dict[int, tuple[int, ...]] = {
    1: (100,),
    2: (100, 100),
    3: (100, 75, 25),
    4: (100, 65, 26, 9),
    5: (100, 58, 27, 11, 4),
    6: (100, 52, 24, 14, 7, 3),
    7: (100, 45, 21, 15, 10, 6, 3),
    8: (100, 41, 19, 13, 11, 8, 5, 3),
}
"""Bandwidth percent per queue of the eight predefined sets, queue 1 first.  UNCONFIRMED: that eight
sets exist is published, which queues and weights each has is not."""

STRICT_QUEUES: dict[int, int] = {queue_set: 2 if queue_set == 2 else 1 for queue_set in range(1, 9)}
"""How many queues of a set, from queue 1 on, are strict.  UNCONFIRMED (known of the BPS 2000 only)."""

BUFFER_BYTES: dict[str, int] = {"regular": 36_864, "large": 49_152, "maximum": 131_072}
"""Buffer of queue 1 of set 8 per mode; taken for every queue.  UNCONFIRMED."""

QUEUE_OF_PRIORITY = {6: 1, 7: 2, 5: 3, 4: 4, 3: 5, 2: 6, 1: 7, 0: 8}
"""Default queue per 802.1p priority in set 8; other sets clamp to their last queue.  UNCONFIRMED."""


def default_queue(queue_set: int, priority: int) -> int:
    """Factory queue of an 802.1p priority in a queue set."""
    return min(QUEUE_OF_PRIORITY[priority], len(QUEUE_SET_WEIGHTS[queue_set]))


WELL_KNOWN_DSCP: dict[int, int] = {
    10: 3, 18: 4, 26: 5, 34: 6, 46: 7, 48: 8,
    8: 3, 16: 4, 24: 5, 32: 6, 40: 7, 56: 8,
}  # fmt: skip
"""DSCPs with a service class (id) of their own.  The class selectors are UNCONFIRMED, the first six
are the DSCPs of the service classes."""


@dataclass
class EgressRow:
    """One of the 64 rows DSCP -> 802.1p, drop precedence, new DSCP."""

    name: str
    priority: int
    drop_precedence: str
    new_dscp: int


@dataclass
class IngressRow:
    """One of the eight rows 802.1p -> DSCP."""

    name: str
    dscp: int


def default_egress_row(dscp: int) -> EgressRow:
    """Factory row of the egress map."""
    service = SERVICE_CLASSES[WELL_KNOWN_DSCP.get(dscp, 2)]
    assert service.priority is not None
    return EgressRow(service.name, service.priority, service.drop_precedence, dscp)


def default_ingress_row(priority: int) -> IngressRow:
    """Factory row of the ingress map: the DSCP of the service class with that priority."""
    for service in SERVICE_CLASSES.values():
        if service.priority == priority and service.dscp is not None:
            return IngressRow(service.name, service.dscp)
    return IngressRow("Standard_Service", 0)
