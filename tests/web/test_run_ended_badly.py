"""What the page of a run shows first where it stands half-way, was rejected, or rolled another run back."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.note import note
from qosforge.policy_library.library import PolicyLibrary
from qosforge.resources import root
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, ReadSummary, ValidateSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from tests.principals import somebody
from tests.web.people import Persons
from tests.web.test_run_standing import NETWORK, text

DEVICES = ("b56", "e300", "r1")


def begin(backend: Backend, **more: object) -> str:
    """A run that has only begun."""
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    resolved: dict[str, object] = {"network": network, "policy_name": "gold", "policy_number": 0, **more}
    return backend.run_requests.store.create_run(NETWORK, "gold", "f" * 64, resolved).id


@pytest.fixture(autouse=True)
def logged_in(client: TestClient, persons: Persons) -> None:
    persons.add("bob", Role.APPROVER).log_in(client)


def tabs(page: str) -> list[str]:
    """The parts of a run that its page leads to."""
    return re.findall(
        r'href="\?tab=(\w+)#tabs"', page[page.index('id="tabs"') : page.index("</nav>", page.index('id="tabs"'))]
    )


def push(backend: Backend, run: str) -> None:
    """Let its lines stand on every device."""
    store = backend.run_requests.store
    lines = backend.artifacts.put_text("mls qos\n")
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "read", ReadSummary(asked=list(DEVICES), running=dict.fromkeys(DEVICES, lines))):
        pass
    prepared = PreparedDevice(configuration=lines, delta=lines, inverse=lines, empty=False)
    with store.stage(run, "prepare", PrepareSummary(devices=dict.fromkeys(DEVICES, prepared))):
        pass
    for device in DEVICES:
        store.journal.append(run, device, JournalAction.TOUCHING, before=lines, delta=lines, inverse=lines)
        store.journal.append(run, device, JournalAction.TOUCHED)


def test_a_device_that_is_not_rolled_back_is_the_first_of_its_run(client: TestClient, backend: Backend) -> None:
    run = begin(backend)
    push(backend, run)
    journal = backend.run_requests.store.journal
    for device in DEVICES:
        journal.append(run, device, JournalAction.UNDOING)
        if device != "e300":
            journal.append(run, device, JournalAction.UNDONE)
    why = Reason("the table is full", "rollback", RECOVER, "e300")
    backend.run_requests.store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=why)
    page = client.get(f"/runs/{run}?tab=events").text
    assert re.findall(r'<th scope="row">(\w+)</th>', page) == ["e300", "b56", "r1"]


def reject(backend: Backend, run: str, *found: Finding) -> None:
    """Let its checks find these, and it be rejected for them."""
    findings = backend.artifacts.put_json([one.model_dump(mode="json") for one in found])
    with backend.run_requests.store.stage(run, "validate", ValidateSummary(findings=findings, refused=True)):
        pass
    why = Reason("the shares would be wrong", "validate", "correct the rate in the inventory")
    backend.run_requests.store.set_status(run, RunStatus.REJECTED, reason=why)


def no_share(device: str) -> Finding:
    of = {"kbps": 900, "minimum": 8, "maximum": 512}
    return note("share-out-of-range", Place(device=device, traffic_class="voice"), **of)


def test_what_a_run_is_rejected_for_stands_before_what_was_proven(client: TestClient, backend: Backend) -> None:
    run = begin(backend)
    open_ = note("batfish-not-checked", required=False)
    warning = note("link-ends-differ", here="100 %", there="30 %", far="d1")
    reject(backend, run, open_, warning, *(no_share(device) for device in DEVICES))
    said = text(client.get(f"/runs/{run}").text)
    assert "Findings 2 " in said  # as many as the headings below count
    parts = ["What stands against it 1 error in 3 places", "Further findings 1 warning", "What was proven"]
    assert sorted(parts, key=said.index) == parts
    assert said.count("outside 8 to 512 kb/s") == 2  # its headline, and its place among the findings


def test_a_run_without_errors_ends_its_findings_with_what_was_proven(client: TestClient, backend: Backend) -> None:
    run = begin(backend)
    found = note("batfish-not-checked", required=False).model_dump(mode="json")
    findings = backend.artifacts.put_json([found])
    with backend.run_requests.store.stage(run, "validate", ValidateSummary(findings=findings)):
        pass
    said = text(client.get(f"/runs/{run}?tab=findings").text)
    assert said.rindex("Findings") < said.index("What was proven")
    assert "What stands against it" not in said


def test_a_rejected_run_leads_to_a_new_one_as_the_same_would_be_rejected_again(
    client: TestClient, backend: Backend
) -> None:
    run = begin(backend)
    reject(backend, run, no_share("r1"))
    page = client.get(f"/runs/{run}").text
    again = page[page.index("What to do") :]
    address = f"/policies/new?from=gold&amp;network={NETWORK}"
    way = f'<a class="button primary" href="{address}">Start a new policy from it</a>'
    assert way in again
    assert "New run" not in again  # it would meet the same errors
    assert again.index(way) < again.index('<details id="same-again">') < again.index('id="again"')
    assert "it is rejected again unless what its devices hold is changed first" in text(again)


def store_policy(backend: Backend) -> int:
    """A policy that somebody wrote, called "mine"; its version."""
    library = PolicyLibrary(backend.run_requests.store.database, backend.artifacts)
    text_of = (root() / "policies" / "impossible.yaml").read_text().replace("impossible", "mine")
    source = PolicySource(text_of, "mine.yaml")
    version, _ = library.seen_by(somebody("ann")).store("mine", source, network=NETWORK)
    return version.number


def unknown_dscp(traffic_class: str, dscp: str) -> Finding:
    """A device that does not know a DSCP which a class of the shipped library marks."""
    place = Place("qosforge:policies/classes/rfc4594-8.yaml", device="b56", traffic_class=traffic_class)
    return note("dscp-unsupported", place, requested=dscp, supported=["cs1", "ef"])


def test_a_rejected_run_says_how_many_errors_there_are_where_and_the_first(
    client: TestClient, backend: Backend
) -> None:
    run = begin(backend)
    marks = (("telephony", "voice-admit"), ("video", "af42"), ("video", "af43"), ("bulk", "af12"))
    reject(backend, run, *(unknown_dscp(*mark) for mark in marks), no_share("e300"))
    head = client.get(f"/runs/{run}/progress").text
    said = text(head)
    assert (
        "2 errors on b56, e300; the first: b56: the device does not know the DSCP "
        "(voice-admit, af42, af43 and 1 more; 3 classes). No device was touched."
    ) in said
    assert "rfc4594-8.yaml" not in said
    assert (
        "What to do telephony, video, bulk : use one of cs1, ef. The findings say what to do about the others."
        in said
    )
    assert f'href="/policies/new?from=gold&amp;network={NETWORK}">Start a new policy from it</a>' in head


def test_a_run_that_is_rejected_for_its_policy_leads_to_the_class_in_it(
    client: TestClient, backend: Backend
) -> None:
    run = begin(backend, policy_name="mine", policy_number=store_policy(backend))
    reject(backend, run, unknown_dscp("video", "af42"))
    head = client.get(f"/runs/{run}/progress").text
    assert "b56, class video: the device does not know the DSCP (af42). No device was touched." in text(head)
    assert f'href="/policies/mine/edit?network={NETWORK}#class-video">Edit the policy</a>' in head


def test_a_run_that_is_rejected_for_its_inventory_does_not_lead_to_the_policy(
    client: TestClient, backend: Backend
) -> None:
    run = begin(backend, policy_name="mine", policy_number=store_policy(backend))
    reject(backend, run, *(note("scheduler-missing", Place(device=device), variant="rate") for device in DEVICES))
    head = client.get(f"/runs/{run}/progress").text
    assert "b56, e300, r1: " in text(head)
    assert "Edit the policy" not in head


def test_the_classes_of_a_finding_stand_apart_from_its_figures(client: TestClient, backend: Backend) -> None:
    run = begin(backend)
    places = [Place(device="r1", traffic_class=name) for name in ("voice", "web")]
    of = {"requested": "900 kb/s", "applied": "512 kb/s"}
    facts = {"kbps": 900, "minimum": 8, "maximum": 512}
    reject(backend, run, *(note("share-out-of-range", place, **of, **facts) for place in places))
    page = client.get(f"/runs/{run}?tab=findings").text
    assert re.search(r'applied 512 kb/s</span>\s+<span class="of-class">', page)


def test_a_rollback_has_no_tabs_of_what_it_never_measures_or_checks(client: TestClient, backend: Backend) -> None:
    first = begin(backend)
    back = begin(backend, rollback_of=first)
    assert tabs(client.get(f"/runs/{back}").text) == ["changes", "events"]
    assert tabs(client.get(f"/runs/{first}").text) == ["changes", "objectives", "figures", "findings", "events"]
