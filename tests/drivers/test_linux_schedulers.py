"""Which schedulers a Linux router tells it has, and whether its kernel has to load any for that."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from napalm_linux_tc.schedulers import SCHEDULERS, known, look

LOADED, BUILT_IN, LISTED = "proc/modules", "lib/modules/6.1/modules.builtin", "lib/modules/6.1/modules.dep"
LOCKED = "proc/sys/kernel/modules_disabled"
FILE = "lib/modules/6.1/kernel/net/sched/sch_red.ko.xz"
HFSC = "sch_hfsc 24576 0 - Live 0x0000000000000000\n"
HTB = "kernel/net/sched/sch_htb.ko\n"
RED = "kernel/net/sched/sch_red.ko.xz: kernel/net/sched/other.ko.xz\nkernel/net/sched/sch_redder.ko:\n"
KERNEL = {"htb", "red"}
"""What this machine's kernel takes in these tests when it is tried."""

Look = Callable[..., tuple[set[str], set[str]]]


@pytest.fixture
def looked(tmp_path: Path) -> Look:
    """Look at a router that has these files: what it tells, and what was tried."""
    programs, tried = tmp_path / "bin", tmp_path / "tried"

    def program(name: str, text: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)

    def look_at(
        files: dict[str, str], in_use: Collection[str] = (), namespaces: bool = True
    ) -> tuple[set[str], set[str]]:
        programs.mkdir()
        program("uname", "echo 6.1")
        program("unshare", 'shift; exec "$@"' if namespaces else "exit 1")
        program("tc", f"[ $2 = del ] || echo $8 >> {tried}; case $8 in htb|red|'') exit 0;; esac; exit 2")
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        command = f"used=' {' '.join(in_use)} '\n{look()}"
        for place in ("/proc/", "/lib/modules/"):
            command = command.replace(place, f"{tmp_path}{place}")
        asked = subprocess.run(
            ["sh", "-c", f"PATH={programs}:$PATH; {command}"], capture_output=True, text=True, check=True
        )
        assert asked.stderr == ""
        told = {line.removeprefix("modprobe sch_") for line in known(asked.stdout, in_use)}
        return told, set(tried.read_text(encoding="utf-8").split()) if tried.exists() else set()

    return look_at


def test_a_kernel_with_modules_is_looked_up_and_none_is_loaded(looked: Look) -> None:
    assert looked({LOADED: HFSC, BUILT_IN: HTB, LISTED: RED}) == ({"hfsc", "htb", "red"}, set())


def test_what_no_list_has_the_kernel_has_not(looked: Look) -> None:
    assert looked({LOADED: "", BUILT_IN: HTB, LISTED: RED}) == ({"htb", "red"}, set())


def test_without_a_list_of_modules_their_files_are_looked_at(looked: Look) -> None:
    assert looked({LOADED: "", BUILT_IN: HTB, FILE: ""}) == ({"htb", "red"}, set())


@pytest.mark.parametrize(
    ("name", "needed", "lacking"),
    [
        *(
            ("gred", ("sch_gred", "sch_ingress", "cls_flower"), each)
            for each in ("sch_gred", "sch_ingress", "cls_flower", "")
        ),
        *(("drr", ("sch_drr", "cls_matchall"), each) for each in ("sch_drr", "cls_matchall", "")),
    ],
)
def test_one_that_needs_filters_is_there_with_their_modules(
    looked: Look, name: str, needed: tuple[str, ...], lacking: str
) -> None:
    modules = {*needed} - {lacking}
    lists = RED + "".join(f"kernel/net/sched/{each}.ko:\n" for each in sorted(modules))
    told, tried = looked({LOADED: "", BUILT_IN: HTB, LISTED: lists})
    assert told == {"htb", "red"} | ({name} if not lacking else set())
    assert tried == set()


def test_a_scheduler_in_use_is_known(looked: Look) -> None:
    assert looked({LOADED: "", BUILT_IN: "", LISTED: ""}, ("hfsc", "htb", "noqueue")) == ({"hfsc", "htb"}, set())


@pytest.mark.parametrize(
    ("files", "tried"),
    [
        pytest.param({}, {*SCHEDULERS}, id="no modules"),
        pytest.param({LOADED: HFSC}, {*SCHEDULERS} - {"hfsc"}, id="no lists"),
        pytest.param(
            {LOADED: HFSC, LOCKED: "1\n", BUILT_IN: HTB, LISTED: RED},
            {*SCHEDULERS} - {"hfsc", "htb"},
            id="none is loaded",
        ),
        pytest.param({BUILT_IN: HTB, LISTED: RED}, {*SCHEDULERS} - {"htb"}, id="lists without modules"),
    ],
)
def test_what_is_unknown_is_tried(looked: Look, files: dict[str, str], tried: set[str]) -> None:
    told, made = looked(files)
    assert made == tried
    assert told == KERNEL | ({"hfsc"} if LOADED in files else set())


def test_a_kernel_that_cannot_be_asked_does_not_tell_that_it_has_none(looked: Look) -> None:
    assert looked({LOADED: HFSC}, ("htb",), namespaces=False) == (set(), set())
