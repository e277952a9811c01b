"""What an administrator asks a device before he trusts it: time, room, level; judged by ntc-templates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ntc_templates.parse import parse_output

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.shell import Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage


def made(folder: Path, platform: str, image: str, startup: str = "") -> Box:
    spec = BoxSpec(name="box", platform=platform, image=image, username="u", password="p", secret="s")
    box = make_box(spec, Storage(folder / platform, startup), Clock())
    box.boot()
    return box


def say(box: Box, line: str) -> str:
    return Shell(box, privileged=True).feed(line).text


def test_an_ios_clock_has_its_zone_and_may_be_wrong(tmp_path: Path) -> None:
    box = made(tmp_path, "cisco_ios", "12.2", "clock timezone CET 1\n")
    (read,) = parse_output("cisco_ios", "show clock", say(box, "show clock"))
    assert read["timezone"] == "CET"
    assert read["time"].startswith(box.clock.stamp("%H:%M", ahead=3600))
    year = int(read["year"])
    box.clock.ahead = -20 * 366 * 86400
    assert int(parse_output("cisco_ios", "show clock", say(box, "show clock"))[0]["year"]) < year - 18


def test_room_on_flash_is_told_as_templates_and_sessions_have_it(tmp_path: Path) -> None:
    for platform, image in (("cisco_ios", "12.2"), ("catalyst_2950", "12.1EA-EI"), ("catalyst_2970", "12.2")):
        box = made(tmp_path, platform, image)
        box.storage.write("old.cfg", b"hostname X\n")
        read = parse_output("cisco_ios", "dir", say(box, "dir"))
        assert [row["total_free"] for row in read] == [str(box.storage.free())]
    chassis = made(tmp_path, "force10_e300", "6.5")
    assert re.search(
        rf"^flash: \d+ bytes total \({chassis.storage.free()} bytes free\)$", say(chassis, "dir"), re.M
    )


def test_a_5510_tells_the_time_that_sntp_gave_it_and_else_none(tmp_path: Path) -> None:
    box = made(tmp_path, "nortel_5510", "5.1")
    assert "sysNtpTime" not in say(box, "show sys-info")
    box.configure(["sntp enable"])
    (read,) = parse_output("avaya_ers", "show sys-info", f"{say(box, 'show sys-info')}\nUnit sysAssetId:  x\n")
    assert read["sys_ntp_time"].endswith("GMT+00:00")


@pytest.mark.parametrize(("level", "prompt"), [(1, "box>"), (7, "box#"), (15, "box>")])
def test_a_user_of_a_level_in_between_looks_privileged_and_is_not(tmp_path: Path, level: int, prompt: str) -> None:
    box = made(tmp_path, "cisco_ios", "12.2", f"hostname box\nusername ada privilege {level} secret 5 $1$a\n")
    shell = box.new_shell("ada")
    assert shell.prompt == prompt
    assert "Invalid input" in shell.feed("show running-config").text
    assert "Invalid input" in shell.feed("configure terminal").text
    assert box.new_shell("grace").prompt == "box>"


def test_levels_are_told(tmp_path: Path) -> None:
    for platform, image in (("cisco_ios", "12.2"), ("force10_e300", "6.5")):
        box = made(tmp_path, platform, image)
        assert say(box, "show privilege").startswith("Current privilege level is 15")
        assert box.new_shell("ada").feed("show privilege").text.startswith("Current privilege level is 1")
