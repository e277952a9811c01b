"""Runs by their pages: lists, orders, and what people may ask of a run, by role and by its state."""

from __future__ import annotations

import html
import io
import re
import uuid
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.roles import Role
from qosforge.access.users import grant
from qosforge.api.backend import Backend, open_backend
from qosforge.intent.policy_source import PolicySource
from qosforge.runs.record.reason import Reason, settle_first
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, ReadSummary, StageSummary
from qosforge.runs.record.tables import JournalAction, RunStatus, StageOutcome, Verdict
from qosforge.runs.workflow.external_tester import waiting_for
from qosforge.settings import Settings
from qosforge.web.views.run_events import SHOWN_EVENTS
from tests.principals import somebody
from tests.web.people import Persons

NETWORK = "infn-fnal"
POLICY = "remote-control"
ROOT = Path(__file__).parents[2]
MARKUP = '<img src=x onerror="alert(1)">'

Enter = Callable[..., dict[str, str]]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """A service where four eyes are asked for, and a policy with something to judge."""
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1, four_eyes=True)) as made:
        text = (ROOT / "examples/policies/remote-control.yaml").read_text()
        Persons(made).add("author", Role.OPERATOR, NETWORK)
        made.policies.seen_by(somebody("author")).store(
            POLICY, PolicySource(text, "remote-control.yaml"), network=NETWORK
        )
        yield made


@pytest.fixture
def enter(client: TestClient, persons: Persons) -> Enter:
    """Lets somebody of a role log in; what calls carry."""

    def go(name: str, role: Role, network: str = "*") -> dict[str, str]:
        return persons.add(name, role, network).log_in(client)

    return go


def place(client: TestClient, headers: dict[str, str], **fields: str) -> str:
    """Order a run by the form; its id."""
    form = {"network": NETWORK, "policy": POLICY, "key": str(uuid.uuid4())} | fields
    answer = client.post("/runs", data=form, headers=headers)
    assert answer.status_code == 204, answer.text
    return str(answer.headers["hx-redirect"].rpartition("/")[2])


def wait_for_approval(backend: Backend, run: str, delta: str = "policy-map new\n") -> str:
    """Bring a run to where it waits for somebody; the candidate."""
    store, put = backend.run_requests.store, backend.artifacts.put_text
    candidate = backend.artifacts.put_json({"version": 1, "devices": {"router1": delta}})
    held = put("hostname router1\n")
    prepared = PreparedDevice(
        configuration=put(delta), delta=put(delta), inverse=put("no policy-map new"), empty=False
    )
    with store.stage(run, "read", ReadSummary(running={"router1": held}, errors=[])):
        pass
    with store.stage(run, "prepare", PrepareSummary(candidate=candidate, devices={"router1": prepared})):
        pass
    store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for=f"approval of candidate {candidate}")
    return candidate


def told(answer: object) -> str:
    """The text of an answer without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(getattr(answer, "text", "")))).split())


def test_an_empty_list_leads_to_a_first_run(client: TestClient, enter: Enter) -> None:
    enter("ann", Role.OPERATOR)
    page = client.get("/runs").text
    empty = page[page.index('id="list"') :]
    assert 'href="/policies"' in empty
    assert 'href="/runs/new"' in empty
    assert 'href="/runs"' in client.get("/runs?status=kept").text.partition('id="list"')[2]
    enter("eve", Role.VIEWER)
    assert 'href="/runs/new"' not in client.get("/runs").text


def test_the_list_is_narrowed_and_paged(client: TestClient, enter: Enter, backend: Backend) -> None:
    enter("vic", Role.VIEWER, NETWORK)
    store = backend.run_requests.store
    for number in range(35):
        run = store.create_run(NETWORK if number % 5 else "campus", f"policy-{number}", "0" * 64, {})
        if number == 7:
            store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
    first = told(client.get("/runs"))
    assert "policy-34" in first
    assert "policy-30" not in first  # of a network that is not seen
    older = re.search(r'href="(/runs\?[^"]*cursor=[^"]+)"', client.get("/runs?by=").text)
    assert older is None  # 28 are seen, and a page has 30
    found = told(client.get(f"/runs?network={NETWORK}&status=kept&verdict=met&policy=&by=&since="))
    assert "policy-7" in found
    assert "policy-8" not in found
    assert "No run passes" in told(client.get("/runs?network=campus"))
    assert "No run passes" in told(client.get("/runs?since=2999-01-01"))
    assert client.get("/runs?status=odd").status_code == 422
    assert client.get("/runs?statsu=kept").status_code == 422


def test_older_runs_follow_on_pages(client: TestClient, enter: Enter, backend: Backend) -> None:
    enter("ada", Role.ADMIN)
    for number in range(65):
        backend.run_requests.store.create_run("campus", f"policy-{number:02}", "0" * 64, {})
    seen: list[str] = []
    address: str | None = "/runs?network=campus"
    while address:
        page = client.get(address).text
        seen += re.findall(r"policy-\d\d(?=</a> <code>)", page)
        found = re.search(r'href="(/runs\?[^"]*cursor=[^"]+)"', page)
        address = unescape(found[1]) if found else None
    assert seen == [f"policy-{number:02}" for number in range(64, -1, -1)]


@pytest.mark.parametrize("address", ["/", "/runs"])
def test_lists_are_sent_again_only_when_they_changed(
    client: TestClient, enter: Enter, backend: Backend, address: str
) -> None:
    headers = enter("ada", Role.ADMIN)
    run = backend.run_requests.store.create_run("campus", "first", "0" * 64, {})
    found = re.search(r'hx-get="([^"]+known=[^"]+)"', client.get(address).text)
    assert found
    again = unescape(found[1])
    assert client.get(again, headers=headers).status_code == 204
    backend.run_requests.store.set_status(run.id, RunStatus.KEPT)
    changed = client.get(again, headers=headers)
    assert (changed.status_code, "✔ kept" in changed.text) == (200, True)


def test_the_first_page_tells_what_waits_for_whom(client: TestClient, enter: Enter, backend: Backend) -> None:
    headers = enter("ann", Role.OPERATOR)
    waits, under_way = place(client, headers, ticket="CHG-7"), place(client, headers)
    wait_for_approval(backend, waits)
    mine = told(client.get("/"))
    assert "Needs attention 1" in mine
    size = "1 device, lines gained and lost: +1 −0 lines"
    assert f"{POLICY} on {NETWORK} , created by ann, ticket CHG-7: {size} . It waits for an approver." in mine
    assert f"Under way Run Network Step By Created {POLICY} {under_way[:13]} {NETWORK} waits for its turn" in mine
    enter("bob", Role.APPROVER)
    assert f"Review {POLICY} on {NETWORK}" in client.get("/").text
    enter("eve", Role.VIEWER, "campus")
    nothing = told(client.get("/"))
    assert "Nothing waits." in nothing
    assert "CHG-7" not in nothing


def test_what_waits_is_listed_without_its_size_where_its_files_are_gone(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    headers = enter("ann", Role.OPERATOR)
    wait_for_approval(backend, place(client, headers, ticket="CHG-8"))
    for file in backend.settings.artifacts_dir.rglob("*"):
        if file.is_file():
            file.unlink()
    mine = told(client.get("/"))
    assert "ticket CHG-8" in mine
    assert "lines gained and lost" not in mine


def test_an_order_says_what_the_network_asks_for(client: TestClient, enter: Enter) -> None:
    enter("ann", Role.OPERATOR)
    page = told(client.get(f"/runs/new?network={NETWORK}&policy={POLICY}"))
    assert "an approver who had no hand in the change approves its lines before anything is pushed" in page
    assert "Whoever wrote the policy, or created, retried or cancelled the run, cannot approve it." in page
    assert "Changes may begin at any time" in page
    nothing = told(client.get("/runs/new?network=itesm&policy=itesm-paper"))
    assert "no measurement of a class with an objective: nothing is measured, and the change is kept" in nothing
    assert "Kept only if" not in nothing


@pytest.fixture
def both(client: TestClient, persons: Persons, backend: Backend) -> None:
    """An operator of campus and of infn-fnal looks on; both have policies, and campus the first of the alphabet."""
    persons.add("ann", Role.OPERATOR, NETWORK).log_in(client)
    backend.database.transact(lambda connection: grant(connection, "ann", "campus", Role.OPERATOR))
    backend.database.transact(lambda connection: grant(connection, "ann", "itesm", Role.VIEWER))
    library = backend.policies.seen_by(somebody("author"))
    text = (ROOT / "examples/policies/remote-control.yaml").read_text()
    for name, network in (("a-first", "campus"), ("of-itesm", "itesm"), ("of-all", "*")):
        library.store(name, PolicySource(text.replace("remote-control", name), f"{name}.yaml"), network=network)
    library.store(POLICY, PolicySource(text + "# more\n", "remote-control.yaml"))


def form(client: TestClient, **asked: str) -> tuple[dict[str, str], list[str], str]:
    """The order's form: what is chosen in its selects, which policies may be, and its markup."""
    answer = client.get("/runs/new", params=asked)
    assert answer.status_code == 200, answer.text
    chosen, policies = {}, []
    for name, inside in re.findall(r'<select id="(\w+)".*?>(.*?)</select>', answer.text, re.S):
        options = re.findall(r'<option(?: value="([^"]*)")?([^>]*)>([^<]*)', inside)
        values = [
            (text if value == "" and "disabled" not in more else value, more) for value, more, text in options
        ]
        chosen[name] = next((value for value, more in values if "selected" in more), values[0][0])
        policies = [value for value, more in values if value] if name == "policy" else policies
    return chosen, policies, answer.text


@pytest.mark.parametrize(
    ("asked", "network", "version"),
    [
        ({"policy": POLICY, "version": "1"}, NETWORK, "1"),
        ({"policy": POLICY, "version": "2", "network": "campus"}, NETWORK, "2"),
        ({"policy": POLICY, "network": NETWORK}, NETWORK, "latest"),
        ({"policy": "of-all", "network": NETWORK}, NETWORK, "latest"),
        ({"policy": "of-all", "version": "1"}, "campus", "1"),
        ({"policy": "of-all", "version": "1", "network": NETWORK, "changed": "network"}, NETWORK, "1"),
    ],
)
def test_an_order_begins_with_the_very_policy_that_was_asked_for(
    client: TestClient, both: None, asked: dict[str, str], network: str, version: str
) -> None:
    chosen, _, page = form(client, **asked)
    assert chosen == {"network": network, "policy": asked["policy"], "version": version}
    assert f"Rules of network {network}" in page
    assert 'value="twin" checked' in page
    assert 'type="hidden" name="judge"' not in page


@pytest.mark.parametrize(
    ("asked", "network"),
    [
        ({"policy": POLICY, "version": "1", "network": "campus", "changed": "network"}, "campus"),
        ({"policy": "of-itesm"}, "campus"),
        ({}, "campus"),
        ({"network": NETWORK}, NETWORK),
    ],
)
def test_an_order_takes_no_policy_that_was_not_asked_for(
    client: TestClient, both: None, asked: dict[str, str], network: str
) -> None:
    chosen, policies, page = form(client, **asked)
    assert chosen == {"network": network, "policy": ""}
    assert "choose a policy" in page
    assert ("a-first" in policies, POLICY in policies) == (network == "campus", network == NETWORK)
    assert ("Choose a policy of this network" in page) == ("policy" in asked)
    assert asked.get("policy", "") in unescape(page)
    assert 'name="judge"' not in page
    assert 'id="start-run"' not in page, "nothing can be started"
    assert 'name="ticket"' in page


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"policy": "none"}, 404),
        ({"policy": POLICY, "version": "9"}, 404),
        ({"policy": POLICY, "version": "0"}, 404),
        ({"policy": "of-all", "network": "itesm"}, 403),
        ({"policy": "of-all", "network": "none"}, 403),
    ],
)
def test_an_order_of_what_is_not_there_is_no_form(
    client: TestClient, both: None, asked: dict[str, str], status: int
) -> None:
    assert client.get("/runs/new", params=asked).status_code == status


def test_a_policy_leads_to_an_order_on_its_network(client: TestClient, both: None) -> None:
    page = client.get(f"/policies/{POLICY}").text
    assert f'href="/runs/new?policy={POLICY}&amp;version=2&amp;network={NETWORK}"' in page
    assert 'href="/runs/new?policy=of-all&amp;version=1"' in client.get("/policies/of-all").text
    assert "/runs/new" not in client.get("/policies/of-itesm").text


def test_an_order_is_asked_for_once(client: TestClient, enter: Enter, backend: Backend) -> None:
    headers = enter("ann", Role.OPERATOR)
    one, two = place(client, headers, key="k"), place(client, headers, key="k")
    assert one == two
    run = backend.run_requests.run(one)
    assert (run.requested_by, run.policy, run.params["measure"]) == ("ann", POLICY, True)


def test_all_that_an_order_says_reaches_the_run(client: TestClient, enter: Enter, backend: Backend) -> None:
    headers = enter("ann", Role.OPERATOR)
    ticked = ("before", "strict", "require_batfish", "accept_unconfirmed")
    options = {"judge": "external", "version": "1", **dict.fromkeys(ticked, "yes")}
    when = {"not_before": "2030-01-02T03:04", "timeout_minutes": "90", "ticket": "CHG-1"}
    run = backend.run_requests.run(place(client, headers, **options, **when))
    assert (run.params["tester"], run.params["measure"]) == ("external", True)
    assert [run.params[name] for name in ticked] == [True] * len(ticked)
    shown = client.get(f"/runs/{run.id}", headers=headers).text
    assert "lines that no published source confirms for their device" in shown
    assert run.not_before == datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
    assert (run.deadline, run.ticket) == (run.not_before + timedelta(minutes=90), "CHG-1")
    assert backend.run_requests.run(place(client, headers, judge="nobody")).params["measure"] is False


def test_the_form_sets_a_finding_of_batfish_aside_for_who_may_approve(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    aside = {"set_aside_code": "batfish-failed", "set_aside_reason": "being moved", "set_aside_text": "<b>"}
    link = f"/runs/new?network={NETWORK}&policy={POLICY}&set_aside_code=batfish-failed&set_aside_device=r%221"
    operator = enter("ann", Role.OPERATOR)
    assert "set_aside_code" not in client.get(link, headers=operator).text
    form = {"network": NETWORK, "policy": POLICY, "key": "k", **aside}
    assert client.post("/runs", data=form, headers=operator).status_code == 403
    approver = enter("bob", Role.APPROVER)
    page = client.get(link, headers=approver).text
    assert 'value="batfish-failed"' in page
    assert 'value="r&#34;1"' in page
    run = backend.run_requests.run(place(client, approver, **aside))
    assert run.resolved.set_aside is not None
    assert (run.resolved.set_aside.by, run.resolved.set_aside.code) == ("bob", "batfish-failed")
    shown = client.get(f"/runs/{run.id}", headers=approver).text
    assert "batfish-failed (&lt;b&gt;) by bob: “being moved”" in shown
    for wrong in ({"set_aside_reason": ""}, {"set_aside_code": ""}, {"set_aside_code": "round-trip"}):
        assert client.post("/runs", data=form | wrong, headers=approver).status_code == 422


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"network": "campsu"}, 404, "no network"),
        ({"policy": "nothing"}, 404, "policy"),
        ({"version": "9"}, 404, "version 9"),
        ({"version": "x"}, 422, "version"),
        ({"judge": "me"}, 422, "choices"),
        ({"not_before": "soon"}, 422, "no moment"),
        ({"timeout_minutes": "0"}, 422, "whole minutes"),
        ({"timeout_minutes": "99999999999"}, 422, "whole minutes"),
        ({"ticket": "x" * 65}, 422, "64 characters"),
        ({"network": "itesm", "policy": "itesm-paper"}, 422, "nothing to measure"),
        ({"key": ""}, 422, "key"),
    ],
)
def test_what_is_wrong_with_an_order_is_reported_in_place(
    client: TestClient, enter: Enter, *, fields: dict[str, str], status: int, said: str
) -> None:
    headers = enter("ann", Role.OPERATOR)
    form = {"network": NETWORK, "policy": POLICY, "key": "k"} | fields
    answer = client.post("/runs", data=form, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["hx-retarget"] == "#messages"
    assert said in told(answer)
    if status == 422 and "network" not in fields:
        assert f'data-field="{next(iter(fields))}"' in answer.text


def test_an_order_takes_an_operator_of_the_network(client: TestClient, enter: Enter) -> None:
    form = {"network": NETWORK, "policy": POLICY, "key": "k"}
    assert client.post("/runs", data=form, headers=enter("vic", Role.VIEWER)).status_code == 403
    assert client.get("/runs/new").status_code == 403
    headers = enter("out", Role.OPERATOR, "campus")
    assert client.post("/runs", data=form, headers=headers).status_code == 403
    assert f">{NETWORK}<" not in client.get("/runs/new").text
    enter("root", Role.ADMIN)
    log = client.get("/calls", params={"kind": "runs", "who": "out"}).text
    assert f"policy: {POLICY}<" in log, "the log says of which policy a run was to be"
    assert re.search(r"<time datetime=\S+ data-exact>[\d-]+ \d\d:\d\d:\d\d UTC</time>", log)


ACTIONS = ("approve", "reject", "cancel", "retry", "rollback")


def test_who_may_not_is_refused_and_shown_no_button(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    form = {"candidate": wait_for_approval(backend, run), "key": "k"}
    for action in ("approve", "reject"):
        assert client.post(f"/runs/{run}/{action}", data=form, headers=ann).status_code == 403
    mine = told(client.get(f"/runs/{run}"))
    assert "An approver or administrator of network" in mine
    assert "Cancel the run" in mine
    vic = enter("vic", Role.VIEWER)
    for action in ACTIONS:
        assert client.post(f"/runs/{run}/{action}", data=form, headers=vic).status_code == 403
    page = client.get(f"/runs/{run}")
    assert "You may look at this run" in told(page)
    assert re.findall(r'<form id="([^"]*)"|<form', page.text) == ["plain"]  # of logging out
    assert "<dialog" not in page.text
    eve = enter("eve", Role.ADMIN, "campus")
    for action in ACTIONS:
        assert client.post(f"/runs/{run}/{action}", data=form, headers=eve).status_code == 404
    for part in ("", "/progress", "/standing", "/figures", "/everything.zip"):
        assert client.get(f"/runs/{run}{part}").status_code == 404
    assert backend.run_requests.run(run).status is RunStatus.NEEDS_APPROVAL


def test_nothing_is_done_without_the_pages_own_token(client: TestClient, enter: Enter, backend: Backend) -> None:
    bob = enter("bob", Role.ADMIN)
    run = place(client, bob)
    form = {"candidate": wait_for_approval(backend, run), "key": "k"}
    for headers in ({}, {"X-CSRF-Token": "0" * 64}):
        for action in ACTIONS:
            assert client.post(f"/runs/{run}/{action}", data=form, headers=headers).status_code == 403
        order = {"network": NETWORK, "policy": POLICY, "key": "k"}
        assert client.post("/runs", data=order, headers=headers).status_code == 403
    assert backend.run_requests.run(run).status is RunStatus.NEEDS_APPROVAL


def test_who_asked_is_reported_beforehand_that_another_has_to_approve(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    ann = enter("ann", Role.APPROVER)
    run = place(client, ann)
    candidate = wait_for_approval(backend, run)
    page = client.get(f"/runs/{run}")
    assert "ann created the run and may not approve it: ask another approver" in told(page)
    assert re.search(r'id="approve"[^>]* disabled', page.text)
    assert not re.search(r'id="reject"[^>]* disabled', page.text)
    assert client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=ann).status_code == 403
    bob = enter("bob", Role.APPROVER)
    page = client.get(f"/runs/{run}")
    assert not re.search(r'id="approve"[^>]* disabled', page.text)
    assert f'value="{candidate}"' in page.text
    assert "+policy-map new" in page.text
    stale = client.post(f"/runs/{run}/approve", data={"candidate": "0" * 64}, headers=bob)
    assert (stale.status_code, "not what the run would do now" in told(stale)) == (409, True)
    good = {"candidate": candidate, "comment": "fine\nby me"}
    answer = client.post(f"/runs/{run}/approve", data=good, headers=bob)
    assert (answer.status_code, answer.headers["hx-trigger"]) == (204, "run-changed")
    again = client.post(f"/runs/{run}/approve", data=good, headers=bob)
    assert (again.status_code, "waits for no approval" in told(again)) == (409, True)
    assert "approved by bob" in told(client.get(f"/runs/{run}/standing"))
    assert "“fine by me”" in told(client.get(f"/runs/{run}/standing"))


def test_what_is_approved_is_told_with_its_version(client: TestClient, enter: Enter, backend: Backend) -> None:
    run = place(client, enter("ann", Role.OPERATOR, NETWORK))
    wait_for_approval(backend, run)
    page = client.get(f"/runs/{run}")
    link = f'<a href="/policies/{POLICY}/edit?version=1">{POLICY}, version 1</a>'
    assert page.text.count(link) == 2  # in the banner, and among the facts
    assert "Changes 1 Objectives – Figures Findings – Events" in told(page)


def test_a_refusal_says_why(client: TestClient, enter: Enter, backend: Backend) -> None:
    bob = enter("bob", Role.APPROVER)
    run = place(client, bob)
    wait_for_approval(backend, run)
    answer = client.post(f"/runs/{run}/reject", data={"comment": "exam week"}, headers=bob)
    assert answer.status_code == 204
    page = told(client.get(f"/runs/{run}/progress"))
    assert "✘ declined by bob The reason: “exam week”. No device was touched." in page
    assert '<span class="badge">✘ declined by bob</span>' in client.get("/").text, "nothing failed: it is not red"
    assert "✘ declined by bob" in told(client.get("/runs"))
    assert "✘ declined by bob" in told(client.get(f"/runs/{run}?tab=changes"))
    assert "“Try again” asks for an approval again." in page
    root = enter("root", Role.ADMIN)
    log = told(client.get("/calls", headers=root))
    assert re.search(r"Decline a run policy: \S+ comment: exam week", log)


def test_what_the_state_does_not_allow_is_not_offered_and_refused(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    for action in ("retry", "rollback"):
        answer = client.post(f"/runs/{run}/{action}", data={"key": "k"}, headers=ann)
        assert answer.status_code == 409
        assert "it is pending" in told(answer)
    page = told(client.get(f"/runs/{run}"))
    assert "Try again" not in page
    assert "Roll back" not in page
    assert client.post(f"/runs/{run}/cancel", headers=ann).status_code == 204
    assert client.post(f"/runs/{run}/cancel", headers=ann).status_code == 409
    page = told(client.get(f"/runs/{run}"))
    assert "cancelled by ann" in page
    assert "Cancel the run" not in page
    wrong = client.post(f"/runs/{run}/retry", data={"start": "keep"}, headers=ann)
    assert (wrong.status_code, "cannot begin" in told(wrong)) == (422, True)
    assert client.post(f"/runs/{run}/retry", data={"start": "push"}, headers=ann).status_code == 409
    assert client.post(f"/runs/{run}/retry", data={"start": "read"}, headers=ann).status_code == 204
    assert backend.run_requests.run(run).attempt == 2


def test_a_retry_offers_the_steps_that_were_reached(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    wait_for_approval(backend, run)
    client.post(f"/runs/{run}/cancel", headers=ann)
    page = client.get(f"/runs/{run}").text
    assert re.findall(r'<option value="(read|measure-before|push)"', page) == ["read", "measure-before"]


def test_a_run_at_work_is_asked_to_stop_once(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    backend.run_requests.store.begin_attempt(run, 1)
    assert "What it has pushed by then is rolled back" in told(client.get(f"/runs/{run}"))
    assert client.post(f"/runs/{run}/cancel", headers=ann).status_code == 204
    page = client.get(f"/runs/{run}")
    assert "ann asked it to stop already" in told(page)
    assert 'id="open-cancel"' not in page.text


def test_a_kept_run_says_what_a_way_back_does(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    wait_for_approval(backend, run)
    store = backend.run_requests.store
    held = backend.artifacts.put_text("hostname router1\n")
    store.journal.append(run, "router1", JournalAction.TOUCHING, before=held)
    store.journal.append(run, "router1", JournalAction.CONFIRMED)
    store.set_status(run, RunStatus.KEPT, Verdict.MET)
    page = client.get(f"/runs/{run}")
    assert "A run of its own brings these devices back" in told(page)
    assert re.search(r"router1 \+\d+ −\d+ Only lines", told(page)), "the lines that its run will show, turned round"
    found = re.search(r'name="key" value="([^"]+)"', page.text)
    assert found
    assert 'name="reason"' in page.text
    asked = {"key": found[1], "reason": "voice broke up"}
    answers = [client.post(f"/runs/{run}/rollback", data=asked, headers=ann) for _ in range(2)]
    back = answers[0].headers["hx-redirect"]
    assert [answer.headers["hx-redirect"] for answer in answers] == [back, back]
    assert f"Rolls back {run[:13]}" in told(client.get(back))
    assert "Rolled back by" in told(client.get(f"/runs/{run}"))
    store.set_status(back.rpartition("/")[2], RunStatus.KEPT)
    page = told(client.get(f"/runs/{run}"))
    why = r"by ann, .*: “voice broke up”; infn-fnal holds no policy now"
    assert re.search(rf"rolled back later: run {back[6:19]} {why}", page)
    assert "Run again" in page
    assert "(rolled back later)" in told(client.get(f"/runs/{run}?tab=events"))
    assert f"run {run[:13]} : “voice broke up”" in told(client.get(f"{back}/progress"))
    calls = calls_page(backend.database, None)
    assert next(one.detail["reason"] for one in calls if one.action.endswith("/rollback")) == "voice broke up"
    assert "Roll back" not in page
    again = client.post(f"{back}/rollback", data={"key": "redo"}, headers=ann).headers["hx-redirect"]
    store.set_status(again.rpartition("/")[2], RunStatus.KEPT)
    assert "rolled back later" not in told(client.get(f"/runs/{run}/progress"))
    assert "rolled back later" in told(client.get(f"{back}/progress"))
    later = place(client, ann)
    store.journal.append(later, "router1", JournalAction.TOUCHING, before=held)
    store.journal.append(later, "router1", JournalAction.CONFIRMED)
    store.set_status(later, RunStatus.KEPT, Verdict.MET)
    page = client.get(f"/runs/{run}")
    assert "changed router1 since" in told(page)
    assert re.search(r'id="open-back"[^>]* disabled', page.text)


def test_devices_are_shown_by_step_and_why_one_failed(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run, store = place(client, ann), backend.run_requests.store
    store.begin_attempt(run, 1)
    reading = store.begin_stage(run, "read")
    store.events.device(run, "router3", "read")
    rows = re.findall(r'<th scope="row">(\w+)</th>', client.get(f"/runs/{run}/watch").text)
    assert rows == ["router3"]
    read = ReadSummary(running={"router1": "0", "router3": "0"}, errors=[])
    store.end_stage(reading, StageOutcome.DONE, read)
    store.journal.append(run, "router1", JournalAction.TOUCHING)
    store.journal.append(run, "router3", JournalAction.TOUCHING)
    store.journal.append(
        run, "router3", JournalAction.FAILED, note="the device refused the change: % Bad <b>line</b>"
    )
    page = client.get(f"/runs/{run}/watch")
    assert "✘ Pushed: the device refused the change: % Bad <b>line</b>" in told(page)
    assert "% Bad &lt;b&gt;line&lt;/b&gt;" in page.text
    store.journal.append(run, "router3", JournalAction.UNDOING)
    store.journal.append(run, "router3", JournalAction.UNDONE)
    assert "↩ rolled back" in told(client.get(f"/runs/{run}/watch"))


def test_events_that_are_not_shown_are_counted(client: TestClient, enter: Enter, backend: Backend) -> None:
    run, events = place(client, enter("ann", Role.OPERATOR)), backend.run_requests.store.events
    before = events.count(run)
    assert f"{before} event" in told(client.get(f"/runs/{run}/watch"))
    for _ in range(SHOWN_EVENTS + 7 - before):
        events.device(run, "router3", "read")
    part = client.get(f"/runs/{run}/watch")
    assert f"The newest {SHOWN_EVENTS} of {SHOWN_EVENTS + 7} events" in told(part)
    assert f"Show all {SHOWN_EVENTS + 7} events" in told(part)
    whole = client.get(f"/runs/{run}?tab=events&events=all")
    assert f"{SHOWN_EVENTS + 7} events, newest first" in told(whole)
    assert "Show all" not in told(whole)
    assert f"/runs/{run}/watch?tab=events&amp;events=all" in whole.text, "they stay while the page follows the run"


def test_a_long_event_is_folded_with_all_of_it_inside(client: TestClient, enter: Enter, backend: Backend) -> None:
    run = place(client, enter("ann", Role.OPERATOR))
    words = " ".join(f"<line-{n}>" for n in range(60))
    backend.run_requests.store.events.progress(run, "push", words)
    page = client.get(f"/runs/{run}/watch")
    events = page.text[page.text.index('id="events"') :]
    folded = events[events.index('<details class="long"') : events.index("</details>")]
    summary, whole = folded.split("</summary>")
    assert "line-0&gt;" in summary
    assert "line-59" not in summary
    assert html.escape(words) in whole
    assert "<line-" not in page.text


def test_a_step_at_which_devices_failed_is_not_told_as_done(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    ann = enter("ann", Role.OPERATOR)
    run, store = place(client, ann), backend.run_requests.store
    refused = StepError(device="router1", message="cannot be reached")
    with store.stage(run, "read", ReadSummary(running={}, errors=[refused])):
        pass
    assert "Read what every device holds ✘ failed" in told(client.get(f"/runs/{run}/watch"))
    assert re.search(r'class="step failed".*?Read', client.get(f"/runs/{run}/progress").text, re.S)


def test_what_an_outside_tester_has_to_give_is_said(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run, store = place(client, ann, judge="external"), backend.run_requests.store
    store.begin_attempt(run, 1)
    due = store.now() + timedelta(minutes=10)
    store.change(run, lambda _run, _connection: {"waits_for": waiting_for("after"), "due": due})
    page = told(client.get(f"/runs/{run}/progress"))
    assert f"PUT /api/v1/runs/{run}/measurements/after" in page
    assert "the change is rolled back" in page


def test_names_with_markup_are_shown_as_they_are(client: TestClient, enter: Enter, backend: Backend) -> None:
    bob = enter("bob", Role.APPROVER)
    run = place(client, bob, ticket=MARKUP)
    wait_for_approval(backend, run, delta=f"description {MARKUP}\n")
    client.post(f"/runs/{run}/reject", data={"comment": MARKUP}, headers=bob)
    pages = [f"/runs/{run}", f"/runs/{run}/progress", f"/runs/{run}/standing", f"/runs?by={MARKUP}", "/"]
    for address in pages:
        page = client.get(address).text
        assert "<img" not in page
    assert page.count("onerror") == 0
    assert client.get(f"/runs/{run}").text.count("&lt;img src=x onerror=") >= 3


def test_everything_comes_in_one_file_without_what_a_viewer_may_not_read(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    wait_for_approval(backend, run)

    def names() -> set[str]:
        answer = client.get(f"/runs/{run}/everything.zip")
        assert answer.headers["content-type"] == "application/zip"
        assert answer.headers["content-disposition"] == f'attachment; filename="run-{run}.zip"'
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.testzip() is None
            assert archive.read("artifacts/delta/router1.txt") == b"policy-map new\n"
            return set(archive.namelist())

    whole = names()
    assert {"report.html", "report.json", "report.md", "report.junit.xml", "findings.sarif"} <= whole
    assert {"artifacts/policy.yaml", "artifacts/candidate.json", "artifacts/running/router1.txt"} <= whole
    enter("vic", Role.VIEWER)
    assert whole - names() == {"artifacts/running/router1.txt"}
    assert "it may hold passwords" in told(client.get(f"/runs/{run}"))


def test_a_kept_run_that_nobody_ended_left_no_device_out(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    run = place(client, enter("ann", Role.OPERATOR))
    wait_for_approval(backend, run)
    why = Reason("its process died; its change had been saved on every device", "keep", f"qosforge rollback {run}")
    backend.run_requests.store.set_status(run, RunStatus.KEPT, reason=why)
    page = told(client.get(f"/runs/{run}"))
    assert why.message in page
    assert "left out" not in page


def test_a_run_of_long_ago_shows_what_is_left(client: TestClient, enter: Enter, backend: Backend) -> None:
    ann = enter("ann", Role.OPERATOR)
    run = place(client, ann)
    wait_for_approval(backend, run)
    client.post(f"/runs/{run}/cancel", headers=ann)
    with backend.run_requests.store.stage(run, "retention", StageSummary()):
        pass
    page = client.get(f"/runs/{run}")
    assert "given up after its time" in told(page)
    assert "What it read and prepared was dropped" in told(page)  # why it cannot be tried again
    with zipfile.ZipFile(io.BytesIO(client.get(f"/runs/{run}/everything.zip").content)) as archive:
        assert not [name for name in archive.namelist() if name.startswith("artifacts/")]


def test_a_run_that_failed_says_at_which_step_on_which_device_and_the_way_on(
    client: TestClient, enter: Enter, backend: Backend
) -> None:
    run = place(client, enter("olga", Role.OPERATOR, NETWORK))
    other = backend.run_requests.store.create_run(NETWORK, "gold", "f" * 64, {}).id
    why = Reason(f"run {other} left r1 between two states", "lock", settle_first(other), "r1")
    backend.run_requests.store.set_status(run, RunStatus.FAILED, reason=why)
    page = client.get(f"/runs/{run}/progress").text
    for said in (why.message, "<dd>Reserve the devices</dd>", "<dd>r1</dd>", f'href="/runs/{other}"'):
        assert said in page
    assert "qosforge recover" not in page
