"""Pages of the papers' experiments, in this process."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.jobs.experiment import PlottedExperiment, compare_with_publication, plot_experiment
from qosforge.api.jobs.queue import JobProgress
from qosforge.compute import TooBusy
from qosforge.errors import ServiceError
from qosforge.experiments import experiment_labels, experiment_names, load_experiment
from qosforge.settings import Settings
from qosforge.web.site import create_site
from qosforge.web.views.experiments import claim_views, claims_by_place, outcome_key, tally
from tests.web.people import Person, Persons

SHORT = "cern-wrr-mixed"


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path_factory.mktemp("experiments") / "var", compute_processes=1)
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def people(backend: Backend) -> dict[str, Person]:
    made = Persons(backend)
    return {"olga": made.add("olga", Role.OPERATOR, "campus"), "vera": made.add("vera", Role.VIEWER, "campus")}


def test_experiments_stand_by_paper(site: TestClient, people: dict[str, Person]) -> None:
    people["vera"].log_in(site)
    page = site.get("/experiments").text
    for name in experiment_names():
        assert f'href="/experiments/{name}"' in page
    assert page.count("<h2") == len({load_experiment(name).paper for name in experiment_names()})


def test_every_experiment_tells_each_of_its_claims(site: TestClient, people: dict[str, Person]) -> None:
    people["vera"].log_in(site)
    for name in experiment_names():
        answer = site.get(f"/experiments/{name}")
        assert answer.status_code == 200, name
        for claim in load_experiment(name).claims:
            assert f'id="claim-{claim.id}"' in answer.text
    assert site.get("/experiments/none").status_code == 404


def test_a_viewer_runs_none(site: TestClient, people: dict[str, Person]) -> None:
    viewer = people["vera"].log_in(site)
    assert "Simulate it" not in site.get(f"/experiments/{SHORT}").text
    assert site.post(f"/experiments/{SHORT}/run", headers=viewer).status_code == 403
    for part in ("plots", "outcome.json"):
        assert site.get(f"/experiments/{SHORT}/{part}").status_code == 404, "nobody ran it yet"


def _tile(page: str, label: str) -> str:
    """The value of a tile."""
    found = re.search(f'<dt>{label}</dt>\\s*<dd class="value">([^<]*)</dd>', page)
    assert found is not None, label
    return found[1].strip()


def test_an_operator_runs_one_and_everybody_sees_the_outcome(
    site: TestClient, people: dict[str, Person], backend: Backend
) -> None:
    operator = people["olga"].log_in(site)
    begun = site.post(f"/experiments/{SHORT}/run", headers=operator).text
    assert 'hx-trigger="every 1s"' in begun
    deadline = time.monotonic() + 120
    while 'hx-trigger="every 1s"' in site.get(f"/experiments/{SHORT}/outcome", headers=operator).text:
        listed = site.get("/experiments").text
        assert re.search("is being simulated|waits for its turn|21 agree", listed), "the list says how far it is"
        assert time.monotonic() < deadline
        time.sleep(0.2)
    again = site.post(f"/experiments/{SHORT}/run", headers=operator).text
    assert "✔ 21 agree" in again, "what is known is not run again"
    people["vera"].log_in(site)
    page = site.get(f"/experiments/{SHORT}").text
    assert "0.248 (± 0.01)" in page
    assert "measured there" in page
    assert "0.2478" in page
    listed = site.get("/experiments").text
    assert "21 agree" in listed
    assert _tile(listed, "Simulated here") == "1"
    assert _tile(listed, "Figures that agree") == "21"
    assert _tile(listed, "Figures that differ") == "0"
    assert listed.count("not simulated yet") == len(experiment_names()) - 1
    plots = site.get(f"/experiments/{SHORT}/plots").text
    assert "<desc" in plots
    assert "style=" not in plots
    assert plots.count("<figcaption") == plots.count("<svg") == len(load_experiment(SHORT).plots)
    downloaded = json.loads(site.get(f"/experiments/{SHORT}/outcome.json").text)
    assert downloaded == json.loads(json.dumps(compare_with_publication(SHORT, 1)))


def test_all_are_simulated_by_one_click(
    site: TestClient, people: dict[str, Person], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[str] = []
    states: dict[str, JobProgress] = {outcome_key(SHORT): JobProgress("failed", error=ServiceError("no"))}

    def submit(key: str, *_: object, **of: object) -> JobProgress:
        submitted.append(key)
        return states.setdefault(key, JobProgress("waiting"))

    monkeypatch.setattr(backend.jobs, "submit", submit)
    monkeypatch.setattr(backend.jobs, "progress", states.get)
    viewer = people["vera"].log_in(site)
    assert "Simulate" not in site.get("/experiments").text.partition('id="experiments"')[2].partition("<dl")[0]
    assert site.post("/experiments/run", headers=viewer).status_code == 403
    operator = people["olga"].log_in(site)
    left = len(experiment_names()) - 1
    assert f"Simulate the {left} that are left" in site.get("/experiments").text
    page = site.post("/experiments/run", headers=operator).text
    assert sorted(submitted) == sorted(outcome_key(name) for name in experiment_names())
    assert f"1 of {len(experiment_names())} simulated." in page
    assert 'hx-trigger="every 2s"' in page
    assert page.count("waits for its turn") == left


def test_so_many_jobs_wait_as_one_says(backend: Backend) -> None:
    def submit(name: str) -> JobProgress:
        return backend.jobs.submit(name, time.sleep, 1, person="a", queue="long", most_waiting=1)

    submit("first")
    while (first := backend.jobs.progress("first")) and first.state == "waiting":
        time.sleep(0.01)
    assert submit("second").state == "waiting"
    with pytest.raises(TooBusy, match="1 computation of yours"):
        submit("third")


def test_what_was_measured_for_this_is_not_told_as_published(site: TestClient, people: dict[str, Person]) -> None:
    people["vera"].log_in(site)
    experiments = [load_experiment(name) for name in experiment_names()]
    here = sum(len(one.claims) for one in experiments if one.paper == load_experiment("kernel-drr").paper)
    published = sum(len(one.claims) for one in experiments) - here
    page = site.get("/experiments").text
    assert f"{published} published figures, {here} measured on Linux for this" in page
    page = site.get("/experiments/kernel-drr").text
    assert "figures measured on Linux" in page
    assert ">Published<" not in page
    assert "measured there" not in page
    assert "Measured for this on a Linux kernel." in page


def test_figures_and_their_parts_are_told_in_words() -> None:
    views = claim_views(load_experiment(SHORT), compare_with_publication(SHORT, 1))
    assert not [view.ours for view in views if re.search("e-[0-9]", view.ours)]
    first, second = plot_experiment(SHORT, 1).plots
    assert ">queue 3<" in first
    assert "quanta-wrr" not in first
    assert ">weights</text>" in second, "of its group, in lines as narrow as that"


def test_a_failed_run_is_reported_and_may_be_tried_again(
    site: TestClient, people: dict[str, Person], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = JobProgress("failed", error=ServiceError("the twin <b>refuses</b> a case", hint="look at its data"))
    monkeypatch.setattr(backend.jobs, "progress", {outcome_key("infn-udp"): failed}.get)
    people["olga"].log_in(site)
    page = site.get("/experiments/infn-udp").text
    assert "the twin &lt;b&gt;refuses&lt;/b&gt; a case" in page
    assert "look at its data" in page
    assert "Simulate it" in page


def test_a_result_that_goes_while_a_page_is_made_breaks_no_page(
    site: TestClient, people: dict[str, Person], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue keeps so many results: the one of a page may be dropped for a newer one at any time."""
    found = {"comparisons": [], "rows": []}
    kept = {}

    def progress(key: str) -> JobProgress | None:
        return kept.pop(key, None)

    monkeypatch.setattr(backend.jobs, "progress", progress)
    people["vera"].log_in(site)
    kept[outcome_key("infn-udp")] = JobProgress("done", PlottedExperiment(found, ()))
    listed = site.get("/experiments")
    assert listed.status_code == 200
    assert _tile(listed.text, "Simulated here") == "1"
    kept[outcome_key("infn-udp")] = JobProgress("done", PlottedExperiment(found, ()))
    page = site.get("/experiments/infn-udp").text
    assert "Download as JSON" in page
    assert "It was not run since the service was started" not in page


def test_claims_that_do_not_hold_have_their_reason(
    site: TestClient, people: dict[str, Person], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = load_experiment("infn-udp")
    comparisons = [
        {
            "id": claim.id,
            "obtained": {"a": 1.5, "b": [None, 2.0]},
            "holds": number > 1,
            "reason": "physics" * (number == 0),
        }
        for number, claim in enumerate(experiment.claims)
    ]
    document = {"comparisons": comparisons, "rows": []}
    counts = tally(claim_views(experiment, document))
    assert counts == {"yes": len(comparisons) - 2, "explained": 1, "no": 1}
    done = JobProgress("done", PlottedExperiment(document, ()))
    monkeypatch.setattr(backend.jobs, "progress", {outcome_key("infn-udp"): done}.get)
    people["vera"].log_in(site)
    page = site.get("/experiments/infn-udp").text
    assert "differs, explained" in page
    assert '<tr class="why"><td colspan="4">Why: physics</td></tr>' in page, "as wide as the table"
    assert page.count('class="why"') == 1
    assert "✘ differs" in page
    assert "nobody knows why: do not trust what the simulator says of such a case" in page
    assert "Published by Ferrari, INFN-CNAF." in page
    assert "by definition" in page
    assert "a: 1.5" in page


def test_what_differs_stands_first(
    site: TestClient, people: dict[str, Person], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = load_experiment("infn-two-way")
    paper = [where for where, _ in claims_by_place(claim_views(experiment, None))]
    assert len(paper) > 1
    last = experiment.claims[-1]
    comparisons = [
        {"id": one.id, "obtained": 1.0, "holds": one is not last, "reason": ""} for one in experiment.claims
    ]
    document = {"comparisons": comparisons, "rows": []}
    done = JobProgress("done", PlottedExperiment(document, ()))
    monkeypatch.setattr(backend.jobs, "progress", {outcome_key("infn-two-way"): done}.get)
    people["vera"].log_in(site)
    page = site.get("/experiments/infn-two-way").text
    first = page.partition('id="place-1"')[2]
    assert first.startswith(" open>")
    assert re.findall('id="claim-([^"]*)"', first)[0] == last.id
    places = claims_by_place(claim_views(experiment, document))
    rest = [where for where, found in places if last not in [view.claim for view in found]]
    assert rest == [where for where in paper if where in rest], "all others keep the paper's order"


@pytest.mark.parametrize("name", experiment_names())
def test_claims_are_reported_in_words(name: str) -> None:
    for view in claim_views(load_experiment(name), None):
        assert view.published, view.claim.id
        assert "_" not in view.published + view.about, view.claim.id
        assert "{" not in view.published + view.about, view.claim.id


def test_what_was_published_against_something_else_says_how_often_that_is() -> None:
    told = {view.published for view in claim_views(load_experiment("cern-wrr"), None)}
    assert "at least 1 × guaranteed (± 0.5 %)" in told
    assert "about 1 × that of constant rates, overloaded (± 3 %)" in told


@pytest.mark.parametrize("name", experiment_names())
def test_the_figures_of_parts_of_a_device_have_its_name_once(name: str) -> None:
    experiment = load_experiment(name)
    several = {claim.id: of for claim in experiment.claims if len(of := experiment.subjects(claim.subject)) > 1}
    told = [
        {"id": claim, "obtained": dict.fromkeys(of, 2.5), "holds": True, "reason": ""}
        for claim, of in several.items()
    ]
    for view in claim_views(experiment, {"comparisons": told}):
        of = several.get(view.claim.id, ())
        assert view.ours.count("2.5") == len(of)
        devices = {one.partition(".")[0] for one in of if "." in one}
        if len(devices) == 1 and all("." in one for one in of):
            assert view.ours.count(experiment_labels().subject(next(iter(devices)))) == 1
