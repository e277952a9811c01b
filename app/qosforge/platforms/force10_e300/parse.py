"""Read an FTOS running configuration into a plan, with the defaults that FTOS does not print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qosforge.commands import ReadLine
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Plan,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
)
from qosforge.platforms.force10_e300.access import NO_ORDER, read_term
from qosforge.platforms.force10_e300.capabilities import (
    CAPABILITIES,
    default_scheduler,
    default_thresholds,
    dscp_to_queue,
    dscp_written,
    red,
)
from qosforge.platforms.force10_e300.lines import TABLE
from qosforge.platforms.force10_e300.policing import read_meter, read_shape

_TRUST = {"diffserv": Trust.DSCP, "dot1p": Trust.COS}
_MOST_TERMS = 4096
"""Alternatives of a class: several long access lists that must all match would be their product."""


class _Reader:
    """One reading: the objects by name, and what they amount to so far."""

    def __init__(self, text: str) -> None:
        self.reading = TABLE.read(text)
        objects = self.reading.objects
        self.class_maps = objects("class-map")
        self.lists = {"ip": objects("ip acl"), "mac": objects("mac acl")}
        self.input_policies, self.output_policies = objects("input-policy"), objects("output-policy")
        self.input_maps, self.output_maps = objects("input-map"), objects("output-map")
        self.profiles = dict(CAPABILITIES.wred_profiles.profiles)
        for name, profile in objects("wred-profile").items():
            limits = profile.settings
            usual = self.profiles["wred_ge_g"]
            self.profiles[name] = (limits["minimum"], limits["maximum"]) if limits else usual
        strict = [entry["queue"] for entry in self.reading.all("strict")]
        self.strict: int | None = strict[-1] if strict else None
        self.coloured = False
        """Whether a port trusts DSCPs: packets have a colour then."""
        # A policy stands on many ports, and is read once.
        self._inputs: dict[str, Ingress] = {}
        self._outputs: dict[tuple[str, str], Egress] = {}

    def plan(self, device: str) -> Plan:
        ports = tuple(self.reading.all("port"))
        self.coloured = any(
            self._input(line.name).trust is Trust.DSCP
            for port in ports
            for line in port.below
            if line.id == "service-policy" and line["direction"] == "input" and line.name in self.input_maps
        )
        interfaces = tuple(self._interface(port) for port in ports)
        self._read_unattached()
        system = System(
            cos_to_queue=CAPABILITIES.dot1p_to_queue.value,
            dscp_to_queue=dscp_to_queue(),
            queue_on_input=True,
            scheduler=default_scheduler(self.strict),
        )
        switched = (p for p in ports if any(line.id == "switchport" for line in p.below))
        return Plan(
            device=device,
            platform="force10_e300",
            system=system,
            interfaces=interfaces,
            switched=tuple(_port_name(port) for port in switched),
            unknown=self.reading.unknown,
        )

    def _read_unattached(self) -> None:
        """Keep what is not understood of objects that no interface refers to, and of other interfaces."""
        for name in self.input_maps:
            self._input(name)
        for name in self.output_maps:
            self._output(name, "GigabitEthernet")
        for name in self.output_policies:
            self._queue(0, name, "GigabitEthernet")
        for class_map in self.class_maps.values():
            tuple(self._terms(class_map, class_map.name))
        for interface in self.reading.all("other-interface"):
            for line in interface.below:
                if line.id not in ("switchport", "text"):
                    self.reading.miss(line, interface.line.text)

    def _interface(self, port: ReadLine) -> InterfacePlan:
        ingress, egress = Ingress(), Egress(default_queue=0)
        # A port's own rates stand before or after its policies.
        for line in sorted(port.below, key=lambda line: line.id != "service-policy"):
            match line.id, line.get("direction") or line.get("kind"):
                case "service-policy", "input" if line.name in self.input_maps:
                    ingress = self._input(line.name)
                case "service-policy", "output" if line.name in self.output_maps and "layer" not in line:
                    egress = self._output(line.name, port["family"])
                case "service-policy", _:
                    self.reading.miss(line, port.line.text)
                case "port-cos", _:
                    queue = CAPABILITIES.dot1p_to_queue.value[line["cos"]]
                    own = Rule(name="dot1p-priority", any_of=(Term(),), set_cos=line["cos"], queue=queue)
                    ingress = ingress.model_copy(update={"rules": (*ingress.rules, own)})
                case "port-meter", "police":
                    ingress = ingress.model_copy(update={"policers": (*ingress.policers, _port_meter(line))})
                case "port-meter", "limit":
                    egress = egress.model_copy(update={"policers": (*egress.policers, _port_meter(line))})
                case "port-shape", _:
                    rate, burst = read_shape(line.values)
                    egress = egress.model_copy(update={"shape_rate": rate, "shape_burst": burst})
        return InterfacePlan(name=_port_name(port), ingress=ingress, egress=egress)

    # -- input ---------------------------------------------------------------------------------------
    def _input(self, name: str) -> Ingress:
        if name not in self._inputs:
            self._inputs[name] = self._ingress(self.input_maps[name])
        return self._inputs[name]

    def _ingress(self, policy: ReadLine) -> Ingress:
        trust, fallback = Trust.KEEP, False
        services: dict[int, ReadLine] = {}
        for line in policy.below:
            if line.id == "trust":
                trust, fallback = _TRUST[line["what"]], "fallback" in line
            else:
                services[line["queue"]] = line
        if trust is not Trust.KEEP and not fallback:
            # Only the trust rule is programmed beside it (E600i command reference, trust).
            for line in services.values():
                self.reading.miss(line, policy.line.text)
            services = {}
        looked_at = sorted(services, key=lambda queue: (self._order(services[queue].name), -queue))
        rules = tuple(self._rule(queue, services[queue]) for queue in looked_at)
        return Ingress(policy=policy.name, trust=trust, rules=rules)

    def _rule(self, queue: int, service: ReadLine) -> Rule:
        marker = service.get("policy")
        if marker and marker not in self.input_policies:
            self.reading.miss(service)
        values: dict[str, Any] = {}
        for action in self.input_policies[marker].below if marker in self.input_policies else ():
            values |= {"police": read_meter(action.values)} if action.id == "police" else action.values
        if "set_dscp" in values:
            values["set_dscp"] = dscp_written(values["set_dscp"], queue)
        terms = tuple(self._terms(service, service.name))
        return Rule.model_validate({"name": service.name, "any_of": terms, "queue": queue, **values})

    def _terms(self, service: ReadLine, name: str) -> Iterator[Term]:
        body = self.class_maps.get(name)
        if body is None:
            self.reading.miss(service)
            return
        groups = [(line, tuple(self._term(line, body))) for line in body.below]
        if body["mode"] == "match-any":
            yield from (term for _, group in groups for term in group)
            return
        # One access list at most stands beside DSCPs here; its entries hold together with every other line.
        joined: list[dict[str, object]] = [{}]
        for line, group in groups:
            if len(joined) * len(group) > _MOST_TERMS:
                self.reading.miss(line, body.line.text)
                continue
            parts = [term.model_dump(exclude_defaults=True) for term in group]
            joined = [{**old, **part} for old in joined for part in parts]
        yield from (Term.model_validate(values) for values in joined)

    def _term(self, line: ReadLine, body: ReadLine) -> Iterator[Term]:
        if line.id != "match-acl":
            yield Term(**{field: _numbers(value) for field, value in line.values.items()})
        elif line.name not in self.lists[line["layer"]]:
            self.reading.miss(line, body.line.text)
        else:
            order = self._order(body.name)
            held = self.lists[line["layer"]][line.name]
            for entry in held.below:
                if entry.id != "ace":
                    continue
                term = read_term(entry.values) if entry.get("order", NO_ORDER) == order else None
                if term is None:
                    self.reading.miss(entry, held.line.text)
                else:
                    yield term

    def _order(self, class_map: str) -> int:
        """When the device looks at a class map: by the ``order`` of its entries where all have one, else last."""
        found: set[int] = set()
        for line in self.class_maps[class_map].below if class_map in self.class_maps else ():
            if line.id == "match-acl" and line.name in self.lists[line["layer"]]:
                entries = self.lists[line["layer"]][line.name].below
                found |= {entry.get("order", NO_ORDER) for entry in entries if entry.id == "ace"}
            else:
                found.add(NO_ORDER)
        return found.pop() if len(found) == 1 else NO_ORDER

    # -- output --------------------------------------------------------------------------------------
    def _output(self, name: str, family: str) -> Egress:
        if (name, family) not in self._outputs:
            self._outputs[name, family] = self._egress(self.output_maps[name], family)
        return self._outputs[name, family]

    def _egress(self, policy: ReadLine, family: str) -> Egress:
        chosen: dict[int, str] = {}
        for line in policy.below:
            if line["policy"] in self.output_policies:
                chosen[line["queue"]] = line["policy"]
            else:
                self.reading.miss(line, policy.line.text)
        queues = [self._queue(number, chosen.get(number), family) for number in range(CAPABILITIES.queues.value)]
        unset = [q for q in queues if q.share is None]
        left = 100 - sum(q.share.value for q in queues if q.share)
        # What has no percentage divides the remainder, and gets one per cent where there is none.
        rest = Share(unit=ShareUnit.PERCENT, value=max(1, left // len(unset)) if unset else 0)
        filled = tuple(q if q.share else q.model_copy(update={"share": rest}) for q in queues)
        scheduler = Scheduler(discipline=Discipline.WFQ, queues=filled)
        return Egress(policy=policy.name, default_queue=0, scheduler=scheduler)

    def _queue(self, number: int, policy: str | None, family: str) -> Queue:
        values: dict[str, object] = {}
        colours: dict[str, tuple[int, int]] = {}
        body = self.output_policies[policy] if policy else None
        for line in body.below if body else ():
            match line.id:
                case "percentage":
                    values["share"] = Share(unit=ShareUnit.PERCENT, value=line["percent"])
                case "limit":
                    values["police"] = read_meter(line.values)
                case "shape":
                    values["shape_rate"] = read_shape(line.values)[0]
                case "wred" if line.name in self.profiles:
                    colours[line["colour"]] = self.profiles[line.name]
                case _:
                    self.reading.miss(line, f"qos-policy-output {policy}")
        return Queue.model_validate(
            {
                "number": number,
                "name": policy,
                "priority": number == self.strict,
                "limit_packets": CAPABILITIES.queue_limit.value,
                "red": red({**default_thresholds(family), **colours}, coloured=self.coloured) if colours else None,
                **values,
            }
        )


def _port_name(port: ReadLine) -> str:
    return f"{port['family']} {port['number']}"


def _numbers(value: int | tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,)
    return tuple(sorted(int(number) for word in value for number in word.split(",")))


def _port_meter(line: ReadLine) -> InterfacePolicer:
    """A rate of a port, or of one of its VLANs."""
    any_of = (Term(vlan=(line["vlan"],)),) if "vlan" in line else ()
    return InterfacePolicer(any_of=any_of, police=read_meter(line.values))


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    return _Reader(text).plan(device)
