"""How `diff` prints what devices would lose and gain."""

from __future__ import annotations

import pytest

from qosforge.cli.differences import print_differences
from qosforge.reports.preview import CandidateDocument, GapDocument

DELTA = ("policy-map OUT", " class voice", "  priority percent 40")
DIFFERENCE = (" policy-map OUT", "  class voice", "-  priority percent 50", "+  priority percent 40")


def candidate(device: str, gaps: tuple[GapDocument, ...] = (), **lines: tuple[str, ...]) -> CandidateDocument:
    whole = {"delta": DELTA, "inverse": ("the way back",), "difference": DIFFERENCE} | lines
    return CandidateDocument(device=device, gaps=gaps, **whole)


def printed(capsys: pytest.CaptureFixture[str], *candidates: CandidateDocument, lines: bool = False) -> list[str]:
    print_differences(candidates, lines=lines)
    return [line.rstrip(" ─") for line in capsys.readouterr().out.splitlines() if line]


def test_devices_that_change_alike_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    other = candidate("r2", difference=("+class-map voice",))
    same = candidate("r4", delta=(), inverse=(), difference=())
    assert printed(capsys, candidate("r1"), other, candidate("r3"), same) == [
        "r1, r3  +1 −1",
        *DIFFERENCE,
        "r2  +1 −0",
        "+class-map voice",
        "no changes: r4",
        "3 of 4 devices would change",
    ]


def test_the_lines_themselves_are_shown_to_who_asks(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, candidate("r1"), candidate("r2", inverse=("another way",)), lines=True)
    first = found.index("entered on r1")
    assert found[first : first + 6] == ["entered on r1", *DELTA, "rolled back on r1 by", "the way back"]
    assert found[-2:] == ["another way", "2 of 2 devices would change"]


def test_a_place_without_a_policy_meanwhile_is_told_of_its_device(capsys: pytest.CaptureFixture[str]) -> None:
    gap = GapDocument(place="Serial0/0 output", first=1, lines=2)
    assert any(
        "Serial0/0 output" in line and line[:4] != "r1: " for line in printed(capsys, candidate("r1", (gap,)))
    )
    found = printed(capsys, candidate("r1", (gap,)), candidate("r2"))
    assert [line for line in found if line.startswith("r1: ")]


def test_a_service_of_an_older_release_tells_the_lines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, candidate("r1", difference=()))
    assert found[1:4] == [f"+{line}" for line in DELTA]
