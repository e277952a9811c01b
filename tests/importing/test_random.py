"""Random intents on the campus' boxes: what import gives back is what the box held, or a finding says where not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qosforge.compiler.compile import compile_intent
from qosforge.errors import InputError
from qosforge.findings import has_errors
from qosforge.importing import import_configurations, read_configuration
from qosforge.intent.loader import parse_intent
from qosforge.plan.model import Plan

from .support import FOLDERS, NETWORKS, running, unlike

SETTINGS = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
CAMPUS = NETWORKS["campus"]
MARKS = (46, 34, 26, 18, 10, 24)
MATCHES = st.sampled_from(
    [
        [{"dscp": [46, 40]}],
        [{"dscp": 34}, {"application": "rtp-video"}],
        [{"application": ["http", "ftp"]}],
        [{"protocol": "udp", "source": "10.0.0.0/24", "destination_port": "5000-5007"}],
        [{"protocol": "tcp", "destination": "192.0.2.7/32"}, {"dscp": 18}],
        [{"precedence": 3}],
    ]
)


@st.composite
def intents(draw: st.DrawFn) -> dict[str, Any]:
    """An intent of up to four classes, each with a mark, one of them first perhaps."""
    count = draw(st.integers(1, 4))
    matches = draw(st.lists(MATCHES, min_size=count, max_size=count, unique_by=repr))
    parts = draw(st.lists(st.integers(5, 24), min_size=count, max_size=count))
    first = draw(st.booleans())
    classes = []
    for at, (match, part) in enumerate(zip(matches, parts, strict=True)):
        treatment: dict[str, Any] = {"bandwidth": {"remaining_percent": part}}
        if first and at == 0:
            treatment = {"priority": {"percent": part}}
        elif draw(st.booleans()):
            treatment["wred"] = True
        if draw(st.booleans()):
            treatment["police"] = {"rate": "1 Mb/s", "burst": "8000 B", "prefer": True}
        mark = {"dscp": MARKS[at]}
        classes.append({"name": f"class-{at}", "match": {"any": match}, "mark": mark, "treatment": treatment})
    return {
        "version": 1,
        "intent": "random",
        "tolerance": "30 %",
        "classes": classes,
        "apply": [
            {"interfaces": "lan", "direction": "input"},
            {"interfaces": ["wan", "trunk"], "direction": "output"},
        ],
    }


@pytest.mark.parametrize("name", ["r1", "b256", "s2950", "s2970", "ers5510", "e300"])
@SETTINGS
@given(words=intents())
def test_what_differs_is_told(name: str, words: dict[str, Any]) -> None:
    compilation = compile_intent(parse_intent(json.dumps(words), "random.yaml"), CAMPUS)
    made = next(d for d in compilation.devices if d.name == name)
    if has_errors(made.findings):
        return
    device = CAMPUS.device(name)
    assert device.startup is not None
    text = running(made, (FOLDERS["campus"] / device.startup).read_text(encoding="utf-8"))
    read = read_configuration(text, "box.cfg", platform_id=device.platform, image=device.image, device=name)
    try:
        found = import_configurations([read], "made")
    except InputError as refused:
        assert "no interface has anything" in refused.message  # noqa: PT017
        return
    told = {
        (port, f.direction)
        for f in found.findings
        if f.code == "import-not-expressed"
        for port in (f.interface or "").split(", ")
    }
    for intent in found.intents:
        loaded = parse_intent(intent.text, f"{intent.name}.yaml")
        (again,) = compile_intent(loaded, found.network, {name: text}).devices
        for scope in loaded.intent.apply:
            for port in scope.ports:
                if (port, scope.direction) not in told:
                    assert alike(again.plan, read.plan, port, scope.direction) == ()


def alike(made: Plan, held: Plan, port: str, direction: str) -> tuple[str, ...]:
    """Where one side of a port is not the same in both."""
    mine, yours = made.interface(port), held.interface(port)
    assert mine is not None
    assert yours is not None
    other: dict[str, object] = {"ingress": yours.ingress}
    if direction == "input":
        other = {"egress": yours.egress, "efficiency": yours.efficiency}
    one = Plan(device=made.device, platform=made.platform, interfaces=(mine.model_copy(update=other),))
    return unlike(one, held)
