"""What the page of a run says can be done where its objectives are not met, with the figures to ask for."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.note import note
from qosforge.resources import root
from qosforge.runs.record.summaries import ValidateSummary
from tests.principals import somebody
from tests.web.people import Persons
from tests.web.test_policies import GOLD
from tests.web.test_run_standing import NETWORK, judged_voice, roll_back, text


def begin(backend: Backend, policy_number: int | None = None) -> str:
    """A run that has only begun, of a version of a policy."""
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    policy = {} if policy_number is None else {"policy_name": "gold", "policy_number": policy_number}
    return backend.run_requests.store.create_run(NETWORK, "gold", "f" * 64, {"network": network, **policy}).id


@pytest.fixture
def run(backend: Backend) -> str:
    return begin(backend)


@pytest.fixture(autouse=True)
def logged_in(client: TestClient, persons: Persons) -> None:
    persons.add("bob", Role.APPROVER).log_in(client)


def below(path: tuple[str, str], minimum_ms: float, **more: str) -> Finding:
    """That the links of a path alone take longer than the 30 ms that are asked for."""
    of = {"source": path[0], "target": path[1], "minimum": f"{minimum_ms:g} ms", "bytes": 40}
    figures = {"minimum_seconds": minimum_ms / 1e3, "requested_seconds": 0.03}
    return note("objective-below-minimum", Place(traffic_class="voice"), **of, **figures, **more)


def keep_findings(backend: Backend, run: str, *found: Finding) -> None:
    """Let a run's checks have found these."""
    findings = backend.artifacts.put_json([one.model_dump(mode="json") for one in found])
    with backend.run_requests.store.stage(run, "validate", ValidateSummary(findings=findings)):
        pass


def test_what_could_be_asked_for_is_said_where_the_links_alone_take_too_long(
    client: TestClient, backend: Backend, run: str
) -> None:
    keep_findings(backend, run, below(("a", "b"), 31.2), below(("b", "a"), 112.3))
    roll_back(backend, run, [judged_voice("a→b", 177), judged_voice("b→a", 240)])
    said = text(client.get(f"/runs/{run}/progress").text)
    assert (
        "What to do voice : the links alone take 112 ms on b→a, so ask for 120 ms or more"
        "; with this policy, for 270 ms or more." in said
    )
    assert "give it more" not in said
    assert "Measure after the change" not in said  # the step of that name says it


def test_what_link_efficiency_would_do_is_said_beside_what_could_be_asked_for(
    client: TestClient, backend: Backend, run: str
) -> None:
    option = {"variant": "option", "option": "header_compression: rtp", "ports": "r1 S0", "seconds": "28 ms"}
    keep_findings(backend, run, below(("a", "b"), 31.2, **option))
    roll_back(backend, run, [judged_voice("a→b", 177), judged_voice("c→b", 50)])
    said = text(client.get(f"/runs/{run}/progress").text)
    assert (
        "the links alone take 31.2 ms on a→b, and 28 ms with “header_compression: rtp”: add it to link_efficiency,"
        " or ask for 32 ms or more; with this policy, for 200 ms or more. For the others: give it more in the"
        " policy, or allow delay p95 of 55 ms." in said
    )


def test_where_the_figures_of_a_finding_were_not_kept_its_text_is_linked(
    client: TestClient, backend: Backend, run: str
) -> None:
    found = below(("a", "b"), 31.2)
    del found.facts["minimum_seconds"], found.facts["requested_seconds"]
    keep_findings(backend, run, found)
    roll_back(backend, run)
    page = client.get(f"/runs/{run}/progress").text
    assert "voice : the links alone take longer than an objective allows: see the findings ." in text(page)
    assert f'href="/runs/{run}?tab=findings#tabs"' in page


@pytest.mark.parametrize(
    ("number", "link"),
    [
        (0, '"/policies/new?from=gold&amp;network=campus">Start a new policy from it</a>'),
        (1, '"/policies/gold/edit?network=campus#class-voice/objective">Change the objective of voice</a>'),
    ],
)
def test_a_button_leads_to_where_the_objective_is_changed(
    client: TestClient, backend: Backend, number: int, link: str
) -> None:
    if number:
        stored, _ = backend.policies.seen_by(somebody("ann")).store("gold", PolicySource(GOLD), network=NETWORK)
        assert stored.number == number
    run = begin(backend, number)
    roll_back(backend, run)
    assert f'<a class="button" href={link}' in client.get(f"/runs/{run}/progress").text
