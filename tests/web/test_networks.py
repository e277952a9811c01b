"""Pages of networks and devices, in this process: who sees what, and what stored readings say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.device_state.drift_watch import (
    DriftResult,
    claim_check,
    note_read,
    record_check,
    request_check,
)
from qosforge.device_state.last_known import last_known
from qosforge.platforms.device_text import DeviceText
from qosforge.resources import root
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.summaries import PushSummary, ReadSummary
from qosforge.runs.record.tables import JournalAction, RunStatus, Verdict
from qosforge.settings import Settings
from qosforge.web.site import create_site
from qosforge.web.views.network_runs import MOST
from tests.device_texts import said
from tests.web.addresses import addresses
from tests.web.people import Persons
from tests.web.recorded import configured, record, startups

POLICY = root() / "policies" / "campus-collaboration.yaml"
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def inventories(tmp_path: Path) -> Path:
    """The campus and another network, with markup where an inventory takes free text."""
    folder = tmp_path / "inventories"
    for name in ("campus", "infn-fnal"):
        copy = folder / name
        copy.mkdir(parents=True)
        for file in (root() / "inventories" / name).glob("*.yaml"):
            text = file.read_text().replace("tags: [lan]", f'tags: [lan, "{MARKUP}"]')
            (copy / file.name).write_text(text)
        (copy / "startup").symlink_to(root() / "inventories" / name / "startup")
    return folder


@pytest.fixture
def backend(tmp_path: Path, inventories: Path) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=inventories)
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        yield made


@pytest.fixture
def ann(backend: Backend, site: TestClient) -> dict[str, str]:
    """A viewer of the campus alone."""
    return Persons(backend).add("ann", Role.VIEWER, "campus").log_in(site)


def _kept(backend: Backend) -> dict[str, str]:
    campus = backend.networks.network("campus")
    texts = configured(campus, POLICY)
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    return texts


@pytest.mark.usefixtures("ann")
def test_only_networks_of_the_caller_are_there(site: TestClient) -> None:
    page = site.get("/networks").text
    assert "/networks/campus" in page
    assert "infn-fnal" not in page
    assert "9 devices, 8 links" in page
    assert "Nortel BayStack 5510" in page
    for address in ("/networks/infn-fnal", "/networks/infn-fnal/devices/router1", "/networks/nowhere"):
        answer = site.get(address)
        assert answer.status_code == 403, "whether there is such a network is nobody's business"
        assert "router1" not in answer.text.replace(address, "")
    assert site.get("/networks/campus/devices/nowhere").status_code == 404


def test_who_is_not_logged_in_is_sent_to_log_in(site: TestClient) -> None:
    for address in ("/networks", "/networks/campus", "/networks/campus/devices/r1", "/experiments"):
        answer = site.get(address, follow_redirects=False)
        assert answer.headers["location"].startswith("/login?to=%2F"), address


@pytest.mark.usefixtures("ann")
def test_devices_that_were_never_read_are_said_to_be(site: TestClient) -> None:
    page = site.get("/networks/campus").text
    assert "No device of this network was read yet" in page
    assert page.count("qos-unknown") > 16
    assert "This device was not read yet" in site.get("/networks/campus/devices/r1").text


@pytest.mark.usefixtures("ann")
def test_the_drawing_and_the_table_say_the_same(site: TestClient, backend: Backend) -> None:
    _kept(backend)
    page = site.get("/networks/campus").text
    drawing = page.partition("</svg>")[2].partition("</svg>")[0]  # the brand's mark stands first
    table = site.get("/networks/campus?tab=links").text
    told = re.findall(r'<a class="end qos-(\w+)" [^>]*aria-label="([^"]*)"', drawing)
    assert len(told) == 16
    for _, words in told:
        port, _, state = words.partition(": ")
        device, _, name = port.partition(" ")
        assert f'>{device}</a> <span class="faint">{name}</span>' in table, port
        assert state in table
    assert ("policy", "r1 Serial0/0: 3 queues, priority first, the others by their guaranteed shares") in told
    assert "style=" not in drawing


@pytest.mark.usefixtures("ann")
def test_a_port_without_a_policy_is_told_once(site: TestClient, backend: Backend) -> None:
    campus = backend.networks.network("campus")
    record(backend.run_requests.store, backend.artifacts, "campus", startups(campus), RunStatus.REJECTED)
    words = " ".join(re.sub(r"<[^>]+>", " ", site.get("/networks/campus?tab=links").text).split())
    assert "– no policy" in words
    assert "no policy no policy" not in words


def _overview(site: TestClient) -> str:
    page = site.get("/networks/campus").text
    return _words(page[: page.index('id="last-read"')])


def _words(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace(" .", ".").split())


@pytest.mark.usefixtures("ann")
def test_a_network_says_which_policy_it_holds_and_how_its_runs_ended(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    store = backend.run_requests.store
    assert "Policy none no run has ended yet" in _overview(site)
    run = store.create_run("campus", "gold", "f" * 64, {}).id
    store.set_status(run, RunStatus.KEPT, Verdict.MET)
    page = site.get("/networks/campus").text
    assert "Policy gold ✔ objectives met kept" in _overview(site)
    assert f'href="/runs/{run}"' in page
    assert 'href="/policies/gold"' in page

    failed = store.create_run("campus", "silver", "e" * 64, {}).id
    why = Reason("after the push the objectives are not met", "measure-after", NOT_MET)
    store.set_status(failed, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=why)
    told = _overview(site)
    assert "Policy gold ✔ objectives met kept" in told
    assert "last run: rolled back" in told

    back = store.create_run("campus", "gold", "f" * 64, {ROLLBACK_OF: run}).id
    store.set_status(back, RunStatus.KEPT)
    told = _overview(site)
    assert "Policy none what was kept is rolled back" in told
    assert "last run: rolled back to before" in told

    stuck = store.create_run("campus", "silver", "e" * 64, {}).id
    why = Reason("the table is full", "rollback", RECOVER, "e300")
    store.set_status(stuck, RunStatus.NEEDS_RECOVERY, reason=why)
    told = _overview(site)
    assert "A run stopped half-way: silver on campus. e300 stands between two states" in told
    assert "Open the run" in told
    assert "Changes held up ✘ a run stands half-way" in told
    assert "may begin" not in told
    for _ in range(MOST):  # however many runs began since
        store.set_status(store.create_run("campus", "silver", "e" * 64, {}).id, RunStatus.NO_CHANGES)
    assert "A run stopped half-way: silver on campus" in _overview(site)
    assert 'href="/runs/new' not in site.get("/networks").text, "who only looks starts nothing"
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    page = site.get("/networks/campus").text
    assert '<a class="button" href="/runs/new?network=campus">' in page, (
        "it would be refused: it is not what is next"
    )
    assert f'<a class="button primary" id="open-half-way" href="/runs/{stuck}">' in page
    assert f'<a class="button" href="/runs/{stuck}"' in site.get("/networks").text
    form = _words(site.get("/runs/new?network=campus").text)
    assert "A run stopped half-way: silver on campus. e300 stands between two states" in form
    assert "may begin" not in form
    store.set_status(stuck, RunStatus.ROLLED_BACK, reason=why)
    assert '<a class="button" href="/runs/new?network=campus">' in site.get("/networks/campus").text
    _with_an_address(inventories)
    assert 'id="read-all" class="primary"' in site.get("/networks/campus").text, "nothing was read yet"
    assert "Read all devices of campus" in site.get("/networks").text


def _with_an_address(inventories: Path) -> None:
    """Give a device of the campus a hostname."""
    hosts = inventories / "campus" / "hosts.yaml"
    hosts.write_text(hosts.read_text().replace("r1:\n", "r1:\n  hostname: r1.example.org\n", 1))


def test_a_network_says_which_runs_are_not_over(site: TestClient, backend: Backend) -> None:
    with addresses(backend.settings, "campus"):
        _require_runs_told(site, backend)


def _require_runs_told(site: TestClient, backend: Backend) -> None:
    store = backend.run_requests.store
    texts = startups(backend.networks.network("campus"))
    record(store, backend.artifacts, "campus", texts, RunStatus.FAILED)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    assert 'id="open-' not in site.get("/networks/campus").text
    assert "Changes open ✔ may begin" in _overview(site)

    waits = store.create_run("campus", "silver", "e" * 64, {}).id
    store.set_status(waits, RunStatus.NEEDS_APPROVAL, waits_for="approval")
    told = _overview(site)
    assert "… silver needs approval. It holds no device meanwhile. Open the run" in told
    listed = _words(site.get("/networks").text)
    assert re.search(r"campus-collaboration ✘ failed waits: silver … needs approval", listed), listed
    assert "Changes open ✔ may begin 1 run waits, and holds no device" in told
    form = _words(site.get("/runs/new?network=campus").text)
    assert "silver needs approval" in form
    assert "A run does not wait for one that waits." in form
    assert "Changes may begin at any time." in form
    assert "You may start now" not in form

    works = store.create_run("campus", "gold", "f" * 64, {}).id
    store.set_status(works, RunStatus.RUNNING)
    store.leases.acquire(works, ["r1", "r2"], 1800)
    with store.stage(works, "push", PushSummary(devices=("r1", "r2"), errors=[])):
        store.journal.append(works, "r1", JournalAction.TOUCHING)
        store.journal.append(works, "r1", JournalAction.TOUCHED)
        store.journal.append(works, "r2", JournalAction.TOUCHING)
        second = store.create_run("campus", "bronze", "d" * 64, {}).id
        store.set_status(second, RunStatus.RUNNING)
        told, form = _overview(site), site.get("/runs/new?network=campus").text
        answer = site.get("/networks").text
    assert "● gold is under way: Push, 1 of 2 devices. Open the run" in told
    assert "◷ bronze waits until another run gives its devices back. Open the run" in told
    assert told.index("gold is") < told.index("silver needs"), "what is at work comes first"
    assert "Changes busy ▲ 2 runs are under way" in told
    now = "You may start now: this run waits for those of its devices that “gold” holds, at most an hour."
    assert now in _words(form)
    assert "Changes may begin" not in form
    assert 'data-devices="r1 r2" data-after="it begins after gold on campus, which holds its devices"' in form
    assert f'<a class="button" href="/runs/{works}" aria-label="Open the run that is not over on campus"' in answer
    assert "● being changed" in _words(answer)
    assert 'href="/runs/new?network=campus"' not in answer

    Persons(backend).add("bob", Role.APPROVER, "campus").log_in(site)
    for over in (works, second):
        store.set_status(over, RunStatus.CANCELLED, reason=Reason("stopped", "push", RECOVER))
    assert f'<a class="button" href="/runs/{waits}" aria-label="Review the run' in site.get("/networks").text
    assert (
        f'<a class="button primary" id="open-{waits}" href="/runs/{waits}">Review'
        in site.get("/networks/campus").text
    )


def test_a_network_that_was_never_read_is_to_be_read(site: TestClient, backend: Backend, inventories: Path) -> None:
    _with_an_address(inventories)
    headers = Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    page = site.get("/networks/campus").text
    assert '<button id="read-all" class="primary"' in page
    assert '<a class="button" href="/runs/new?network=campus">' in page
    assert 'hx-post="/networks/campus/read?go=true"' in site.get("/networks").text
    answer = site.post("/networks/campus/read?go=true", headers=headers)
    assert answer.headers["hx-redirect"] == "/networks/campus"
    page = site.get("/networks/campus").text
    assert "Reading begins." in page
    assert "No device of this network was read yet" not in page, "it says what is being done"
    elsewhere = site.post("/networks/campus/read", headers=headers).text
    assert "hx-swap-oob" not in elsewhere, "a page that has no such button is not to change one"
    sent = site.post("/networks/campus/read?tab=devices", headers=headers).text
    assert '<div id="last-read"></div>' in sent, "nothing asks for it any more"
    assert re.search(r'<button id="read-all" disabled[^>]* hx-swap-oob="true"', sent), "nor can it be asked twice"


@pytest.mark.usefixtures("ann")
def test_while_a_network_is_read_its_page_counts_the_devices(site: TestClient, backend: Backend) -> None:
    database = backend.database
    database.transact(lambda c: request_check(c, "campus", database.now(c)))
    claimed = claim_check(database)
    assert claimed is not None
    all_of_them = len(backend.networks.network("campus").devices)
    assert f"Reading the devices: 0 of {all_of_them} read." in site.get("/networks/campus").text
    note_read(database, claimed[1], 4)
    assert f"Reading the devices: 4 of {all_of_them} read." in site.get("/networks/campus").text
    record_check(database, claimed[1], DriftResult(backend.access.now(), all_of_them))
    assert "Reading the devices" not in site.get("/networks/campus").text


def test_while_a_network_is_read_nothing_asks_for_that(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    assert 'id="networks" hx-get' not in site.get("/networks").text
    database = backend.database
    database.transact(lambda c: request_check(c, "campus", database.now(c)))
    page = site.get("/networks").text
    assert "campus ● reading begins 9 devices" in _words(page)
    claimed = claim_check(database)
    assert claimed is not None
    note_read(database, claimed[1], 4)
    page = site.get("/networks").text
    assert "campus ● being read: 4 of 9" in _words(page)
    assert "not read yet" not in _words(page)
    assert re.search(r'id="networks" hx-get="/networks" hx-trigger="load delay:3s"', page), "it goes on by itself"
    assert "Read all devices of campus" not in page
    assert "New run" not in page
    page = site.get("/networks/campus").text
    assert re.search(r'<button id="read-all" disabled', page)
    assert 'class="primary"' not in page[page.index('id="ways"') : page.index('id="overview"')]
    assert "Read 4 ● being read" in _words(page)

    _kept(backend)
    site.get("/networks/campus")
    page = site.get("/networks").text
    assert "campus ● being read: 4 of 9" in _words(page)
    assert "New run on campus" in page, "what it holds is known"
    last = _kept(backend)
    changed = {**last, "r1": last["r1"].replace("priority percent 50", "priority percent 30")}
    record(backend.run_requests.store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    site.get("/networks/campus")
    assert "campus ✘ last run failed ● being read: 4 of 9" in _words(site.get("/networks").text)
    record_check(database, claimed[1], DriftResult(backend.access.now(), 9))
    assert "being read" not in site.get("/networks").text


@pytest.mark.usefixtures("ann")
def test_a_port_that_only_marks_is_not_told_as_one_without_a_policy(site: TestClient, backend: Backend) -> None:
    _kept(backend)
    page = re.sub(r"<[^>]+>", " ", site.get("/networks/campus/devices/r1").text)
    assert re.search(r"FastEthernet0/0\s+marks on input", page)
    assert re.search(r"Ports with a policy\s+1\s+of 2, 1 more marks what comes in", page)
    assert "r1 FastEthernet0/0: sends as delivered" in site.get("/networks/campus").text


@pytest.mark.usefixtures("ann")
def test_ports_treated_alike_are_told_once(site: TestClient, backend: Backend) -> None:
    _kept(backend)
    page = site.get("/networks/campus/devices/e300").text
    told = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert page.count('<article class="card port"') == 2, "two trunks and two ports of hosts"
    assert [page.count(f'id="port-{n}"') for n in range(1, 5)] == [1, 1, 1, 1]
    assert page.count("Queues of GigabitEthernet 0/0<") == 1
    assert 'Egress:</strong> as on <a href="#port-1">GigabitEthernet 0/0</a>' in page
    assert "4 queues that no class uses: 8 % of the link when all are busy" in told
    assert "voice-video DSCP af41, ef sent through queue 4" in told, (
        "the class's name, not its beginning and a digest"
    )
    assert "voice-vi-" not in told
    assert "network control (QOSFORGE-CTRL) DSCP cs6, cs7" in told
    other = {**startups(backend.networks.network("campus"))}
    record(backend.run_requests.store, backend.artifacts, "campus", other, RunStatus.ROLLED_BACK)
    assert "Ports with a policy 0 of 3" in " ".join(
        re.sub(r"<[^>]+>", " ", site.get("/networks/campus/devices/ers5510").text).split()
    )


@pytest.mark.usefixtures("ann")
def test_drift_is_marked_where_it_is_and_told_in_words(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    site.get("/networks/campus")  # compares few devices at once; the list of networks tells what is known
    assert re.search(r"healthy.*none, <time", site.get("/networks").text, re.DOTALL)
    clean = site.get("/networks/campus/devices/r1").text
    assert "State no drift ✔ as the last run left it" in _words(clean)
    assert "It is as campus-collaboration" in _words(clean)
    assert 'id="drifted"' not in clean
    changed = {**texts, "r1": texts["r1"].replace("priority percent 50", "priority percent 30")}
    assert changed != texts
    run = record(backend.run_requests.store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    page = site.get("/networks/campus").text
    assert "1 device drifted" in site.get("/networks").text
    home = site.get("/").text
    assert "1 device is not as the last run left it" in home
    assert "healthy" not in home
    assert 'class="end qos-drifted" href="/networks/campus/devices/r1#port-1"' in page
    assert page.count('class="end qos-drifted"') == 1, "in the drawing"
    page = site.get("/networks/campus/devices/r1").text
    assert f"/runs/{run}" in page, "the reading's run is linked"
    words = page[page.index('id="drifted"') :]
    assert re.search(
        r"out, voice-video: was <del>served first, at most 50 %.*<ins>served first, at most 30 %", words
    )


@pytest.mark.usefixtures("ann")
def test_every_page_tells_drift_alike(site: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = _kept(backend)
    with monkeypatch.context() as patched:
        patched.setattr(type(backend.summaries), "_make_later", lambda *_: None)  # as if it took its time
        home = site.get("/").text
    assert _fact(home, "Drift") == "being compared"
    assert "healthy" in home, "what was read last is what the run left"
    page = site.get("/networks/campus?tab=checks").text  # compares few devices at once
    assert re.search(r"Drifted</dt>\s*<dd[^>]*>0</dd>", page)
    assert _fact(page, "State").startswith("none, ")
    assert _fact(page, "Last look at every device") == "none yet"
    assert _fact(site.get("/").text, "Drift") == _fact(page, "State")
    changed = {**texts, "r1": texts["r1"].replace("priority percent 50", "priority percent 30")}
    record(backend.run_requests.store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    page = site.get("/networks/campus?tab=checks").text
    assert re.search(r"Drifted</dt>\s*<dd[^>]*>1</dd>", page)
    assert _fact(page, "State") == "✘ 1 device drifted r1"
    assert _fact(site.get("/").text, "Drift") == "✘ 1 device drifted"


def test_a_device_between_two_states_has_not_drifted(site: TestClient, backend: Backend) -> None:
    store = backend.run_requests.store
    texts = _kept(backend)
    other = {**texts, "e300": startups(backend.networks.network("campus"))["e300"]}
    stuck = store.create_run("campus", "impossible", "e" * 64, {}).id
    store.set_status(stuck, RunStatus.RUNNING)
    store.journal.append(stuck, "e300", JournalAction.TOUCHING)
    record(store, backend.artifacts, "campus", other, RunStatus.FAILED)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    page = site.get("/networks/campus").text
    assert "● being changed" in _words(page)
    assert 'class="end qos-changing" href="/networks/campus/devices/e300#port-1"' in page
    assert "qos-drifted" not in page.partition("</svg>")[2].partition("</svg>")[2]
    device = _words(site.get("/networks/campus/devices/e300").text)
    assert "● e300 is being changed: impossible on campus is under way." in device
    assert "The device drifted" not in device

    store.set_status(
        stuck, RunStatus.NEEDS_RECOVERY, reason=Reason("the table is full", "rollback", RECOVER, "e300")
    )
    page = site.get("/networks/campus").text
    assert re.search(r"Drifted</dt>\s*<dd[^>]*>–</dd>", page)
    assert "Drifted – ✘ 1 half-way" in _overview(site), "nothing green beside it"
    assert _words(page).count("✘ half-way") > 3, "its row, its ports and the words of the signs"
    assert "1 device drifted" not in site.get("/networks").text
    for part in ("?tab=links", "/drawing"):
        assert "drifted:" not in site.get(f"/networks/campus{part}").text, part
    page = site.get("/networks/campus/devices/e300").text
    assert "✘ e300 stands between two states: impossible on campus stopped half-way; the service brings" in _words(
        page
    )
    assert f'<a class="button primary" href="/runs/{stuck}">Open the run</a>' in page
    assert "Somebody or something else changed it" not in page
    assert "qos-drifted" not in page
    assert "Where it is not as it was before" in page

    store.journal.append(stuck, "e300", JournalAction.UNDONE)
    store.set_status(stuck, RunStatus.ROLLED_BACK, reason=Reason("it was away", "push", RECOVER, "e300"))
    assert re.search(r"Drifted</dt>\s*<dd[^>]*>1</dd>", site.get("/networks/campus").text)
    page = site.get("/networks/campus/devices/e300").text
    assert "Somebody or something else changed it. A new run of campus-collaboration brings it back." in _words(
        page
    )
    assert 'href="/runs/new?network=campus&amp;policy=campus-collaboration"' in page
    elsewhere = store.create_run("campus", "of-a-pipeline", "d" * 64, {})  # its text came with it
    with store.stage(elsewhere.id, "read", ReadSummary(running=_stored(backend, texts), errors=[])):
        pass
    store.set_status(elsewhere.id, RunStatus.RUNNING)
    store.set_status(elsewhere.id, RunStatus.KEPT)
    record(store, backend.artifacts, "campus", other, RunStatus.FAILED)
    page = site.get("/networks/campus/devices/e300").text
    assert "A new run of of-a-pipeline brings it back." in _words(page)
    assert "policy=of-a-pipeline" not in page, "it is no stored policy"


def test_a_device_that_drifted_after_a_rollback_has_no_policy_to_run(site: TestClient, backend: Backend) -> None:
    store, campus = backend.run_requests.store, backend.networks.network("campus")
    _kept(backend)
    kept = store.list_runs(networks=["campus"])[0]
    back = store.create_run("campus", kept.policy, kept.policy_version, {ROLLBACK_OF: kept.id})
    with store.stage(back.id, "read", ReadSummary(running=_stored(backend, startups(campus)), errors=[])):
        pass
    store.set_status(back.id, RunStatus.RUNNING)
    store.set_status(back.id, RunStatus.KEPT)
    changed = {**startups(campus), "r1": configured(campus, POLICY)["r1"]}
    record(store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    told = _words(site.get("/networks/campus/devices/r1").text)
    assert "it is not as Rollback of campus-collaboration" in told
    assert "No policy is in force on campus that a run could bring back" in told
    assert "new run of that policy" not in told
    record(store, backend.artifacts, "campus", startups(campus), RunStatus.KEPT)
    record(store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    assert "A new run of campus-collaboration brings it back." in _words(
        site.get("/networks/campus/devices/r1").text
    )


def test_the_list_of_networks_says_what_the_matter_is(site: TestClient, backend: Backend) -> None:
    store, campus = backend.run_requests.store, backend.networks.network("campus")
    texts = _kept(backend)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    site.get("/networks/campus")  # compares few devices at once
    assert "campus ✔ healthy" in _words(site.get("/networks").text)
    changed = {**texts, "r1": texts["r1"].replace("priority percent 50", "priority percent 30")}
    last = record(store, backend.artifacts, "campus", changed, RunStatus.FAILED)
    assert "campus ✘ last run failed" in _words(site.get("/networks").text)
    site.get("/networks/campus")
    why = Reason("after the push the objectives are not met", "measure-after", NOT_MET)
    broken = store.create_run("campus", "silver", "e" * 64, {}).id
    store.set_status(broken, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=why)
    assert "campus ▲ drifted: r1" in _words(site.get("/networks").text)
    record(store, backend.artifacts, "campus", texts, RunStatus.REJECTED)
    site.get("/networks/campus")
    assert "campus ▲ last run rejected by checks" in _words(site.get("/networks").text)
    stuck = store.create_run("campus", "silver", "e" * 64, {}).id
    store.journal.append(stuck, "e300", JournalAction.TOUCHING)
    store.set_status(
        stuck, RunStatus.NEEDS_RECOVERY, reason=Reason("the table is full", "rollback", RECOVER, "e300")
    )
    page = site.get("/networks").text
    assert "campus ✘ half-way: e300" in _words(page)
    assert page.count('id="net-run-campus"') == 1
    assert last not in page, "one run stands there"
    store.journal.append(stuck, "e300", JournalAction.UNDONE)
    store.set_status(stuck, RunStatus.CANCELLED, reason=why)

    kept = next(run for run in store.list_runs(networks=["campus"]) if run.status is RunStatus.KEPT)
    back = store.create_run("campus", kept.policy, kept.policy_version, {ROLLBACK_OF: kept.id})
    with store.stage(back.id, "read", ReadSummary(running=_stored(backend, startups(campus)), errors=[])):
        pass
    store.set_status(back.id, RunStatus.RUNNING)
    store.set_status(back.id, RunStatus.KEPT)
    site.get("/networks/campus")
    assert "campus holds no policy" in _words(site.get("/networks").text)


@pytest.mark.usefixtures("ann")
def test_what_the_last_look_could_not_compare_is_told_as_long_as_that_is_so(
    site: TestClient, backend: Backend
) -> None:
    campus = backend.networks.network("campus")
    backend.database.transact(lambda connection: request_check(connection, "campus", backend.access.now()))
    claimed = claim_check(backend.database)
    assert claimed is not None
    names = tuple(device.name for device in campus.devices)
    record_check(backend.database, claimed[1], DriftResult(backend.access.now(), uncompared=names))
    assert "Not compared No run has left anything to compare with on: b256, b56" in _words(
        site.get("/networks/campus?tab=checks").text
    )
    _kept(backend)
    site.get("/networks/campus")
    assert "Not compared" not in site.get("/networks/campus?tab=checks").text


def _stored(backend: Backend, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: backend.artifacts.put_text(text) for name, text in texts.items()}


def _fact(page: str, name: str) -> str:
    """What stands under a name in a list of facts, without its markup."""
    found = re.search(rf"<dt>{name}</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).replace(" ,", ",").split())


@pytest.mark.usefixtures("ann")
def test_a_switch_drifts_with_all_ports_that_share_its_queues(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    delivered = startups(backend.networks.network("campus"))
    record(
        backend.run_requests.store,
        backend.artifacts,
        "campus",
        texts | {"s2950": delivered["s2950"]},
        RunStatus.FAILED,
    )
    page = site.get("/networks/campus/devices/s2950").text
    assert "The device as a whole" in page
    assert "scheduler: was" in page
    assert page.count("≠ drifted") == 4


@pytest.mark.usefixtures("ann")
def test_queues_are_drawn_with_their_shares(site: TestClient, backend: Backend) -> None:
    _kept(backend)
    page = site.get("/networks/campus/devices/r1").text
    assert re.findall(r"</svg>([\d.]+) %", page) == ["50", "35", "15"]
    assert "everything else" in page
    assert "drops early, at random (RED)" in page
    slow = site.get("/networks/campus/devices/b56").text
    assert "cuts long packets into fragments" in slow
    switch = site.get("/networks/campus/devices/s2970").text
    assert "as much as comes" in switch, "nothing bounds that queue"
    assert "CoS 5" in switch, "which marks take a queue of a switch"


@pytest.mark.usefixtures("ann")
def test_markup_of_devices_and_inventories_stays_text(site: TestClient, backend: Backend) -> None:
    texts = startups(backend.networks.network("campus"))
    texts["r1"] += f"\ninterface Serial0/0\n random-detect {MARKUP}\n description {MARKUP}\n"
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.FAILED)
    page = site.get("/networks/campus/devices/r1").text
    assert "&lt;script&gt;alert(1)" in page[page.index('id="unknown"') :]
    for address in ("/networks", "/networks/campus", "/networks/campus/devices/r1"):
        assert "<script>alert" not in site.get(address).text, address


def test_a_device_that_cannot_be_read_is_reported_with_the_hint(
    site: TestClient, backend: Backend, ann: dict[str, str]
) -> None:
    _kept(backend)
    answer = site.post("/networks/campus/devices/r1/now", headers=ann)
    assert answer.status_code == 200
    assert "The device could not be read now" in answer.text
    assert "start the lab" in answer.text
    assert "State not known ✘ not reached when last read: no drift" in _words(answer.text)
    assert "✔ as the last run left it" not in _words(answer.text), "what is old is not told as what is"
    assert re.search(r"It was then as\s", answer.text), "what is known stands beside it"
    assert site.post("/networks/campus/devices/r1/now").status_code == 403, "no token of the page"
    assert site.post("/networks/infn-fnal/devices/router1/now", headers=ann).status_code == 403


def test_what_a_run_reads_while_a_person_does_stays_the_last_reading(
    site: TestClient, backend: Backend, ann: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _kept(backend)
    campus, store = backend.networks.network("campus"), backend.run_requests.store
    before = said(startups(campus)["r1"])

    def slow(*_: object) -> dict[str, DeviceText]:
        record(store, backend.artifacts, "campus", configured(campus, POLICY), RunStatus.KEPT)
        return {"r1": before}

    monkeypatch.setattr(backend.previews, "running", slow)
    assert site.post("/networks/campus/devices/r1/now", headers=ann).status_code == 200
    assert last_known(store, backend.artifacts, campus)["r1"].text != before


@pytest.mark.usefixtures("ann")
def test_an_inventory_that_is_broken_leaves_the_others(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    Persons(backend).add("bea", Role.VIEWER).log_in(site)
    (inventories / "infn-fnal" / "links.yaml").write_text("links: 7\n")
    page = site.get("/networks").text
    assert "the inventory of infn-fnal cannot be used" in page
    assert "/networks/campus" in page


@pytest.mark.usefixtures("ann")
def test_rules_for_changes_are_reported_in_words(site: TestClient, inventories: Path) -> None:
    (inventories / "campus" / "changes.yaml").write_text(
        "approval: four_eyes\nzone: Europe/Madrid\nticket: {pattern: 'CHG[0-9]+'}\n"
        "windows: [{days: [sat, sun], from: '22:00', to: '04:00'}]\n"
        f"freezes: [{{from: 2190-12-18, to: 2191-01-07, reason: 'end of term {MARKUP}'}}]\n"
    )
    page = site.get("/networks/campus?tab=settings").text
    rules = page[page.index('id="rules"') :]
    for words in (
        "who neither wrote it nor created the run",
        "CHG[0-9]+",
        "time zone Europe/Madrid",
        "Saturday, Sunday, 22:00 to 04:00 of the next day",
        "2190-12-18 00:00 to 2191-01-08 00:00",
        "end of term &lt;script&gt;",
    ):
        assert words in rules, words


@pytest.mark.parametrize(
    ("path", "trail"),
    [
        ("/networks/campus", "Networks › campus"),
        ("/networks/campus/devices/r1", "Networks › campus › r1"),
        ("/networks/campus/audit", "Networks › campus › Audit"),
        ("/users/root", "Users › root"),
    ],
)
def test_the_way_to_a_page_ends_with_the_page(client: TestClient, persons: Persons, path: str, trail: str) -> None:
    persons.add("root", Role.ADMIN).log_in(client)
    found = re.search(r'<p class="crumbs">(.*?)</p>', client.get(path).text)
    assert found is not None
    assert re.sub(r"<[^>]+>", "", found[1]) == trail
