"""Queues of a Catalyst 9000 in parts: buffers of a port, thresholds of tail drop and of early detection."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Severity, has_errors
from qosforge.importing import import_configurations, read_configuration
from qosforge.intent.loader import parse_intent
from qosforge.plan.early_drop import TailThreshold
from qosforge.tester.scenario.queues import twin_queue
from tests.parts import SAMPLES
from tests.platforms.catalyst_9000_support import REST, SIZED, TRUNK, compilation, finding, made, marked, queues

LIMITED: dict[str, Any] = {"bandwidth": {"remaining_percent": 20}}


def test_queues_are_sized_as_asked() -> None:
    result = compilation(*SIZED, REST)
    assert not has_errors(result.findings)
    text = "".join(block.text for block in result.devices[0].blocks)
    assert "  priority level 1 percent 10\n  queue-buffers ratio 5\n  queue-limit dscp ef percent 70\n" in text
    assert "  queue-buffers ratio 30\n  queue-limit dscp af11 percent 80\n" in text
    assert "  random-detect dscp-based\n  random-detect dscp af21 percent 55 75\n" in text


def test_a_limit_of_everything_else_is_for_every_mark_that_no_class_has() -> None:
    rest = {"name": "default", "treatment": {"queue_limit": {"percent": 90}}}
    (last,) = (q for q in queues(made(*SIZED, rest)) if q.name == "class-default")
    (threshold,) = last.thresholds
    assert set(threshold.dscp) == set(range(64)) - {46, 10, 18}


def test_classes_of_one_queue_add_their_buffers_and_keep_their_thresholds() -> None:
    parts = [marked(f"c{n}", n, bandwidth={"remaining_percent": 5}, buffers={"percent": 3}) for n in range(2, 12)]
    limited = {**parts[0], "treatment": {**parts[0]["treatment"], "queue_limit": {"percent": 60}}}
    held = queues(made(limited, *parts[1:], {"name": "default"}, tolerance="20 %"))
    assert sum(q.buffer_percent or 0 for q in held) == 30
    assert [q.thresholds for q in held if q.thresholds] == [(TailThreshold(dscp=(2,), percent=60),)]


@pytest.mark.parametrize("prefer", [False, True])
@pytest.mark.parametrize(
    ("code", "said", "treatment"),
    [
        ("queue-limit-unsupported", "early detection", {"wred": True, "queue_limit": {"percent": 80}}),
        (
            "queue-limit-unsupported",
            "a queue has 3 thresholds",
            {"queue_limit": {"thresholds": [{"dscp": n, "percent": 50 + n} for n in range(1, 5)]}},
        ),
        (
            "queue-limit-unsupported",
            "none of those",
            {"queue_limit": {"thresholds": [{"dscp": "cs7", "percent": 50}]}},
        ),
        (
            "wred-unsupported",
            "3 pairs of thresholds",
            {"wred": {"profiles": [{"dscp": n, "minimum": f"{n} %", "maximum": "90 %"} for n in range(1, 5)]}},
        ),
    ],
)
def test_what_a_queue_cannot_have_is_told(code: str, said: str, treatment: dict[str, Any], prefer: bool) -> None:
    entry = marked("x", 1, **LIMITED, **treatment)
    entry["match"] = {"any": [{"dscp": [1, 2, 3, 4]}]}
    for key in ("queue_limit", "wred"):
        if isinstance(entry["treatment"].get(key), dict):
            entry["treatment"][key] = {**entry["treatment"][key], "prefer": prefer}
    found = finding(compilation(entry, REST), code)
    assert said in found.message
    assert found.severity is (Severity.WARNING if prefer else Severity.ERROR)


def test_a_probability_has_no_place() -> None:
    profile = {"dscp": "af21", "minimum": "55 %", "maximum": "75 %", "probability": "20 %"}
    entry = marked("x", "af21", **LIMITED, wred={"profiles": [profile]})
    assert finding(compilation(entry, REST), "wred-approximate").severity is Severity.INFO


def test_profiles_by_colour_are_those_of_the_class_s_code_points() -> None:
    profiles = [
        {"colour": "green", "minimum": "60 %", "maximum": "90 %"},
        {"colour": "red", "minimum": "20 %", "maximum": "40 %"},
    ]
    entry = marked("x", "af21", **LIMITED, wred={"profiles": profiles})
    entry["match"] = {"any": [{"dscp": ["af21", "af22", "af23"]}]}
    text = "".join(block.text for block in made(entry, REST).blocks)
    assert "  random-detect dscp af21 percent 60 90\n  random-detect dscp af23 percent 20 40\n" in text


def test_profiles_of_marks_that_a_class_has_not_are_told() -> None:
    profiles = [{"dscp": mark, "minimum": "55 %", "maximum": "75 %"} for mark in ("af21", "af41")]
    result = compilation(marked("x", "af21", **LIMITED, wred={"profiles": profiles}), REST)
    told = finding(result, "wred-approximate")
    assert (told.severity, told.traffic_class) == (Severity.WARNING, "x")
    assert told.message.endswith("nothing is entered for them: af41")


def test_the_default_class_has_profiles_of_any_mark_that_is_no_other_class_s() -> None:
    profiles = [{"dscp": mark, "minimum": "55 %", "maximum": "75 %"} for mark in ("af11", "af21")]
    rest = {**REST, "treatment": {**LIMITED, "wred": {"profiles": profiles}}}
    entry = marked("x", "af21", **LIMITED)
    text = "".join(block.text for block in made(entry, rest).blocks)
    assert "  random-detect dscp af11 percent 55 75\n" in text
    assert "random-detect dscp af21" not in text
    assert finding(compilation(entry, rest), "wred-approximate").message.endswith(": af21")


def test_the_twin_gives_a_queue_its_part_of_the_port() -> None:
    voice, bulk, data, _ = queues(made(*SIZED, REST))
    assert [twin_queue(q, "q").limit_packets for q in (voice, bulk, data)] == [25, 153, 64]
    assert twin_queue(bulk, "q").thresholds[0].packets == 122


PUBLISHED = SAMPLES / "others" / "c9300l-2p6q3t.txt"


@pytest.mark.samples
def test_a_published_queueing_policy_is_imported_whole() -> None:
    """2P6Q3T as a 9300L has it: its shares add up to 70 %, its buffers to 75 %."""
    text = PUBLISHED.read_text(encoding="utf-8") + f"interface {TRUNK}\n service-policy output 2P6Q3T\n"
    imported = import_configurations([read_configuration(text, "sw.cfg")], "again")
    # The language has no names that begin with a digit.
    renamed = [f.applied for f in imported.findings if f.code != "import-assumed"]
    assert renamed == ["c-2P6Q3T"]
    classes = {c.name: c.treatment for c in imported.intents[0].loaded.intent.classes}
    assert sum(t.buffers.percent for t in classes.values() if t.buffers) == 75
    assert sum(t.bandwidth.remaining_percent or 0 for t in classes.values() if t.bandwidth) == 70


def test_what_is_sized_is_imported_as_it_is() -> None:
    text = "".join(block.text for block in made(*SIZED, REST).blocks)
    imported = import_configurations([read_configuration(f"version 17.12\nhostname sw\n{text}", "sw.cfg")], "again")
    classes = {c.name: c.treatment for c in parse_intent(imported.intents[0].text, "again.yaml").intent.classes}
    assert classes["bulk"].buffers is not None
    assert classes["bulk"].buffers.percent == 30
    assert classes["bulk"].queue_limit is not None
    assert [(t.dscp, t.percent) for t in classes["bulk"].queue_limit.thresholds] == [((10,), 80)]
    assert classes["data"].wred is not None
    assert [(p.dscp, p.minimum.value, p.maximum.value) for p in classes["data"].wred.profiles] == [((18,), 55, 75)]
    assert TRUNK in imported.intents[0].text
