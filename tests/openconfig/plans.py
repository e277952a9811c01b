"""Plans made on the fly, with more in them than OpenConfig can carry, and those of the library."""

from __future__ import annotations

from functools import cache

from hypothesis import settings
from hypothesis import strategies as st

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.intent.applications import load_catalogue
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import (
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Plan,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
    UnknownLine,
)
from qosforge.resources import root

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
APPLICATIONS = load_catalogue()

NAMES = st.sampled_from(["gold", "silver", "default", "queue-1", "queue-7", "gold.2", "class-default", "input"])
POLICIES = st.none() | NAMES
NUMBERS = st.integers(0, 8)
DSCPS = st.lists(st.integers(0, 63), max_size=4).map(tuple)
PORTS = st.tuples(st.integers(0, 65535), st.integers(0, 65535)).map(
    lambda ends: PortRange(first=min(ends), last=max(ends))
)
PREFIXES = st.sampled_from([None, "10.0.0.0/8", "192.0.2.7/32", "10.1.2.3/16", "2001:db8::/32", "0.0.0.0/0"])
TERMS = st.builds(
    Term,
    dscp=DSCPS,
    cos=st.sampled_from([(), (), (), (5,)]),
    precedence=st.sampled_from([(), (), (1, 5)]),
    application=st.sampled_from([None, None, None, "http", "rtp-audio", "unheard-of"]),
    protocol=st.sampled_from([None, 6, 17, 89, 255]),
    source=PREFIXES,
    destination=PREFIXES,
    source_ports=st.lists(PORTS, max_size=2).map(tuple),
    destination_ports=st.lists(PORTS, max_size=2).map(tuple),
    source_mac=st.sampled_from([None, None, None, "001b.54aa.bbcc"]),
    destination_mac=st.sampled_from([None, None, None, "0200.5e00.00ff"]),
    vlan=st.sampled_from([(), (), (), (10, 20)]),
)
RULES = st.lists(
    st.builds(
        Rule,
        name=NAMES,
        any_of=st.lists(TERMS, max_size=3).map(tuple),
        set_dscp=st.none() | st.integers(0, 63),
        set_cos=st.none() | st.integers(0, 7),
        set_precedence=st.sampled_from([None, None, 5]),
        set_drop_precedence=st.sampled_from([None, None, "high"]),
        police=st.sampled_from([None, None, Policer(rate=64000, burst=8000)]),
        queue=st.none() | NUMBERS,
    ),
    max_size=4,
).map(tuple)
PROFILES = st.builds(
    RedProfile,
    dscp=DSCPS,
    minimum=st.integers(1, 10**6),
    maximum=st.integers(1, 10**7),
    denominator=st.integers(1, 300),
)
REDS = st.builds(
    Red,
    by_dscp=st.booleans(),
    weight_exponent=st.integers(0, 16),
    unit=st.sampled_from(["packets", "bytes", "ms"]),
    profiles=st.lists(PROFILES, max_size=2).map(tuple),
    ecn=st.booleans(),
)
SHARES = st.builds(Share, unit=st.sampled_from(ShareUnit), value=st.integers(0, 100))
QUEUES = st.lists(
    st.builds(
        Queue,
        number=NUMBERS,
        name=st.none() | NAMES,
        priority=st.booleans(),
        share=st.none() | SHARES,
        capped=st.booleans(),
        limit_packets=st.none() | st.just(64),
        red=st.none() | REDS,
        fair=st.booleans(),
        shape_weight=st.none() | st.just(4),
        shape_rate=st.none() | st.just(64000),
        burst=st.none() | st.integers(1, 2**32 - 1),
        limit_bytes=st.none() | st.just(9000),
        limit_ms=st.none() | st.just(20),
        buffer_percent=st.none() | st.just(25),
        level=st.none() | st.just(2),
    ),
    max_size=4,
    unique_by=lambda queue: queue.number,
).map(tuple)
SCHEDULERS = st.builds(
    Scheduler,
    discipline=st.sampled_from(Discipline),
    queues=QUEUES,
    limit_percent=st.none() | st.just(90),
    divides_guarantees=st.booleans(),
)
TABLE = st.none() | st.lists(NUMBERS, min_size=64, max_size=64).map(tuple)
SYSTEMS = st.builds(
    System,
    dscp_to_cos=st.none() | st.lists(st.integers(0, 7), min_size=64, max_size=64).map(tuple),
    cos_to_dscp=st.none() | st.just(tuple(range(0, 64, 8))),
    cos_to_queue=st.none() | st.just((1, 1, 2, 2, 3, 4, 3, 3)),
    dscp_to_queue=TABLE,
    scheduler=st.none() | SCHEDULERS,
    queue_set=st.none() | st.just(2),
    queue_on_input=st.none() | st.booleans(),
)
INTERFACES = st.lists(
    st.builds(
        InterfacePlan,
        name=st.sampled_from(["Serial0/0", "FastEthernet0/1", "GigabitEthernet 0/2"]),
        bandwidth_kbps=st.none() | st.just(2000),
        ingress=st.builds(
            Ingress, policy=POLICIES, trust=st.sampled_from(Trust), port_cos=st.sampled_from([0, 3]), rules=RULES
        ),
        egress=st.builds(
            Egress,
            policy=POLICIES,
            rules=RULES,
            default_queue=st.none() | NUMBERS,
            scheduler=st.none() | SCHEDULERS,
            policers=st.sampled_from([(), (InterfacePolicer(police=Policer(rate=64000, burst=8000)),)]),
            transmit_ring=st.none() | st.just(5),
            shape_rate=st.none() | st.just(10**6),
        ),
        efficiency=st.builds(Efficiency, header_compression=st.booleans()),
    ),
    max_size=3,
    unique_by=lambda entry: entry.name,
).map(tuple)
PLANS = st.builds(
    Plan,
    device=st.just("r1"),
    platform=st.just("cisco_ios"),
    system=SYSTEMS,
    interfaces=INTERFACES,
    unknown=st.sampled_from([(), (UnknownLine(line=1, text="fair-queue 7"),)]),
)


@cache
def compiled() -> tuple[CompiledDevice, ...]:
    """Every policy of the library on every device of the campus."""
    network = load_network(root() / "inventories" / "campus")
    intents = [load_intent(path) for path in sorted((root() / "policies").glob("*.yaml"))]
    return tuple(d for intent in intents for d in compile_intent(intent, network).devices)


def plan(*, rules: tuple[Rule, ...] = (), scheduler: Scheduler | None = None, **more: object) -> Plan:
    """A plan of one interface: rules on its input, a scheduler on its output."""
    entry = InterfacePlan(
        name="Serial0/0",
        ingress=Ingress(policy="IN", rules=rules),
        egress=Egress(policy="OUT", scheduler=scheduler),
    )
    return Plan(device="r1", platform="cisco_ios", interfaces=(entry,)).model_copy(update=more)
