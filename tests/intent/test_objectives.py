"""Objectives of an intent: presets, the mean, and which quantile a variation is of."""

from __future__ import annotations

import pytest

from qosforge.deltaq.objective import Objective
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import ObjectiveSpec
from qosforge.intent.schema import intent_schema
from tests.intent.test_schema import accepts, document

TEXT = """\
version: 1
intent: one
classes:
  - name: voice
    match: {any: [{dscp: ef}]}
    objective: ASKED
apply: [{role: edge, direction: output}]
verify: [{from: a, to: b, classes: [voice]}]
"""


def requested(written: str) -> Objective:
    intent = parse_intent(TEXT.replace("ASKED", written), "one.yaml").intent
    spec = intent.objective_of(intent.verify[0], "voice")
    assert spec is not None
    return spec.bounds()


@pytest.mark.parametrize(
    ("written", "judged"),
    [
        ("{variation: 30 ms}", Objective(variation=0.03)),
        ("{variation: {p99.9: 30 ms}}", Objective(variation=0.03)),
        ("{variation: {p99: 30 ms}}", Objective(variation=0.03, variation_quantile=0.99)),
        ("{delay: {mean: 20 ms, p99: 10 ms}}", Objective(mean=0.02, delay={"p99": 0.01})),
        ("{preset: y1541-0}", Objective(mean=0.1, variation=0.05, loss=0.001)),
        ("{preset: y1541-2}", Objective(mean=0.1, loss=0.001)),
        ("{preset: rfc4594-signaling}", Objective(mean=0.1, loss=0.001)),
        ("{preset: y1541-6}", Objective(mean=0.1, variation=0.05, variation_quantile=0.99999, loss=0.00001)),
        (
            "{preset: y1541-0, loss: 1 %, delay: {p99: 80 ms}, variation: {p99: 30 ms}}",
            Objective(mean=0.1, delay={"p99": 0.08}, variation=0.03, variation_quantile=0.99, loss=0.01),
        ),
        ("{preset: g114, delay: {mean: 90 ms}}", Objective(mean=0.09)),
    ],
)
def test_what_is_written_is_what_is_judged(written: str, judged: Objective) -> None:
    assert requested(written) == judged
    assert accepts(intent_schema(), document(TEXT.replace("ASKED", written)), intent_schema())


def test_an_objective_of_a_check_may_be_a_preset() -> None:
    text = TEXT.replace("ASKED", "{loss: 1 %}").replace("[voice]}", "[voice], objective: {voice: {preset: g114}}}")
    intent = parse_intent(text, "one.yaml").intent
    spec = intent.objective_of(intent.verify[0], "voice")
    assert spec is not None
    assert spec.bounds() == Objective(mean=0.15)


@pytest.mark.parametrize(
    "spec",
    [
        ObjectiveSpec.model_validate({"variation": "30 ms"}),
        ObjectiveSpec.model_validate({"variation": {"p99": "30 ms"}, "delay": {"mean": "20 ms"}, "preset": "g114"}),
    ],
)
def test_an_objective_survives_json(spec: ObjectiveSpec) -> None:
    assert ObjectiveSpec.model_validate_json(spec.model_dump_json()) == spec


def test_the_schema_offers_the_presets_that_bound_something() -> None:
    offered = str(intent_schema()["$defs"]["ObjectiveSpec"]["properties"]["preset"])
    assert "'y1541-0'" in offered
    assert "'rfc4594-telephony'" in offered
    assert "y1541-5" not in offered
