"""How `qosforge experiment run` prints claims."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from qosforge.cli import claims
from qosforge.cli.claims import obtained_text, print_claims, published_text
from qosforge.experiments import ClaimComparison
from qosforge.experiments.model import Claim


def claim(**fields: Any) -> Claim:
    given = {"type": "approx", "value": 125.0, "kind": "measured", "tolerance": {"rel": 0.05}} | fields
    return Claim(id="knee", where="table 1", subject="box.q0", scenario="sweep", metric="knee_load_mbps", **given)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "≈ 125 ± 5 %"),
        ({"tolerance": {"rel": 0.1, "abs": 0.5}}, "≈ 125 ± 10 % or 0.5"),
        ({"type": "equal", "tolerance": {}}, "125"),
        ({"type": "at_most", "value": 123456.7, "tolerance": {}}, "≤ 123,457"),
        (
            {
                "type": "order",
                "value": {"ascending": [{"scenario": "qos"}, {"experiment": "e", "subject": "s"}, {}]},
            },
            "qos < e s < box.q0",
        ),
        (
            {"type": "order", "value": {"ascending": [{"scenario": "a"}, {"scenario": "b"}], "strict": False}},
            "a ≤ b",
        ),
        (
            {
                "type": "ratio",
                "value": {"top": {"scenario": "a"}, "bottom": {"scenario": "b"}, "is": 5, "relation": "above"},
                "tolerance": {},
            },
            "a ÷ b > 5",
        ),
        (
            {"type": "order", "value": {"ascending": [{"scenario": "a", "against": {"scenario": "z"}}, {}]}},
            "a against z < box.q0",
        ),
    ],
)
def test_what_was_published_reads_as_it_is_compared(fields: dict[str, Any], text: str) -> None:
    assert published_text(claim(**fields)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (0.0705, "0.0705"),
        (69981.139, "69,981"),
        ([22.52944, 13.96792], "22.529; 13.968"),
        ({"a.q0": 1.0, "a.q1": [2.0, 3.0]}, "a.q0 1, a.q1 2; 3"),
    ],
)
def test_what_was_obtained(value: Any, text: str) -> None:
    assert obtained_text(value) == text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_reason_has_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setattr(claims, "out", Console(width=width, highlight=False))
    reason = "a queue that is always full varies by the burst that refills it alone " * 4
    found = [
        ClaimComparison(claim(), 125.1, True),
        ClaimComparison(claim(), 99.0, False, reason.strip()),
        ClaimComparison(claim(), None, False, "not obtained: no packet", explained=False),
    ]
    print_claims("made", found, every=False)
    printed = capsys.readouterr().out
    lines = [line.rstrip() for line in printed.splitlines()]
    assert printed.startswith("made  1 of 3 claims hold, 1 explained")
    assert max(map(len, lines)) <= width
    words = " ".join(printed.split())
    assert reason.strip() in words
    assert "knee_load_mbps of box.q0 in sweep: published ≈ 125 ± 5 %; obtained 99" in words
    assert "125.1" not in words
    first = next(n for n, line in enumerate(lines) if line.startswith("explained"))
    last = next(n for n, line in enumerate(lines) if line.startswith("fails"))
    assert all(line.startswith(" " * 11) for line in lines[first + 1 : last])
    assert last - first < 4 + 1.25 * (len(reason) + 90) / (width - 11)
    print_claims("made", found, every=True)
    assert "125.1" in capsys.readouterr().out
