"""The pages in a browser without scripts: each form is sent as HTML says, with nothing but its fields."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.access.users import find_user
from qosforge.api.backend import Backend, open_backend
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from tests.web.people import Persons
from tests.web.plain_browser import Page, PlainBrowser
from tests.web.test_runs import wait_for_approval

NETWORK = "infn-fnal"
POLICY = (Path(__file__).parents[2] / "examples/policies/remote-control.yaml").read_text()

As = Callable[..., PlainBrowser]


@pytest.fixture
def inventories(tmp_path: Path) -> Path:
    folder = tmp_path / "inventories"
    shutil.copytree(root() / "inventories" / NETWORK, folder / NETWORK)
    return folder


@pytest.fixture
def backend(tmp_path: Path, inventories: Path) -> Iterator[Backend]:
    settings = Settings(
        var_dir=tmp_path / "var",
        compute_processes=1,
        four_eyes=True,
        inventories_dir=inventories,
        webhook_hosts=("127.0.0.1",),
    )
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def enter(client: TestClient, persons: Persons) -> As:
    """Lets somebody log in."""

    def go(name: str, role: Role) -> PlainBrowser:
        persons.add(name, role).log_in(client)
        return PlainBrowser(client)

    return go


def saved(browser: PlainBrowser, button: str = "Save", text: str = POLICY) -> PlainBrowser:
    """A policy from the page of a new one to its first version."""
    browser.open("/policies/new").press("Continue", name="remote-control", network=NETWORK)
    assert '<textarea id="policy-text"' in browser.text
    return browser.press(button, text=text, comment="begun")


def test_a_policy_is_begun_saved_and_run_and_the_run_approved(backend: Backend, enter: As) -> None:
    ann = saved(enter("ann", Role.OPERATOR))
    assert (ann.status, ann.path) == (200, "/policies/remote-control/edit")
    assert "version 1" in ann.text
    ann.press("Save and start a run", text=f"{POLICY}# again\n")
    assert (ann.status, ann.path) == (200, "/runs/new")
    ann.press("Start run", ticket="CHG-1")
    assert ann.status == 200
    run = ann.path.rpartition("/")[2]
    assert (backend.run_requests.run(run).ticket, backend.run_requests.run(run).network) == ("CHG-1", NETWORK)
    candidate = wait_for_approval(backend, run)
    bob = enter("bob", Role.APPROVER).open(f"/runs/{run}").press("Approve", comment="looks right")
    assert (bob.status, bob.path) == (200, f"/runs/{run}")
    assert "looks right" in bob.text
    (decision,) = backend.run_requests.detail(run).decisions
    assert (decision.approved, decision.by, decision.candidate) == (True, "bob", candidate)


def test_a_run_is_rejected_cancelled_and_tried_again(backend: Backend, enter: As) -> None:
    ann = saved(enter("ann", Role.OPERATOR), "Save and start a run").press("Start run")
    run = ann.path.rpartition("/")[2]
    wait_for_approval(backend, run)
    assert enter("bob", Role.APPROVER).open(f"/runs/{run}").press("Decline", comment="not today").status == 200
    assert backend.run_requests.run(run).status is RunStatus.CANCELLED
    eve = enter("eve", Role.OPERATOR).open(f"/runs/{run}").press("Try again")
    assert (eve.status, backend.run_requests.run(run).status) == (200, RunStatus.PENDING)
    eve.press("Cancel the run")
    assert (eve.status, backend.run_requests.run(run).status) == (200, RunStatus.CANCELLED)


def test_a_form_that_is_wrong_says_so_and_leads_back(enter: As) -> None:
    ann = saved(enter("ann", Role.OPERATOR), "Save", "classes: [")
    assert ann.status == 422
    assert "Back to the form" in ann.text
    assert re.search(r'href="/policies/new\?[^"]*name=remote-control', ann.text)


def test_what_somebody_else_stored_meanwhile_is_no_text_lost(client: TestClient, enter: As) -> None:
    ann = saved(enter("ann", Role.OPERATOR))
    late = PlainBrowser(client).open("/policies/remote-control/edit")
    ann.press("Save", text=f"{POLICY}# first\n")
    late.press("Save", text=f"{POLICY}# second\n")
    assert late.status == 409
    assert "# second" in late.text
    assert "</html>" in late.text


def test_an_administrator_makes_a_person_a_webhook_and_a_network(
    backend: Backend, enter: As, inventories: Path
) -> None:
    ada = enter("ada", Role.ADMIN)
    assert ada.open("/users").press("Add", name="cleo").path == "/users/cleo"
    ada.press("Give this role", network=NETWORK, role="approver")
    assert "The role is given" in ada.text
    ada.open("/users/cleo").press("Set the password", password="a password of some length")
    ada.open("/users/cleo").press("Remove role")
    with backend.database.read() as connection:
        cleo = find_user(connection, "cleo")
    assert (cleo.has_password, dict(cleo.roles)) == (True, {})

    ada.open("/webhooks").press("Add", name="chat", url="http://127.0.0.1:9/x", events=["run.ended"])
    assert "whsec_" in ada.text
    ada.open("/webhooks/chat").press("Save", url="http://127.0.0.1:9/other")
    assert "The webhook is changed." in ada.text
    ada.open("/webhooks/chat").press("Send a test")
    assert "A test is on its way." in ada.text
    assert ada.open("/webhooks/chat").press("Remove").path == "/webhooks"
    assert "There is no webhook yet." in ada.text

    assert ada.open("/networks").press("Add", name="library").path == "/networks/library"
    ada.open("/networks/library?tab=settings").press("Add", name="r9", hostname="127.0.0.1", image="12.4(15)T")
    assert ada.path == "/networks/library/devices/r9"
    ada.open("/networks/library?tab=settings").press("Make it writable")
    assert load_network(inventories / "library").changes.writable is True
    assert ada.press("Log out").path == "/login"


def test_a_form_with_another_token_does_nothing(backend: Backend, client: TestClient, enter: As) -> None:
    enter("ada", Role.ADMIN)
    here = {"Content-Type": "application/x-www-form-urlencoded", "Referer": "http://testserver/users"}
    for body in ("name=eve", f"name=eve&csrf={'0' * 64}", "name=eve&csrf="):
        assert client.post("/users", content=body, headers=here, follow_redirects=False).status_code == 403
    away = {**here, "Referer": "http://elsewhere.example/users"}
    token = dict(Page(client.get("/users").text).forms["plain"].fields)["csrf"]
    out = client.post("/logout", content=f"csrf={token}", headers=away, follow_redirects=False)
    assert (out.status_code, out.headers["location"]) == (303, "/login?because=logged-out")
