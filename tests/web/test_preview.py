"""The preview of a policy: each box at a glance, findings with numbers, what would be entered, and who sees it."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.previews import PreviewRequest
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.not_saved import LiveState
from qosforge.device_state.last_known import last_known, store_readings
from qosforge.errors import DeviceError, Place
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.reports import folded_findings
from qosforge.reports.preview import PolicyPreview
from qosforge.resources import root
from qosforge.runs.record.summaries import ValidateSummary
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.device_texts import said_by
from tests.patience import PATIENCE
from tests.principals import somebody
from tests.web.furnished import ADMIN, NETWORK, POLICY, furnish
from tests.web.people import Persons

CAMPUS = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
PLAIN = """
version: 1
intent: plain
description: One class on the one router between the others.
classes:
  - name: voice
    match: {any: [{dscp: [ef]}]}
    treatment: {priority: {percent: 10}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 100}}
apply:
  - {role: middle, interfaces: wan, direction: output}
"""
READ_AT = datetime.now(UTC) - timedelta(hours=1)
Form = dict[str, str]


@pytest.fixture(scope="module")
def inventories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campus, and copies of it under other names; of ``real`` a device is reached itself."""
    folder = tmp_path_factory.mktemp("inventories")
    for name in ("campus", "other", "unread", "real"):
        shutil.copytree(root() / "inventories" / "campus", folder / name)
    shutil.copytree(root() / "inventories" / "campus", folder / "bare")
    (folder / "bare" / "traffic.yaml").unlink()
    hosts = folder / "real" / "hosts.yaml"
    hosts.write_text(hosts.read_text(encoding="utf-8").replace("\nr1:\n", "\nr1:\n  hostname: 127.0.0.1\n"))
    return folder


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory, inventories: Path) -> Iterator[Backend]:
    """One for the module: a computing process takes a while to begin."""
    settings = Settings(
        var_dir=tmp_path_factory.mktemp("preview") / "var",
        inventories_dir=inventories,
        compute_processes=1,
        request_seconds=PATIENCE,
    )
    with open_backend(settings) as made:
        texts = {d.name: _startup(d.name) for d in load_network(inventories / "campus").devices if d.name != "e300"}
        network = made.networks.network("campus")
        store_readings(made.run_requests.store, made.artifacts, network, said_by(texts), READ_AT)
        yield made


@pytest.fixture(scope="module")
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def viewer(backend: Backend, client: TestClient) -> dict[str, str]:
    """Headers of who may look at the campus and at what nobody read."""
    person = Persons(backend).add("ana", Role.VIEWER)
    return person.log_in(client)


def _startup(device: str) -> str:
    return (root() / "inventories" / "campus" / "startup" / f"{device}.cfg").read_text(encoding="utf-8")


def _form(text: str = CAMPUS, **more: str) -> Form:
    return {"network": "campus", "text": text, "name": "campus.yaml", **more}


def _plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def _preview(client: TestClient, viewer: dict[str, str], form: Form, path: str = "/preview") -> str:
    answer = client.post(path, data=form, headers=viewer)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_whole_campus_at_a_glance(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, _form())
    told = _plain(page)
    assert "No errors" in told
    assert "Compiled for 9 devices" in told
    assert "voice-video on r1: as requested" in told
    assert "web-and-file on ers5510: not exactly as requested" in told
    assert "requested 35 %, applied 35.7 % (+0.7 points of the link rate)" in told


def test_a_class_that_a_device_does_not_serve_and_is_told_of_has_a_cell(
    client: TestClient, viewer: dict[str, str]
) -> None:
    text = (root() / "examples" / "policies" / "remote-control.yaml").read_text(encoding="utf-8")
    told = _plain(_preview(client, viewer, _form(text)))
    assert "robin on r2: an error stands against it" in told


def test_what_devices_would_be_given_stands_before_what_is_found(
    client: TestClient, viewer: dict[str, str]
) -> None:
    page = _preview(client, viewer, _form())
    parts = ("prediction", "preview-near", "preview-devices", "preview-findings")
    places = [page.index(f' id="{part}"') for part in parts]
    assert places == sorted(places)
    assert '<a href="#preview-findings">' in page[: places[0]], "the way to the findings is at the head"


PREFERRED = "the policy prefers it and does without it here; for no warning, leave WRED out for this device"
DEMANDED = "leave WRED out for this device, or say 'prefer: true'"


def test_a_hint_does_not_advise_what_the_policy_says_already(client: TestClient, viewer: dict[str, str]) -> None:
    told = unescape(_plain(_preview(client, viewer, _form())))
    assert PREFERRED in told
    assert DEMANDED not in told
    demanding = CAMPUS.replace("wred: {prefer: true}", "wred: {prefer: false}")
    assert demanding != CAMPUS
    told = unescape(_plain(_preview(client, viewer, _form(demanding))))
    assert DEMANDED in told
    assert PREFERRED not in told


def test_lines_that_a_run_would_refuse_are_told_where_devices_are_reached_themselves(
    client: TestClient, viewer: dict[str, str], backend: Backend
) -> None:
    page = _preview(client, viewer, _form(network="real"))
    told = _plain(page)
    assert "▲ No errors" in told
    assert "a run is rejected unless “Enter unconfirmed lines, too” is ticked" in told
    assert re.search(r'data-unless-accepted="Cannot start: \d devices? would be given unconfirmed lines', page)
    lab = _preview(client, viewer, _form())
    assert "▲ No errors" not in _plain(lab)
    assert "data-unless-accepted" not in lab
    assert "lines-unconfirmed" in lab, "it is told all the same"
    taken = _preview(client, viewer, _form(network="real", accept_unconfirmed="yes"))
    assert "data-unless-accepted" not in taken, "a run with the same choice enters them"
    assert _weights_of_doubtful_lines(backend, "campus") == {"info"}, "as the run has it"
    assert _weights_of_doubtful_lines(backend, "real") == {"warning"}


def _weights_of_doubtful_lines(backend: Backend, network: str) -> set[str]:
    request = PreviewRequest("policy", network, PolicySource(CAMPUS, "campus.yaml"))
    found = PolicyPreview.model_validate_json(backend.previews.preview(request).body).findings
    return {one.severity.value for one in found if one.code == "lines-unconfirmed"}


def test_no_errors_is_green_only_without_warnings(client: TestClient, viewer: dict[str, str]) -> None:
    def head(text: str) -> tuple[str, str]:
        page = _preview(client, viewer, _form(text))
        found = re.search(r'<p class="message ([a-z]*)" data-said.*?</strong>(.*?)</p>', page, re.DOTALL)
        assert found is not None
        assert "✔ No errors" not in _plain(page) or found[1] == "good"
        return found[1], _plain(found[2])

    look, counts = head(CAMPUS)
    assert look == ""
    assert re.search(r"▲ \d+ warnings", counts)
    look, counts = head(PLAIN)
    assert look == "good", counts
    assert "warning" not in counts


def test_warnings_are_counted_at_the_head_as_they_are_listed(
    client: TestClient, viewer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folded_findings, "MOST_SINGLE", 2)
    page = _preview(client, viewer, _form((root() / "policies" / "impossible.yaml").read_text(encoding="utf-8")))
    listed = page[page.index('class="preview-findings"') :]
    many = [int(n) for n in re.findall(r"<summary><span[^>]*>▲ (\d+) warnings?</span>", listed)]
    assert many, "those of one kind are one line"
    other = re.search(r"▲ (\d+) more warnings?", listed)
    shown = listed[: other.start()] if other else listed
    alone = re.sub(r'<details id="fold-.*?</details></li>', "", shown, flags=re.DOTALL)
    single = re.findall(r'<li class="said row-warning">', alone)
    told = re.search(r"▲ (\d+) warnings?", _plain(page))
    assert told is not None
    assert len(single) <= 4
    assert int(told[1]) == sum(many) + len(single) + (int(other[1]) if other else 0)


def test_reading_devices_is_offered_where_one_has_an_address(client: TestClient, viewer: dict[str, str]) -> None:
    assert "Read the devices now" not in _preview(client, viewer, _form()), "no lab of them is up"


def test_that_nothing_could_be_measured_is_told_at_the_head(client: TestClient, viewer: dict[str, str]) -> None:
    for page in (
        _preview(client, viewer, _form(network="bare")),
        _preview(client, viewer, _form(network="bare") | {"done": "9"}, "/preview/rest"),
    ):
        told = _plain(page)
        head = re.search(r'<p class="message[^>]*data-said.*?</p>', page, re.DOTALL)
        assert head is not None
        assert _plain(head[0]).strip().startswith("▲ Nothing can be measured"), "before what else is to be said"
        assert "bare describes no traffic to measure" in told
        assert "No errors" not in told
        assert 'data-unless-unmeasured="Cannot start: nothing could be measured on bare; choose' in page
        assert "It is being simulated" not in told


def test_objectives_that_no_link_allows_are_told_first(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, _form((root() / "policies" / "impossible.yaml").read_text(encoding="utf-8")))
    head = _plain(page[: page.index(' id="preview-near"')])
    assert "▲ No errors" in head
    assert page.index('id="prediction"') < page.index(' id="preview-near"'), "what each class would get comes first"
    first = re.search(r"▲ warning (.{90})", _plain(page[page.index('id="preview-findings"') :]))
    assert first is not None
    assert "no configuration can keep this objective" in first[1]
    assert re.search(r"\d objectives? (is|are) below what the links", head)
    assert re.search(r'data-would="[^"]*; \d objectives? (is|are) beyond what the links allow"', page)


def test_a_preview_in_parts_tells_in_the_end_what_a_run_would_be_rejected_for(
    client: TestClient, viewer: dict[str, str]
) -> None:
    def rest(unsound: int = 0, **form: str) -> str:
        asked = _form(**form) | {"done": "9", "unsound": str(unsound)}
        return client.post("/preview/rest", data=asked, headers=viewer).text

    page = rest(network="real")
    assert "▲ No errors" in _plain(page)
    assert "a run is rejected unless “Enter unconfirmed lines, too” is ticked" in _plain(page)
    assert 'data-unless-accepted="Cannot start' in page
    assert "▲ No errors" not in _plain(rest())
    page = rest(text=(root() / "policies" / "impossible.yaml").read_text(encoding="utf-8"))
    assert re.search(r"\d objectives? (is|are) below what the links", _plain(page))
    assert re.search(r'data-would="[^"]+; \d objectives? (is|are) beyond what the links allow"', page)
    page = rest(unsound=2, network="real")
    assert "2 devices have errors" in _plain(page)
    assert "data-unless-accepted" not in page


def test_the_table_of_devices_shows_the_gravest_finding_of_each_class(
    client: TestClient, viewer: dict[str, str]
) -> None:
    policy = (root() / "policies" / "rfc4594-4.yaml").read_text(encoding="utf-8")
    page = _preview(client, viewer, _form(policy))

    def cell(device: str, class_: str) -> tuple[str, str, str]:
        """How it looks, what it says of itself, and its numbers."""
        shown = re.search(
            rf'<button type="button" class="badge ([a-z-]+)" id="open-near-{device}-{class_}".*?</td>',
            page,
            re.DOTALL,
        )
        assert shown is not None, (device, class_)
        said = re.search(r'class="visually-hidden">([^<]*)<', shown[0])
        assert said is not None
        return shown[1], said[1], unescape(_plain(shown[0]))

    look, said, numbers = cell("s2950", "assured-elastic")
    assert (look, said) == ("severity-error", "assured-elastic on s2950: an error stands against it")
    assert "the device does not know the DSCP" in numbers
    look, said, _ = cell("r1", "assured-elastic")
    assert (look, said) == ("fidelity-exact", "assured-elastic on r1: as requested")
    page = _preview(client, viewer, _form())
    look, said, numbers = cell("s2950", "default")
    assert (look, said) == ("severity-warning", "default on s2950: with a warning")
    assert "drops at the tail of its queues only" in numbers
    look, said, numbers = cell("s2950", "voice-video")  # deviates, and has a warning, too
    assert look == "fidelity-approximate"
    assert "not policed at egress" in numbers


def test_findings_have_their_numbers_places_and_mends(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, _form())
    told = _plain(page)
    assert "requested 50 %, applied 100 %" in told
    assert "s2950 output, s2970 output, ers5510 output, e300 output" in told
    assert "bound the class before this device" in told
    line = CAMPUS.splitlines().index("  - name: voice-video") + 1
    assert f'data-line="{line}"' in page
    assert re.search(r"[0-9]+ warnings .*[0-9]+ notes", told)
    # Lines that no source confirms are rows: what they are, how each is confirmed, and where they stand.
    assert re.search(r"<td><code>strict-priority unicast 4</code></td>\s*<td[^>]*>strict-priority \?</td>", page)


def test_its_findings_are_grouped_and_counted_as_those_of_a_run(tmp_path: Path) -> None:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        run = furnish(backend)["run"]
        written = backend.policies.seen_by(somebody(ADMIN)).get(POLICY).written()
        request = PreviewRequest("policy", NETWORK, written, caller=ADMIN)
        network, devices = backend.networks.network(NETWORK), backend.previews.required_devices(request)
        reads = last_known(backend.run_requests.store, backend.artifacts, network, devices)
        known = {name: read.text for name, read in reads.items()}
        document = backend.previews.preview(replace(request, known=known))
        findings = [
            one.model_dump(mode="json") for one in PolicyPreview.model_validate_json(document.body).findings
        ]
        with TestClient(create_site(backend)) as client:
            session = Persons(backend).find(ADMIN).log_in(client)
            before = _listed(client.get(f"/runs/{run}?tab=findings").text)
            summary = ValidateSummary(findings=backend.artifacts.put_json(findings))
            with backend.run_requests.store.stage(run, "validate", summary):
                pass
            after = _listed(client.get(f"/runs/{run}?tab=findings").text)
            page = _preview(client, session, {"network": NETWORK, "policy": POLICY, "version": "latest"})
    errors = page[page.index('id="preview-errors"') :].partition("</section>")[0]
    listed = _listed(errors + page[page.index('id="preview-findings"') :])
    assert listed["warning"] > 0
    assert listed["info"] > 0
    assert after - before == listed
    assert f"{listed['warning']} warnings" in _plain(page)


def _listed(page: str) -> Counter[str]:
    """How many findings of each severity a page lists."""
    return Counter(re.findall(r'<li(?: class="said[^"]*")?>\s*(?:<p>)?<span class="badge severity-(\w+)"', page))


def test_a_stored_policy_has_no_lines_to_go_to(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, {"network": "campus", "policy": "campus-collaboration", "version": "latest"})
    assert "No errors" in page
    assert "data-line" not in page
    assert "#class-" not in page


def test_a_device_is_compared_with_what_it_was_last_known_to_hold(
    client: TestClient, viewer: dict[str, str]
) -> None:
    page = _preview(client, viewer, _form(device="r2"), "/preview/device")
    entered = [_plain(line).strip() for line in re.findall(r'<span class="(?:more|less)">.*?</code>', page)]
    assert "+ class-map match-any voice-video" in entered
    assert "− no service-policy output QOSFORGE-OUT" in entered
    assert READ_AT.strftime("%Y-%m-%d %H:%M:%S UTC") in page
    assert 'class="line class-1" data-number="1"' in page
    assert '<span class="tag">voice-video</span>' in page
    assert "&#34;device&#34;: &#34;r2&#34;" in page


def test_settings_that_are_said_with_no_take_nothing_away(
    client: TestClient, backend: Backend, viewer: dict[str, str]
) -> None:
    held = _startup("s2970").replace(
        "interface GigabitEthernet0/5\n", "interface GigabitEthernet0/5\n mls qos trust cos\n"
    )
    network = backend.networks.network("other")
    store_readings(backend.run_requests.store, backend.artifacts, network, said_by({"s2970": held}), READ_AT)
    page = _preview(client, viewer, _form(device="s2970") | {"network": "other"}, "/preview/device")
    entered, _, undone = page.partition("Rollback lines")
    assert "no mls qos trust" in entered
    assert 'class="less"' not in entered
    assert 'class="less"' in undone


def test_a_device_that_was_never_read_says_so(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, _form(device="e300"), "/preview/device")
    assert "This device was never read" in page
    assert "bandwidth-percentage 50" in page
    overview = _plain(_preview(client, viewer, _form()))
    assert "1 device was never read." in overview
    assert "e300 Force10 E300 never read" in overview
    nobody = _plain(_preview(client, viewer, _form() | {"network": "unread"}))
    assert "No device has been read yet" in nobody


def test_a_device_that_holds_it_has_nothing_to_do(
    client: TestClient, backend: Backend, viewer: dict[str, str]
) -> None:
    page = _preview(client, viewer, _form(device="r1"), "/preview/device")
    lines = re.findall(r'<span class="line[^>]*><code>(.*?)</code>', page)
    network = backend.networks.network("other")
    text = _startup("r1").replace("\nend", "") + "\n".join(line for line in lines if line != "!") + "\nend\n"
    store_readings(backend.run_requests.store, backend.artifacts, network, said_by({"r1": text}), READ_AT)
    held = _preview(client, viewer, _form(device="r1") | {"network": "other"}, "/preview/device")
    assert "Nothing: it holds all of it already." in held
    assert "no changes" in _preview(client, viewer, _form() | {"network": "other"})


def test_what_stands_against_it_is_counted(client: TestClient, viewer: dict[str, str]) -> None:
    page = _preview(client, viewer, _form(CAMPUS.replace("wred: {prefer: true}", "wred: {prefer: false}")))
    told = _plain(page[page.index("Cannot be started: 2 errors (s2950, s2970, ers5510)") :])
    assert told.index("the device drops at the tail") < told.index("devices would change") < told.index("▲ warning")


def test_a_wrong_text_is_reported_with_its_lines_and_keeps_the_last_preview(
    client: TestClient, viewer: dict[str, str]
) -> None:
    answer = client.post("/preview", data=_form(CAMPUS.replace("percent: 50", "percent: 150")), headers=viewer)
    assert answer.status_code == 200
    assert answer.headers["x-preview"] == "refused"
    assert "This cannot be compiled: 1 problem" in _plain(answer.text)
    assert "It stands above the policy" in _plain(answer.text)
    assert "150" not in _plain(answer.text), "the editor's own list has it, and says it once"
    assert "preview-good" not in answer.text
    broken = client.post("/preview", data=_form("version: 1\n  intent: ["), headers=viewer)
    assert broken.headers["x-preview"] == "refused"
    assert client.post("/preview", data=_form(""), headers=viewer).headers["x-preview"] == "refused"


def test_what_a_version_includes_is_known(client: TestClient, backend: Backend, viewer: dict[str, str]) -> None:
    library = "version: 1\nclasses:\n  - name: gold\n    match: {any: [{dscp: ef}]}\n"
    text = (
        "version: 1\nintent: sums\ninclude: own.yaml\nclasses:\n  - name: default\n"
        "apply:\n  - {role: edge, interfaces: wan, direction: output}\n"
    )
    written = PolicySource(text, "sums.yaml", {"own.yaml": library})
    backend.policies.seen_by(somebody("ana")).store("sums", written, network="*")
    page = _preview(client, viewer, _form(text, name="sums.yaml", begun="sums", number="1"))
    assert "gold" in page
    assert client.post("/preview", data=_form(text), headers=viewer).headers["x-preview"] == "refused"


def test_names_are_reported_as_text(client: TestClient, viewer: dict[str, str]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    for form in (
        _form(CAMPUS.replace("name: web-and-file", f'name: "{evil}"')),
        _form(f'version: 1\nintent: "{evil}"\n'),
        _form(f"<script>{evil}</script>: ["),
        _form(CAMPUS, name=evil),
    ):
        answer = client.post("/preview", data=form, headers=viewer)
        assert "<img" not in answer.text
        assert "<script>" not in answer.text
    for form in (_form(CAMPUS, device=evil), _form() | {"network": evil}):
        answer = client.post("/preview/device", data=form, headers=viewer)
        assert answer.status_code in (403, 404, 422)
        assert "<img" not in answer.text


def test_what_a_device_holds_is_reported_as_text(
    client: TestClient, backend: Backend, viewer: dict[str, str]
) -> None:
    held = _startup("r3").replace("hostname", "banner motd ^<script>alert(1)</script>^\nhostname", 1)
    held += "policy-map QOSFORGE-OUT\n class <script>x</script>\n"
    network = backend.networks.network("other")
    store_readings(backend.run_requests.store, backend.artifacts, network, said_by({"r3": held}), READ_AT)
    for path, form in (("/preview", _form()), ("/preview/device", _form(device="r3"))):
        assert "<script>" not in _preview(client, viewer, form | {"network": "other"}, path)


def test_what_was_not_saved_when_a_device_was_last_read_stands_against_it(
    client: TestClient, backend: Backend, viewer: dict[str, str]
) -> None:
    """It is said of devices that would change, in the words of a run; where it is not known, nothing is."""
    network = backend.networks.network("other")
    texts = said_by({name: _startup(name) for name in ("r1", "r2", "e300")})
    lines = ("+snmp-server location cellar", "+ip access-list standard 7 / permit any", "-hostname R1")
    store, artifacts = backend.run_requests.store, backend.artifacts
    store_readings(store, artifacts, network, texts, READ_AT, unsaved={"r1": lines, "r2": ()})
    page = _preview(client, viewer, _form() | {"network": "other"})
    against = re.search(r'data-cannot="Cannot start: ([^"]*)"', page)  # beside the button that starts
    assert against
    assert "r1" in against[1]
    told = _plain(page)
    assert told.count("running and startup configuration differ") == 1
    assert (
        "running and startup configuration differ in 3 lines: +snmp-server location cellar; "
        "+ip access-list standard 7 / permit any; -hostname R1; a push would make that permanent, or lose it"
        in told
    )
    assert "then have it read again (“Read the devices now” in a preview" in told
    device = _plain(client.get("/networks/other/devices/r1", headers=viewer).text)
    assert "Not saved: running and startup configuration differ in 3 lines: +snmp-server location cellar" in device
    assert "differ in" not in client.get("/networks/other/devices/r2", headers=viewer).text
    part = _plain(_preview(client, viewer, _form(device="r1") | {"network": "other"}, "/preview/device"))
    assert "differ in 3 lines" in part

    store_readings(store, artifacts, network, texts, READ_AT)
    assert "differ in" not in _preview(client, viewer, _form() | {"network": "other"})


def test_devices_are_read_when_asked(
    client: TestClient, viewer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they say counts from then on; one that does not answer is told, and compared as before."""

    def read(fleet: Fleet, devices: object = ()) -> object:
        error = DeviceError("the device does not answer", Place(device="r1"), "look at its management address")
        return LiveState(said_by({"e300": _startup("e300")})), {"r1": error}

    monkeypatch.setattr("qosforge.api.previews.read_each_live_state", read)
    page = _plain(_preview(client, viewer, _form(live="true")))
    assert "1 device could not be read just now: r1: the device does not answer" in page
    assert "never read" not in page
    shown = _preview(client, viewer, _form())
    again = _plain(shown)
    said = re.search(r'data-would="9 of 9 devices would change: \+(\d+) −(\d+) lines"', shown)
    assert said  # beside the button that starts, and counted as a run counts it
    each = re.findall(r'"badge changes">\+(\d+) −(\d+) lines?<', shown)
    assert [int(said[1]), int(said[2])] == [sum(int(row[n]) for row in each) for n in (0, 1)]
    assert re.search(r"9 of 9 devices would change: \+\d+ −\d+ lines", again)


def test_only_who_may_look_sees_it(client: TestClient, backend: Backend) -> None:
    other = Persons(backend).add("eve", Role.ADMIN, "other")
    with TestClient(client.app) as another:
        headers = other.log_in(another)
        assert another.post("/preview", data=_form() | {"network": "other"}, headers=headers).status_code == 200
        for path, form in (("/preview", _form()), ("/preview", _form(live="true")), ("/preview/device", _form())):
            refused = another.post(path, data={**form, "device": "r1"}, headers=headers)
            assert refused.status_code == 403
            assert "voice-video" not in refused.text
    with TestClient(client.app) as nobody:
        assert nobody.post("/preview", data=_form(), headers={"HX-Request": "true"}).status_code == 401


def test_without_the_token_of_the_session_nothing_is_answered(client: TestClient, viewer: dict[str, str]) -> None:
    assert client.post("/preview", data=_form(), headers={"HX-Request": "true"}).status_code == 403


def test_unknown_policies_and_devices_are_reported(client: TestClient, viewer: dict[str, str]) -> None:
    for form in ({"policy": "nothing"}, {"policy": "campus-collaboration", "version": "7"}):
        answer = client.post("/preview", data={"network": "campus", **form}, headers=viewer)
        assert answer.status_code == 404
        assert answer.headers["hx-retarget"] == "#messages"
    assert client.post("/preview/device", data=_form(device="nothing"), headers=viewer).status_code == 404


def test_what_is_not_complete_says_so_and_is_not_copied(client: TestClient, viewer: dict[str, str]) -> None:
    text = CAMPUS.replace("wred: {prefer: true}", "wred: {prefer: false}")
    shown = {
        name: _preview(client, viewer, _form(text, device=name), "/preview/device") for name in ("r1", "s2950")
    }
    assert "data-copy" in shown["r1"]
    assert "Not complete" not in shown["r1"]
    assert "data-copy" not in shown["s2950"]
    assert "Not complete: findings stand against it." in _plain(shown["s2950"])
