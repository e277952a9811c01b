"""The faults of a plan, each as it looks on the wire, and when it happens."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from netmiko import NetmikoAuthenticationException

from qoslab import control
from qoslab.attachments import AttachmentChange
from qoslab.errors import BoxError, ChannelError

from .conftest import BoxMaker, login, type_lines
from .test_session import Raw, raw


def running(state: Path, box: str) -> str:
    return str(control.request(state, {"op": "running", "box": box})["running"])


def startup(state: Path, box: str) -> str:
    return (state / box / "startup-config").read_text()


@pytest.fixture
def fresh(lab: Path) -> Iterator[Path]:
    """A lab whose r1 and r3 run what they would boot with, also for the test that comes next."""
    for box in ("r1", "r3"):
        control.request(lab, {"op": "reboot", "box": box})
    yield lab
    for box in ("r1", "r3"):
        control.request(lab, {"op": "reboot", "box": box})


# -- when ------------------------------------------------------------------------------------------------
def test_a_moment_is_after_so_many_lines_and_once(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "log", pattern="^show privilege", lines=1)
    asked = [made.ask("show privilege\r", "R1#") for _ in range(3)]
    assert ["%SYS-5-CONFIG_I" in text for text in asked] == [False, True, False]
    assert control.met(fresh, "r1") == {"log": 1}
    made.client.close()


def test_patterns_are_met_in_turn(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "log", pattern=["^show clock", "^show privilege"], times=0)
    asked = [made.ask(f"{line}\r", "R1#") for line in ("show privilege", "show clock", "show privilege")]
    assert ["%SYS" in text for text in asked] == [False, False, True]
    made.client.close()


def test_a_mode_counts_its_own_lines(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "log", mode="configuration", lines=1)
    made.ask("show clock\r", "R1#")
    made.ask("configure terminal\r", r"\(config\)#")
    assert "%SYS" not in made.ask("\r", r"\(config\)#") + made.ask("ip cef\r", r"\(config\)#")
    assert "%SYS" in made.ask("ip cef\r", r"\(config\)#")
    made.client.close()


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("hang", {"pattern": "("}),
        ("hang", {"mode": "tcl"}),
        ("hang", {"lines": "few"}),
        ("rename", {}),
        ("refuse", {"pattern": "x"}),
        ("banner", {}),
    ],
)
def test_what_is_no_moment_is_refused(make: BoxMaker, kind: str, args: dict[str, object]) -> None:
    with pytest.raises(BoxError):
        make("12.4").faults.plant(kind, args)


# -- at a line -------------------------------------------------------------------------------------------
def test_a_line_is_refused_by_its_number_also_in_a_file(make: BoxMaker) -> None:
    box = make("12.4")
    box.faults.plant("refuse", {"lines": 1, "times": 1, "mode": "configuration", "text": "% Refused"})
    assert box.files.apply("interface Serial0/0\n description one\n ip mtu 600\n") == " description one\n% Refused"
    assert " ip mtu 600" in box.running_text()
    assert "description" not in box.running_text()


def test_a_session_dies_in_the_middle_of_a_line(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "disconnect", pattern="^show privilege")
    made.channel.sendall(b"show privilege\r")
    got = b""
    while data := made.channel.recv(4096):
        got += data
    assert b"show privilege".startswith(got)
    assert got != b"show privilege"


@pytest.mark.parametrize("taken", [False, True])
def test_a_line_may_be_taken_before_the_session_dies(fresh: Path, taken: bool) -> None:
    made = raw(fresh, "r1")
    made.ask("configure terminal\r", r"\(config\)#")
    control.plant(fresh, "r1", "disconnect", pattern="^ip host", taken=taken)
    made.channel.sendall(b"ip host a 192.0.2.1\r")
    while made.channel.recv(4096):
        pass
    assert ("ip host a" in running(fresh, "r1")) is taken


def test_a_box_says_no_more_but_to_others(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "hang", pattern="^show privilege")
    made.channel.sendall(b"show privilege\r")
    made.until("show privilege\r\n")
    made.channel.settimeout(0.5)
    with pytest.raises(TimeoutError):
        made.channel.recv(1)
    assert "level is 15" in raw(fresh, "r1").ask("show privilege\r", "R1#")
    made.client.close()


def test_it_pages_although_told_not_to(fresh: Path) -> None:
    made = raw(fresh, "r1")
    made.ask("terminal length 0\r", "R1#")
    control.plant(fresh, "r1", "page", pattern="^show running")
    assert made.ask("show running-config\r", " --More-- ").count("\r\n") == 24
    made.client.close()


def test_it_saves_by_itself(fresh: Path) -> None:
    made = raw(fresh, "r1")
    made.ask("configure terminal\r", r"\(config\)#")
    made.ask("ip host a 192.0.2.1\r", r"\(config\)#")
    control.plant(fresh, "r1", "save", pattern="^ip host b")
    made.ask("ip host b 192.0.2.2\r", r"\(config\)#")
    assert "ip host a" in startup(fresh, "r1")
    assert "ip host b" not in startup(fresh, "r1")
    made.client.close()
    control.configure(fresh, "r1", ["no ip host a 192.0.2.1", "no ip host b 192.0.2.2", "do write memory"])


def test_it_reboots(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.configure(fresh, "r1", ["ip host a 192.0.2.1"])
    control.plant(fresh, "r1", "reboot", pattern="^show clock")
    made.channel.sendall(b"show clock\r")
    while made.channel.recv(4096):
        pass
    assert "ip host" not in running(fresh, "r1")


def test_somebody_else_renames_it(fresh: Path) -> None:
    made = raw(fresh, "r1")
    control.plant(fresh, "r1", "rename", pattern="^show clock", name="Elsewhere")
    made.ask("show clock\r", "Elsewhere#")
    assert "hostname Elsewhere" in running(fresh, "r1")
    control.configure(fresh, "r1", ["hostname R1"])
    made.client.close()


@pytest.mark.parametrize("box", ["r1", "r3"])
def test_a_timer_runs_out_early_or_hardly_ever(fresh: Path, box: str) -> None:
    before = running(fresh, box)
    for kind in ("late_timer", "early_timer"):
        control.plant(fresh, box, kind, pattern="^show (archive config rollback|reload)", times=0)
        with login(fresh, box) as connection:
            if box == "r1":
                connection.send_command("configure terminal revert timer 2", expect_string=r"\(config\)#")
                connection.send_command("end", expect_string="#")
            else:
                connection.send_command("reload in 2", expect_string="confirm")
                connection.send_command("\n", expect_string="#")
            control.configure(fresh, box, ["ip host a 192.0.2.1"])
            ask = "show archive config rollback timer" if box == "r1" else "show reload"
            connection.write_channel(f"{ask}\n")
            time.sleep(0.5)
            if kind == "late_timer":
                time.sleep(4)  # two of the lab's minutes last 3 s
                assert "ip host a" in running(fresh, box)
                connection.send_command("configure confirm" if box == "r1" else "reload cancel", expect_string="#")
                control.configure(fresh, box, ["no ip host a 192.0.2.1"])
            assert running(fresh, box) == before
            assert control.met(fresh, box) == {kind: 1}
            connection.remote_conn.close()  # Netmiko's own way out asks for a prompt
        control.plant(fresh, box, "clear")


def test_what_happens_to_a_whole_box_needs_no_line(fresh: Path) -> None:
    before = running(fresh, "r1")
    assert control.happen(fresh, "r1", "early_timer") is False
    assert control.happen(fresh, "r1", "rename", "Elsewhere")
    assert control.happen(fresh, "r1", "reboot")
    assert running(fresh, "r1") == before
    assert control.met(fresh, "r1") == {"rename": 1, "reboot": 1}
    with pytest.raises(ChannelError, match="whole box"):
        control.happen(fresh, "r1", "hang")


# -- standing --------------------------------------------------------------------------------------------
def test_good_credentials_are_refused_so_often(fresh: Path) -> None:
    control.plant(fresh, "r1", "refuse_login", times=1)
    with pytest.raises(NetmikoAuthenticationException):
        login(fresh, "r1")
    login(fresh, "r1").disconnect()
    assert control.met(fresh, "r1") == {"refuse_login": 1}


def test_a_banner_is_said_at_login(fresh: Path) -> None:
    control.plant(fresh, "r1", "banner", text="####\n# here >\n####")
    made = Raw(fresh, "r1")
    assert made.until("R1>").startswith("####\r\n# here >\r\n####\r\n")
    made.client.close()


def test_flash_is_full(fresh: Path) -> None:
    control.plant(fresh, "r1", "full_flash")
    before = startup(fresh, "r1")
    with login(fresh, "r1") as connection:
        assert "(0 bytes free)" in connection.send_command("dir flash:")
        connection.send_command("copy running-config flash:x", expect_string=r"\?")
        assert "(Not enough space on device)" in connection.send_command("\n", expect_string="#")
        saved = connection.send_command("write memory")
    assert "[OK]" not in saved
    assert startup(fresh, "r1") == before


def test_the_archive_is_missing(fresh: Path) -> None:
    control.plant(fresh, "r1", "no_archive")
    with login(fresh, "r1") as connection:
        assert "Archive feature not enabled" in connection.send_command("show archive")
        assert "Please turn config archive on" in connection.send_command("configure terminal revert timer 2")


# -- what is attached ------------------------------------------------------------------------------------
def test_every_change_of_an_attachment_is_remembered_with_its_line(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(
        box, "policy-map A", "policy-map B", "interface Serial0/0", "service-policy output A",
        "no service-policy output A", "service-policy output B",
    )  # fmt: skip
    assert box.attached.history == [
        AttachmentChange("Serial0/0 output", "", "A", "service-policy output A"),
        AttachmentChange("Serial0/0 output", "A", "", "no service-policy output A"),
        AttachmentChange("Serial0/0 output", "", "B", "service-policy output B"),
    ]
    box.reboot()
    assert box.attached.history[3:] == [AttachmentChange("Serial0/0 output", "B", "", "boot")]


def test_a_configuration_that_is_replaced_whole_detaches_nothing_on_its_way(fresh: Path) -> None:
    control.configure(fresh, "r1", ["policy-map A", "interface Serial0/0", "service-policy output A"])
    seen = len(control.attachments(fresh, "r1"))
    with login(fresh, "r1") as connection:
        connection.send_command("configure terminal revert timer 2", expect_string=r"\(config\)#")
        connection.send_command("end", expect_string="#")
        connection.send_command("configure revert now", expect_string="#")
    assert re.search(" service-policy output A", running(fresh, "r1"))
    assert control.attachments(fresh, "r1")[seen:] == []
