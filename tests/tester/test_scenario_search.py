"""Random scenarios over rows of routers, of all that packets may become on a line: none is later than its bound."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from qosforge.inventory.models import Framing, TrafficFlow
from qosforge.plan.model import (
    DROP,
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePolicer,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from tests.tester.small_networks import BACK, FORWARD, Port, Run, flow, row, run

SECONDS = 3
CALLS = 16384
DSCPS = (0, 10, 18, 46)


def share(unit: ShareUnit, value: int) -> Share:
    return Share(unit=unit, value=value)


def terms(random: Random) -> list[Term]:
    """What classes match by: marks, applications' ports, and ranges that split flows described as one."""
    first = CALLS + random.randrange(3)
    return random.sample(
        [
            Term(dscp=(46,)),
            Term(dscp=(10, 18)),
            Term(protocol=6),
            Term(protocol=17, source_ports=(PortRange(first=first, last=first + random.randrange(4)),)),
            Term(protocol=17, destination_ports=(PortRange(first=5000, last=5001),)),
        ],
        2,
    )


def scheduler(random: Random) -> Scheduler | None:
    limit = random.choice([10, 64, 500])
    match random.choice(["none", "llq", "cbwfq", "strict", "wrr", "srr", "wfq"]):
        case "none":
            return None
        case "wfq":
            return Scheduler(discipline=Discipline.FLOW_WFQ, queues=(Queue(number=0),))
        case "llq" | "cbwfq" as kind:
            capped = kind == "llq"
            first = Queue(
                number=0,
                name="first",
                priority=capped,
                capped=capped,
                share=share(ShareUnit.PERCENT, random.choice([20, 40])),
                limit_packets=limit,
            )
            others = [
                Queue(number=n, name=f"c{n}", share=share(ShareUnit.PERCENT, 25), limit_packets=limit)
                for n in (1, 2)
            ]
            return Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(first, *others))
        case "strict":
            queues = tuple(Queue(number=n, priority=True, limit_packets=limit) for n in range(3))
            return Scheduler(discipline=Discipline.STRICT, queues=queues)
        case kind:
            weighted = tuple(
                Queue(number=n, share=share(ShareUnit.WEIGHT, random.randrange(1, 6)), limit_packets=limit)
                for n in range(3)
            )
            return Scheduler(discipline=Discipline.WRR if kind == "wrr" else Discipline.SRR, queues=weighted)


def bucket(random: Random) -> Policer:
    rate, burst = random.choice([64_000, 300_000]), random.choice([1000, 3000, 15_000])
    return Policer(rate=rate, burst=burst, exceed=random.choice([DROP, DROP, Action(set_dscp=10)]))


def port(random: Random, framing: Framing, compressed: bool) -> Port:
    """One end of a line."""
    served = scheduler(random)
    rules: tuple[Rule, ...] = ()
    if served is not None and len(served.queues) == 3:
        rules = tuple(
            Rule(
                name=f"rule {n}", any_of=(term,), queue=n, police=bucket(random) if random.random() < 0.2 else None
            )
            for n, term in enumerate(terms(random))
        )
    egress = Egress(
        policy="P" if served else None,
        rules=rules,
        default_queue=len(served.queues) - 1 if served else None,
        scheduler=served,
        transmit_ring=random.choice([None, 1, 3]),
        shape_rate=random.choice([None, None, None, 200_000]),
        policers=(InterfacePolicer(any_of=(), police=bucket(random)),) if random.random() < 0.1 else (),
    )
    fragments: dict[str, Any] = {}
    if random.random() < 0.4:
        fragments["ip_mtu"] = random.choice([68, 300, 500, 1499])
    if framing is Framing.MLPPP and random.random() < 0.7:
        interleave = random.random() < 0.6
        fragments |= {
            "multilink": True,
            "fragment_bytes": random.choice([90, 200]),
            "interleave": interleave,
            "multiclass": interleave and random.random() < 0.4,
        }
    if framing is Framing.FRAME_RELAY and random.random() < 0.7:
        fragments["frame_relay_fragment"] = random.choice([80, 160])
    return Port(egress, efficiency=Efficiency(header_compression=compressed, **fragments))


def source(random: Random, folder: Path, name: str) -> dict[str, Any]:
    size = random.choice([40, 60, 80, 81, 128, 129, 200, 500, 1000, 1481, 1500])
    rate = random.choice([8_000, 24_000, 80_000, 200_000])
    match random.choice(["cbr", "cbr", "cbr", "poisson", "tcp", "tcp", "video", "trace"]):
        case "tcp":
            return {"kind": "tcp", "ip_bytes": random.choice([200, 576, 1500])}
        case "video":
            frame = random.choice([300, 1500])
            ip_bytes = random.choice([100, 500, 1000])
            return {"kind": "video", "frames_per_second": 5, "frame_bytes": frame, "frame_bytes_sd": 100,
                    "ip_bytes": ip_bytes}  # fmt: skip
        case "trace":
            sizes = [random.choice([40, size, size + 1]) for _ in range(random.choice([20, 200]))]
            file = folder / f"{name}.csv"
            file.write_text("time,bytes\n" + "".join(f"0,{each}\n" for each in sizes))
            return {"kind": "trace", "file": str(file)}
        case kind:
            return {"kind": kind, "rate": rate, "ip_bytes": size}


def flows(random: Random, folder: Path) -> list[TrafficFlow]:
    found = []
    for number in range(random.randrange(2, 6)):
        way = random.choice([("west", "east"), ("west2", "east"), ("east", "west"), ("east2", "west2")])
        described = source(random, folder, f"f{number}")
        found.append(
            flow(
                f"f{number}",
                described,
                **{"from": way[0], "to": way[1]},
                dst_port=5000 + number,
                src_port=CALLS,
                dscp=random.choice(DSCPS),
                count=random.choice([1, 1, 3]),
                application=random.choice([None, "rtp-audio"]),
                start=2.5 if described["kind"] == "trace" else 0.0,
            )
        )
    return found


def scenario(seed: int, folder: Path) -> Run:
    random = Random(seed)
    rates = [random.choice([128_000, 512_000, 2_000_000]) for _ in range(random.randrange(1, 4))]
    framings = [random.choice(list(Framing)) for _ in rates]
    ports = {}
    for number, framing in enumerate(framings):
        compressed = framing not in {Framing.ETHERNET, Framing.ATM} and random.random() < 0.5
        ports[f"r{number}", FORWARD] = port(random, framing, compressed)
        ports[f"r{number + 1}", BACK] = port(random, framing, compressed)
    for at in ((f"r{len(rates)}", "FastEthernet0/0"), ("r0", "FastEthernet0/0")):
        if random.random() < 0.3:
            policed = InterfacePolicer(any_of=(), police=bucket(random))
            ports[at] = Port(ingress=Ingress(policers=(policed,)))
    network, plans = row(rates, framings, ports)
    return run(network, plans, flows(random, folder), seconds=SECONDS, seed=seed)


@pytest.mark.parametrize("block", range(2))
def test_no_packet_of_a_random_scenario_is_later_than_its_bound(block: int, tmp_path: Path) -> None:
    bounds, near = [], 0.0
    for seed in range(20 * block, 20 * block + 20):
        found = scenario(seed, tmp_path)
        assert not found.late(), seed
        bounds += list(found.bounds.values())
        near = max(near, *(float(w / b) for n, w in found.worst.items() if (b := found.bounds[n])), 0.0)
    # Bounds that are there, some of them near to what happens.
    assert sum(bound is not None for bound in bounds) > len(bounds) / 2
    assert near > 0.5
