"""A sample of the fault matrix: every fault, every step and every kind of device, in a few runs.

`make faults` runs all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from qoslab import control

from .fault_matrix import BOXES, FAULTS, STEPS, Cell, Ended, Matrix, matrix

RUNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "before the first line": {
        "r1": ("read", "log"), "r3": ("login", "slow"), "s2950": ("login", "refuse_login"),
        "s2970": ("read", "page"), "ers5510": ("login", "banner"), "e300": ("read", "disconnect"),
    },
    "while it is pushed": {
        "r1": ("load", "full_flash"), "r3": ("load", "hang"), "s2950": ("commit", "early_timer"),
        "s2970": ("commit", "refuse"), "ers5510": ("commit", "disconnect"), "e300": ("check", "reboot"),
    },
    "saved by itself and then rolled back": {
        "r1": ("commit", "save"), "r3": ("check", "save"), "s2950": ("compare", "slow"),
        "s2970": ("hold", "late_timer"), "ers5510": ("commit", "save"), "e300": ("check", "save"),
    },
    "without an archive": {
        "r1": ("load", "no_archive"), "r3": ("compare", "rename"), "s2950": ("check", "answer lost"),
        "s2970": ("check", "early_timer"), "ers5510": ("check", "hang"), "e300": ("compare", "log"),
    },
    "while it is kept": {
        "r1": ("confirm", "full_flash"), "r3": ("confirm", "answer lost"), "s2950": ("confirm", "late_timer"),
        "s2970": ("hold", "reboot"), "ers5510": ("hold", "rename"), "e300": ("confirm", "answer lost"),
    },
    "while it is rolled back": {
        "r1": ("rollback", "hang"), "r3": ("rollback", "reboot"), "s2950": ("rollback", "disconnect"),
        "s2970": ("resave", "answer lost"), "ers5510": ("rollback", "refuse"), "e300": ("rollback", "save"),
    },
}  # fmt: skip
"""By run, the step and the fault of every device."""


def cells(run: str) -> list[Cell]:
    return [Cell(step, fault, box) for box, (step, fault) in RUNS[run].items()]


ALL = [cell for run in RUNS for cell in cells(run)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    with matrix(tmp_path_factory.mktemp("matrix")) as started:
        yield started


@pytest.fixture(scope="module")
def ended() -> list[Ended]:
    """What the runs of this module gave, in their order."""
    return []


def test_the_sample_has_every_fault_every_step_and_every_box() -> None:
    assert {cell.fault for cell in ALL} == set(FAULTS)
    assert {cell.step for cell in ALL} == set(STEPS)
    assert {cell.box for cell in ALL} == set(BOXES)


@pytest.mark.parametrize("run", RUNS)
def test_every_cell_ends_before_or_after_the_push(made: Matrix, ended: list[Ended], run: str) -> None:
    got = made.run(cells(run))
    ended += got
    assert {str(one.cell): one.why for one in got if one.end == "FAILED"} == {}


def test_an_interface_without_its_policy_is_seen(made: Matrix) -> None:
    seen = len(control.attachments(made.state, "r1"))
    policy = "service-policy output QOSFORGE-OUT"
    assert control.configure(made.state, "r1", ["interface Serial0/0", f"no {policy}", policy]) == []
    assert made.gaps("r1", seen) == [f"Serial0/0 output lost 'QOSFORGE-OUT' by 'no {policy}'"]


def test_every_fault_of_the_sample_came_about_somewhere(ended: list[Ended]) -> None:
    assert {one.cell.fault for one in ended if one.end != "not met"} == set(FAULTS)
