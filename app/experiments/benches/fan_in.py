"""Many senders into one output of a switch: what the Gigabit Ethernet study of CERN measured.

Senders put frames straight into the output's queues, two into each, so that delay counts from arrival there to the
end of transmission. Rates are of frame bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.experiments.boxes import box_profile
from app.experiments.cases import Case, Json, Selection
from app.experiments.model import Experiment
from app.plan.fluid import Division, FluidClass, throughput
from app.platforms.profile import Room

PS = 10**12
ETHERNET = 18
"""Header and FCS of an Ethernet frame without tag, bytes."""
MODEL = "expected"
"""The box that is computed by the paper's formulas and not run."""


@dataclass(frozen=True)
class _Run:
    """One box at one load in one way of sending: everything that makes a case differ from another."""

    box: str
    load: float
    scenario: Mapping[str, Any]


def cases(experiment: Experiment) -> Iterator[Case]:
    """All cases: every box of every scenario at every load, equal ones once."""
    runs: dict[str, tuple[_Run, list[str]]] = {}
    for name, scenario in experiment.scenarios.items():
        if "together" in scenario:
            continue
        for box in scenario.get("boxes", [box for box in experiment.boxes if box != MODEL]):
            for load in _loads(experiment, scenario):
                # Scenarios that are parts of one sweep share their cases.
                own = {key: value for key, value in scenario.items() if key not in ("boxes", "loads", "from", "to")}
                run = _Run(box, load, own)
                runs.setdefault(repr(run), (run, []))[1].append(name)
    for run, names in runs.values():
        names += [
            name
            for name, scenario in experiment.scenarios.items()
            if set(names) & set(scenario.get("together", ())) and run.box != MODEL
        ]
        yield _model(experiment, run, names) if run.box == MODEL else _case(experiment, run, names)


def _loads(experiment: Experiment, scenario: Mapping[str, Any]) -> Sequence[float]:
    if "loads" in scenario:
        return tuple(float(load) for load in scenario["loads"])
    sweep = experiment.setup["sweep_mbps"]
    return tuple(float(load) for load in sweep if scenario["from"] <= load <= scenario["to"])


def _case(experiment: Experiment, run: _Run, names: list[str]) -> Case:
    box = experiment.boxes[run.box]
    setup = {**experiment.setup, **run.scenario, **box}
    framing = box.get("framing", "ethernet")
    scheduler, room, weights = _serving(setup, box)
    seconds, warm_up = setup["seconds"], setup["warm_up"]
    # One queue for all classes, or one for each.
    queues = ["all"] if setup["discipline"] == "fifo" else setup["queues"]
    hops = [("box", "out"), ("second", "out")][: setup.get("hops", 1)]
    egress = {
        "queues": [{"name": queue, **room.of(number)} for number, queue in enumerate(queues)],
        "rules": [{"match": {"cos": [number]}, "queue": number} for number in range(1, len(queues))],
        "scheduler": scheduler,
    }
    if "profile" in box and box_profile(box["profile"]).per_packet:
        pass  # egress["per_packet_ps"] = round(box_profile(box["profile"]).per_packet * PS)
    ends = [*hops, ("receiver", "in")]
    document = {
        "version": 1,
        "duration_ps": round((warm_up + seconds) * PS),
        "drain": False,
        "warmup_ps": round(warm_up * PS),
        "nodes": [
            *({"name": node, "ports": [{"name": "in"}, {"name": "out", "egress": egress}]} for node, _ in hops),
            {"name": "receiver", "ports": [{"name": "in"}]},
        ],
        "links": [
            {
                "a": list(near),
                "b": [far[0], "in"],
                "rate_bps": round(setup["link_mbps"] * 1e6),
                "framing": framing,
                "tagged": framing == "ethernet" and bool(setup.get("tagged", False)),
            }
            for near, far in pairwise(ends)
        ],
        "flows": [
            {
                "name": f"priority{number}",
                "path": [list(hop) for hop in hops],
                "packet": {"cos": _queue_of(number, setup)},
                "source": _source(setup, run.load, framing, _queue_of(number, setup)),
            }
            for number in range(setup["senders"])
        ],
    }
    return Case(
        scenarios=tuple(names),
        document=document,
        subjects=_subjects(setup, run, room, weights),
        load=run.load,
        trials=setup.get("trials", 1),
    )


def _queue_of(sender: int, setup: Mapping[str, Any]) -> int:
    """Senders stand in the order of their priorities, as many in each queue."""
    return int(sender * len(setup["queues"]) // setup["senders"])


def _frame_bytes(setup: Mapping[str, Any], queue: int) -> int:
    frame = setup["frame_bytes"]
    return int(frame[setup["queues"][queue]] if isinstance(frame, Mapping) else frame)


def _source(setup: Mapping[str, Any], load_mbps: float, framing: str, queue: int) -> Json:
    frame = _frame_bytes(setup, queue)
    ip_bytes = frame - (ETHERNET if framing == "ethernet" else 0)
    common: Json = {"rate_bps": round(load_mbps * 1e6 * ip_bytes / frame), "ip_bytes": ip_bytes}
    traffic = setup["traffic"]
    if traffic == "constant":
        # Independent clocks: every sender drifts against the others.
        return {"kind": "cbr", **common, "phase": {"mode": "independent", "ppm_within": setup["clock_ppm"]}}
    if traffic == "poisson":
        return {"kind": "poisson", **common}
    on, off = (round(setup["bursts_us"][key] * PS / 1e6) for key in ("on", "off"))
    return {"kind": "onoff", **common, "on_ps": on, "off_ps": off}


def _serving(setup: Mapping[str, Any], box: Mapping[str, Any]) -> tuple[Json, Room, list[float]]:
    """Scheduler, room of the queues and configured weights of a box under the scenario's discipline."""
    weights = [float(setup["weights"][queue]) for queue in setup["queues"]] if "weights" in setup else []
    name = setup["discipline"]
    if "profile" in box:
        profile = box_profile(box["profile"])
        discipline = profile.disciplines[name]
        scheduler, room = dict(discipline.scheduler), discipline.room or profile.room
        slots = discipline.slots
    else:
        scheduler = dict(setup["schedulers"][name])
        room, slots = Room(**setup["room"]), None
    assert room is not None
    if name == "wrr":
        # The least turns in which the weights are whole numbers.
        scheduler["weights"] = [max(1, round(weight * (slots or setup["turn_packets"]))) for weight in weights]
    return scheduler, room, weights


def _subjects(setup: Mapping[str, Any], run: _Run, room: Room, weights: Sequence[float]) -> dict[str, Selection]:
    queues: Sequence[str] = setup["queues"]
    by_queue = {
        number: tuple(f"priority{n}" for n in range(setup["senders"]) if _queue_of(n, setup) == number)
        for number in range(len(queues))
    }
    link = float(setup["link_mbps"])
    expected = _fluid(setup, run.load, weights)
    peers = tuple(f"{run.box}.{queue}" for queue in queues)
    subjects: dict[str, Selection] = {}
    for number, queue in enumerate(queues):
        facts = {"link_mbps": link, "sender_mbps": run.load, "whole_mbps": link}
        model = {"throughput_mbps": expected[queue]}
        if weights:
            facts["weight"] = weights[number]
            facts["guaranteed_mbps"] = min(run.load * len(by_queue[number]), weights[number] * link)
            model["delay_ratio"] = delay_ratios(weights)[number]
        if room.packets is not None:
            # One frame more than wait: the one in transmission.
            frames = room.of(number)["limit_packets"] + 1
            served = weights[number] * link if weights else link
            facts["full_queue_us"] = frames * _frame_bytes(setup, number) * 8 / served
        subjects[f"{run.box}.{queue}"] = Selection(
            flows=by_queue[number],
            port=("box", "out"),
            queues=("all",) if setup["discipline"] == "fifo" else (queue,),
            expected=model,
            facts=facts,
            whole=None if setup["discipline"] == "strict" else f"{run.box}.all",
            peers=peers,
        )
    everything = tuple(flow for flows in by_queue.values() for flow in flows)
    whole = Selection(
        flows=everything,
        port=("box", "out"),
        queues=("all",) if setup["discipline"] == "fifo" else tuple(queues),
        expected={"throughput_mbps": math.fsum(expected.values())},
        facts={"link_mbps": link, "sender_mbps": run.load},
        peers=peers,
    )
    subjects[f"{run.box}.all"] = subjects[run.box] = whole
    for flow in everything:
        subjects[f"{run.box}.{flow}"] = Selection(flows=(flow,), facts={"link_mbps": link})
    return subjects


def _fluid(setup: Mapping[str, Any], load_mbps: float, weights: Sequence[float]) -> dict[str, float]:
    """Throughput of each queue in the fluid model of the discipline as it should be, Mb/s; framing left out."""
    queues: Sequence[str] = setup["queues"]
    each = setup["senders"] / len(queues) * load_mbps
    strict = setup["discipline"] == "strict"
    classes = tuple(
        FluidClass(
            name=queue,
            offered=each,
            weight=weights[number] if weights else 1.0,
            priority=len(queues) - number if strict else None,
        )
        for number, queue in enumerate(queues)
    )
    division = Division.OFFERED if setup["discipline"] == "fifo" else Division.WEIGHT
    link = FluidClass(name="link", children=classes, division=division)
    shares = throughput(link, float(setup["link_mbps"]))
    return {queue: shares[queue] for queue in queues}


def delay_ratios(weights: Sequence[float]) -> list[float]:
    """The paper's expected delay of each queue over the sum of all (Table 5).

    Proportional to the sum of 1/w over the queue itself and all of larger weight, which are taken to stand in the
    order of the weights, the largest last.
    """
    delays = [math.fsum(1 / weight for weight in weights[number:]) for number in range(len(weights))]
    return [delay / math.fsum(delays) for delay in delays]


def _model(experiment: Experiment, run: _Run, names: list[str]) -> Case:
    setup = {**experiment.setup, **run.scenario}
    weights = [float(setup["weights"][queue]) for queue in setup["queues"]] if "weights" in setup else []
    shares = _fluid(setup, run.load, weights)
    link = float(setup["link_mbps"])
    total = math.fsum(shares.values())
    values: dict[str, dict[str, float]] = {}
    for number, queue in enumerate(setup["queues"]):
        values[f"{MODEL}.{queue}"] = {"throughput_mbps": shares[queue], "throughput_ratio": shares[queue] / total}
        if weights:
            values[f"{MODEL}.{queue}"]["delay_ratio"] = delay_ratios(weights)[number]
        elif shares[queue] == 0:
            values[f"{MODEL}.{queue}"]["delivered_packets"] = 0.0
    values[f"{MODEL}.all"] = {"throughput_mbps": total, "wasted_mbps": link - total}
    subjects = {subject: Selection(expected=found) for subject, found in values.items()}
    return Case(scenarios=tuple(names), document=None, subjects=subjects, load=run.load, values=values)
