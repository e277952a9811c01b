"""What reports and comments say was proven, refuted, and left open."""

from __future__ import annotations

import pytest

from qosforge.errors import Place
from qosforge.finding_codes import load_codes
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.reports.checks import CheckReport
from qosforge.reports.markdown import check_markdown, prose
from qosforge.reports.proofs import CLASSES, proof_lines, proofs

AWAY = note("batfish-not-checked", required=False)
DIFFERS = note(
    "classification-differs",
    Place(device="r1", interface="Serial0/0", direction="output", traffic_class="voice"),
    other="web",
    witness="a packet of UDP to port 16384",
)


def markdown(*findings: Finding) -> str:
    return check_markdown(CheckReport("campus", "campus.yaml", findings=findings))


def test_nothing_is_claimed_where_nothing_was_checked() -> None:
    assert not proofs(())
    assert proof_lines(proofs(())) == []
    assert "proven" not in markdown()


def test_a_validation_says_what_it_proved_and_what_not() -> None:
    assert proof_lines(proofs([AWAY])) == [("proven", CLASSES), ("not proven", AWAY.message)]
    assert proofs((), checked=True).classes
    comment = markdown(AWAY)
    assert f"- **proven**: {prose(CLASSES)}" in comment
    assert f"- **not proven**: {prose(AWAY.message)}" in comment


def test_what_is_refuted_is_told_with_its_witness_and_nothing_more_is_claimed() -> None:
    told = proofs([AWAY, DIFFERS])
    assert not told.classes
    assert told.refuted == (DIFFERS,)
    comment = markdown(AWAY, DIFFERS)
    assert f"- **refuted**: {prose(f'{DIFFERS.where}: {DIFFERS.message}')}" in comment
    assert "a packet of UDP to port 16384" in comment
    assert CLASSES not in comment


@pytest.mark.parametrize("code", [code for code in load_codes().codes if code.startswith(("batfish-", "classif"))])
def test_every_finding_of_a_proof_says_which(code: str) -> None:
    assert load_codes().codes[code].proof is not None
