"""Right intents: what they say is what is read, with the places of their parts."""

from pathlib import Path

import pytest

from qosforge.intent.loader import load_intent, parse_intent
from qosforge.units import format_rate

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = """\
version: 1
intent: campus-collaboration
classes:
  - name: voice-video
    match: {any: [{application: [rtp-audio, rtp-video]}, {dscp: [ef, af41]}]}
    mark: {dscp: af41, cos: 5}
    treatment: {priority: {percent: 50}}
    objective: {delay: {p95: 40 ms, p99: 60 ms}, variation: 30 ms, loss: 0.1 %}
  - name: web-and-file
    match: {any: [{application: [http, ftp]}, {dscp: [af21]}]}
    mark: {dscp: af21}
    treatment: {bandwidth: {remaining_percent: 70}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 30}, wred: {prefer: true}}
link_efficiency:
  - {when: {rate_below: 768 kb/s}, header_compression: rtp, fragment: {blocking_delay: 16 ms}}
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
  - {role: edge, interfaces: lan, direction: input}
verify:
  - {from: vigo1, to: vigo2, classes: [voice-video], beside: [web-and-file, default], seconds: 30, confidence: 95 %}
"""
"""The intent of the design page, as it stands there."""


def test_the_example_of_the_design_page_is_read_in_full() -> None:
    intent = parse_intent(EXAMPLE, "example.yaml").intent

    voice = intent.traffic_class("voice-video")
    assert voice.match is not None
    assert voice.match.any[0].application == ("rtp-audio", "rtp-video")
    assert voice.match.any[1].dscp == (46, 34)
    assert voice.mark is not None
    assert (voice.mark.dscp, voice.mark.cos) == (34, 5)
    assert voice.treatment.priority is not None
    assert voice.treatment.priority.percent == 50
    assert voice.objective is not None
    assert voice.objective.delay == {"p95": pytest.approx(0.040), "p99": pytest.approx(0.060)}
    assert voice.objective.loss == pytest.approx(0.001)
    assert intent.traffic_class("default").treatment.wred is not None
    rule = intent.link_efficiency[0]
    assert rule.fragment is not None
    assert (format_rate(rule.when.rate_below), rule.fragment.blocking_delay) == ("768 kb/s", pytest.approx(0.016))
    assert intent.apply[0].role == ("edge", "middle")
    assert intent.apply[1].interfaces == ("lan",)
    assert intent.verify[0].from_ == "vigo1"
    assert intent.verify[0].confidence == pytest.approx(0.95)


def test_classes_know_their_lines() -> None:
    loaded = parse_intent(EXAMPLE, "example.yaml")

    lines = {c.name: place.line for c in loaded.intent.classes if (place := loaded.class_place(c.name))}
    assert lines == {"voice-video": 4, "web-and-file": 9, "default": 13}
    assert loaded.class_place("nobody") is None


def test_the_version_is_of_the_meaning_not_of_the_text() -> None:
    loaded = parse_intent(EXAMPLE, "example.yaml")
    same = parse_intent("# a comment\n" + EXAMPLE.replace("dscp: af41, cos: 5", "cos: 5, dscp: 34"), "other.yaml")
    other = parse_intent(EXAMPLE.replace("remaining_percent: 70", "remaining_percent: 60"), "example.yaml")

    assert loaded.version == same.version
    assert loaded.version != other.version


@pytest.mark.parametrize("path", sorted((ROOT / "policies").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_policy_loads_under_its_own_name(path: Path) -> None:
    assert load_intent(path).intent.intent == path.stem


def test_an_intent_survives_its_canonical_form() -> None:
    loaded = parse_intent(EXAMPLE, "example.yaml")

    again = parse_intent(loaded.intent.model_dump_json(by_alias=True, exclude_defaults=True), "canonical.json")

    assert again.intent == loaded.intent
    assert again.version == loaded.version


def test_a_value_said_twice_in_a_list_counts_once() -> None:
    loaded = parse_intent(EXAMPLE.replace("[ef, af41]", "[ef, 46, af41, ef]"), "example.yaml")

    voice = loaded.intent.traffic_class("voice-video")
    assert voice.match is not None
    assert voice.match.any[1].dscp == (46, 34)
