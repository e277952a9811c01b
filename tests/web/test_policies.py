"""Pages of policies: their list, their versions and what these have other than each other."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest
from markupsafe import escape
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.policy_source import PolicySource, load_policy, shipped_policies
from qosforge.inventory.loader import load_network
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.resources import root
from qosforge.runs.record.reason import Reason
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.tables import RunStatus
from qosforge.web.views import starting_points
from qosforge.web.views.policy_search import AT_ONCE
from qosforge.web.views.starting_points import start_fits
from tests.principals import somebody
from tests.web.people import Persons
from tests.web.recorded import record, startups
from tests.web.test_runs import told

GOLD = """version: 1
intent: gold
include: [classes/rfc4594-4.yaml]
apply: [{interfaces: wan, direction: output}]
"""


@pytest.fixture
def gold(backend: Backend) -> None:
    """A policy in two versions, with markup where people may write."""
    ann, other = (backend.policies.seen_by(somebody(name)) for name in ("ann", "<img src=x>"))
    ann.store("gold", PolicySource(GOLD), "<script>alert(1)</script>", network="*")
    slow = (
        "link_efficiency: [{when: {rate_below: 768 kb/s}, fragment: {blocking_delay: 16 ms}}]\ntolerance: 4 %\n"
        "classes: [{name: voice, match: {any: [{dscp: ef}]}}]  # <b>\n"
    )
    other.store("gold", PolicySource(GOLD + slow), "slow links")


def test_a_policy_says_which_packets_its_classes_take(client: TestClient, persons: Persons) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get("/policies/campus-collaboration").text).split())
    assert "Class Traffic Share Marks Objective" in page
    assert "voice-video rtp-audio, rtp-video or DSCP ef, af41" in page
    assert "default everything else" in page
    assert "Where it applies Direction Ports output queue and serve role edge, middle · tag wan" in page
    assert "What is measured vigo1 → vigo2 voice-video beside web-and-file, default" in page
    assert "6 more paths" in page
    ports = client.get("/policies/infn-fnal-pq").text
    assert "UDP, destination 192.190.218.2/32, destination port 50005" in ports


def test_policies_are_listed_with_their_newest_versions(client: TestClient, persons: Persons, gold: None) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    page = client.get("/policies").text
    assert "slow links" in page
    assert "&lt;img src=x&gt;" in page
    assert 'href="/policies/gold/edit"' in page
    assert 'href="/policies/new"' in page
    persons.add("vic", Role.VIEWER).log_in(client)
    assert "New policy" not in client.get("/policies").text
    assert client.get("/policies/new").status_code == 403


def test_a_new_policy_begins_from_a_recommended_one(client: TestClient, persons: Persons, gold: None) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)

    def offered(start: str) -> tuple[list[str], list[str]]:
        page = client.get("/policies/new", params={"from": start} if start else {}).text
        found = re.findall(r'name="from" value="([^"]*)"( checked)?', page)
        return [value for value, _ in found], [value for value, checked in found if checked]

    values, checked = offered("")
    assert checked == []  # until it is known what fits; a form without a choice is not sent
    assert 'value="gold" required' in client.get("/policies/new").text
    assert set(values) == {*STARTING_POINTS, "", "gold"}
    assert offered("rfc4594-8")[1] == ["rfc4594-8"]
    assert offered("gold")[1] == ["gold"]
    assert set(offered("nowhere")[1]) <= {"rfc4594-4-basic"}


def test_the_starting_point_that_fits_the_network_is_recommended(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)

    def starts(network: str, **asked: str) -> str:
        for _ in range(600):
            page = client.get("/policies/new/starts", params={"network": network, **asked}).text
            if "are being compiled" not in page:
                return page
            time.sleep(0.1)
        raise AssertionError("the starting points are never compiled")

    def chosen(page: str) -> list[str]:
        return re.findall(r'name="from" value="([^"]*)" checked', page)

    def cards(page: str) -> dict[str, str]:
        found = re.findall(r"<label.*?<strong>([^<]*)</strong>(.*?)</label>", page, re.DOTALL)
        return {name: " ".join(re.sub(r"<[^>]+>", "", text).split()) for name, text in found}

    first = client.get("/policies/new", params={"network": "campus"}).text
    assert "are being compiled for campus" in first
    assert chosen(first) == []
    page = starts("campus")
    words = cards(page)
    assert "1 error on campus: s2950" in words["rfc4594-4"]
    assert "errors on campus: s2950, s2970, ers5510" in words["rfc4594-8"]
    assert "? no errors found on campus; 9 devices were never read" in words["rfc4594-4-basic"]
    # What is configured on devices that were never read may be in the way.
    assert chosen(page) == []
    assert "recommended" not in " ".join(words.values())
    assert "status-kept" not in page
    assert "is-ok" not in page
    assert "The 9 devices of campus were never read." in page
    assert 'formaction="/networks/campus/read"' in page

    for name in ("campus", "itesm-wan"):
        texts = startups(backend.networks.network(name))
        record(backend.run_requests.store, backend.artifacts, name, texts, RunStatus.KEPT)
    page = starts("campus")
    words = cards(page)
    assert "never read" not in page
    assert "1 error on campus: ers5510" in words["rfc4594-4-basic"], "of what it was read to hold"
    assert [name for name, text in words.items() if "recommended" in text] == ["campus-collaboration"]
    assert "recommended the only one without errors ✔ no errors on campus" in words["campus-collaboration"]
    assert chosen(page) == ["campus-collaboration"]
    # What a person chose stays chosen, whatever is recommended.
    assert chosen(starts("campus", offered="rfc4594-4", **{"from": "rfc4594-8"})) == ["rfc4594-8"]
    assert chosen(client.get("/policies/new", params={"network": "campus"}).text) == ["campus-collaboration"]
    # Each network has its own.
    page = starts("itesm-wan", offered="campus-collaboration", **{"from": "campus-collaboration"})
    assert chosen(page) == ["rfc4594-4"]
    assert "recommended the simplest without errors" in cards(page)["rfc4594-4"]


def test_of_a_large_network_starting_points_are_compiled_and_not_checked_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = load_network(root() / "inventories" / "itesm")
    starts = {"campus-collaboration": PolicySource(shipped_policies()["campus-collaboration"], "campus.yaml")}
    whole = start_fits(starts, network, {})["campus-collaboration"]
    monkeypatch.setattr(starting_points, "MAX_WHOLE_DEVICES", 1)
    compiled = start_fits(starts, network, {})["campus-collaboration"]
    assert 0 < compiled.errors < whole.errors  # the checks find more
    assert compiled.devices == ("s11", "s12", "s31", "s32")
    assert not compiled.fits
    nowhere = PolicySource(GOLD.replace("interfaces: wan", "interfaces: moon"), "gold.yaml")
    assert not start_fits({"gold": nowhere}, network, {})["gold"].fits, "it applies to no port"


def test_policies_stand_in_groups_with_what_they_are_for(
    client: TestClient, persons: Persons, backend: Backend, gold: None
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    run = backend.run_requests.store.create_run("campus", "gold", "0" * 64, {})
    page = client.get("/policies").text
    parts = ("active", "own", "starting-points", "papers")
    active, own, starting, papers = (page.index(f'id="{part}"') for part in parts)
    assert active < page.index(f'<a href="/runs/{run.id}">campus</a>') < own < starting
    assert starting < page.index('<a href="/policies/rfc4594-4">') < papers
    assert papers < page.index('<a href="/policies/impossible">')
    assert 'href="/policies/new?from=impossible"' not in page
    assert 'href="/policies/new?from=rfc4594-8"' in page
    for name, text in shipped_policies().items():
        description = load_policy(PolicySource(text, f"{name}.yaml")).intent.description
        assert description, name
        assert str(escape(description)) in page, name


def test_a_drawing_says_in_words_what_each_class_gets(client: TestClient, persons: Persons) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    page = client.get("/policies/rfc4594-4").text
    assert (
        'aria-label="real-time: up to 30 %, served first; network-control: 5 % of the rest; '
        'assured-elastic: 50 % of the rest; default: 45 % of the rest"' in page
    )
    widths = [
        float(width) for width in re.findall(r'class="class-[0-9]+ part" x="[0-9.]+" width="([0-9.]+)"', page)
    ]
    assert widths == pytest.approx([30, 3.5, 35, 31.5], abs=0.02)
    assert "delay p99 150 ms, jitter 50 ms, loss 1 %" in page
    assert "no measurements" in page
    for name in shipped_policies():  # strict priority, weights, rates and trees fit the bar, too
        ends = re.findall(
            r'class="class-[0-9]+ part" x="([0-9.]+)" width="([0-9.]+)"', client.get(f"/policies/{name}").text
        )
        assert ends, name
        assert all(float(width) > 0 for _, width in ends), name
        assert float(ends[-1][0]) + float(ends[-1][1]) == pytest.approx(100, abs=0.5), name


def test_a_card_says_which_class_is_served_first(client: TestClient, persons: Persons) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    cards = client.get("/policies").text.split("<article")
    (card,) = (one for one in cards if '<a href="/policies/campus-collaboration">' in one)
    assert re.findall(r'class="faint">([^<]* %[^<]*)<', card) == [
        "up to 50 %, served first",
        "70 % of the rest",
        "30 % of the rest",
    ]


def test_twelve_classes_have_twelve_colours_and_the_strip_is_explained(
    client: TestClient, persons: Persons
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    page = client.get("/policies/rfc4594-12").text
    colours = re.findall(r'class="class-(\d+) part"', page)
    assert len(colours) == len(set(colours)) == 12
    styles = client.get(re.findall(r'href="([^"]*site\.css[^"]*)"', page)[0]).text
    for colour in colours:
        assert f".class-{colour} {{ --class: light-dark(#" in styles, colour
    cards = client.get("/policies").text.split("<article")
    (card,) = (one for one in cards if '<a href="/policies/campus-collaboration">' in one)
    assert card.count('is-first" title="served first"') == 1
    assert 'href="/runs/new?policy=campus-collaboration"' in card, "it has measurements, so it can run as it is"
    (other,) = (one for one in cards if '<a href="/policies/rfc4594-4">' in one)
    assert "/runs/new" not in other


def test_a_class_says_the_marks_of_both_layers(client: TestClient, persons: Persons) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    assert ">af41, CoS 5</td>" in client.get("/policies/campus-collaboration").text


def test_a_class_that_is_marked_by_a_precedence_says_so(client: TestClient, persons: Persons) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    assert "precedence 7" in client.get("/policies/infn-fnal-pq").text


def test_a_policy_that_cannot_be_read_is_told_as_such(
    client: TestClient, persons: Persons, backend: Backend, gold: None
) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    for path in (backend.settings.var_dir / "artifacts").rglob("*"):
        if path.is_file():
            path.unlink()
    page = client.get("/policies").text
    assert "It cannot be read:" in page
    assert '<a href="/policies/rfc4594-4">' in page


def test_a_starting_point_gets_measurements_of_the_network(client: TestClient, persons: Persons) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)

    def begun(start: str, network: str) -> tuple[str, LoadedIntent]:
        asked = {"name": "site", "from": start, "network": network}
        page = client.get("/policies/new", params=asked).text
        found = re.search(r'<textarea id="policy-text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
        assert found is not None
        return page, load_policy(PolicySource(unescape(found[1]), "site.yaml"))

    page, loaded = begun("rfc4594-4", "campus")
    (check,) = loaded.intent.verify
    assert check.path == "vigo3→vigo1"
    assert check.classes == ("real-time",)
    assert set(check.beside) == {"assured-elastic", "default"}
    assert "It got 1 measurement between end hosts of campus" in page
    assert "vigo3 → vigo1</span></p>" in page, "from whom to whom"

    page, loaded = begun("rfc4594-4", "itesm")
    assert loaded.intent.verify == ()
    assert "It has no measurements: itesm describes no traffic" in page

    page, loaded = begun("campus-collaboration", "campus")
    assert len(loaded.intent.verify) == 11  # its own fit
    assert "measurement" not in page[: page.index('id="editor"')]
    page, loaded = begun("campus-collaboration", "itesm")
    assert loaded.intent.verify == ()


def test_a_name_that_cannot_be_is_reported_in_the_form(client: TestClient, persons: Persons, gold: None) -> None:
    said = persons.add("ann", Role.OPERATOR).log_in(client)

    for name in ("gold", "2<b>"):
        refused = client.get("/policies/new", params={"name": name, "from": "gold"}, headers=said)
        assert refused.status_code == 422
        assert refused.headers["HX-Retarget"] == "#messages"
        assert 'data-field="name"' in refused.text
    begun = client.get("/policies/new", params={"name": "silver", "from": "gold"}, headers=said)
    assert begun.headers["HX-Redirect"] == "/policies/new?name=silver&from=gold"
    assert "silver" in client.get(begun.headers["HX-Redirect"]).text


def test_a_policy_has_its_versions_and_ways_on(client: TestClient, persons: Persons, gold: None) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    page = client.get("/policies/gold").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "/policies/gold/difference?before=1&amp;after=2" in page
    assert 'href="/runs/new?policy=gold&amp;version=2"' in page
    assert client.get("/policies/none").status_code == 404
    library = client.get("/policies/rfc4594-8").text
    assert "/runs/new" not in library  # without measurements one starts from it
    assert 'href="/runs/new?policy=campus-collaboration"' in client.get("/policies/campus-collaboration").text


def test_a_difference_is_reported_in_words_and_lines(client: TestClient, persons: Persons, gold: None) -> None:
    persons.add("vic", Role.VIEWER).log_in(client)
    page = client.get("/policies/gold/difference", params={"before": 1, "after": 2}).text
    assert "tolerance" in page
    assert "classes › voice" in page
    assert "dscp: [ef]" in page
    assert "768 kb/s" in page
    assert "+classes: [{name: voice, match: {any: [{dscp: ef}]}}]  # &lt;b&gt;" in page
    same = client.get("/policies/gold/difference", params={"before": 2, "after": 2}).text
    assert "Both mean the same." in same
    assert client.get("/policies/gold/difference", params={"before": 1, "after": 9}).status_code == 404
    assert client.get("/policies/gold/difference", params={"before": "x"}).status_code == 422


def test_a_version_of_who_is_no_operator_there_is_taken_over_on_its_page(
    client: TestClient, persons: Persons, gold: None
) -> None:
    said = persons.add("ben", Role.OPERATOR, "campus").log_in(client)
    page = client.get("/policies/gold").text
    assert 'hx-post="/policies/gold/versions/2/take-over"' in page
    assert "&lt;img src=x&gt; is no operator there" in page
    refused = client.post("/policies/gold/versions/2/take-over", data={"network": "itesm"}, headers=said)
    assert refused.status_code == 403
    taken = client.post("/policies/gold/versions/2/take-over", data={"network": "campus"}, headers=said)
    assert (taken.status_code, taken.headers["HX-Redirect"]) == (204, "/policies/gold")
    assert "/versions/2/take-over" not in client.get("/policies/gold").text


def test_whose_a_policy_is_stands_on_its_pages(client: TestClient, persons: Persons, backend: Backend) -> None:
    text = GOLD.replace("intent: gold", "intent: rfc4594-4")
    root = backend.policies.seen_by(somebody("root"))
    root.store("rfc4594-4", PolicySource(text), network="*", shadow_shipped=True)
    root.store("gold", PolicySource(GOLD), network="itesm")
    persons.add("ben", Role.OPERATOR, "campus").log_in(client)
    page = client.get("/policies").text
    assert "replaces the built-in one" in page
    assert "/policies/gold" not in page
    assert client.get("/policies/gold").status_code == 404
    shadowing = client.get("/policies/rfc4594-4").text
    assert "For all networks" in shadowing
    assert "It replaces the built-in policy of this name" in shadowing
    assert ">Edit</a>" not in shadowing
    assert 'id="store"' not in client.get("/policies/rfc4594-8/edit").text
    new = client.get("/policies/new", params={"name": "mine"}).text
    assert '<option value="campus" selected>' in new
    assert '<option value="*"' not in new


def test_an_admin_hides_a_shipped_policy_by_ticking_a_device(client: TestClient, persons: Persons) -> None:
    said = persons.add("root", Role.ADMIN).log_in(client)
    assert 'id="shadow-shipped"' in client.get("/policies/rfc4594-8/edit").text
    text = GOLD.replace("intent: gold", "intent: rfc4594-8")
    body = {"text": text, "base": "0", "owner": "*"}
    refused = client.post("/policies/rfc4594-8/versions", data=body, headers=said)
    assert refused.status_code == 422
    assert "would be hidden" in refused.text
    kept = client.post("/policies/rfc4594-8/versions", data=body | {"shadow_shipped": "yes"}, headers=said)
    assert kept.json()["number"] == 1
    assert 'id="shadow-shipped"' not in client.get("/policies/rfc4594-8/edit").text


def _shown(client: TestClient, **search: str | int) -> list[str]:
    """The policies whose cards a page has, in its order."""
    page = client.get("/policies", params=search)
    assert page.status_code == 200, page.text
    return re.findall(r'<h3><a href="/policies/([^"]+)">', page.text)


def test_policies_are_found_by_their_words_without_scripts(
    client: TestClient, persons: Persons, backend: Backend, gold: None
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    assert _shown(client, q="gold") == ["gold", "aircraft-gold"], "those that people stored come first"
    assert _shown(client, q="GOLD  slow") == ["gold"], "every word, in any case, also of the comment"
    assert _shown(client, q="gold fast") == []
    page = client.get("/policies", params={"q": "gold slow"}).text
    assert f"1 policy fits, of {len(shipped_policies()) + 1}." in page
    assert 'name="q" value="gold slow"' in page, "what was looked for stays in the form"
    assert 'id="starting-points"' not in page
    nothing = client.get("/policies", params={"q": "<b>"}).text
    assert "No policy fits this filter." in nothing
    assert 'value="&lt;b&gt;"' in nothing


def test_policies_are_found_by_network_and_last_run(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    mine = backend.policies.seen_by(somebody("ann"))
    for name, network in (("everywhere", "*"), ("here", "campus"), ("there", "itesm")):
        mine.store(name, PolicySource(GOLD.replace("gold", name)), "", network=network)
    run = backend.run_requests.store.create_run("itesm", "everywhere", "0" * 64, {})
    assert _shown(client, network="campus") == ["here"]
    assert sorted(_shown(client, network="itesm")) == ["everywhere", "there"]
    assert _shown(client, state="waiting") == ["everywhere"]
    assert _shown(client, state="undone") == []
    backend.run_requests.store.set_status(run.id, RunStatus.FAILED, reason=Reason("no power", "push", "try again"))
    assert _shown(client, state="undone") == ["everywhere"]
    assert _shown(client, state="in_force") == []
    assert {"here", "there"} <= set(_shown(client, state="never"))
    assert "everywhere" not in _shown(client, state="never")
    assert client.get("/policies", params={"state": "nonsense"}).status_code == 422
    longest = "n" * 128
    mine.store("far", PolicySource(GOLD.replace("gold", "far")), "", network=longest)
    assert _shown(client, network=longest) == ["far"], "every network that can be added can be chosen"


def test_a_policy_that_was_rolled_back_says_what_stands_there_now(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    mine = backend.policies.seen_by(somebody("ann"))
    for name in ("steps", "stairs"):
        mine.store(name, PolicySource(GOLD.replace("gold", name)), "", network="*")
    store = backend.run_requests.store
    first = store.create_run("campus", "stairs", "e" * 64, {}).id
    store.set_status(first, RunStatus.KEPT)
    run = store.create_run("campus", "steps", "f" * 64, {}).id
    store.set_status(run, RunStatus.KEPT)
    back = store.create_run("campus", "steps", "f" * 64, {ROLLBACK_OF: run}).id
    store.set_status(back, RunStatus.KEPT)

    def told(address: str) -> str:
        page = client.get(address).text
        assert 'status-kept">✔ rolled back' not in page, "it does not run there"
        shown = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        return re.sub(r" \d{4}-\d\d-\d\d \S+ UTC", "", shown)

    assert "campus ↩ rolled back to before stairs is in force on campus" in told("/policies?q=steps")
    assert "↩ rolled back to before stairs is in force on campus" in told("/policies/steps")
    assert "✔ in force on campus since" in told("/policies?q=stairs")
    assert "✔ in force since" in told("/policies/stairs")
    again = store.create_run("campus", "stairs", "e" * 64, {ROLLBACK_OF: first}).id
    store.set_status(again, RunStatus.KEPT)
    assert "campus ↩ rolled back to before none in force on campus" in told("/policies?q=steps")


def test_what_a_network_holds_stands_first_whose_ever_it_is(
    client: TestClient, persons: Persons, backend: Backend, gold: None
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store
    assert 'id="active"' not in client.get("/policies").text

    def ran(policy: str, network: str, status: RunStatus) -> str:
        run = store.create_run(network, policy, "f" * 64, {}).id
        reason = Reason("not met", "measure-after", "ask for less") if status is RunStatus.ROLLED_BACK else None
        store.set_status(run, status, reason=reason)
        return run

    def first() -> dict[str, str]:
        part = client.get("/policies").text.partition('id="active"')[2].partition("</section>")[0]
        rows = re.findall(r'<h3><a href="/policies/([^"]+)">(.*?)</tr>', part, re.DOTALL)
        return {name: " ".join(re.sub(r"<[^>]+>", " ", row).split()) for name, row in rows}

    ran("campus-collaboration", "campus", RunStatus.KEPT)
    assert list(first()) == ["campus-collaboration"], "a shipped one, too"
    assert "✔ in force on campus since" in first()["campus-collaboration"]
    ran("impossible", "campus", RunStatus.ROLLED_BACK)
    ran("gold", "itesm", RunStatus.NEEDS_APPROVAL)
    assert list(first()) == ["gold", "campus-collaboration", "impossible"]
    assert re.search(r"campus ↩ rolled back \d", first()["impossible"]), (
        "out of the fold, and a space before the date"
    )
    assert _shown(client, state="in_force") == ["campus-collaboration"]
    ran("gold", "campus", RunStatus.KEPT)
    assert "campus-collaboration" not in first(), "gold took its place"
    assert "campus replaced" in told(client.get("/policies")).partition("campus-collaboration")[2]


def test_many_policies_come_a_page_at_a_time(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    mine = backend.policies.seen_by(somebody("ann"))
    names = [f"site-{number:02}" for number in range(AT_ONCE + 2)]
    for name in names:
        mine.store(name, PolicySource(GOLD.replace("gold", name)), "", network="*")
    assert _shown(client, q="site-") == names[: -AT_ONCE - 1 : -1], "newest first"
    assert _shown(client, q="site-", order="name") == names[:AT_ONCE]
    page = client.get("/policies", params={"q": "site-", "order": "name"}).text
    assert 'rel="next" href="/policies?q=site-&amp;order=name&amp;page=2#own"' in page
    assert _shown(client, q="site-", order="name", page=2) == names[AT_ONCE:]
    assert _shown(client, q="site-", order="name", page=99) == names[AT_ONCE:], "there is no page 99"
