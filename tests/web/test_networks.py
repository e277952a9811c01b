"""Pages of networks and devices, in this process: who sees what, and what stored readings say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.device_state.last_known import last_known
from qosforge.platforms.device_text import DeviceText
from qosforge.resources import root
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.settings import Settings
from qosforge.web.site import create_site
from qosforge.web.views.network_runs import MOST
from tests.device_texts import said
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
    return " ".join(re.sub(r"<[^>]+>", " ", page[: page.index('id="last-read"')]).split())


@pytest.mark.usefixtures("ann")
def test_a_network_says_which_policy_it_holds_and_how_its_runs_ended(site: TestClient, backend: Backend) -> None:
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
    assert "A run stopped half-way: silver on campus . e300 stands between two states" in told
    assert "Open the run" in told
    assert "▲ a run stands half-way" in told
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
    form = " ".join(re.sub(r"<[^>]+>", " ", site.get("/runs/new?network=campus").text).split())
    assert "A run stopped half-way: silver on campus . e300 stands between two states" in form
    assert "may begin" not in form
    store.set_status(stuck, RunStatus.ROLLED_BACK, reason=why)
    assert '<a class="button primary" href="/runs/new?network=campus">' in site.get("/networks/campus").text
    assert '<a class="button" href="/runs/new?network=campus"' in site.get("/networks").text


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
    assert "voice-video DSCP AF41, EF sent through queue 4" in told, (
        "the class's name, not its beginning and a digest"
    )
    assert "voice-vi-" not in told
    assert "network control (QOSFORGE-CTRL) DSCP CS6, CS7" in told
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
    assert "No drift" in clean
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
    assert "healthy" not in home, "nothing is known of it yet"
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
    assert "No drift" in answer.text, "what is known stands beside it"
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
