"""SIGTERM in the midst of devices that misbehave, by telnet and through a jump host, and beside open requests."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tokens import create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.database.connections import Database
from qosforge.settings import Settings
from tests import sshd
from tests.counted import tried
from tests.drivers.hostile import HEALTHY, WAYS, Way

from .command import Command
from .crowd import POLICY
from .hostile_networks import OTHERS, Networks, networks
from .midst import Asked, ended_in_time, hostile_of, into_the_midst, nothing_lost, recovered, until_all

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

REACHES: Mapping[str, Mapping[str, str]] = {
    "ssh": {},
    "telnet": {"transport": "telnet"},
    "jump": {"jump": "bastion"},
}


def _by(*names: str) -> list[object]:
    """Ways to reach devices, as parameters."""
    jumps = pytest.mark.needs("ssh-server")
    return [pytest.param(name, marks=jumps) if "jump" in REACHES[name] else name for name in names]


def _ways(*names: str) -> list[Way]:
    return [way for name in names for way in WAYS if way.name == name]


@pytest.fixture
def made(by: str, ways: Mapping[str, list[Way]], tmp_path: Path) -> Iterator[Networks]:
    """Networks of such devices, reached so."""
    with ExitStack() as running:
        if "jump" in REACHES[by]:
            (tmp_path / "bastion").mkdir()
            config = running.enter_context(sshd.bastion(tmp_path / "bastion"))
            (tmp_path / "ssh_config").write_text(config)
        yield running.enter_context(networks(tmp_path, ways, REACHES[by]))


RUNS = {
    "read": _ways("silent-read"),
    "batch": _ways("dripping-batch"),
    OTHERS: [HEALTHY],
}


@pytest.mark.parametrize("ways", [RUNS], ids=["runs"])
@pytest.mark.parametrize("by", _by("telnet", "jump"))
def test_runs_that_reach_devices_otherwise_are_left_within_ten_seconds(made: Networks, by: str) -> None:
    asked = Asked(made, None)
    with made.process("serve", "--port", "0") as process:
        into_the_midst(process, made, asked)
        ended_in_time(process)
    recovered(made, asked, nothing_lost(made, asked))
    tried(f"kills of serve in the midst by {by} (way and driver)", len(hostile_of(made)))
    asked.store.close()


READ = {"silent": _ways("silent-read"), "dripping": _ways("dripping-read")}


@pytest.mark.parametrize("ways", [READ], ids=["requests"])
@pytest.mark.parametrize("by", _by("ssh", "telnet", "jump"))
def test_open_requests_that_read_devices_are_answered_and_the_service_ends_within_ten_seconds(
    made: Networks, by: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with made.process("serve", "--port", str(port), QOSFORGE_REQUEST_SECONDS="300") as process:
        client = httpx2.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=300)
        process.wait_for(lambda: _ready(client), "the service", 120)
        client.headers["Authorization"] = f"Bearer {_token(made)}"
        with closing(client), ThreadPoolExecutor(2) as pool:
            asked = {
                "silent": pool.submit(_asked, client, "compile", "silent"),
                "dripping": pool.submit(_asked, client, "validate", "dripping"),
            }
            _midst(process, made, asked)
            ended_in_time(process)
            for network, answer in asked.items():
                problem = answer.result(5).json()
                assert problem["status"] == 502, problem
                told = {error["device"]: error["message"] for error in problem["errors"]}
                assert set(told) == {device.name for device in made.devices(network)}
                assert all("the service ends" in message for message in told.values()), told
    tried(f"kills of serve in the midst of requests by {by} (way and driver)", len(hostile_of(made)))


def _ready(client: httpx2.Client) -> bool:
    try:
        return bool(client.get("/ready").status_code == 200)
    except httpx2.HTTPError:
        return False


def _asked(client: httpx2.Client, kind: str, network: str) -> httpx2.Response:
    return client.post(f"/{kind}", json={"network": network, "policy": {"text": POLICY}, "live": True})


def _midst(process: Command, made: Networks, asked: Mapping[str, Future[httpx2.Response]]) -> None:
    until_all(process, hostile_of(made), lambda device: device.reached, "to be reached")
    made.boxes.let_loose()
    until_all(process, hostile_of(made), lambda device: device.in_the_midst, "to be in the midst")
    assert not any(answer.done() for answer in asked.values())


def _token(made: Networks) -> str:
    def write(connection: sa.Connection) -> str:
        now = datetime.now(UTC)
        add_user(connection, "ann", now)
        grant(connection, "ann", EVERY_NETWORK, Role.VIEWER)
        return create_token(connection, find_user(connection, "ann"), "t", Role.VIEWER, None, at=now)[1]

    with closing(Database(Settings(var_dir=made.folder / "var").database_url)) as database:
        return database.transact(write)
