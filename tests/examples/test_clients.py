"""Clients against a served instance: each does a run. Generators of others make theirs without a warning."""

from __future__ import annotations

import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from qosforge_client import Client, Conflict, InlinePolicy, NamedPolicy, NotFound, RunStatus, StillRunning

from .conftest import NETWORK, POLICY, Approver, Instance
from .generated import generate_clientele, generate_openapi_python_client
from .playbooks import COLLECTION, MODULES, PLAYBOOK, command, installed

OPERATIONS = {
    "get_run",
    "get_device",
    "predict_policy",
    "measure_now",
    "run_report",
    "run_report_pdf",
    "compile_policy",
    "store_policy",
}
"""Some that generators dropped, or would first drop."""


def policy(kbps: int) -> str:
    """A policy of its own for each test: each run changes something, whatever the devices hold."""
    text = POLICY.read_text()
    assert "100 kb/s" in text
    assert "intent: remote-control" in text
    return text.replace("100 kb/s", f"{kbps} kb/s").replace("intent: remote-control", "intent: client")


def wait(get: Any, *statuses: str) -> Any:
    """The run, once its status is one of these."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        run = get()
        if run.status.value in statuses:
            return run
        assert run.status.value in ("pending", "running"), run
        time.sleep(0.2)
    raise AssertionError(f"it is still {run.status}")


@pytest.fixture
def document(instance: Instance) -> Any:
    with instance.connect("viewer") as connection:
        return connection.get("/openapi.json")


def test_openapi_python_client(
    instance: Instance, document: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "arning" not in generate_openapi_python_client(document, tmp_path / "made_by_opc")
    made = {path.stem for path in (tmp_path / "made_by_opc" / "api").rglob("*.py")}
    assert made >= OPERATIONS
    monkeypatch.syspath_prepend(str(tmp_path))
    client = importlib.import_module("made_by_opc")
    models = importlib.import_module("made_by_opc.models")
    runs = {
        name: importlib.import_module(f"made_by_opc.api.runs.{name}")
        for name in ("start_run", "get_run", "approve_run")
    }
    with (
        client.AuthenticatedClient(instance.url, token=instance.tokens["operator"]) as operator,
        client.AuthenticatedClient(instance.url, token=instance.tokens["approver"]) as approver,
    ):
        body = models.RunRequest(network=NETWORK, policy=models.InlinePolicy(text=policy(90)), measure=False)
        started = runs["start_run"].sync(client=operator, body=body, idempotency_key="made-by-opc")
        assert isinstance(started, models.RunSummary), started
        waiting = wait(lambda: runs["get_run"].sync(started.id, client=operator), "needs_approval")
        approval = models.Approval(candidate=waiting.candidate)
        runs["approve_run"].sync(started.id, client=approver, body=approval)
        kept = wait(lambda: runs["get_run"].sync(started.id, client=operator), "kept")
        assert {device.name for device in kept.devices} == {"router1", "router3"}
        missing = runs["get_run"].sync("01a00000-0000-7000-8000-000000000000", client=operator)
        assert isinstance(missing, models.Problem)
        assert missing.status == 404


def test_clientele(instance: Instance, document: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "arning" not in generate_clientele(document, tmp_path / "made_by_clientele")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = importlib.import_module("made_by_clientele.client")
    schemas = importlib.import_module("made_by_clientele.schemas")
    config = importlib.import_module("made_by_clientele.config")
    assert all(callable(getattr(made, name)) for name in OPERATIONS)

    def become(role: str) -> None:
        made.client.close()
        headers = {"Authorization": f"Bearer {instance.tokens[role]}"}
        made.client.configure(config=config.Config(base_url=instance.url, headers=headers, timeout=60))

    become("operator")
    body = schemas.RunRequest(network=NETWORK, policy=schemas.InlinePolicy(text=policy(80)), measure=False)
    started = made.start_run(data=body)
    assert isinstance(started, schemas.RunSummary), started
    waiting = wait(lambda: made.get_run(run_id=started.id), "needs_approval")
    become("approver")
    made.approve_run(run_id=started.id, data=schemas.Approval(candidate=waiting.candidate))
    kept = wait(lambda: made.get_run(run_id=started.id), "kept")
    assert {device.name for device in kept.devices} == {"router1", "router3"}
    missing = made.get_run(run_id="01a00000-0000-7000-8000-000000000000")
    assert isinstance(missing, schemas.Problem)
    assert missing.status == 404
    made.client.close()


def test_our_own_client(instance: Instance) -> None:
    ours = InlinePolicy(text=policy(70), file="remote-control.yaml")
    with (
        Client(instance.url, instance.tokens["operator"]) as qos,
        Client(instance.url, instance.tokens["approver"]) as approver,
    ):
        stored = qos.policies.store("client", ours.text, network=NETWORK, comment="by the client")
        assert qos.policies.get("client").text == ours.text
        assert [version.number for version in qos.policies.versions("client")] == [stored.number]
        assert stored in qos.policies.newest()
        with pytest.raises(Conflict) as moved:
            qos.policies.store("client", policy(71), network=NETWORK, base=7)
        assert moved.value.kind == "wrong-state"

        preview = qos.preview(NETWORK, NamedPolicy(name="client"), devices=["router1"])
        assert preview.good
        assert "bandwidth 70" in preview.devices[0].configuration

        started = qos.runs.start(NETWORK, ours, measure=False, idempotency_key="ours")
        assert qos.runs.start(NETWORK, ours, measure=False, idempotency_key="ours").id == started.id
        with pytest.raises(StillRunning):
            qos.runs.wait(started.id, seconds=0.01, through=[RunStatus.NEEDS_APPROVAL])
        waiting = qos.runs.wait(started.id, seconds=120)
        assert waiting.status is RunStatus.NEEDS_APPROVAL
        assert waiting.candidate is not None
        with pytest.raises(Conflict):
            qos.runs.roll_back(started.id)
        approver.runs.approve(started.id, waiting.candidate, "by the client")

        kept = qos.runs.wait(started.id, seconds=120)
        assert (kept.status, kept.final) == (RunStatus.KEPT, True)
        assert any("bandwidth 70" in line for device in kept.devices for line in device.delta)
        events = list(qos.runs.events(started.id))
        statuses = [event.data["status"] for event in events if event.kind == "status"]
        assert (statuses[0], statuses[-1]) == ("pending", "kept")
        assert list(qos.runs.events(started.id, after=events[-2].seq)) == events[-1:]
        assert qos.runs.page(network=NETWORK, limit=1).runs[0].id == started.id
        assert "router1" in qos.runs.report(started.id)

        undone = qos.runs.wait(qos.runs.roll_back(started.id).id, seconds=120)
        assert (undone.status, undone.rollback_of) == (RunStatus.KEPT, started.id)
        assert qos.runs.get(started.id).rolled_back_by == undone.id
        with pytest.raises(NotFound, match="no such run"):
            qos.runs.get("01a00000-0000-7000-8000-000000000000")


def test_every_module_of_the_collection_is_documented(tmp_path: Path) -> None:
    names = [f"qosforge.qosforge.{module}" for module in MODULES]
    shown = command(installed(tmp_path), "ansible-doc", "--json", *names)
    assert (shown.returncode, shown.stderr) == (0, "")
    documents = json.loads(shown.stdout)
    assert set(documents) == set(names)
    for each in documents.values():
        assert {"url", "token"} <= set(each["doc"]["options"])
        assert each["doc"]["short_description"]
        assert each["examples"]
        assert each["return"]
    assert {path.stem for path in (COLLECTION / "plugins" / "modules").glob("*.py")} == set(MODULES)


def test_a_playbook_brings_a_policy_onto_the_network_once(instance: Instance, tmp_path: Path) -> None:
    text = policy(60).replace("intent: client", "intent: playbook")
    variables = json.dumps({"network": NETWORK, "policy_text": text, "results": str(tmp_path / "results.json")})
    token = instance.tokens["operator"]
    environment = installed(tmp_path) | {"QOSFORGE_SERVER": instance.url, "QOSFORGE_TOKEN": token}
    approver = Approver(instance)
    played = command(environment, "ansible-playbook", "-vvv", "--diff", "-e", variables, str(PLAYBOOK))
    approver.join(10)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "[WARNING]" not in played.stderr
    assert token not in played.stdout
    results = json.loads((tmp_path / "results.json").read_text())
    assert {name: result["changed"] for name, result in results.items()} == {
        "would_be_stored": True,
        "stored": True,
        "stored_again": False,
        "previewed": False,
        "wrong": False,
        "would_run": True,
        "done": True,
        "would_run_again": False,
        "done_again": False,
    }
    assert "bandwidth 60" in results["previewed"]["devices"][0]["configuration"]
    assert results["wrong"]["problem"] == "wrong-input"
    foreseen, done = results["would_run"], results["done"]
    assert foreseen["devices"] == done["devices"]
    assert foreseen["diff"] == done["diff"]
    assert "bandwidth 60" in foreseen["diff"][0]["prepared"]
    assert (done["status"], results["done_again"]["status"]) == ("kept", "no_changes")
    assert done["page"] == f"{instance.url}/runs/{done['run']}"
