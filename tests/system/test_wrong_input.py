"""Wrong input, devices that cannot be reached, a lab that is not there: one clear message each, nothing changed."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qoslab import control

from .campus import INVENTORY, POLICY, Campus
from .command import Ended

COMMANDS = ("lint", "run")


@pytest.fixture
def untouched(campus: Campus) -> Iterator[Campus]:
    """The campus, of which no test may change a device."""
    before = campus.all_running(), [campus.startup(name) for name in campus.names]
    yield campus
    assert (campus.all_running(), [campus.startup(name) for name in campus.names]) == before


def recorded(campus: Campus) -> int:
    with campus.store() as store:
        return len(store.list_runs())


def refused(campus: Campus, *arguments: object, **more: dict[str, str]) -> Ended:
    """A command that must say what is wrong with its input, and do nothing."""
    runs = recorded(campus)
    ended = campus.command(*arguments, environment=more.get("environment"))
    assert ended.code == 2, ended.text
    assert "Traceback" not in ended.text
    assert ended.stdout == ""
    assert recorded(campus) == runs
    return ended


# -- the intent -------------------------------------------------------------------------------------------
WRONG = {
    "an unknown key": (("priority: {percent: 50}", "priorty: {percent: 50}"), ["priorty"]),
    "percents over 100": (
        ("bandwidth: {remaining_percent: 70}", "bandwidth: {remaining_percent: 80}"),
        ["bandwidth: {remaining_percent: 30}"],
    ),
    "an unknown class": (
        ("from: vigo1, to: vigo2, classes: [voice-video]", "from: vigo1, to: vigo2, classes: [voice]"),
        ["[voice]"],
    ),
    "a bad unit": (("p95: 50 ms", "p95: 50 lightyears"), ["50 lightyears"]),
    "a newline in a name": (("name: web-and-file", 'name: "web\\nno ip routing"'), ["no ip routing"]),
    "a mark that does not exist": (("mark: {dscp: af21, cos: 2}", "mark: {dscp: af99, cos: 2}"), ["af99"]),
    "two problems at once": (
        ("variation: 50 ms, loss: 0.1 %", "variation: 50 cm, loss: 0.1 kg"),
        ["variation: 50 cm", "loss: 0.1 kg"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_intent_is_told_with_its_place(untouched: Campus, tmp_path: Path, case: str, command: str) -> None:
    (old, new), wrong = WRONG[case]
    lines = POLICY.read_text().replace(old, new).splitlines()
    assert new in "\n".join(lines)
    policy = tmp_path / "policy.yaml"
    policy.write_text("\n".join(lines))
    ended = refused(untouched, command, policy)
    numbers = [next(n for n, line in enumerate(lines, 1) if words in line) for words in wrong]
    places = sorted(f"error: {policy}:{number}:" for number in numbers)
    assert "\nno ip routing" not in ended.text
    assert len(ended.problems) == len(places), ended.text
    assert all(problem.startswith(place) for problem, place in zip(sorted(ended.problems), places, strict=True))


def _bomb() -> bytes:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(rows).encode()


FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "an empty file": (lambda: b"", "is empty"),
    "a binary file": (lambda: bytes(range(256)) * 64, "not"),
    "a YAML bomb": (_bomb, "alias"),
    "a 50 MB file": (lambda: b"# campus\n" * (50_000_000 // 9), "larger"),
    "no YAML": (lambda: b"classes: [}\n", "YAML"),
    "a list": (lambda: b"- 1\n- 2\n", "is not an intent"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_intent_is_told(untouched: Campus, tmp_path: Path, case: str, command: str) -> None:
    content, words = FILES[case]
    policy = tmp_path / "policy.yaml"
    policy.write_bytes(content())
    ended = refused(untouched, command, policy)
    (problem,) = ended.problems
    assert problem.startswith(f"error: {policy}")
    assert words in problem
    assert len(ended.text) < 1000


@pytest.mark.parametrize("command", ["lint", "compile", "validate", "diff", "measure", "push", "run"])
def test_a_missing_file_is_told_by_every_command(untouched: Campus, tmp_path: Path, command: str) -> None:
    (problem,) = refused(untouched, command, tmp_path / "nothing.yaml").problems
    assert "nothing.yaml: cannot be read" in problem


# -- options, settings, inventories -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", POLICY, "--fast"), "No such option"),
        (("run",), "Missing argument"),
        (("dance",), "No such command"),
        (("run", POLICY, "--seed", "x"), "Invalid value for '--seed'"),
    ],
)
def test_wrong_usage_is_told(untouched: Campus, arguments: tuple[object, ...], words: str) -> None:
    assert words in refused(untouched, *arguments).stderr


@pytest.mark.parametrize("run_id", ["0197", "no-such-run", "", "%"])
def test_an_unknown_run_is_told(untouched: Campus, run_id: str) -> None:
    (problem,) = refused(untouched, "show", run_id).problems
    assert f"there is no run {run_id!r}" in problem


@pytest.mark.parametrize(("name", "value"), [("QOSFORGE_BATFISH_PORT", "port"), ("QOSFORGE_BATFISH_PORT", "70000")])
def test_a_wrong_setting_is_told_by_name(untouched: Campus, name: str, value: str) -> None:
    ended = refused(untouched, "run", POLICY, environment={name: value})
    (problem,) = ended.problems
    assert name in problem


BROKEN = {
    "an interface that is not there": ("links.yaml", "a: [r1, Serial0/0]", "a: [r1, Serial9/9]", "Serial9/9"),
    "a rate without a unit": ("hosts.yaml", "rate: 256 kb/s, tags: [wan]", "rate: fast, tags: [wan]", "rate"),
    "a flow from nowhere": ("traffic.yaml", "from: phone56, to: vigo1", "from: phone9, to: vigo1", "phone9"),
    "an unknown group": ("hosts.yaml", "groups: [nortel_5510]", "groups: [nortel]", "nortel"),
    "no YAML": ("links.yaml", "links:", "links: [}", "YAML"),
    "a platform nobody has": ("groups.yaml", "platform: force10_e300", "platform: force10", "force10"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_inventory_is_told_with_its_file(untouched: Campus, tmp_path: Path, case: str) -> None:
    file, old, new, words = BROKEN[case]
    folder = tmp_path / "campus"
    shutil.copytree(INVENTORY, folder)
    path = folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    ended = refused(untouched, "run", POLICY, "--network", folder)
    assert ended.problems
    assert words in ended.stderr


def test_an_inventory_that_is_not_there_is_told(untouched: Campus, tmp_path: Path) -> None:
    (problem,) = refused(untouched, "run", POLICY, "--network", tmp_path / "nowhere").problems
    assert "no such network" in problem


# -- devices that cannot be reached -------------------------------------------------------------------------
def unreached(campus: Campus, command: str, **environment: str) -> Ended:
    """A command that must name the one device it could not work with."""
    ended = campus.command(command, POLICY, environment=environment)
    assert ended.code == 3, ended.text
    assert "Traceback" not in ended.text
    (problem,) = ended.problems
    assert problem.startswith("error: r2: ")
    return ended


@pytest.mark.parametrize("command", ["run", "diff"])
def test_a_box_that_does_not_listen_is_named(untouched: Campus, command: str) -> None:
    overlay = untouched.state / "overlay.yaml"
    good = overlay.read_text()
    port = control.overlay(untouched.state).boxes["r2"].port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers
        closed = taken.getsockname()[1]
        overlay.write_text(good.replace(f"port: {port}", f"port: {closed}"))
        known = untouched.state / "known_hosts"
        keys = known.read_text()
        known.write_text(keys.replace(f"]:{port} ", f"]:{closed} "))
        try:
            ended = unreached(untouched, command)
        finally:
            overlay.write_text(good)
            known.write_text(keys)
    assert "cannot be reached" in ended.stderr
    assert f"port {closed}" in ended.stderr


@pytest.mark.parametrize("command", ["run", "measure"])
def test_a_wrong_password_is_told_and_not_shown(untouched: Campus, command: str) -> None:
    ended = unreached(
        untouched,
        command,
        QOSFORGE_USERNAME_R2="qosforge",
        QOSFORGE_PASSWORD_R2="not-the-one",
        QOSFORGE_SECRET_R2="x",
    )
    assert "refuses the credentials" in ended.stderr
    assert "not-the-one" not in ended.text


def test_another_host_key_is_told(untouched: Campus) -> None:
    known = untouched.state / "known_hosts"
    good = known.read_text()
    boxes = control.overlay(untouched.state).boxes
    known.write_text(good.replace(boxes["r2"].host_key, boxes["r3"].host_key))
    try:
        ended = unreached(untouched, "run")
    finally:
        known.write_text(good)
    assert "another host key" in ended.stderr


@pytest.mark.parametrize("command", ["run", "diff", "measure", "push"])
def test_without_a_lab_the_way_to_start_one_is_told(campus: Campus, tmp_path: Path, command: str) -> None:
    ended = campus.command(command, POLICY, environment={"QOSFORGE_VAR_DIR": str(tmp_path / "var")})
    assert ended.code in (2, 3)
    assert "Traceback" not in ended.text
    assert "qosforge lab up" in ended.stderr
    assert len(ended.problems) in (1, len(campus.names))


# -- two at once ------------------------------------------------------------------------------------------
def test_a_second_process_is_told_which_one_works(campus: Campus) -> None:
    campus.reset()
    control.plant(campus.state, "r1", "slow", seconds=0.15)
    first = campus.begin("push", POLICY)
    try:
        first.wait_for(lambda: "push" in first.printed().stderr, "its push")
        second = campus.command("push", POLICY)
        recovering = campus.command("recover")
    finally:
        control.plant(campus.state, "r1", "clear")
        ended = first.wait()
    for refused_one in (second, recovering):
        assert refused_one.code == 3
        (problem,) = refused_one.problems
        assert f"process {first.pid} owns the run engine" in problem
        assert "Traceback" not in refused_one.text
    assert ended.code == 0, ended.text
    campus.reset()
