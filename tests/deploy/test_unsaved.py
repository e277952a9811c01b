"""Running and startup configuration that differ: what counts as a difference, on devices reached over SSH."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from napalm import get_network_driver
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import CommitConfirmException

from qosforge.deploy.driver_capabilities import DRIVERS
from qosforge.deploy.unsaved import in_the_way, unsaved
from qosforge.resources import root
from tests import doors
from tests.device_texts import said
from tests.doors import PASSWORD, SECRET, USERNAME, Doors

STARTUP = (root() / "inventories" / "campus" / "startup" / "r3.cfg").read_text()


@contextmanager
def session(router: Doors, folder: Path, driver: str = "ios_legacy") -> Iterator[NetworkDriver]:
    port, public = router.ssh()
    known = folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {public}\n")
    arguments = {
        "port": port,
        "secret": SECRET,
        "ssh_strict": True,
        "alt_host_keys": True,
        "alt_key_file": str(known),
    }
    made = get_network_driver(driver)("127.0.0.1", USERNAME, PASSWORD, optional_args=arguments)
    made.open()
    try:
        yield made
    finally:
        made.close()


def saved_before_an_upgrade(text: str) -> str:
    """What IOS leaves in NVRAM when its image is changed: the line of the release that saved it."""
    assert "version 12.2\n" in text
    return text.replace("version 12.2\n", "version 12.1\n")


def without_release(text: str) -> str:
    """A file that somebody wrote and copied there."""
    return text.replace("version 12.2\n", "").replace("!\n", "")


def reordered(text: str) -> str:
    """The same sections in another order, as releases print them."""
    sections = text.split("!\n")
    (first, *rest) = [section for section in sections if section.strip()]
    return "!\n".join([first, *reversed(rest)])


def stamped(text: str) -> str:
    """With what a device writes of its own accord (IOS and NTP: ``ntp clock-period``)."""
    head = "! Last configuration change at 10:00:00 UTC Mon Mar 1 2004 by ada\n"
    head += "! NVRAM config last updated at 10:01:00 UTC Mon Mar 1 2004 by ada\n"
    return head + text.replace("end\n", "") + "ntp clock-period 17179869\nend\n"


@pytest.mark.parametrize("saved", [saved_before_an_upgrade, without_release, reordered, stamped])
def test_a_push_with_a_timer_begins_where_nothing_but_such_lines_differ(tmp_path: Path, saved) -> None:
    with doors.device(tmp_path / "box", "cisco_ios", "12.2", STARTUP) as router:
        router.box.storage.save_startup(saved(router.running()))
        with session(router, tmp_path) as box:
            box.load_merge_candidate(config="interface FastEthernet0/0\n description pushed\n")
            box.commit_config(revert_in=600)
            assert box.has_pending_commit()
            box.confirm_commit()
        assert " description pushed" in router.startup()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["hostname Elsewhere"], r"differ in 2 lines \(-hostname R3; \+hostname Elsewhere\)"),
        (["interface Serial0/1", "bandwidth 64"], r"-interface Serial0/1 / bandwidth 2000"),
        (["snmp-server community Xq7-for-us RO"], r"\+snmp-server community <removed>\)"),
    ],
)
def test_what_really_differs_still_forbids_it(tmp_path: Path, lines: list[str], told: str) -> None:
    with doors.device(tmp_path / "box", "cisco_ios", "12.2", STARTUP) as router:
        router.box.storage.save_startup(router.running())
        router.box.configure(lines)
        before = router.running()
        with session(router, tmp_path) as box:
            box.load_merge_candidate(config="interface FastEthernet0/0\n description pushed\n")
            with pytest.raises(CommitConfirmException, match=told):
                box.commit_config(revert_in=600)
            assert not box.has_pending_commit()
        assert router.running() == before


def test_the_order_of_a_list_is_a_difference(tmp_path: Path) -> None:
    one, other = "access-list 101 permit udp any any eq 5000", "access-list 101 deny   ip any any"
    with doors.device(tmp_path / "box", "cisco_ios", "12.2", f"hostname R3\n{one}\n{other}\n") as router:
        text = router.running()
        assert f"{one}\n{other}\n" in text
        lines = text.splitlines(keepends=True)
        first, second = (
            next(at for at, line in enumerate(lines) if line.startswith(each)) for each in (one, other)
        )
        lines[first], lines[second] = lines[second], lines[first]
        router.box.storage.save_startup("".join(lines))
        with session(router, tmp_path) as box:
            box.load_merge_candidate(config="hostname R4\n")
            with pytest.raises(CommitConfirmException, match="access-list 101"):
                box.commit_config(revert_in=600)


def _unsaved(driver: str, startup: str, running: str) -> tuple[str, ...]:
    return tuple(line.shown() for line in unsaved(DRIVERS[driver], said(startup), said(running)))


def _in_the_way(startup: str, running: str) -> tuple[str, ...]:
    lines = in_the_way(DRIVERS["force10"], "force10_e300", said(startup), said(running))
    return tuple(line.shown() for line in lines)


CHAIN = "hostname R3\n!\ncrypto pki certificate chain TP-self-signed-1253431187\n"


def test_a_certificate_is_the_same_whole_or_as_a_file() -> None:
    """Whole in the running configuration and a file in startup: so published configurations show it."""
    startup = f"{CHAIN} certificate self-signed 01 nvram:IOS-Self-Sig#2.cer\n!\nip cef\nend\n"
    dump = "  30820243 308201AC A0030201 02020101\n  \tquit\n"
    running = f"{CHAIN} certificate self-signed 01\n{dump}!\nip cef\nend\n"
    assert _unsaved("ios", startup, running) == ()
    other = running.replace("self-signed 01", "self-signed 02")
    assert _unsaved("ios", startup, other) == (
        "-crypto pki certificate chain TP-self-signed-1253431187 / certificate self-signed 01",
        "+crypto pki certificate chain TP-self-signed-1253431187 / certificate self-signed 02",
    )


def test_a_device_that_shows_no_startup_has_nothing_to_compare() -> None:
    assert _unsaved("ers", "", "hostname X\n") == ()
    assert _unsaved("force10", "", "hostname X\n") == ()


def test_without_a_timer_only_what_is_ours_is_in_the_way() -> None:
    startup, running = "hostname A\n", "hostname B\nqos-policy-output voice\n bandwidth-percentage 10\n"
    assert _in_the_way(startup, running)[0].startswith("+qos-policy-output")
    assert _in_the_way(startup, "hostname B\n") == ()
    assert _unsaved("force10", startup, "hostname B\n") == ("-hostname A", "+hostname B")
