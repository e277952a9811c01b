"""An E300's ports that trust marks serve every mark that a class is told by, in the class's queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.intent.loader import LoadedIntent, parse_intent
from qoslab.packets import Packets

from .switch_support import REST, booted, campus, codes, push, startup

DEVICE = "e300"
TRUNK, HOST = "GigabitEthernet 0/1", "GigabitEthernet 0/2"
REAL_TIME = {
    "name": "real-time",
    "match": {"any": [{"dscp": ["ef", 44, "cs5", "cs4", "cs3", "af41", "af42", "af43"]}, {"precedence": [5]}]},
    "mark": {"dscp": "ef", "cos": 5},
    "treatment": {"priority": {"percent": 30}},
}
SIGNALS = {
    "name": "signals",
    "match": {"any": [{"dscp": ["cs3", "af31"]}]},
    "mark": {"dscp": "cs3", "cos": 3},
    "treatment": {"bandwidth": {"remaining_percent": 40}},
}
LATER = {
    "name": "later",
    "match": {"any": [{"dscp": ["af31", "af41", "default"]}]},
    "mark": {"dscp": "af11", "cos": 1},
    "treatment": {"bandwidth": {"remaining_percent": 30}},
}
"""Lists marks of the classes before it, and that of what no class takes."""


def served(folder: Path, loaded: LoadedIntent, offered: list[Packets], image: str = "") -> list[str]:
    """The queues of packets that a trunk brings."""
    box = booted(DEVICE, folder, startup(DEVICE), image)
    push(DEVICE, box, loaded, image)
    return [outcome.queue for outcome in box.offer(TRUNK, HOST, offered, 0.0)]


def trusting(trust: str, *classes: dict[str, Any]) -> LoadedIntent:
    where = {"role": "core"}
    document = {
        "version": 1,
        "intent": "test",
        "tolerance": "20 %",
        "classes": list(classes),
        "apply": [
            {**where, "interfaces": ["lan", "trunk"], "direction": "input", "trust": trust},
            {**where, "interfaces": ["lan", "trunk"], "direction": "output"},
        ],
    }
    return parse_intent(json.dumps(document), "test.yaml")


def by_dscp(*values: int) -> list[Packets]:
    return [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in values]


def test_every_mark_that_a_class_lists_is_served_as_the_class(tmp_path: Path) -> None:
    queues = served(tmp_path, trusting("dscp", REAL_TIME, SIGNALS, LATER, REST),
                    by_dscp(46, 44, 40, 41, 32, 34, 36, 38, 24, 26, 10, 0, 8))  # fmt: skip

    (first,) = set(queues[:8])
    assert first.endswith("strict")
    assert len({first, queues[8], queues[10], queues[11]}) == 4
    # A mark is that of the class that sets it, then of the first that lists it; DSCP 0 is that of the rest.
    assert queues[9] == queues[8]
    assert queues[12] == queues[11] == "0"


def test_the_fixed_map_is_for_classes_whose_marks_it_keeps_together(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    _, result = push(DEVICE, box, campus())

    assert codes(result)["trust-map-not-used"] == "info"
    outcomes = box.offer(TRUNK, HOST, by_dscp(34, 46, 18, 0), 0.0)
    assert outcomes[0].queue == outcomes[1].queue
    assert outcomes[1].queue.endswith("strict")
    assert len({o.queue for o in outcomes}) == 3


@pytest.mark.parametrize("cos", [4, 5, 6])
def test_every_cos_that_a_class_lists_is_served_as_the_class(cos: int, tmp_path: Path) -> None:
    video = {
        "name": "video",
        "match": {"any": [{"cos": [4, 5, 6]}]},
        "mark": {"cos": 5},
        "treatment": {"priority": {"percent": 30}},
    }
    offered = [Packets(count=1, bytes=200, cos=cos, tagged=True)]
    (queue,) = served(tmp_path, trusting("cos", video, REST), offered, "7.4.1.0")

    assert queue.endswith("strict")
