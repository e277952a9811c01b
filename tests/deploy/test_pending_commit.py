"""A commit that is pending on a device as it is pushed to: one of a process that died, or somebody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_candidate import CandidateDriver
from cli_candidate.bounded_ios import BoundedIosDriver
from napalm_ios_legacy import IOSLegacyDriver

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import DRIVERS
from qosforge.deploy.transaction import MOST_LOOKS, Target, apply, confirm, restore, running
from qosforge.errors import DeviceError
from qosforge.platforms.device_text import DeviceText, DeviceWords
from tests import doors
from tests.doors import PASSWORD, SECRET, USERNAME, Doors

from .test_transaction import Rows

SECONDS = 900
STARTUP = """\
hostname R1
file prompt quiet
archive
 path flash:cfg
interface Serial0/0
 ip address 192.0.2.1 255.255.255.252
end
"""
DELTA = ("policy-map P", " class class-default", "  bandwidth 500")
ARMS = {
    "ios": ("enable", SECRET, "configure terminal revert timer {minutes}", "end"),
    "ios_legacy": ("enable", SECRET, "reload in {minutes}", "\r"),
}
"""By driver, what a session types that sets the timer and enters nothing."""


class Armed:
    """A device whose timer somebody sets at the given moments of a push: before it, or once lines are loaded."""

    def __init__(self, router: Doors, driver: str, folder: Path) -> None:
        self.router, self.kind = router, driver
        self._folder = folder
        self.at_loading: list[Callable[[], None]] = []

    def set_by(self, user: str, minutes: int = SECONDS // 60) -> None:
        self.router.type_as(user, *(line.format(minutes=minutes) for line in ARMS[self.kind]))

    @contextmanager
    def session(self) -> Iterator[DeviceDriver]:
        armed = self

        class Late(BoundedIosDriver if self.kind == "ios" else IOSLegacyDriver):  # type: ignore[misc]
            def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
                super().load_merge_candidate(filename, config)
                if armed.at_loading:
                    armed.at_loading.pop(0)()

        port, public = self.router.ssh()
        known = self._folder / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {public}\n")
        arguments = {
            "port": port,
            "secret": SECRET,
            "ssh_strict": True,
            "alt_host_keys": True,
            "alt_key_file": str(known),
            **({"inline_transfer": True, "auto_file_prompt": False} if self.kind == "ios" else {}),
        }
        made: BoundedIosDriver | CandidateDriver = Late("127.0.0.1", USERNAME, PASSWORD, optional_args=arguments)
        made.open()
        try:
            yield DeviceDriver(made, DeviceWords("r1", "cisco_ios"))
        finally:
            made.close()


@pytest.fixture(params=ARMS)
def armed(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Armed]:
    with doors.device(tmp_path / "device", "cisco_ios", "12.4", STARTUP) as router:
        router.type_as(USERNAME, "enable", SECRET, "write memory")
        yield Armed(router, request.param, tmp_path)


def target(driver: DeviceDriver, kind: str, *, touched: bool) -> Target:
    """The push of a run that had ``touched`` the device before its process died."""
    return Target(
        device="r1",
        platform="cisco_ios",
        capabilities=DRIVERS[kind],
        original=running(driver),
        delta=DELTA,
        meets=_meets,
        touched=touched,
    )


def _meets(text: DeviceText) -> bool:
    return "bandwidth 500" in text.unmasked


def _push(driver: DeviceDriver, armed: Armed, at: str, user: str, rows: Rows, **said: bool) -> Target:
    """Push to a device whose timer a user sets ``before`` the first look, or ``between`` the look and the load."""
    pushed = target(driver, armed.kind, **said)
    if at == "before":
        armed.set_by(user)
    else:
        armed.at_loading.append(lambda: armed.set_by(user))
    apply(driver, pushed, rows, SECONDS)
    return pushed


@pytest.mark.parametrize("at", ["before", "between"])
def test_a_timer_that_a_dead_process_of_the_run_set_does_not_fail_the_push(armed: Armed, at: str) -> None:
    rows = Rows()
    with armed.session() as driver:
        pushed = _push(driver, armed, at, USERNAME, rows, touched=True)
        pending = driver.pending_commit()
        assert pending is not None
        assert pending.may_be_set_for(SECONDS)
        assert _meets(running(driver))
        confirm(driver, pushed, rows)
        assert driver.pending_commit() is None
    assert "bandwidth 500" in armed.router.startup()
    first = ["touching"] if at == "between" else []
    assert rows.actions == [*first, "touching", "touching", "armed", "touched", "confirmed"], "settled once"


def test_a_change_that_a_dead_process_had_confirmed_is_confirmed_again(armed: Armed) -> None:
    """It died before its journal said so, or a backup was restored that knows nothing of it."""
    rows = Rows()
    with armed.session() as driver:
        pushed = _push(driver, armed, "before", USERNAME, rows, touched=True)
        confirm(driver, pushed, Rows())
        armed.router.type_as(USERNAME, "enable", SECRET, "erase startup-config", "\r")
        confirm(driver, pushed, rows)
        assert driver.pending_commit() is None
    assert "bandwidth 500" in armed.router.startup()
    assert rows.actions[-1] == "confirmed"


def _left_alone(driver: DeviceDriver, armed: Armed, user: str, rows: Sequence[str]) -> None:
    """The pending commit is there still, nothing was entered, and no touch is left open to be settled over it."""
    pending = driver.pending_commit()
    assert pending is not None
    assert pending.user == user
    assert "bandwidth" not in armed.router.running()
    assert rows[-1:] in ([], ["undone"])
    assert not rows or rows[0] == "touching" or rows == ["undone"]


@pytest.mark.parametrize(("at", "touched"), [("before", False), ("before", True), ("between", True)])
def test_another_operators_commit_is_refused_by_name(armed: Armed, at: str, touched: bool) -> None:
    rows = Rows()
    with armed.session() as driver:
        with pytest.raises(DeviceError, match=r"a commit of ada waits there .* not this run's"):
            _push(driver, armed, at, "ada", rows, touched=touched)
        _left_alone(driver, armed, "ada", rows.actions)


@pytest.mark.parametrize("at", ["before", "between"])
def test_a_commit_of_the_same_login_is_not_the_runs_unless_it_touched_the_device(armed: Armed, at: str) -> None:
    rows = Rows()
    with armed.session() as driver:
        with pytest.raises(DeviceError, match=rf"a commit of {USERNAME} waits there"):
            _push(driver, armed, at, USERNAME, rows, touched=False)
        _left_alone(driver, armed, USERNAME, rows.actions)


def test_a_commit_of_the_same_login_with_another_timer_is_not_the_runs(armed: Armed) -> None:
    rows = Rows()
    with armed.session() as driver:
        pushed = target(driver, armed.kind, touched=True)
        armed.set_by(USERNAME, minutes=90)
        with pytest.raises(DeviceError, match=rf"a commit of {USERNAME} waits there"):
            apply(driver, pushed, rows, SECONDS)
        _left_alone(driver, armed, USERNAME, rows.actions)


def test_a_timer_that_is_set_at_every_look_ends_the_push(armed: Armed) -> None:
    rows = Rows()
    with armed.session() as driver:
        pushed = target(driver, armed.kind, touched=True)
        armed.set_by(USERNAME)
        armed.at_loading += [lambda: armed.set_by(USERNAME)] * MOST_LOOKS
        with pytest.raises(DeviceError, match=f"at {MOST_LOOKS} looks another commit was pending"):
            apply(driver, pushed, rows, SECONDS)
        assert "bandwidth" not in armed.router.running()
    assert rows.actions[-1] == "undone"


@pytest.mark.parametrize("driver", ["ios"])
def test_a_timer_set_while_the_inverse_is_loaded_is_taken_back_with_it(tmp_path: Path, driver: str) -> None:
    with doors.device(tmp_path / "device", "cisco_ios", "12.4", STARTUP) as router:
        router.type_as(USERNAME, "enable", SECRET, "write memory")
        armed, rows = Armed(router, driver, tmp_path), Rows()
        with armed.session() as session:
            pushed = target(session, driver, touched=True)
            router.type_as(USERNAME, "enable", SECRET, "configure terminal", *DELTA, "end")
            armed.at_loading.append(lambda: armed.set_by(USERNAME))
            assert restore(session, pushed, rows) == pushed.original
            assert session.pending_commit() is None


def test_a_device_with_another_operators_commit_is_not_settled_over_it(armed: Armed) -> None:
    rows = Rows()
    with armed.session() as driver:
        untouched = target(driver, armed.kind, touched=True)
        armed.set_by("ada")
        restore(driver, untouched, rows)
        _left_alone(driver, armed, "ada", ["undone"])
        armed.router.type_as("ada", "enable", SECRET, "configure terminal", *DELTA, "end")
        with pytest.raises(DeviceError, match="a commit of ada waits there"):
            restore(driver, untouched, rows)
    assert rows.actions == ["undoing", "undone", "undoing"]
