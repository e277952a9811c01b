"""Read a 2970's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.plan.input_queues import InputQueues
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, System, Trust
from qosforge.plan.unknown_line import UnknownLine
from qosforge.platforms.base import BesidePlan
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2970.input_queues import default_input_queues
from qosforge.platforms.catalyst_2970.levels import (
    OutputMaps,
    QueueBuffers,
    QueueSet,
    default_maps,
    default_queue_set,
    depths,
)
from qosforge.platforms.catalyst_2970.lines import TABLE
from qosforge.platforms.catalyst_2970.scheduling import best_effort, default_share, shaped_round_robin
from qosforge.platforms.ios_switch.reader import SwitchReader

_WAITING = re.compile(r"mls qos (?!cos \d)|srr-queue bandwidth (?!limit)|priority-queue|queue-set|service-policy")
"""Begins the lines that do nothing while QoS is switched off."""
_WHOLE = 100
"""Per cent that all buffers add up to."""


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``.

    While QoS is off the device changes no mark and has one queue: its maps do nothing, and the plan has none.
    """
    del image  # the trains differ in what they accept, not in how it reads
    # What a class says nothing of gets DSCP 0: a policy stands for the trust of its port.
    # In releases that print both, the policy comes before the trust of its port (3750-X guide OL-21521-01,
    # p. 39-61); earlier ones have one of both (3560 guide OL-8553-06, p. 34-48).
    reader = SwitchReader(TABLE, text, unmarked=0, trust_beside=True)
    switched_on = any(reader.settings("mls-qos"))
    queues = _SwitchQueues(reader.reading)
    held = {number: depths(queues.queue_set(number), queues.maps) for number in (1, 2)}
    interfaces = tuple(_interface(reader, held, port, switched_on=switched_on) for port in reader.ports())
    maps = queues.maps
    system = System(
        cos_to_dscp=tuple(reader.cos_to_dscp),
        dscp_to_cos=tuple(reader.dscp_to_cos),
        cos_to_queue=tuple(queue for queue, _ in maps.cos),
        dscp_to_queue=tuple(queue for queue, _ in maps.dscp),
        policed_dscp=tuple(reader.policed_dscp),
        input_queues=queues.input_queues,
    )
    reader.read_unattached()
    return Plan(
        device=device,
        platform="catalyst_2970",
        system=system if switched_on else System(),
        interfaces=interfaces,
        unknown=reader.reading.unknown,
        auto_qos=reader.auto_qos(),
        flow_control=reader.flow_control(),
    )


def beside_plan(text: str) -> tuple[BesidePlan, ...]:
    """Lines that wait for QoS to be switched on; and reserved parts of queues, which plans do not have."""
    reader = SwitchReader(TABLE, text)
    entries = [*reader.reading.entries, *(line for port in reader.ports() for line in port.below)]
    said = [entry for entry in entries if not entry.negated]
    if not any(reader.settings("mls-qos")):
        return tuple(BesidePlan("waiting", _line(entry)) for entry in said if _WAITING.match(entry.line.text))
    delivered = CAPABILITIES.threshold.reserved
    rows = (entry for entry in said if entry.id == "queue-set-threshold")
    return tuple(BesidePlan("stays", _line(entry)) for entry in rows if entry["reserved"] != delivered)


def _line(entry: ReadLine) -> UnknownLine:
    return UnknownLine(line=entry.line.number, text=entry.line.text)


def _interface(
    reader: SwitchReader, buffers: Mapping[int, tuple[QueueBuffers, ...]], port: ReadLine, *, switched_on: bool
) -> InterfacePlan:
    """``buffers`` are the depths of the queues in each queue set."""
    ingress = reader.ingress(port)
    said = {name: value for line in port.below if not line.negated for name, value in line.values.items()}
    limit = said.get("limit")
    if not switched_on:
        # What else the port holds waits for QoS to be switched on; only the marks are left alone until then.
        waiting = Ingress(policy=ingress.policy, trust=Trust.KEEP, port_cos=ingress.port_cos)
        return InterfacePlan(name=port.name, ingress=waiting, egress=Egress(scheduler=best_effort(limit)))
    scheduler = shaped_round_robin(
        said.get("share", default_share()),
        said.get("shape", CAPABILITIES.shape_default.value),
        any(line.id == "expedite" and not line.negated for line in port.below),
        limit,
        buffers[said.get("set", 1)],
    )
    return InterfacePlan(name=port.name, ingress=ingress, egress=Egress(scheduler=scheduler))


class _SwitchQueues:
    """What the switch-wide lines say; everything else is as delivered, and so is what ``no`` takes back."""

    def __init__(self, reading: ReadConfiguration) -> None:
        self._reading = reading
        default = default_input_queues()
        self._output = {"cos": list(default_maps().cos), "dscp": list(default_maps().dscp)}
        self._input = {
            "cos": [(queue, 1) for queue in default.cos_to_queue],
            "dscp": [(queue, 1) for queue in default.dscp_to_queue],
        }
        self._ingress = default
        self._sets = {1: default_queue_set(), 2: default_queue_set()}
        for entry in reading.entries:
            if not entry.negated:
                self._take(entry)

    @property
    def maps(self) -> OutputMaps:
        """The output maps."""
        return OutputMaps(tuple(self._output["cos"]), tuple(self._output["dscp"]))

    @property
    def input_queues(self) -> InputQueues:
        """The ingress queues."""
        said = {f"{kind}_to_queue": tuple(q for q, _ in table) for kind, table in self._input.items()}
        for kind, table in self._input.items():
            # The third threshold is the queue's end.
            full = tuple((*self._ingress.thresholds[queue - 1], _WHOLE)[level - 1] for queue, level in table)
            said[f"{kind}_drop_percent"] = full if set(full) != {_WHOLE} else ()
        return self._ingress.model_copy(update=said)

    def queue_set(self, number: int) -> QueueSet:
        """A queue set."""
        return self._sets[number]

    def _take(self, entry: ReadLine) -> None:
        _, _, what = entry.id.partition("-")
        match entry.id:
            case "output-cos" | "output-dscp":
                for mark in entry["marks"]:
                    self._output[what][mark] = (entry["queue"], entry.get("threshold", 1))
            case "input-cos" | "input-dscp":
                for mark in entry["marks"]:
                    self._input[what][mark] = (entry["queue"], entry.get("threshold", 1))
            case "input-bandwidth":
                self._change(weights=entry["weights"])
            case "input-buffers" if sum(entry["buffers"]) == _WHOLE:
                self._change(buffer_percent=entry["buffers"])
            case "input-threshold":
                rows = list(self._ingress.thresholds)
                rows[entry["queue"] - 1] = entry["thresholds"]
                self._change(thresholds=tuple(rows))
            case "input-priority":
                self._change(priority_queue=entry["queue"], priority_percent=entry["percent"])
            case "queue-set-buffers" if sum(entry["buffers"]) == _WHOLE:
                self._sets[entry["set"]] = replace(self._sets[entry["set"]], buffers=entry["buffers"])
            case "queue-set-threshold":
                rows_of_set = list(self._sets[entry["set"]].thresholds)
                rows_of_set[entry["queue"] - 1] = tuple(
                    entry[name] for name in ("first", "second", "reserved", "most")
                )
                self._sets[entry["set"]] = replace(self._sets[entry["set"]], thresholds=tuple(rows_of_set))
            case "input-buffers" | "queue-set-buffers":
                self._reading.miss(entry)

    def _change(self, **values: object) -> None:
        self._ingress = self._ingress.model_copy(update=values)
