"""A device that is of no lab: read, changed, measured and taken back, by the command line, REST and the pages."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.problems import MEDIA_TYPE
from qosforge.intent.policy_source import PolicySource
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests import doors, sshd
from tests.api.conftest import People
from tests.api.served import serving
from tests.doors import SECRET, Doors
from tests.principals import somebody
from tests.web.people import Persons

from .command import Command, Ended

STARTUP = (root() / "inventories" / "campus" / "startup" / "r3.cfg").read_text()
HOSTS = """\
r3:
  hostname: 127.0.0.1
  port: {port}
  platform: cisco_ios
  data:
    role: edge
    image: '12.2'
    driver: ios_legacy
    interfaces:
      FastEthernet0/0: {{rate: 100 Mb/s, tags: [lan]}}
      Serial0/1: {{rate: 2 Mb/s, tags: [wan], encapsulation: hdlc}}
"""
LINKS = """\
links: []
stations:
  - {name: near, address: 192.168.4.10, attach: [r3, FastEthernet0/0], rate: 100 Mb/s}
  - {name: far, address: 192.168.2.1, attach: [r3, Serial0/1], rate: 2 Mb/s}
"""
TRAFFIC = """\
scenarios:
  - name: wan
    title: a call beside a transfer
    between: [[near, far]]
    flows:
      - {name: call, from: near, to: far, application: rtp-audio, dst_port: 16384, dscp: 46,
         source: {kind: cbr, rate: 80 kb/s, ip_bytes: 200}}
      - {name: copy, from: near, to: far, application: ftp, protocol: tcp, dst_port: 20,
         source: {kind: tcp, ip_bytes: 1500}}
"""
POLICY = """\
version: 1
intent: calls-first
classes:
  - name: voice
    match: {any: [{application: [rtp-audio]}]}
    mark: {dscp: ef}
    treatment: {priority: {percent: 20}}
    objective: {delay: {p95: 60 ms}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 100}}
apply:
  - {interfaces: wan, direction: output}
verify:
  - {from: near, to: far, classes: [voice], beside: [default], seconds: 40, confidence: 95 %}
"""


@dataclass
class Own:
    """A run directory, an inventory of one router with a hostname, and the router itself."""

    folder: Path
    router: Doors
    settings: Mapping[str, str]
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def network(self) -> Path:
        return self.folder / "inventories" / "own"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.yaml"

    def command(self, *arguments: object) -> Ended:
        printed = self.folder / "printed" / str(next(self.numbers))
        return Command([str(argument) for argument in arguments], self.settings, printed).wait()

    def writable(self, text: str = "writable: true\n") -> None:
        (self.network / "changes.yaml").write_text(text)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Own]:
    """The router stands behind a real SSH server, and that one behind a jump host."""
    key = tmp_path / "id"
    public = sshd.new_key(key)
    with (
        doors.device(tmp_path / "box", "cisco_ios", "12.2", STARTUP) as router,
        sshd.server(tmp_path / "device", [public], router.plain()) as device,
        sshd.server(tmp_path / "jump", [public]) as jump,
    ):
        (tmp_path / "known_jump").write_text(jump.known)
        (tmp_path / "ssh_config").write_text(
            f"Host bastion\n  HostName 127.0.0.1\n  Port {jump.port}\n  User {sshd.user()}\n"
            f"  IdentityFile {key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {tmp_path / 'known_jump'}\n"
        )
        (tmp_path / "known_hosts").write_text(device.known)
        kept = tmp_path / "credentials.yaml"
        kept.write_text(f"site: {{username: {sshd.user()}, key: {key}, secret: {SECRET}}}\n")
        kept.chmod(0o600)
        folder = tmp_path / "inventories" / "own"
        folder.mkdir(parents=True)
        hosts = HOSTS.format(port=device.port) + "    credentials: site\n    jump: bastion\n"
        for name, text in (("hosts", hosts), ("groups", "{}\n"), ("defaults", "{}\n"), ("links", LINKS)):
            (folder / f"{name}.yaml").write_text(text)
        (folder / "traffic.yaml").write_text(TRAFFIC)
        (tmp_path / "policy.yaml").write_text(POLICY)
        settings = {
            "QOSFORGE_VAR_DIR": str(tmp_path / "var"),
            "QOSFORGE_INVENTORIES_DIR": str(tmp_path / "inventories"),
            "QOSFORGE_KNOWN_HOSTS_FILE": str(tmp_path / "known_hosts"),
            "QOSFORGE_SSH_CONFIG_FILE": str(tmp_path / "ssh_config"),
            "QOSFORGE_CREDENTIALS_FILE": str(kept),
        }
        yield Own(tmp_path, router, settings)


@pytest.mark.needs("ssh-server")
def test_the_whole_loop_on_a_device_of_ones_own(own: Own) -> None:
    before, on_network = own.router.running(), ("--network", own.network)
    shown = own.command("diff", own.policy, *on_network)
    assert shown.code == 0, shown.text
    assert "policy-map" in shown.stdout
    assert "the devices themselves" in shown.stderr

    refused = own.command("run", own.policy, *on_network)
    assert refused.code == 2, refused.text
    assert "network own is read-only" in refused.stderr
    assert "writable: true" in refused.stderr
    assert own.router.running() == before

    own.writable()
    ran = own.command("run", own.policy, *on_network, "--json")
    assert ran.code == 0, ran.text
    told = json.loads(ran.stdout)
    assert "1 of the devices themselves" in ran.stderr
    assert (told["status"], told["after"]) == ("kept", "met")
    assert "service-policy output" in own.router.running()
    assert own.router.running() == own.router.startup()

    again = own.command("run", own.policy, *on_network, "--json")
    assert again.code == 0, again.text

    back = own.command("rollback", told["run"], "--json")
    assert back.code == 0, back.text
    assert own.command("recover").code == 0
    assert own.router.running() == before

    own.writable("writable: false\n")
    assert own.command("push", own.policy, *on_network).code == 2
    assert own.router.running() == before


@pytest.mark.needs("ssh-server")
def test_rest_and_pages_push_to_a_device_of_ones_own(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in own.settings.items():
        monkeypatch.setenv(name, value)
    before, settings = own.router.running(), Settings(compute_processes=1)
    with (
        serving(settings.var_dir),
        open_backend(settings) as backend,
        TestClient(create_site(backend)) as client,
    ):
        token = People(backend).headers("rest", Role.ADMIN)
        order = {"policy": {"text": POLICY}, "network": "own", "measure": False}
        refused = client.post("/api/v1/runs", headers=token, json=order)
        assert (refused.status_code, refused.headers["content-type"]) == (422, MEDIA_TYPE)
        assert "network own is read-only" in refused.text
        assert "read-only" in page(client, Persons(backend).add("ann", Role.ADMIN).log_in(client))

        own.writable()
        placed = client.post("/api/v1/runs", headers=token, json=order)
        assert placed.status_code == 201, placed.text
        kept(backend, placed.json()["id"])
        assert "service-policy output" in own.router.running()
        client.post(f"/api/v1/runs/{placed.json()['id']}/rollback", headers=token).raise_for_status()
        await_running(own.router, before)

        author = Persons(backend).add("bob", Role.ADMIN)
        backend.policies.seen_by(somebody("bob")).store(
            "calls-first", PolicySource(POLICY, "calls.yaml"), network="own"
        )
        headers = author.log_in(client)
        assert "Into the devices themselves" in page(client, headers)
        form = {"network": "own", "policy": "calls-first", "key": "k", "judge": "nobody"}
        answer = client.post("/runs", data=form, headers=headers)
        assert answer.status_code == 204, answer.text
        kept(backend, answer.headers["hx-redirect"].rpartition("/")[2])
        assert "service-policy output" in own.router.running()


@pytest.mark.needs("ssh-server")
def test_what_is_not_saved_is_found_before_a_push_and_no_other_difference(own: Own) -> None:
    """The preview and a run tell it with the choices there are; the device is not touched before they are made."""
    own.writable()
    on_network = ("--network", own.network)
    own.router.box.save()
    own.router.box.storage.save_startup(own.router.startup().replace("version 12.2", "version 12.1"))
    assert own.command("diff", own.policy, *on_network).code == 0

    own.router.box.configure(["snmp-server community Xq7-for-us RO"])
    before, saved = own.router.running(), own.router.startup()
    shown = own.command("diff", own.policy, *on_network)
    assert shown.code == 1
    assert "running-not-saved" in shown.stdout
    assert "differ in 1 line: +snmp-server community ********" in shown.stdout
    assert "to keep what runs, save it on the device (write memory); to go back" in shown.stdout
    refused = own.command("push", own.policy, *on_network)
    assert refused.code == 1, refused.text
    assert "running-not-saved" in refused.stdout
    (run,) = set(re.findall(r"qosforge show (\S+)", refused.stdout))
    told = own.command("show", run)
    assert "to keep what runs, save it on the device (write memory); to go back" in told.stdout
    assert "Xq7-for-us" not in shown.text + refused.text + told.text
    assert (own.router.running(), own.router.startup()) == (before, saved)
    lines = [line for _, line in own.router.box.typed]
    assert not [line for line in lines if line.startswith(("configure", "reload in", "write"))]

    own.router.box.save()
    pushed = own.command("push", own.policy, *on_network)
    assert pushed.code == 0, pushed.text
    assert own.router.startup() == own.router.running() != before


@pytest.mark.needs("ssh-server")
def test_what_a_run_or_a_person_found_not_saved_is_told_before_the_next_run(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By previews and the device's page, from its last reading, until it is read again."""
    for name, value in own.settings.items():
        monkeypatch.setenv(name, value)
    own.writable()
    own.router.box.save()
    own.router.box.configure(["snmp-server community Xq7-for-us RO"])
    difference = "differ in 1 line: +snmp-server community ********"
    assert own.command("push", own.policy, "--network", own.network).code == 1
    settings = Settings(compute_processes=1)
    with (
        serving(settings.var_dir),
        open_backend(settings) as backend,
        TestClient(create_site(backend)) as client,
    ):
        headers = Persons(backend).add("ann", Role.ADMIN).log_in(client)
        form = {"network": "own", "text": POLICY, "name": "policy.yaml"}

        def previewed(**more: str) -> str:
            return client.post("/preview", data=form | more, headers=headers).text

        assert difference in previewed()
        assert 'data-cannot="Cannot start: 1 error (r3)"' in previewed()
        device = "/networks/own/devices/r3"
        assert difference in client.get(device, headers=headers).text
        assert "Xq7-for-us" not in previewed() + client.get(device, headers=headers).text
        token = People(backend).headers("rest", Role.VIEWER, "own")
        order = {"policy": {"text": POLICY}, "network": "own", "live": True}
        told = client.post("/api/v1/compile", headers=token, json=order).json()
        assert [each["code"] for each in told["findings"] if difference in each["message"]] == ["running-not-saved"]

        own.router.box.save()
        assert difference in previewed()
        assert difference not in client.post(f"{device}/now", headers=headers).text
        assert "data-would=" in previewed()
        own.router.box.configure(["snmp-server location cellar"])
        assert "data-would=" in previewed()
        assert "differ in 1 line: +snmp-server location cellar" in previewed(live="true")
        assert "differ in 1 line: +snmp-server location cellar" in client.get(device, headers=headers).text


def page(client: TestClient, headers: dict[str, str]) -> str:
    """The page of the network, with the rules of its changes."""
    return client.get("/networks/own", params={"tab": "settings"}, headers=headers).text


def kept(backend: Backend, run: str) -> None:
    """Wait until a run has ended, and be sure that its change was kept."""
    end = time.monotonic() + 120
    while not backend.run_requests.run(run).status.final and time.monotonic() < end:
        time.sleep(0.2)
    ended = backend.run_requests.run(run)
    assert ended.status is RunStatus.KEPT, ended.reason


def await_running(router: Doors, text: str) -> None:
    end = time.monotonic() + 120
    while router.running() != text and time.monotonic() < end:
        time.sleep(0.2)
    assert router.running() == text


@pytest.mark.needs("ssh-server")
def test_what_is_wrong_with_the_way_is_told_before_anything_is_sent(own: Own) -> None:
    own.writable()
    (own.folder / "known_hosts").write_text("")
    before = own.router.running()
    ended = own.command("run", own.policy, "--network", own.network)
    assert ended.code == 3
    assert re.search("known_hosts|host key", ended.stderr)
    assert own.router.running() == before


@pytest.mark.needs("ssh-server")
def test_a_host_key_is_recorded_when_somebody_confirms_it_and_never_silently(own: Own) -> None:
    known = own.folder / "known_hosts"
    public = known.read_text().split(maxsplit=1)[1].strip()
    known.unlink()
    asked = own.command("device", "trust", "--network", own.network)
    assert asked.code == 3, asked.text
    (fingerprint,) = set(re.findall(r"SHA256:\S+(?= is not known)", asked.stderr))
    assert not known.exists()
    wrong = own.command("device", "trust", "r3", "--network", own.network, "--fingerprint", "SHA256:other")
    assert (wrong.code, known.exists()) == (1, False)
    assert own.command("device", "trust", "--network", own.network, "--fingerprint", fingerprint).code == 0
    assert public in known.read_text()
    again = own.command("device", "trust", "--network", own.network, "--json")
    assert json.loads(again.stdout)["devices"][0]["state"] == "known"
    other = sshd.new_key(own.folder / "another")
    known.write_text(known.read_text().replace(public, other))
    changed = own.command("device", "trust", "--network", own.network, "--fingerprint", fingerprint)
    assert (changed.code, "another key is known" in changed.stdout) == (1, True)
    replaced = own.command("device", "trust", "--network", own.network, "--fingerprint", fingerprint, "--replace")
    assert replaced.code == 0
    assert public in known.read_text()
    assert other not in known.read_text()
    known.unlink()
    where = json.loads(again.stdout)["devices"][0]["host"].replace("[", "").replace("]", "")
    host = ("device", "trust", "--host", where, "--jump", "bastion")
    assert own.command(*host, "--fingerprint", "SHA256:other").code == 1
    recorded = own.command(*host, "--fingerprint", fingerprint)
    assert (recorded.code, public in known.read_text()) == (0, True), recorded.text
    both = own.command(*host, "--network", own.network)
    assert (both.code, "name hosts, or devices" in both.stderr) == (2, True)
    unknown = own.command("device", "trust", "r9", "--network", own.network)
    assert unknown.code == 2
    assert "it has r3" in unknown.stderr
    emulated = own.command("device", "trust", "--network", root() / "inventories" / "campus")
    assert (emulated.code, "no device of campus has a hostname" in emulated.stderr) == (2, True)
