"""What devices say of themselves: published answers, and which image of an inventory fits which release."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qosforge.platforms.base import platform
from qosforge.platforms.inspection import Timer, image_fits

CAT9K = """\
Cisco IOS XE Software, Version 17.03.03
Cisco IOS Software [Amsterdam], Catalyst L3 Switch Software (CAT9K_IOSXE), Version 17.3.3, RELEASE SOFTWARE (fc7)
cisco C9300-48P (X86) processor with 1343703K/6147K bytes of memory.
"""
SYS_INFO = """\
Operation Mode:        Switch
sysDescr:              Ethernet Routing Switch 5510-48T
                       HW:03       FW:5.3.0.6   SW:v5.3.0.005
sysUpTime:             35 days, 07:24:53
sysNtpTime:            2015-10-21 20:26:44 GMT+02:00
"""


@pytest.mark.parametrize(
    ("written", "running", "fits"),
    [
        ("12.4", "12.4(25)", True),
        ("12.4", "12.4(15)T9", True),
        ("12.4(15)T", "12.4(15)T9", True),
        ("12.4(15)T", "12.4(20)T", False),
        ("12.2T", "12.2(15)T", True),
        ("12.2T", "12.2(15)", False),
        ("12.1EA-EI", "12.1(22)EA14-EI", True),
        ("12.1EA-SI", "12.1(22)EA14-EI", False),
        ("12.2", "12.25", False),
        ("17.1", "17.12", False),
        ("5.1", "5.1.0.014", True),
        ("6.5", "8.3.1.3", False),
    ],
)
def test_an_inventory_may_say_less_than_a_device(written: str, running: str, fits: bool) -> None:
    assert image_fits(written, running) is fits


def ios(clock: str = "", running: str = "", archive: str = "Archive feature not enabled") -> dict[str, str]:
    return {
        "show version": CAT9K,
        "show privilege": "Current privilege level is 15",
        "show clock": clock,
        "dir": "Directory of flash:/\n\n11353194496 bytes total (8565174272 bytes free)\n",
        "show archive": archive,
        "show archive config rollback timer": "%No Rollback Confirmed Change pending",
    }


@pytest.mark.parametrize(
    ("clock", "running", "utc"),
    [
        ("*22:01:51.165 UTC Thu Feb 18 2016", "", (2016, 2, 18, 22, 1, 51)),
        (".10:00:00.000 CET Mon Jan 5 2015", "clock timezone CET 1", (2015, 1, 5, 9, 0, 0)),
        (
            "10:00:00.000 CEST Mon Jul 6 2015",
            "clock timezone CET 1\nclock summer-time CEST recurring last Sun Mar 2:00 last Sun Oct 3:00",
            (2015, 7, 6, 8, 0, 0),
        ),
        ("10:00:00.000 NST Mon Jan 5 2015", "clock timezone NST -3 30", (2015, 1, 5, 13, 30, 0)),
        ("10:00:00.000 EST Mon Jan 5 2015", "", None),
        ("% Invalid input", "", None),
        ("25:00:00.000 UTC Mon Jan 5 2015", "", None),
    ],
)
def test_an_ios_clock_is_read_by_the_zones_of_its_configuration(
    clock: str, running: str, utc: tuple[int, ...] | None
) -> None:
    found = platform("catalyst_9000").inspect(ios(f"\n{clock}\n"), running, "ios")
    assert found.clock == (datetime(*utc, tzinfo=UTC) if utc else None)
    assert (found.platform, found.image, found.model) == ("catalyst_9000", "17.3.3", "C9300-48P")
    assert (found.flash_free, found.privilege) == (8565174272, 15)


def test_what_napalms_driver_needs_is_named_line_by_line() -> None:
    box = platform("cisco_ios")
    without = box.inspect(ios(), "hostname R\n", "ios")
    assert without.timer is Timer.MISSING
    assert [lack.message for lack in without.lacks] == [
        "it has no archive, which rolls a change back that nobody confirms",
        "it has no 'file prompt quiet'",
        "it has no 'ip scp server enable'",
    ]
    there = ios(archive="The maximum archive configurations allowed is 10.\n")
    running = "file prompt quiet\nip scp server enable\narchive\n path flash:x\n"
    ready = box.inspect(there, running, "ios")
    assert (ready.timer, ready.lacks) == (Timer.READY, ())
    pending = box.inspect(
        {**there, "show archive config rollback timer": "Timer type: absolute timer\nUser: ada"}, running, "ios"
    )
    assert pending.timer is Timer.PENDING


def test_a_device_that_answers_otherwise_is_none_of_ours_and_tells_nothing() -> None:
    for name, driver in (("cisco_ios", "ios_legacy"), ("nortel_5510", "ers"), ("force10_e300", "force10")):
        box = platform(name)
        answers = dict.fromkeys(box.inspection_commands(driver), "% Invalid input detected at '^' marker.")
        found = box.inspect(answers, "", driver)
        told = (found.platform, found.image, found.privilege, found.clock, found.flash_free)
        assert told == (None, "", None, None, None)


def test_a_5510_has_its_time_from_sntp() -> None:
    found = platform("nortel_5510").inspect({"show sys-info": SYS_INFO}, "", "ers")
    assert (found.platform, found.model, found.image) == ("nortel_5510", "5510-48T", "5.3.0.005")
    assert found.clock == datetime(2015, 10, 21, 18, 26, 44, tzinfo=UTC)
