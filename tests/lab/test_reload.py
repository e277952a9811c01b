"""reload in N as a commit-confirm timer, and a box's memory over restarts."""

from __future__ import annotations

import time
from pathlib import Path

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec

from .conftest import OLD_ROUTER, login


def _running(state: Path) -> str:
    return str(control.request(state, {"op": "running", "box": "r3"})["running"])


def test_cancel_and_fire(lab: Path) -> None:
    connection = login(lab, "r3")
    connection.save_config()
    text = connection.send_command("reload in 30", expect_string=r"confirm\]")
    assert "Reload scheduled in 30 minutes" in text
    connection.send_command("\n", expect_string="R3#", cmd_verify=False)
    assert "Reload scheduled for" in connection.send_command("show reload")
    assert "SHUTDOWN ABORTED" in connection.send_command("reload cancel")
    assert "No reload is scheduled" in connection.send_command("show reload")

    connection.send_command("reload in 1", expect_string=r"confirm\]")
    connection.send_command("y", expect_string="R3#", cmd_verify=False)
    connection.send_config_set(["interface Serial0/0", "description lost at the reload"])
    assert "lost at the reload" in _running(lab)
    deadline = time.monotonic() + 60
    while connection.remote_conn.transport.is_active() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not connection.remote_conn.transport.is_active()
    assert "lost at the reload" not in _running(lab)
    connection.disconnect()
    with login(lab, "r3") as again:
        assert "No reload is scheduled" in again.send_command("show reload")


def test_a_modified_box_asks_to_save(lab: Path) -> None:
    with login(lab, "r3") as connection:
        connection.send_config_set(["interface Serial0/0", "description unsaved"])
        asked = connection.send_command("reload in 30", expect_string=r"yes/no\]:")
        assert "System configuration has been modified" in asked
        connection.send_command("no", expect_string=r"confirm\]")
        connection.send_command("n", expect_string="R3#", cmd_verify=False)
        connection.send_config_set(["interface Serial0/0", "no description"])
        assert "unsaved" not in connection.send_command("show startup-config")


def test_restart_keeps_startup_port_and_key_and_forgets_running(tmp_path: Path) -> None:
    startup = tmp_path / "r3.cfg"
    startup.write_text(OLD_ROUTER)
    box = BoxSpec(
        name="r3", platform="cisco_ios", image="12.2", username="admin", password="lab-pass", secret="lab-secret",
        startup_config=startup,
    )  # fmt: skip
    spec = NetworkSpec(network="restart", boxes=[box])
    state = tmp_path / "state"
    first = control.start(spec, state)
    try:
        with login(state, "r3") as connection:
            connection.send_config_set(["interface Serial0/0", "description kept"])
            connection.save_config()
            connection.send_config_set(["interface Serial0/0", "description forgotten"])
        assert control.stop(state)
        assert control.status(state) is None
        again = control.start(spec, state)
        assert again.boxes == first.boxes
        assert " description kept\n" in _running(state)
    finally:
        control.clean(state)
    assert not state.exists()
