"""Random intents on the emulated Catalysts: every line is taken, held as meant, and taken back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import Compiler

from .catalyst_support import BOXES, booted, intent, request_for, startup

_DSCPS = ("cs1", "af11", "cs2", "af21", "af22", "cs3", "af31", "cs4", "af41", "ef")
_MATCHES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(_DSCPS).map(lambda d: {"dscp": d}),
    st.lists(st.sampled_from(_DSCPS), min_size=1, max_size=9, unique=True).map(lambda d: {"dscp": d}),
    st.integers(0, 7).map(lambda p: {"precedence": [p]}),
    st.sampled_from(["http", "ftp", "sip", "rtp-audio"]).map(lambda a: {"application": a}),
    st.just({"source_mac": "00:1b:54:aa:bb:cc"}),
    st.just({"protocol": "udp", "source": "10.1.0.0/16", "destination_port": "5060", "dscp": ["cs3", "af31"]}),
    st.just({"destination": "10.2.0.9/32", "precedence": [5]}),
)
_POLICE = st.fixed_dictionaries(
    {
        "rate": st.integers(1, 60).map(lambda n: f"{n} Mb/s"),
        "exceed": st.one_of(
            st.just("drop"), st.sampled_from(("cs1", "default", "af22")).map(lambda d: {"remark": d})
        ),
    },
    optional={"burst": st.integers(1500, 900_000).map(lambda n: f"{n} B")},
)
_TREATMENT = st.fixed_dictionaries(
    {"bandwidth": st.integers(1, 25).map(lambda n: {"weight": n})},
    optional={
        "police": _POLICE,
        "queue_limit": st.integers(1, 400).map(lambda n: {"packets": n}),
        "shape": st.integers(2, 99).map(lambda n: {"rate": f"{n} Mb/s"}),
        "wred": st.just(True),
        "bounded": st.booleans(),
    },
)
_CLASS = st.tuples(
    st.lists(_MATCHES, min_size=1, max_size=3), st.one_of(st.none(), st.sampled_from(_DSCPS)), _TREATMENT
)


@pytest.mark.parametrize("device", ["s2950", "s2970"])
@given(classes=st.lists(_CLASS, min_size=1, max_size=4), priority=st.booleans())
@settings(max_examples=15, deadline=None)
def test_any_intent_is_taken_held_and_given_back(
    device: str, classes: list[tuple[list[dict[str, Any]], str | None, dict[str, Any]]], priority: bool
) -> None:
    entries = []
    for number, (alternatives, dscp, treatment) in enumerate(classes):
        served = {"priority": {"percent": 20}} if priority and number == 0 else treatment
        mark = {"mark": {"dscp": dscp}} if dscp else {}
        entries.append({"name": f"c{number}", "match": {"any": alternatives}, "treatment": served} | mark)
    with tempfile.TemporaryDirectory() as folder:
        box = booted(device, Path(folder), startup(device))
        before = box.running_text()
        loaded = intent(*entries)
        switch = Compiler(loaded).device(request_for(device, loaded), before)
        refused = {"too-many-policers", "acl-masks-exceeded", "acl-range-unsupported"}
        if any(f.code in refused or f.variant == "protocol" for f in switch.findings):
            assert box.configure(make_candidate(switch, before).delta) != []  # as the finding says
            return
        candidate = make_candidate(switch, before)
        assert box.configure(candidate.delta) == []
        held = BOXES[device].parse(box.running_text(), device, switch.request.image)
        assert find_plan_differences(switch.plan, held) == ()
        assert held.unknown == ()
        assert box.configure(candidate.inverse) == []
        assert box.running_text() == before
