"""The compose files: what they promise, and each of their commands and health checks as a process.

No container engine is needed: the services run as processes on this machine, with the addresses of the containers
replaced by the loopback's.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from ruamel.yaml import YAML
from sqlalchemy import make_url

from qosforge.batfish.release import client_release
from qosforge.inventory.probes import Probes
from qosforge.settings import Settings
from tests.checkout import PYTHONPATH

from .containers import ROOT, Unset, compose, dockerfile

FILE = ROOT / "docker-compose.yml"
GIVEN = {"QOSFORGE_DATABASE_PASSWORD": "a-password", "QOSFORGE_CREDENTIALS": "credentials.env"}
DOCUMENT = compose(FILE, GIVEN)
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
OURS = ("api", "worker")


# -- what they promise -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", GIVEN)
def test_what_has_no_safe_default_must_be_given(name: str) -> None:
    with pytest.raises(Unset, match=name):
        compose(FILE, {key: value for key, value in GIVEN.items() if key != name})


def test_no_password_is_written_down() -> None:
    for path in (FILE, ROOT / "docker-compose.batfish.yml", ROOT / "Dockerfile"):
        for line in path.read_text().splitlines():
            if re.search(r"(?i)passw|secret|token", line) and not line.lstrip().startswith("#"):
                assert "${QOSFORGE_DATABASE_PASSWORD:?" in line


def test_batfish_is_of_the_release_of_its_client() -> None:
    """The publisher's build gives an image and the client of one day the same number."""
    locks = [(ROOT / name).read_text() for name in ("requirements.lock", "requirements-runtime.lock")]
    pins = {found for text in locks for found in re.findall(r"^pybatfish==(\S+)", text, re.MULTILINE)}
    assert len(pins) == 1
    year, month, day, number = (int(part) for part in pins.pop().split("."))
    image = f"batfish/batfish:{year}.{month:02}.{day:02}.{number}"
    documents = (DOCUMENT, compose(ROOT / "docker-compose.batfish.yml", {}))
    images = [each["image"] for one in documents for each in one["services"].values() if "batfish" in each["image"]]
    assert images
    assert set(images) == {image}
    assert client_release() == image.partition(":")[2]


def test_batfish_has_more_threads_in_its_pool_than_caches_to_tidy() -> None:
    """Its four caches are tidied by the pool that fills them, which has one thread on two processors."""
    options = compose(ROOT / "docker-compose.batfish.yml", {})["services"]["batfish"]["environment"]
    (threads,) = re.findall(r"ForkJoinPool\.common\.parallelism=(\d+)", options["JAVA_TOOL_OPTIONS"])
    assert int(threads) > 4


OTG_GIVEN = {
    "QOSFORGE_OTG_IMAGES": "images.test",
    "QOSFORGE_OTG_LICENCE": "--accept-eula",
    "QOSFORGE_OTG_PORT_1": "eth1",
    "QOSFORGE_OTG_PORT_2": "eth2",
}


@pytest.mark.parametrize("name", OTG_GIVEN)
def test_a_traffic_generator_takes_what_only_its_user_can_give(name: str) -> None:
    with pytest.raises(Unset, match=name):
        compose(ROOT / "docker-compose.otg.yml", {key: value for key, value in OTG_GIVEN.items() if key != name})


def test_ports_of_a_traffic_generator_are_where_its_documentation_says() -> None:
    services = compose(ROOT / "docker-compose.otg.yml", OTG_GIVEN)["services"]
    assert services["controller"]["ports"] == ["127.0.0.1:8443:8443"]
    text = (ROOT / "docs" / "probes.md").read_text(encoding="utf-8").partition("**ixia-c in containers.**")[2]
    document = YAML(typ="safe").load(text.partition("```yaml\n")[2].partition("```")[0])
    found = Probes.model_validate(document).otg
    assert found is not None
    assert found.controller == "https://127.0.0.1:8443"
    for number, port in enumerate(found.ports, start=1):
        engine, protocols = services[f"port{number}"], services[f"protocols{number}"]
        listening = engine["environment"]["OPT_LISTEN_PORT"]
        assert port.location.partition("+")[0] == f"port{number}:{listening}"
        assert protocols["network_mode"] == f"service:port{number}"
        assert engine["environment"]["ARG_IFACE_LIST"].endswith(f",{protocols['environment']['INTF_LIST']}")
    assert all(re.fullmatch(r"images\.test/\S+:[\d.-]+", each["image"]) for each in services.values())


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_bounded_and_watched(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    tag = service["image"].partition(":")[2]
    version, _, digest = tag.partition("@")
    assert version
    assert version != "latest"
    # The one whose publisher names no digest; ours is built here.
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest) or service["image"].startswith(
        ("batfish/batfish:", "qosforge:")
    )
    assert not service.get("privileged")


@pytest.mark.parametrize("name", SERVICES)
def test_services_run_without_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["user"].split(":")[0] not in ("0", "root")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["stop_grace_period"]
    assert service["pids_limit"]


@pytest.mark.parametrize("name", OURS)
def test_ours_are_of_the_image(name: str) -> None:
    stage = dict(dockerfile(ROOT / "Dockerfile"))
    service = SERVICES[name]
    assert service["user"] == stage["USER"][0]
    assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    written = [entry.partition(":")[0] for entry in service["tmpfs"]]
    assert written == ["/tmp", stage["VOLUME"][0]]
    known = {f"QOSFORGE_{field.upper()}" for field in Settings.model_fields}
    assert {key for key in service["environment"] if key.startswith("QOSFORGE_")} <= known
    assert stage["CMD"] == SERVICES["api"]["command"]
    assert stage["HEALTHCHECK"][-1] == SERVICES["api"]["healthcheck"]["test"][-1]


def test_what_reaches_the_devices_alone_has_their_credentials() -> None:
    assert [name for name, service in SERVICES.items() if "env_file" in service] == ["api", "worker"]
    assert SERVICES["worker"]["deploy"]["replicas"] > 1  # nothing in it is one of its kind: no name, no port
    assert not {"container_name", "ports"} & set(SERVICES["worker"])


def test_what_lasts_is_in_a_named_volume() -> None:
    assert list(DOCUMENT["volumes"]) == ["database"]
    assert SERVICES["postgres"]["volumes"] == ["database:/var/lib/postgresql/data"]


def test_the_server_is_no_newer_than_the_clients_in_the_image() -> None:
    major = re.match(r"postgres:(\d+)\.", SERVICES["postgres"]["image"])
    installed = re.search(r"postgresql-client-(\d+)", (ROOT / "Dockerfile").read_text())
    assert major is not None
    assert installed is not None
    assert int(major[1]) <= int(installed[1])


def test_batfish_alone_needs_nothing_set() -> None:
    alone = compose(ROOT / "docker-compose.batfish.yml", {})
    assert list(alone["services"]) == ["batfish"]
    assert alone["services"]["batfish"] == SERVICES["batfish"]
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.search(r"^pybatfish==([0-9.]+)", lock, re.MULTILINE)
    assert pinned is not None
    assert SERVICES["batfish"]["image"].startswith(f"batfish/batfish:{_zeros(pinned[1])}")


def _zeros(version: str) -> str:
    year, month, day, *rest = version.split(".")
    return ".".join([year, month.zfill(2), day.zfill(2), *rest])


# -- as processes ------------------------------------------------------------------------------------------
class Started:
    """A service's command as a process, with what its health check runs in."""

    def __init__(self, name: str, url: str, var: Path, port: int) -> None:
        service = SERVICES[name]
        self._service, self._port = service, port
        settings = {key: str(value) for key, value in service["environment"].items() if value not in ("", None)}
        database = make_url(settings["QOSFORGE_DATABASE_URL"])
        assert (database.host, database.password) == ("postgres", None)
        settings |= {
            "QOSFORGE_DATABASE_URL": url,
            "QOSFORGE_INVENTORIES_DIR": str(ROOT / "inventories"),
            "QOSFORGE_VAR_DIR": str(var),
            "QOSFORGE_LOG_FORMAT": "json",
            "QOSFORGE_COMPUTE_PROCESSES": "1",
        }
        kept = {key: value for key, value in os.environ.items() if not key.startswith("QOSFORGE_")}
        self._environment = kept | settings | {"PYTHONPATH": PYTHONPATH}
        self._log = var.with_suffix(".log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                self._command(service["command"]), env=self._environment, cwd=var.parent, stdout=log, stderr=log
            )

    def _command(self, words: list[str]) -> list[str]:
        """Words as they are on this machine: the container's port, its Python and its entry point."""
        here = [str(word).replace("8080", str(self._port)).replace("0.0.0.0", "127.0.0.1") for word in words]
        if here[0] == "python":
            return [sys.executable, *here[1:]]
        arguments = here[1:] if here[0] == "qosforge" else here
        return [sys.executable, "-c", "from qosforge.cli.entry import main; main()", *arguments]

    def healthy(self) -> bool:
        """What its health check says, once."""
        check = self._service["healthcheck"]["test"][1:]
        done = subprocess.run(
            self._command(check), env=self._environment, capture_output=True, timeout=60, check=False
        )
        return done.returncode == 0

    def become_healthy(self) -> None:
        """Wait until the health check is content."""
        deadline = time.monotonic() + 90
        while not self.healthy():
            assert self._process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.5)

    def wait_for(self, event: str) -> None:
        """Wait until it logs an event."""
        deadline = time.monotonic() + 90
        while f'"{event}"' not in self.log:
            assert self._process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def stop(self) -> int:
        """Stop it as a container is stopped; its exit code."""
        self._process.send_signal(signal.SIGTERM)
        grace = int(self._service["stop_grace_period"].removesuffix("s"))
        return self._process.wait(grace)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def started(name: str, url: str, var: Path, port: int = 0) -> Iterator[Started]:
    var.mkdir()
    service = Started(name, url, var, port)
    try:
        yield service
    finally:
        service.kill()


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


def test_the_services_start_say_how_they_are_and_stop(postgres_url: str, tmp_path: Path) -> None:
    port = _free_port()
    with started("api", postgres_url, tmp_path / "api", port) as api:
        assert not api.healthy()  # it does not listen yet
        with started("worker", postgres_url, tmp_path / "worker") as worker:
            api.become_healthy()
            worker.wait_for("working")
            assert worker.healthy()
            with urlopen(f"http://127.0.0.1:{port}/api/v1/ready", timeout=10) as answer:
                assert json.load(answer)["ready"] is True
            assert worker.stop() == 0, worker.log
        assert api.healthy()  # it lives, whether or not somebody carries out runs
        assert api.stop() == 0, api.log
    lines = [json.loads(line) for line in api.log.splitlines()]
    assert any(line.get("event") == "serving" for line in lines)
    # With PostgreSQL nothing that lasts stays in the run directory, which the containers have in memory.
    left = [path for name in OURS for path in (tmp_path / name).rglob("*") if path.is_file()]
    assert left == []


@pytest.mark.needs("postgresql-backup")  # pg_isready is a client program, too
def test_the_databases_own_health_check(postgres_url: str) -> None:
    url = make_url(postgres_url)
    check = SERVICES["postgres"]["healthcheck"]["test"][1:]
    assert f"--dbname={SERVICES['postgres']['environment']['POSTGRES_DB']}" in check
    words = [word for word in check if not word.startswith("--dbname")] + [f"--dbname={url.database}"]
    assert subprocess.run([*words, f"--port={url.port}"], capture_output=True, check=False).returncode == 0
    away = subprocess.run([*words, f"--port={_free_port()}"], capture_output=True, check=False)
    assert away.returncode != 0
