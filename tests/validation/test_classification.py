"""Proofs that plans put packets into the classes of the intent: nothing on right ones, a packet on wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fleet import IMAGES, fleet, recognised_classes
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.findings import Finding, has_errors
from qosforge.intent.loader import parse_intent
from qosforge.packet_sets.classification import done, regions, together
from qosforge.packet_sets.space import PacketSpace
from qosforge.plan.model import Plan, PortRange, Rule, Term
from qosforge.platforms.base import platform
from qosforge.validation.classification import check_classification
from qosforge.validation.context import ValidationContext
from tests.compiler.goldens import LIBRARY, every_platform, library
from tests.properties.budget import tried
from tests.properties.devices import PLATFORMS, made_site, sites
from tests.properties.harness import loaded
from tests.properties.intents import dialect, intents

INTENT = """
version: 1
intent: proven
classes:
  - name: voice
    match: {any: [{protocol: udp, destination_port: 5060}, {protocol: tcp, destination_port: 5061}]}
    mark: {dscp: ef, cos: 5}
    treatment: {priority: {percent: 20}}
  - name: mail
    match: {any: [{protocol: tcp, destination_port: 25}, {protocol: tcp, destination_port: 143}]}
    mark: {dscp: af21, cos: 2}
    treatment: {bandwidth: {remaining_percent: 40}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 60}}
apply:
  - {interfaces: lan, direction: input}
  - {interfaces: [wan, trunk], direction: output}
"""


def _proven() -> Compilation:
    return compile_intent(parse_intent(INTENT, "proven.yaml"), every_platform())


def _recognising() -> tuple[str, ...]:
    devices = _proven().devices
    return tuple(d.name for d in devices if any(i.ingress.rules for i in d.plan.interfaces))


def _found(compilation: Compilation) -> list[Finding]:
    return list(check_classification(ValidationContext(compilation, {})))


def _with_input(device: str, change: Callable[[tuple[Rule, ...]], tuple[Rule, ...]]) -> Compilation:
    compilation = _proven()

    def changed(made: CompiledDevice) -> CompiledDevice:
        interfaces = tuple(
            i.model_copy(update={"ingress": i.ingress.model_copy(update={"rules": change(i.ingress.rules)})})
            for i in made.plan.interfaces
        )
        return replace(made, plan=made.plan.model_copy(update={"interfaces": interfaces}))

    devices = tuple(changed(d) if d.name == device else d for d in compilation.devices)
    return replace(compilation, devices=devices)


@pytest.mark.parametrize("policy", LIBRARY)
def test_nothing_is_found_in_what_the_library_becomes(policy: str) -> None:
    assert _found(library(policy)) == []


def test_devices_of_every_platform_recognise_classes_here() -> None:
    names = _recognising()
    assert {d.request.platform for d in _proven().devices if d.name in names} == set(PLATFORMS)
    assert _found(_proven()) == []


def _mails(rules: tuple[Rule, ...], change: Callable[[Rule], Rule]) -> tuple[Rule, ...]:
    return tuple(change(r) if any(_asks(t, 143) for t in r.any_of) else r for r in rules)


def _asks(term: Term, port: int) -> bool:
    return any(p.first <= port <= p.last for p in (*term.destination_ports, *term.source_ports))


@pytest.mark.parametrize("name", _recognising())
def test_a_lost_alternative_is_found_with_a_packet_of_it(name: str) -> None:
    def lose(rule: Rule) -> Rule:
        return rule.model_copy(update={"any_of": tuple(t for t in rule.any_of if not _asks(t, 143))})

    found = _found(_with_input(name, lambda rules: _mails(rules, lose)))

    assert {(f.device, f.code, f.traffic_class, f.direction) for f in found} == {
        (name, "classification-differs", "mail", "input")
    }
    assert all("of TCP" in f.message and "port 143" in f.message for f in found)
    assert all((f.file, f.line) == ("proven.yaml", 9) and f.interface for f in found)


@pytest.mark.parametrize("name", _recognising())
def test_a_class_that_takes_more_is_found_with_a_packet_of_what_it_takes(name: str) -> None:
    more = Term(protocol=17, destination_ports=(PortRange(first=9999, last=9999),))

    def widen(rule: Rule) -> Rule:
        return rule.model_copy(update={"any_of": (*rule.any_of, more)})

    found = _found(_with_input(name, lambda rules: _mails(rules, widen)))

    assert {(f.device, f.code, f.traffic_class) for f in found} == {(name, "classification-differs", "default")}
    assert all("served as mail" in f.message and "of UDP to port 9999" in f.message for f in found)


@pytest.mark.parametrize("name", _recognising())
def test_a_class_that_stands_in_front_of_one_it_overlaps_is_found(name: str) -> None:
    every = Term(protocol=6)

    def shadow(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        (mail,) = (r for r in rules if any(_asks(t, 143) for t in r.any_of))
        wide = mail.model_copy(update={"any_of": (every,)})
        return (wide, *(r for r in rules if r is not mail)) if rules else rules

    compilation = _with_input(name, lambda rules: shadow(rules) if rules else rules)
    (message,) = {f.message for f in _found(compilation) if (f.device, f.traffic_class) == (name, "voice")}

    assert "served as mail" in message
    assert message.endswith("of TCP to port 5061")


def test_what_the_compiler_says_to_be_lost_is_not_said_again() -> None:
    text = """
version: 1
intent: turned
classes:
  - name: site
    match: {any: [{precedence: 5}]}
    mark: {dscp: af21}
    treatment: {bandwidth: {remaining_percent: 40}}
  - name: voice
    match: {any: [{dscp: [ef, af31]}]}
    mark: {dscp: ef}
    treatment: {priority: {percent: 20}}
apply: [{interfaces: lan, direction: input}, {interfaces: [wan, trunk], direction: output}]
"""
    compilation = compile_intent(parse_intent(text, "turned.yaml"), every_platform())
    turned = {f.device for f in compilation.findings if f.code == "match-order-differs"}

    assert turned
    assert not [f for f in _found(compilation) if f.device in turned]


def test_a_class_between_two_that_are_served_as_one_loses_what_the_later_one_matches() -> None:
    found = _found(compile_intent(recognised_classes(), fleet(len(IMAGES) * 2)))

    assert {(f.code, f.variant, f.severity) for f in found} == {("classification-differs", "merged", "warning")}
    signaling = [f.message for f in found if f.traffic_class == "signaling"]
    assert signaling
    assert all("port 5060 with DSCP cs1" in message for message in signaling)


def test_a_router_in_the_middle_recognises_classes_at_its_own_boundary() -> None:
    ports = {
        "FastEthernet0/0": {"rate": "100 Mb/s", "tags": ["lan"]},
        "FastEthernet0/1": {"rate": "100 Mb/s", "tags": ["wan"]},
    }
    site = made_site("cisco_ios", "12.4(15)T", "middle", ports, "")
    compilation = compile_intent(parse_intent(INTENT, "middle.yaml"), site.network)

    assert _found(compilation) == []
    (made,) = compilation.devices
    assert "permit udp any any eq 5060" in made.text
    assert "class voice.MARK" in made.text


def test_devices_of_one_shape_are_proven_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spaces: list[PacketSpace] = []

    class Counted(PacketSpace):
        def __init__(self) -> None:
            super().__init__()
            spaces.append(self)

    monkeypatch.setattr("qosforge.packet_sets.exactness.PacketSpace", Counted)
    network = every_platform()
    router = next(d for d in network.devices if d.name == "ios-12-4")
    many = tuple(router.model_copy(update={"name": f"r{n}"}) for n in range(50))
    compilation = compile_intent(parse_intent(INTENT, "many.yaml"), network.model_copy(update={"devices": many}))

    assert _found(compilation) == []
    assert len(spaces) < 10


def _classes(space: PacketSpace, plan: Plan) -> Iterator[tuple[str, str, dict[str | None, object]]]:
    for interface in plan.interfaces:
        for side, rules in (("input", interface.ingress.rules), ("output", interface.egress.dividing.rules)):
            names = {rule.name: rule.name for rule in rules}
            found = together(regions(done(space, rules, names)))
            yield interface.name, side, {name: packets.diagram for name, packets in found.items()}


@pytest.mark.parametrize("platform_id", PLATFORMS)
def test_any_intent_is_told_as_meant_and_its_text_reads_back_as_the_same_sets(platform_id: str) -> None:
    proven: list[int] = []

    @tried(0.5)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        words = dialect(platform_id)
        site = data.draw(sites(platform_id))
        intent = loaded(data.draw(intents(words, site)))
        compilation = compile_intent(intent, site.network, {site.device.name: site.startup}) if intent else None
        if compilation is None:
            return
        # What a device cannot have is an error, and its text may be of no use.
        assert has_errors(compilation.findings) or _found(compilation) == []
        for made in compilation.devices:
            read = platform(platform_id).parse(made.text, made.name, site.device.image)
            space = PacketSpace()
            before = {(i, s): sets for i, s, sets in _classes(space, made.plan) if sets}
            after = {(i, s): sets for i, s, sets in _classes(space, read) if sets}
            for place, sets in before.items():
                if place in after:
                    assert after[place] == sets, place
                    proven.append(len(sets))

    check()
    assert proven
