"""Read the ACLs, class-maps, policies and maps that Catalyst running configurations share."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import CommandTable, ReadLine
from qosforge.plan.model import DROP, Action, Ingress, Policer, Rule, Term, Trust
from qosforge.platforms.ios_switch.marks import DEFAULT_COS_TO_DSCP, DEFAULT_DSCP_TO_COS
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.lines import CLASS_DEFAULT

OVERRIDE = "cos-override"
"""Name of the rule that stands for ``mls qos cos override``."""


class SwitchReader:
    """One running configuration: its classifiers, its maps, and what was not understood."""

    def __init__(
        self,
        table: CommandTable,
        text: str,
        *,
        unmarked: int | None = None,
        trust_beside: bool = False,
        dscp_to_cos: tuple[int, ...] = DEFAULT_DSCP_TO_COS,
    ) -> None:
        """``unmarked`` is the DSCP that a class gets whose policy says nothing of marks; None: it keeps its own.

        ``trust_beside``: a port whose policy leaves packets to its trust. Plans hold one of both.
        ``dscp_to_cos`` is the map as delivered.
        """
        self.reading = table.read(text)
        self._unmarked, self._trust_beside = unmarked, trust_beside
        objects = self.reading.objects
        self._lists, self._mac_lists = AccessLists(self.reading), objects("mac list")
        self._aggregates = objects("aggregate")
        self._class_maps, self._policies = objects("class-map"), objects("policy-map")
        self._rules: dict[str, tuple[Rule, ...]] = {}
        self.cos_to_dscp = list(DEFAULT_COS_TO_DSCP)
        self.dscp_to_cos = list(dscp_to_cos)
        self.policed_dscp = list(range(64))
        for entry in self.settings("cos-dscp"):
            self.cos_to_dscp = list(entry["dscp"])
        for entry in self.settings("dscp-cos"):
            for dscp in entry["dscp"]:
                self.dscp_to_cos[dscp] = entry["cos"]
        for entry in self.settings("policed-dscp"):
            for dscp in entry["dscp"]:
                self.policed_dscp[dscp] = entry["policed"]

    def settings(self, *ids: str) -> Iterator[ReadLine]:
        """The entries at the top that are one of these settings; what is taken back is as delivered."""
        return (entry for entry in self.reading.all(*ids) if not entry.negated)

    def ports(self) -> tuple[ReadLine, ...]:
        """The physical ports; of other interfaces everything is kept as not understood."""
        for interface in self.reading.all("other-interface"):
            for line in interface.below:
                if line.id not in ("text", "auto-qos"):
                    self.reading.miss(line, interface.line.text)
        return tuple(self.reading.all("port"))

    def ingress(self, port: ReadLine) -> Ingress:
        """What a port trusts, and its policy."""
        trust, port_cos, phone, override = Trust.NONE, 0, False, False
        policy: str | None = None
        rules: tuple[Rule, ...] = ()
        for line in port.below:
            match line.id:
                case _ if line.negated:
                    pass
                case "trust" if "pass_through" in line and not self._passes(line, port):
                    pass
                case "trust":
                    trust = Trust.COS if line.get("mark") == "cos" else Trust.DSCP
                case "trust-device":
                    phone = True
                case "cos-override":
                    override = True
                case "port-cos":
                    port_cos = line["cos"]
                case "service-policy":
                    policy, rules = line.name, self.rules(line, port)
        if policy:
            # A port has a policy or a trust, not both.
            for line in port.below if self._trust_beside else ():
                if line.id in ("trust", "trust-device") and not line.negated:
                    self.reading.miss(line, port.line.text)
            return Ingress(policy=policy, trust=Trust.NONE, port_cos=port_cos, rules=rules)
        if override:
            return self._overridden(port_cos)
        return Ingress(trust=self._phone(trust, port) if phone else trust, port_cos=port_cos)

    def _passes(self, line: ReadLine, port: ReadLine) -> bool:
        """Keep that the DSCP passes unchanged, which plans do not hold; whether the CoS is trusted all the same."""
        self.reading.miss(line, port.line.text)
        return bool(line.get("mark") == "cos")

    def _overridden(self, port_cos: int) -> Ingress:
        """The input of a port that gives its own CoS to everything: one rule that takes all packets."""
        dscp = self.cos_to_dscp[port_cos]
        everything = Rule(name=OVERRIDE, any_of=(Term(),), set_dscp=dscp, set_cos=port_cos)
        return Ingress(trust=Trust.NONE, port_cos=port_cos, rules=(everything,))

    def _phone(self, trust: Trust, port: ReadLine) -> Trust:
        """The trust of a port that looks for a phone: plans hold that of its CoS; none without a mark to trust."""
        if trust is Trust.DSCP:
            for line in port.below:
                if line.id == "trust-device" and not line.negated:
                    self.reading.miss(line, port.line.text)
            return Trust.DSCP
        return Trust.PHONE if trust is Trust.COS else Trust.NONE

    def auto_qos(self) -> tuple[str, ...]:
        """The ports with ``auto qos voip``."""
        having = [p for p in self.ports() if any(e.id == "auto-qos" and not e.negated for e in p.below)]
        return tuple(port.name for port in having)

    def flow_control(self) -> tuple[str, ...]:
        """The ports that heed pause frames, or send them whatever the other end wants.

        As delivered they heed none, and ports of 1 Gb/s send them where the other end wants them.
        """
        on = {("receive", "on"), ("receive", "desired"), ("send", "on")}
        having = [
            port
            for port in self.ports()
            if any(e.id == "flow-control" and not e.negated and (e["side"], e["state"]) in on for e in port.below)
        ]
        return tuple(port.name for port in having)

    def filter_entries(self, port: ReadLine) -> Iterator[str]:
        """The entries, as written, of the lists that filter what a port receives."""
        for line in port.below:
            if line.id == "filter" and line.name in self._lists:
                yield from self._lists.texts(line.name)

    def read_unattached(self) -> None:
        """Keep what is not understood of policies and class-maps that nothing refers to."""
        for policy in self._policies.values():
            self._rules_of(policy)
        for name in self._class_maps:
            self._terms(name)

    def rules(self, attach: ReadLine, port: ReadLine) -> tuple[Rule, ...]:
        """Rules of the policy that a line of a port attaches."""
        body = self._policies.get(attach.name)
        if body is None:
            self.reading.miss(attach, port.line.text)
            return ()
        return self._rules_of(body)

    def _rules_of(self, policy: ReadLine) -> tuple[Rule, ...]:
        if policy.name not in self._rules:  # it stands on many ports, and is read once
            entries = [entry for entry in policy.below if entry.id == "class"]
            for entry in entries:
                if entry.name not in self._class_maps and entry.name != CLASS_DEFAULT:
                    self.reading.miss(entry, policy.line.text, undefined=f"class-map {entry.name}")
            used = [line.get("aggregate") for entry in entries for line in entry.below]
            # A policer that several classes share is no policer of one: such a line is not understood.
            own = {name: entry for name, entry in self._aggregates.items() if used.count(name) == 1}
            self._rules[policy.name] = tuple(self._rule(entry, own) for entry in entries)
        return self._rules[policy.name]

    def _rule(self, entry: ReadLine, aggregates: dict[str, ReadLine]) -> Rule:
        said = entry.settings
        terms = self._terms(entry.name)
        trusted = any(line.id == "trust" for line in entry.below)
        dscp, precedence = said.get("set_dscp"), said.get("set_precedence")
        marked = {dscp} if dscp is not None else {d for term in terms for d in term.dscp} if trusted else {0}
        if precedence is not None:
            marked = {8 * precedence}
        police: Policer | None = None
        for line in entry.below:
            if line.id == "police":
                found = self._policer(line, aggregates, {self.policed_dscp[d] for d in marked})
                if found is None:
                    self.reading.miss(line, entry.line.text)
                police = found or police
        if dscp is None and precedence is None and not trusted:
            dscp = self._unmarked
        cos = None if dscp is None else self.dscp_to_cos[dscp]
        return Rule(
            name=entry.name,
            any_of=terms,
            set_dscp=dscp,
            set_cos=cos if precedence is None else self.dscp_to_cos[8 * precedence],
            set_precedence=precedence,
            police=police,
        )

    def _policer(self, line: ReadLine, aggregates: dict[str, ReadLine], policed: set[int]) -> Policer | None:
        """The policer of a line; None where plans hold none such.

        ``policed`` are the DSCPs that the map gives to what exceeds: one, or the policer does no single thing.
        """
        said = aggregates.get(line["aggregate"]) if "aggregate" in line else line
        if said is None:
            return None
        exceed = DROP
        if "exceed_dscp" in said:
            exceed = Action(set_dscp=said["exceed_dscp"])
        elif said.get("exceed") == "policed-dscp-transmit":
            if len(policed) != 1:
                return None
            exceed = Action(set_dscp=next(iter(policed)))
        return Policer(rate=said["rate"], burst=said["burst"], exceed=exceed)

    def _terms(self, name: str) -> tuple[Term, ...]:
        body = self._class_maps.get(name)
        if body is None:
            return (Term(),) if name == CLASS_DEFAULT else ()
        matches = [line for line in body.below if line.id != "text"]
        if len(matches) > 1 and body.get("mode") != "match-any":
            # Everything must match at once: these devices hold one match, so this is none of theirs.
            for line in matches:
                self.reading.miss(line, body.line.text)
            return ()
        return tuple(term for line in matches for term in self._match(line, body))

    def _match(self, line: ReadLine, body: ReadLine) -> Iterator[Term]:
        if line.id == "match-mark":
            yield Term.model_validate({field: tuple(sorted(marks)) for field, marks in line.values.items()})
        elif line.name in self._lists:
            yield from self._lists.terms(line.name)
        elif line.name in self._mac_lists:
            for entry in self._mac_lists[line.name].below:
                if entry.id == "ace":
                    yield Term.model_validate(entry.values)
        else:
            self.reading.miss(line, body.line.text)
