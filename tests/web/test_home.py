"""The first page: what waits, how every network is, and that many runs do not make it slow."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.artifacts.store import Artifacts
from qosforge.device_state.tables import DRIFT_WATCHES
from qosforge.intent.policy_source import PolicySource
from qosforge.release import release
from qosforge.runs.record.readings import write_readings
from qosforge.runs.record.reason import REASONED, Reason
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RUNS, RunStatus, Verdict
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.principals import somebody
from tests.sqlite_steps import counted_steps
from tests.web.people import Persons
from tests.web.recorded import record
from tests.web.test_policies import GOLD
from tests.web.test_runs import told

MARKUP = "<img src=x>"
NOW = datetime.now(UTC)


def _run(
    backend: Backend, network: str, status: RunStatus, verdict: Verdict | None = None, policy: str = "gold"
) -> str:
    store = backend.run_requests.store
    run = store.create_run(network, policy, "0" * 64, {})
    reason = Reason("the line is down", "push", "call them") if status in REASONED else None
    store.set_status(run.id, status, verdict=verdict, reason=reason)
    return run.id


def _roll_back(backend: Backend, run: str, status: RunStatus) -> None:
    """A run of its own that rolls one on the campus back, and stands there."""
    store = backend.run_requests.store
    back = store.create_run("campus", "gold", "0" * 64, {ROLLBACK_OF: run})
    store.set_status(back.id, status)


def _watch(backend: Backend, network: str, **found: object) -> None:
    row = {"network": network, "minutes": 60, "looked": NOW, "compared": 2}
    row |= {"drifted": {}, "unread": {}, "uncompared": [], **found}
    backend.database.transact(lambda connection: connection.execute(sa.insert(DRIFT_WATCHES), [row]))


def _card(page: str, network: str) -> str:
    """The text of a network's card, without its markup."""
    found = re.search(rf'aria-labelledby="net-{network}">(.*?)</article>', page, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<title>.*?</title>|<[^>]+>", " ", found[1]).split())


def test_a_newcomer_is_told_what_to_do_first(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    page = client.get("/").text
    assert page.index("First steps") < page.index("Needs attention")  # nothing is known that could need any
    assert page.count('<span class="badge">done</span>') == 1  # there are networks
    card = _card(page, "campus")
    assert card.startswith("campus 9 devices, 8 links ? not read yet"), card
    assert card.endswith("Open no addresses"), "a run could read nothing there"
    store_reading = {"r1": backend.artifacts.put_text("hostname r1\n")}
    backend.database.transact(lambda connection: write_readings(connection, "campus", store_reading, NOW))
    page = client.get("/").text
    assert page.count('<span class="badge">done</span>') == 2
    assert "1 device read" in _card(page, "campus")
    assert page.index("Needs attention") < page.index("First steps")
    _run(backend, "campus", RunStatus.NEEDS_APPROVAL)
    page = client.get("/").text
    assert "First steps" not in page  # all of them were gone
    assert "its first run waits" in _card(page, "campus")
    assert "Waits gold … needs approval Last run none has ended yet" in _card(page, "campus"), _card(page, "campus")


def test_a_network_without_trouble_is_healthy(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    _run(backend, "campus", RunStatus.ROLLED_BACK, Verdict.BROKEN)
    _run(backend, "campus", RunStatus.KEPT, Verdict.MET)
    _watch(backend, "campus")
    page = client.get("/").text
    card = _card(page, "campus")
    assert "healthy" in card
    assert "Drift none" in card
    assert "Objectives of the last 2 runs, the newest at the right: met in 1, broken in 1" in card
    assert "Objectives of the last 2 runs: 1 met, 1 broken, 0 inconclusive, 0 not measured" in page
    assert "Nothing waits." in page


def test_what_needs_attention_stands_first(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.APPROVER).log_in(client)
    waiting = _run(backend, "campus", RunStatus.NEEDS_APPROVAL, policy=MARKUP)
    stuck = _run(backend, "itesm", RunStatus.NEEDS_RECOVERY)
    failed = _run(backend, "infn-fnal", RunStatus.FAILED)
    _watch(backend, "itesm-wan", drifted={"r1": {"count": 2, "digest": "d"}}, unread={"r2": "timed out"})
    page = client.get("/").text
    listed = page[page.index('class="waits"') : page.index('id="networks"')]
    for run in (waiting, stuck, failed):
        assert f'href="/runs/{run}"' in listed
    assert listed.index(stuck) < listed.index(waiting) < listed.index(failed)
    assert "&lt;img src=x&gt; on campus" in listed
    assert ">Review</a>" in listed
    assert f'id="open-{stuck}" href="/runs/{stuck}"' in listed
    assert "1 device could not be read (r2), 1 device is not as the last run left it (r1)." in listed
    for leads in (f'id="open-{failed}" href="/runs/{failed}"', 'href="/networks/itesm-wan?state=drifted#found"'):
        assert leads in listed, "every row has a button"
    assert listed.count(": the line is down") == 2
    assert "Needs approval" in listed
    assert "trouble" in _card(page, "infn-fnal")
    assert "1 device not reached" in _card(page, "itesm-wan")


def test_a_run_that_was_rejected_by_checks_names_the_device_and_is_as_grave_as_its_outcome(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    store = backend.run_requests.store
    run = store.create_run("campus", "gold", "0" * 64, {}).id
    reason = Reason("the device does not know the DSCP", "validate", "use another", "s2950")
    store.set_status(run, RunStatus.REJECTED, reason=reason)
    page = client.get("/").text
    listed = page[page.index('class="waits"') : page.index('id="networks"')]
    assert ": s2950: the device does not know the DSCP." in re.sub(r"<[^>]+>", "", listed)
    assert 'class="is-bad"' in listed
    assert "✘ Rejected by checks" in " ".join(re.sub(r"<[^>]+>", " ", listed).split())


def test_an_older_end_is_told_by_the_newer_run_of_its_policy(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    older, other = _run(backend, "campus", RunStatus.ROLLED_BACK), _run(backend, "itesm", RunStatus.ROLLED_BACK)
    stuck = _run(backend, "campus", RunStatus.NEEDS_RECOVERY)
    _run(backend, "itesm", RunStatus.NEEDS_RECOVERY, policy="silver")
    page = client.get("/").text
    listed = page[page.index('class="waits"') : page.index('id="networks"')]
    assert stuck in listed
    assert other in listed
    assert older not in listed


def test_a_change_that_stands_though_it_breaks_objectives_needs_attention(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    run = _run(backend, "campus", RunStatus.NO_CHANGES, Verdict.BROKEN)
    page = client.get("/").text
    assert _card(page, "campus").startswith("campus ▲ objectives broken")
    assert "Nothing waits." not in page
    listed = page[page.index('class="waits"') : page.index('id="networks"')]
    assert f'href="/runs/{run}?tab=objectives"' in listed
    assert "Objectives broken" in listed
    assert page.count("status-no_changes is-broken") == 2  # of the network's last run, and in the last runs
    assert "status-no_changes is-broken" in client.get("/runs").text
    _run(backend, "campus", RunStatus.ROLLED_BACK)  # it left that as it is
    page = client.get("/").text
    listed = page[page.index('class="waits"') : page.index('id="networks"')]
    assert f'href="/runs/{run}?tab=objectives"' in listed
    _run(backend, "campus", RunStatus.KEPT)  # nothing was measured of what the devices hold now
    page = client.get("/").text
    assert "? not compared since its last run" in _card(page, "campus")
    assert "Objectives what stands was not measured" in _card(page, "campus")
    assert "Nothing waits." in page
    _watch(backend, "campus")
    assert "healthy" in _card(client.get("/").text, "campus")


def test_who_can_approve_is_led_to_what_waits(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    run = _run(backend, "campus", RunStatus.NEEDS_APPROVAL)

    def primary() -> list[str]:
        return re.findall(r'class="button primary"[^>]*href="([^"]*)"', client.get("/").text)

    assert primary() == ["/runs/new"]
    persons.add("bob", Role.APPROVER).log_in(client)
    assert primary() == [f"/runs/{run}"]


def test_a_run_that_took_a_policy_away_is_not_called_kept_on_any_page(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    backend.policies.seen_by(somebody("ann")).store("gold", PolicySource(GOLD), "", network="*")
    _roll_back(backend, _run(backend, "campus", RunStatus.KEPT), RunStatus.KEPT)
    for page in ("/", "/networks", "/runs", "/policies", "/policies/gold"):
        said = told(client.get(page))
        assert "↩ rolled back to before" in said, page
        assert "✔ kept" not in said, page
    home = told(client.get("/"))
    assert home.count("Rollback of gold") == 2  # at the network, and in the list
    assert "↩ rolled back later" in home
    for state, names in (("in_force", False), ("undone", True)):
        assert ("/policies/gold" in client.get("/policies", params={"state": state}).text) is names


def test_of_what_was_rolled_back_no_verdict_stands(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)

    def verdict() -> str:
        return _card(client.get("/").text, "campus").partition("Objectives")[2].partition("Objectives of")[0]

    earlier = _run(backend, "campus", RunStatus.KEPT, Verdict.INCONCLUSIVE, policy="silver")
    kept = _run(backend, "campus", RunStatus.KEPT, Verdict.MET)
    assert "✔ met" in verdict()
    _run(backend, "campus", RunStatus.NO_CHANGES, Verdict.MET)  # found the same in force
    assert "✔ met" in verdict()
    _run(backend, "campus", RunStatus.NO_CHANGES, Verdict.BROKEN, policy="bronze")  # asks for the same lines
    assert "✘ broken" in verdict()
    assert "bronze" in told(client.get("/networks/campus")).partition("Policy")[2].partition("last run")[0]
    _roll_back(backend, kept, RunStatus.KEPT)
    held = told(client.get("/networks/campus")).partition("Policy")[2].partition("last run")[0]
    assert "silver" in held
    assert "bronze" not in held
    assert "? inconclusive" in verdict()  # what the devices hold again
    _roll_back(backend, earlier, RunStatus.KEPT)
    assert "Objectives" not in _card(client.get("/").text, "campus").partition("Objectives of")[0]
    assert "In force none: gold was rolled back" in _card(client.get("/").text, "campus")
    objectives = told(client.get("/networks"))
    assert "no policy in force" in objectives
    assert "not measured" not in objectives
    assert "✔ met" not in objectives


def test_a_rollback_that_waits_is_told_as_one(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    _roll_back(backend, _run(backend, "campus", RunStatus.KEPT), RunStatus.NEEDS_APPROVAL)
    assert "Needs approval Rollback of gold on campus , created by" in told(client.get("/"))


def test_a_run_that_was_rolled_back_is_told_in_a_line(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    _run(backend, "campus", RunStatus.ROLLED_BACK, Verdict.BROKEN)
    page = client.get("/").text
    assert "after the push its objectives were broken; the devices are as they were before" in page
    assert "the line is down" not in page


def test_a_network_of_which_no_run_was_kept_says_so_or_that_one_is_under_way(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    backend.database.transact(lambda connection: write_readings(connection, "campus", {"r1": "0" * 64}, NOW))
    _run(backend, "campus", RunStatus.CANCELLED)
    said = _card(client.get("/").text, "campus")
    assert "? no run was kept yet" in said, said
    assert "no run has ended yet" not in said, said
    _run(backend, "campus", RunStatus.RUNNING)
    said = _card(client.get("/").text, "campus")
    assert "● a run is under way" in said, said


def test_a_network_is_in_trouble_while_a_run_stands_half_way(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    _run(backend, "campus", RunStatus.KEPT, Verdict.MET)
    _run(backend, "campus", RunStatus.NEEDS_RECOVERY)
    assert "trouble" in _card(client.get("/").text, "campus")


def test_of_networks_of_which_nothing_is_known_nothing_good_is_said(client: TestClient, persons: Persons) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    page = client.get("/").text
    assert "nothing is known of how the networks are" in page
    assert "is-ok" not in page


def test_one_lost_configuration_leaves_everybody_the_pages(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    backend.database.transact(lambda connection: write_readings(connection, "campus", {"r1": "0" * 64}, NOW))
    for page in ("/", "/networks", "/networks/campus"):
        assert client.get(page).status_code == 200, page
    assert "no run has ended yet" in _card(client.get("/").text, "campus")


def test_the_first_page_does_not_wait_for_comparisons(
    client: TestClient, persons: Persons, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    store, texts = backend.run_requests.store, {"r1": "hostname r1\n"}
    record(store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    made_by: list[str] = []
    real = type(backend.artifacts).get_bytes

    def get_bytes(self: Artifacts, artifact: str) -> bytes:
        made_by.append(threading.current_thread().name)
        return real(self, artifact)

    monkeypatch.setattr(type(backend.artifacts), "get_bytes", get_bytes)
    while "Drift none" not in _card(client.get("/").text, "campus"):
        time.sleep(0.05)
    assert set(made_by) == {"summaries-campus"}


def test_only_own_networks_show(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("vic", Role.VIEWER, "itesm").log_in(client)
    other = _run(backend, "campus", RunStatus.NEEDS_APPROVAL)
    _watch(backend, "campus", drifted={"r1": {"count": 2, "digest": "d"}})
    page = client.get("/").text
    assert other not in page
    assert 'href="/networks/campus"' not in page
    assert "Nothing waits." in page


def test_an_open_page_is_answered_only_when_something_changed(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    said = persons.add("ann", Role.VIEWER).log_in(client)
    known = re.search(r"known=([0-9a-f]{16})", client.get("/").text)
    assert known is not None
    again = client.get("/", params={"known": known[1]}, headers=said)
    assert again.status_code == 204
    _watch(backend, "campus")
    assert client.get("/", params={"known": known[1]}, headers=said).status_code == 200


def test_every_page_leads_to_the_interface_and_tells_the_version(client: TestClient, persons: Persons) -> None:
    assert f"qosforge {release()}" in client.get("/login").text
    persons.add("ann", Role.VIEWER).log_in(client)
    page = client.get("/runs").text
    assert f"qosforge {release()}" in page
    assert client.get(re.findall(r'<a href="(/api/[^"]+)">', page)[0]).status_code == 200


NETWORKS = tuple(f"site-{number}" for number in range(20))


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Backend]:
    """A service with twenty networks, and no run yet."""
    inventories = tmp_path / "inventories"
    for name in NETWORKS:
        (inventories / name).mkdir(parents=True)
        (inventories / name / "hosts.yaml").write_text("{}\n")
    settings = Settings(var_dir=tmp_path / "var", inventories_dir=inventories, compute_processes=1)
    with open_backend(settings) as made:
        yield made


def _fill(store: RunStore, count: int) -> None:
    """So many runs that are over, by turns on all networks, with parameters as large as usual ones."""
    first = store.create_run(NETWORKS[0], "gold", "0" * 64, {"text": "x" * 2000})
    store.set_status(first.id, RunStatus.KEPT, verdict=Verdict.MET)
    with store.database.read() as connection:
        row = dict(connection.execute(sa.select(RUNS).limit(1)).one()._mapping)
    moment = int((NOW - timedelta(days=1)).timestamp() * 1000) + 100_000 * count
    rows = [
        {**row, "id": str(uuid.UUID(int=(moment + number) << 80)), "network": NETWORKS[number % len(NETWORKS)]}
        for number in range(count)
    ]
    store.database.transact(lambda connection: connection.execute(sa.insert(RUNS), rows))


def test_ten_thousand_runs_are_not_gone_through(many: Backend) -> None:
    with TestClient(create_site(many)) as client:
        Persons(many).add("ann", Role.VIEWER).log_in(client)
        steps = []
        for count in (1_000, 10_000):
            _fill(many.run_requests.store, count)
            with counted_steps(many.database, 1_000) as counted:
                assert "site-19" in client.get("/").text
            steps += counted
    assert 0 < steps[1] < 1.2 * steps[0], steps


@pytest.mark.parametrize(
    ("address", "entry"),
    [("/audit", "/networks"), ("/networks", "/networks"), ("/runs", "/runs"), ("/policies", "/policies")],
)
def test_the_menu_marks_where_a_page_belongs(
    client: TestClient, persons: Persons, address: str, entry: str
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)
    menu = client.get(address).text.partition("</nav>")[0]
    assert re.findall(r'href="([^"]+)" aria-current="page"', menu) == [entry]
