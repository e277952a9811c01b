"""Findings without secrets: what is masked in a message is in none of its facts either."""

from __future__ import annotations

import pytest

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import facts_agree, note
from qosforge.platforms.masked_findings import mask_findings
from qosforge.platforms.secret_forms import MASK

pytestmark = pytest.mark.hostile

SW1 = Place(device="sw1")
RUNNING = "hostname sw1\nsnmp-server community PLANTED01 RO\nsnmp-server community 90210 RO\n"


def masked(*findings: Finding) -> tuple[Finding, ...]:
    return mask_findings(findings, {"sw1": RUNNING}, {"sw1": "cisco_ios"})


@pytest.mark.parametrize("text", ["say PLANTED01", "snmp-server community PLANTED02 RW"])
def test_a_fact_is_masked_as_its_message_is(text: str) -> None:
    (found,) = masked(note("line-not-understood", SW1, text=text))
    assert MASK in found.message
    assert "PLANTED" not in found.model_dump_json()
    assert MASK in str(found.facts["text"])
    assert facts_agree(found)


def test_facts_that_are_not_masked_in_the_same_place_are_left_out() -> None:
    """Such a key goes to the end of its line, with the quotation mark that the message ends with."""
    (found,) = masked(note("line-not-understood", SW1, text="ntp authentication-key 1 md5 PLANTED03"))
    assert found.message.endswith(MASK)
    assert "PLANTED" not in found.model_dump_json()
    assert found.facts == {}


def test_a_fact_that_is_a_secret_by_the_words_around_it_alone_is_left_out() -> None:
    """The line is told in its context, which makes it one: alone it has no form of a secret."""
    found = note("scope-unknown-name", SW1, selector="username ann password", name="PLANTED02", network="campus")
    assert found.facts["name"] == "PLANTED02"
    (shown,) = masked(found)
    assert "PLANTED" not in shown.message
    assert shown.facts == {}
    assert "PLANTED" not in shown.model_dump_json()


def test_a_secret_that_is_a_number_is_in_no_fact() -> None:
    (found,) = masked(note("match-too-large", SW1, count=1, most=90210, largest="ports"))
    assert found.facts == {"count": 1, "most": 90210, "largest": "ports"}, "with its thousands it is none"
    (found,) = masked(note("port-shape-unsupported", SW1, minimum=1, maximum=90210, preferred=False))
    assert found.message == f"a port is limited to 1 % to {MASK} % of its rate"
    assert found.facts == {}


def test_what_is_masked_still_says_that_the_policy_prefers_it() -> None:
    (found,) = masked(note("police-unsupported", SW1, variant="rates", minimum=1, maximum=90210, preferred=True))
    assert MASK in found.message
    assert found.facts == {"preferred": True}


def test_facts_of_what_has_no_secret_stay() -> None:
    plain = note("line-not-understood", SW1, text="hold-queue 75 out")
    (found,) = masked(plain)
    assert (found.facts, found.variant) == (plain.facts, plain.variant)
