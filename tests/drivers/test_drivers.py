"""The three drivers as NAPALM sees them: loading, opening, timers, saving."""

from __future__ import annotations

import inspect
import socket
import subprocess
import sys
from pathlib import Path

import napalm_ers
import napalm_force10
import napalm_ios_legacy
import pytest
from napalm import get_network_driver
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    ConnectAuthError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
)

from .conftest import IOS_MODES
from .peer import Peer

ALL = ["force10", "ers", "ios_legacy"]
STARTUP = "Using 40 out of 29688 bytes\n!\nversion 12.2\nhostname Box\n!\nntp clock-period 17179869\nend"
HEADER = "Building configuration...\n\nCurrent configuration : 40 bytes\n"


class Router:
    """An IOS box that can schedule a reload and write its memory."""

    def __init__(self) -> None:
        self.unsaved = ""
        self.scheduled = ""
        self.saved = 0
        self.save_answer = "Building configuration...\n[OK]"
        self.reload_asks = True

    def __call__(self, line: str) -> str:
        if line == "show startup-config":
            return STARTUP
        if line == "show running-config":
            body = STARTUP.split("\n", 1)[1].replace("17179869", "17180001")
            return HEADER + body.replace("hostname Box", f"hostname Box{self.unsaved}")
        if line == "show reload":
            return f"Reload scheduled in {self.scheduled} minutes" if self.scheduled else "No reload is scheduled."
        if line.startswith("reload in "):
            self.wanted = line.removeprefix("reload in ")
            return "System configuration has been modified. Save? [yes/no]: \0"
        if line == "no" and self.reload_asks:
            self.scheduled = self.wanted
            return "Reload scheduled for 10:00:00 UTC\nProceed with reload? [confirm]\0"
        if line == "reload cancel":
            self.scheduled = ""
            return "\n***\n*** --- SHUTDOWN ABORTED ---\n***"
        if line == "write memory":
            self.saved += 1
            return self.save_answer
        return ""


def router_peer(router: Router) -> Peer:
    return Peer(router, modes=IOS_MODES)


@pytest.mark.parametrize(
    ("name", "module"), [("force10", napalm_force10), ("ers", napalm_ers), ("ios_legacy", napalm_ios_legacy)]
)
def test_napalm_finds_exactly_one_class(name, module):
    exported = [item for _, item in inspect.getmembers(module, inspect.isclass) if issubclass(item, NetworkDriver)]
    assert exported == [get_network_driver(name)]


def test_the_drivers_stand_alone():
    code = "import sys, napalm_ers, napalm_force10, napalm_ios_legacy; print('qosforge' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_password_is_a_connection_error(name):
    with Peer(lambda line: "") as peer:
        box = get_network_driver(name)("127.0.0.1", "lab", "wrong", optional_args={"port": peer.port})
        with pytest.raises(ConnectionException) as caught:
            box.open()
        assert isinstance(caught.value, ConnectAuthError)
        assert "wrong" not in str(caught.value)
        assert box.is_alive() == {"is_alive": False}


@pytest.mark.parametrize("name", ALL)
def test_an_unreachable_port_is_a_connection_error(name):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    box = get_network_driver(name)("127.0.0.1", "lab", "lab", optional_args={"port": port})
    with pytest.raises(ConnectionException, match=f"127.0.0.1:{port}"):
        box.open()


def test_host_keys_are_checked(tmp_path: Path, connect):
    known = tmp_path / "known_hosts"
    strict = {"ssh_strict": True, "alt_host_keys": True, "alt_key_file": str(known)}
    peer, other = Peer(lambda line: ""), Peer(lambda line: "")
    with peer, other:
        for key, opens in ((other.host_key, False), (peer.host_key, True)):
            known.write_text(f"[127.0.0.1]:{peer.port} {key}\n")
            box = get_network_driver("ios_legacy")(
                "127.0.0.1", "lab", "lab", optional_args={"port": peer.port, **strict}
            )
            if opens:
                box.open()
                box.close()
            else:
                with pytest.raises(ConnectionException):
                    box.open()


def test_asking_whether_it_lives_leaves_it_alive(connect):
    box = connect("ers", Peer(lambda line: "fine"))
    for _ in range(3):
        assert box.is_alive() == {"is_alive": True}
        assert box.cli(["show health"]) == {"show health": "fine"}
    box.close()
    assert box.is_alive() == {"is_alive": False}


def test_a_box_without_a_command_line_is_a_connection_error():
    peer = Peer(lambda line: "", name="", silent={"terminal width 511"})
    with peer:
        box = get_network_driver("ios_legacy")(
            "127.0.0.1", "lab", "lab", optional_args={"port": peer.port, "read_timeout_override": 0.5}
        )
        with pytest.raises(ConnectionException):
            box.open()


@pytest.mark.parametrize("name", ALL)
def test_what_cannot_be_done_says_so(name, connect):
    box = connect(name, Peer(lambda line: "", modes=IOS_MODES))
    with pytest.raises(NotImplementedError, match="cannot replace"):
        box.load_replace_candidate(config="x")
    with pytest.raises(CommandErrorException, match="load the inverse"):
        box.rollback()
    for call in (box.compare_config, box.commit_config):
        with pytest.raises(MergeConfigException, match="no candidate"):
            call()
    with pytest.raises(MergeConfigException, match="neither"):
        box.load_merge_candidate()
    with pytest.raises(MergeConfigException, match="cannot read"):
        box.load_merge_candidate(filename="/nonexistent/candidate")
    box.load_merge_candidate(config="ip cef\n")
    with pytest.raises(NotImplementedError, match="message"):
        box.commit_config(message="because")
    box.discard_config()
    with pytest.raises(MergeConfigException, match="no candidate"):
        box.commit_config()


@pytest.mark.parametrize("name", ["force10", "ers"])
def test_no_timer_means_no_revert_in_and_nothing_is_sent(name, connect):
    peer = Peer(lambda line: "")
    box = connect(name, peer)
    box.load_merge_candidate(config="one\n")
    with pytest.raises(NotImplementedError, match="timer"):
        box.commit_config(revert_in=300)
    assert "configure terminal" not in peer.typed
    assert box.has_pending_commit() is False


@pytest.mark.parametrize(("name", "command"), [("force10", "write memory"), ("ers", "copy config nvram")])
def test_only_confirm_saves(name, command, connect):
    peer = Peer(lambda line: "", root_mode="(conf)" if name == "force10" else "(config)")
    box = connect(name, peer)
    box.load_merge_candidate(config="one\n")
    box.commit_config()
    assert command not in peer.typed
    box.confirm_commit()
    assert peer.typed[-1] == command


def test_a_candidate_comes_from_a_file_and_is_gone_after_the_commit(tmp_path, connect):
    peer = Peer(lambda line: "")
    box = connect("ios_legacy", peer)
    (tmp_path / "candidate").write_text("ip cef\n")
    box.load_merge_candidate(filename=str(tmp_path / "candidate"))
    assert box.compare_config() == "+ip cef"
    box.commit_config()
    assert "ip cef" in peer.typed
    with pytest.raises(MergeConfigException, match="no candidate"):
        box.commit_config()


def test_a_call_without_a_session_says_so(connect):
    box = get_network_driver("force10")("127.0.0.1", "lab", "lab")
    with pytest.raises(ConnectionClosedException, match="open"):
        box.get_config()


class TestReloadTimer:
    def test_it_is_armed_before_the_first_command_and_confirmed(self, connect):
        router = Router()
        peer = router_peer(router)
        box = connect("ios_legacy", peer)
        box.load_merge_candidate(config="ip cef\n")
        box.commit_config(revert_in=61)
        assert peer.typed.index("reload in 2") < peer.typed.index("configure terminal")
        assert "yes" not in peer.typed
        assert box.has_pending_commit() is True
        assert router.saved == 0
        box.confirm_commit()
        assert peer.typed.index("reload cancel") < peer.typed.index("write memory")
        assert (box.has_pending_commit(), router.saved) == (False, 1)

    def test_the_inverse_goes_in_under_the_running_timer(self, connect):
        router = Router()
        peer = router_peer(router)
        box = connect("ios_legacy", peer)
        box.load_merge_candidate(config="ip cef\n")
        box.commit_config(revert_in=5)
        assert "reload in 1" in peer.typed
        box.load_merge_candidate(config="no ip cef\n")
        with pytest.raises(CommandErrorException, match="already"):
            box.commit_config(revert_in=60)
        box.commit_config()
        assert box.has_pending_commit() is True
        box.confirm_commit()
        assert box.has_pending_commit() is False

    def test_unsaved_changes_forbid_it(self, connect):
        router = Router()
        router.unsaved = "-changed"
        peer = router_peer(router)
        box = connect("ios_legacy", peer)
        box.load_merge_candidate(config="ip cef\n")
        with pytest.raises(
            CommitConfirmException, match=r"differ in 2 lines \(-hostname Box; \+hostname Box-changed\)"
        ):
            box.commit_config(revert_in=60)
        assert router.scheduled == ""
        assert "configure terminal" not in peer.typed

    def test_a_box_that_does_not_schedule_is_not_touched(self, connect):
        router = Router()
        router.reload_asks = False
        peer = router_peer(router)
        box = connect("ios_legacy", peer)
        box.load_merge_candidate(config="ip cef\n")
        with pytest.raises(CommitConfirmException, match="does not schedule"):
            box.commit_config(revert_in=60)
        assert "configure terminal" not in peer.typed

    @pytest.mark.parametrize("seconds", [0, -60])
    def test_no_time_at_all_is_refused(self, connect, seconds):
        box = connect("ios_legacy", router_peer(Router()))
        box.load_merge_candidate(config="ip cef\n")
        with pytest.raises(CommitConfirmException, match="at least one second"):
            box.commit_config(revert_in=seconds)

    @pytest.mark.parametrize(
        ("said", "words"),
        [("startup-config file open failed (Not enough space)", "open failed"), ("Building...", "not saved")],
    )
    def test_a_failed_save_is_told(self, connect, said, words):
        router = Router()
        router.save_answer = said
        box = connect("ios_legacy", router_peer(router))
        with pytest.raises(CommandErrorException, match=words):
            box.confirm_commit()

    def test_a_box_without_the_command_has_none_and_cannot_be_armed(self, connect):
        words = "      ^\n% Invalid input detected at '^' marker."
        script = lambda line: words if "reload" in line else "hostname Box" if "config" in line else "[OK]"  # noqa: E731
        box = connect("ios_legacy", Peer(script))
        assert box.has_pending_commit() is False
        box.load_merge_candidate(config="ip cef\n")
        with pytest.raises(CommitConfirmException, match="does not schedule a reload: % Invalid input"):
            box.commit_config(revert_in=60)
        box.confirm_commit()

    def test_what_show_reload_does_not_say_is_not_guessed(self, connect):
        box = connect("ios_legacy", Peer(lambda line: "maybe" if line == "show reload" else ""))
        with pytest.raises(CommitConfirmException, match="maybe"):
            box.has_pending_commit()


class TestReading:
    def test_running_and_startup_without_volatile_lines(self, connect):
        box = connect("ios_legacy", router_peer(Router()))
        configs = box.get_config()
        assert configs["running"] == configs["startup"] == "!\nversion 12.2\nhostname Box\n!\nend"
        assert configs["candidate"] == ""
        assert box.get_config(retrieve="running")["startup"] == ""

    def test_full_and_format_are_not_faked(self, connect):
        box = connect("ios_legacy", router_peer(Router()))
        with pytest.raises(NotImplementedError, match="defaults"):
            box.get_config(full=True)
        with pytest.raises(NotImplementedError, match="json"):
            box.get_config(format="json")

    def test_secrets_go_when_asked(self, connect):
        running = (
            "hostname Box\nusername lab password 0 hunter2\nenable secret 5 $1$abc\nsnmp-server community sesame RO"
        )
        box = connect("ios_legacy", Peer(lambda line: running if "running" in line else ""))
        text = box.get_config(retrieve="running", sanitized=True)["running"]
        assert "hunter2" not in text
        assert "sesame" not in text
        assert "hostname Box" in text

    def test_a_refused_show_command_is_an_error(self, connect):
        words = "          ^\n% Invalid input detected at '^' marker."
        box = connect("ios_legacy", Peer(lambda line: words if line == "show startup-config" else "version 12.2"))
        with pytest.raises(CommandErrorException, match="show startup-config: % Invalid input"):
            box.get_config()

    def test_wrapped_ers_lines_are_joined(self, connect):
        line = "qos ip-element 1 name long addr-type ipv4 src-ip 10.10.10.0/24 dst-ip 10.10.20.0/24 protocol 17 "
        line += "dst-port-min 3000 dst-port-max 3007 ds-field 46"
        assert len(line) > 131
        header = "! Embedded ASCII Configuration Generator Script\n! clock set 1 2 3"
        wrapped = f"{header}\n{line[:130]}\n{line[130:]}   \nexit"
        box = connect("ers", Peer(lambda asked: wrapped if asked == "show running-config" else ""))
        assert box.get_config()["running"].split("\n") == [
            "! Embedded ASCII Configuration Generator Script",
            line,
            "exit",
        ]
        assert box.get_config()["startup"] == ""

    def test_an_old_ers_keeps_its_eighty_columns(self, connect):
        line = "qos policy 1 name abc if-group g clfr-type classifier clfr-id 1 in-profile-action 5 precedence 11"
        wrapped = f"{line[:79]}\n{line[79:]}\n"

        def script(asked):
            if asked.startswith("terminal width"):
                return "              ^\n% Invalid input detected at '^' marker."
            return wrapped if asked == "show running-config" else ""

        assert connect("ers", Peer(script)).get_config()["running"] == line

    def test_cli_returns_what_was_printed(self, connect):
        box = connect("force10", Peer(lambda line: "% Error: no" if line == "show nothing" else ""))
        assert box.cli(["show nothing", "show clock"]) == {"show nothing": "% Error: no", "show clock": ""}
        with pytest.raises(TypeError):
            box.cli("show clock")
        with pytest.raises(NotImplementedError):
            box.cli(["show clock"], encoding="json")

    def test_facts(self, connect):
        version = (
            "IOS (tm) C2600 Software (C2600-IS-M), Version 12.2(8)T5,  RELEASE SOFTWARE (fc1)\n"
            "Box uptime is 1 day, 2 hours, 3 minutes\n"
            "cisco 2620 (MPC860) processor (revision 0x102) with 61440K/4096K bytes of memory.\n"
            "Processor board ID JAD05090XYZ (1234567890)\n"
        )
        running = "hostname Box\ninterface FastEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n"
        answers = {"show version": version, "show running-config": running}
        facts = connect("ios_legacy", Peer(lambda line: answers.get(line, ""))).get_facts()
        assert facts == {
            "uptime": 93780.0,
            "vendor": "Cisco",
            "model": "2620",
            "hostname": "Box",
            "fqdn": "Box",
            "os_version": "12.2(8)T5",
            "serial_number": "JAD05090XYZ",
            "interface_list": ["FastEthernet0/0"],
        }
