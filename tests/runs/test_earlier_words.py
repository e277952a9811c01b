"""What an earlier release recorded of a run is read as if this one had."""

from __future__ import annotations

from qosforge.finding_codes import load_codes
from qosforge.findings import Finding
from qosforge.runs.record.earlier_words import _NOW, in_present_words

RECORDED = {
    "code": "wred-unsupported",
    "severity": "warning",
    "message": "the device drops at the tail of its queues only",
    "device": "s2950",
    "interface": None,
    "direction": "output",
    "traffic_class": "default",
    "file": None,
    "line": None,
    "asked": "WRED",
    "will_be": "tail drop",
    "mend": "leave wred out",
}


def test_a_finding_is_read_in_both_words() -> None:
    (finding,) = (Finding.model_validate(entry) for entry in in_present_words([RECORDED]))
    assert (finding.requested, finding.applied, finding.hint) == ("WRED", "tail drop", "leave wred out")
    assert in_present_words(finding.model_dump(mode="json")) == finding.model_dump(mode="json")


def test_no_fact_of_a_finding_has_an_earlier_word_as_its_name() -> None:
    assert not {fact for entry in load_codes().codes.values() for fact in entry.facts} & _NOW.keys()


def test_keys_are_found_at_every_depth_and_values_are_left() -> None:
    verdict = {"verdict": {"bounds": [{"label": "asked", "asked": 0.1}]}}
    assert in_present_words(verdict) == {"verdict": {"bounds": [{"label": "asked", "requested": 0.1}]}}
