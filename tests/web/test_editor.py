"""The policy editor's calls: what the form does to the text, what it says of it, and who may store it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from ruamel.yaml import YAML
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.intent.policy_source import PolicySource, load_policy, shipped_policies
from tests.principals import somebody
from tests.web.people import Persons

SMALL = """version: 1
intent: small
classes:
  - name: voice  # first
    match: {any: [{dscp: ef}]}
    treatment: {priority: {percent: 30}}
  - name: default
apply: [{interfaces: wan, direction: output}]
"""


@pytest.fixture
def session(client: TestClient, persons: Persons) -> dict[str, str]:
    return persons.add("ann", Role.OPERATOR).log_in(client)


class Form:
    """The form of a text, as the page's script uses it."""

    def __init__(self, client: TestClient, session: dict[str, str], text: str = SMALL, name: str = "small") -> None:
        self.client = client
        self.session = session
        self.text = text
        self.name = name
        self.more: dict[str, Any] = {}

    def do(self, *edits: dict[str, Any]) -> dict[str, Any]:
        """Do something; the answer's text is the next one."""
        body = {"name": self.name, "text": self.text, "network": "campus", "edits": list(edits), **self.more}
        answer = self.client.post("/editor/change", json=body, headers=self.session)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        self.text = found["text"]
        return found

    @property
    def data(self) -> Any:
        return YAML(typ="safe").load(self.text)


@pytest.fixture
def form(client: TestClient, session: dict[str, str]) -> Form:
    return Form(client, session)


def test_who_may_not_change_a_policy_is_told_why_and_where_to_begin_instead(
    client: TestClient, session: dict[str, str]
) -> None:
    page = client.get("/policies/impossible/edit", params={"network": "campus"}).text
    assert "This policy is built in and stays as it is" in page
    (begin,) = re.findall(r'href="([^"]+)">Start a new policy from it<', page)
    form = client.get(unescape(begin)).text
    assert re.search(r'name="from" value="impossible" checked', form), "what was asked for is what it begins from"
    assert re.search(r"<option selected>campus", form)
    assert len(re.findall(r'name="from" value="[^"]*" checked', form)) == 1
    begun = client.get("/policies/new", params={"name": "mine", "from": "impossible", "network": "campus"}).text
    assert "intent: mine" in begun


def test_every_shipped_policy_can_be_seen(client: TestClient, session: dict[str, str], persons: Persons) -> None:
    for name, text in shipped_policies().items():
        page = client.get(f"/policies/{name}/edit", params={"network": "campus"})
        assert page.status_code == 200, name
        shown = Form(client, session, text, name).do()
        assert shown["text"] == text
        assert shown["problems"].strip() == "", name
    assert "default" in client.get("/policies/new", params={"name": "mine"}).text
    begun = client.get("/policies/new", params={"name": "mine", "from": "rfc4594-8"}).text
    assert "intent: mine" in begun
    assert "from rfc4594-8.yaml" in begun


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({"op": "set", "path": ["classes", 0, "mark", "dscp"], "value": "ef"}, "mark: {dscp: ef}"),
        (
            {"op": "set", "path": ["classes", 0, "treatment", "shape", "rate"], "value": "2 Mb/s"},
            "shape: {rate: 2 Mb/s}",
        ),
        (
            {"op": "amount", "path": ["classes", 0, "treatment"], "what": "service", "value": " 40 % "},
            "percent: 40",
        ),
        (
            {"op": "choose", "path": ["classes", 0, "treatment"], "what": "service", "value": "bandwidth.percent"},
            "{bandwidth: {percent: 30}}",
        ),
        (
            {"op": "choose", "path": ["classes", 0, "treatment"], "what": "service", "value": "priority"},
            "{priority: true}",
        ),
        (
            {
                "op": "set",
                "path": ["classes", 0, "match", "any", 0, "dscp"],
                "kind": "one-or-many",
                "value": "ef, 46",
            },
            "{any: [{dscp: [ef, 46]}]}",
        ),
        (
            {"op": "insert", "path": ["classes", 0, "match", "any"], "what": "term", "value": "ports"},
            "{protocol: udp, destination_port: []}",
        ),
        (
            {"op": "choose", "path": ["classes", 1, "treatment", "queue_limit"], "what": "queue", "value": "time"},
            "queue_limit: {time: 20 ms}",
        ),
        ({"op": "set", "path": ["classes", 1, "treatment", "wred"], "kind": "flag", "value": "true"}, "wred: true"),
        ({"op": "insert", "path": ["link_efficiency"], "what": "rule"}, "rate_below: 768 kb/s"),
        ({"op": "insert", "path": ["verify"], "what": "check"}, "classes: []"),
    ],
)
def test_what_is_done_in_the_form_changes_the_text(form: Form, edit: dict[str, Any], changed: str) -> None:
    answer = form.do(edit)
    assert changed in form.text
    assert "name: voice  # first" in form.text
    assert answer["refused"] is None


def test_classes_come_move_and_go(form: Form) -> None:
    answer = form.do({"op": "insert", "path": ["classes"], "what": "class"})
    assert [entry["name"] for entry in form.data["classes"]] == ["voice", "class-1", "default"]
    assert answer["focus"] == "f-classes-1"
    assert "has no match" in answer["problems"]
    form.do({"op": "move", "path": ["classes"], "index": 1, "target": 0})
    assert [entry["name"] for entry in form.data["classes"]] == ["class-1", "voice", "default"]
    form.do({"op": "remove", "path": ["classes", 0]}, {"op": "remove", "path": ["classes", 7]})
    assert form.text == SMALL


def test_an_emptied_number_asks_for_one_and_is_no_strict_priority(form: Form) -> None:
    amount = {"op": "amount", "path": ["classes", 0, "treatment"], "what": "service", "kind": "number"}
    answer = form.do({**amount, "value": ""})
    assert "aria-invalid" in answer["form"]
    form.do({**amount, "value": "30"})
    assert form.text == SMALL


def test_a_mistake_is_reported_at_its_field_and_in_the_list(form: Form) -> None:
    path = ["classes", 0, "objective", "delay", "p95"]
    answer = form.do({"op": "set", "path": path, "value": "50"})
    field = re.search(r'<input id="f-classes-0-objective-delay-p95".*?>', answer["form"])
    assert field is not None
    assert 'aria-invalid="true"' in field[0]
    assert 'data-goto="f-classes-0-objective-delay-p95"' in answer["problems"]
    assert "write it like &#39;16 ms&#39;" in answer["problems"]
    form.text = SMALL.replace("percent: 30", "percent: 30]")
    broken = form.do()
    assert "is not YAML" in broken["problems"]
    assert 'data-line="6"' in broken["problems"]
    assert "there are no cards" in broken["form"]
    refused = form.do({"op": "set", "path": path, "value": "50 ms"})
    assert refused["refused"]["hint"]
    assert refused["text"] == form.text


def _wrong_fields(answer: dict[str, Any]) -> list[str]:
    return re.findall(r'<input id="([^"]+)"[^>]*aria-invalid', answer["form"])


def test_a_sum_over_100_is_reported_at_the_share_that_was_entered_last(form: Form) -> None:
    form.text = SMALL.replace("{percent: 30}}", "{percent: 70}}").replace(
        "- name: default", "- name: default\n    treatment: {bandwidth: {percent: 40}}"
    )
    answer = form.do()
    assert "the classes take 110 % of the link: voice 70 %, default 40 %" in answer["problems"]
    assert _wrong_fields(answer) == ["f-classes-1-treatment-bandwidth-percent"]
    assert re.search(r'<details class="body" id="f-classes-1-body" open>', answer["form"])
    assert re.search(r'<details class="body" id="f-classes-0-body">', answer["form"])
    form.more = {"touched": ["classes", 0, "treatment"]}
    answer = form.do()
    assert _wrong_fields(answer) == ["f-classes-0-treatment-priority-percent"]
    assert 'data-goto="f-classes-0-treatment-priority-percent"' in answer["problems"]
    form.text = form.text.replace("percent: 40", "percent: 400")  # another mistake stays where it is
    assert _wrong_fields(form.do()) == ["f-classes-1-treatment-bandwidth-percent"]
    form.text = form.text.replace("percent: 400", "percent: 30")
    assert _wrong_fields(form.do()) == []


def test_what_the_form_cannot_change_is_said(form: Form) -> None:
    form.text = SMALL.replace("{percent: 30}}", "&shared {percent: 30}}").replace(
        "- name: default", "- {name: other, match: {any: [{dscp: cs1}]}, treatment: {priority: *shared}}"
    )
    before = form.text
    answer = form.do(
        {"op": "amount", "path": ["classes", 1, "treatment"], "what": "service", "kind": "number", "value": "20"}
    )
    assert "YAML" in answer["refused"]["hint"]
    assert form.text == before


def test_a_library_is_shown_set_by_parameters_and_overridden(client: TestClient, session: dict[str, str]) -> None:
    form = Form(client, session, shipped_policies()["rfc4594-4"], "rfc4594-4")
    shown = form.do()["form"]
    assert "from rfc4594-4.yaml" in shown
    assert re.search(r'id="f-parameters-real_time_percent" value="30"', shown), "what counts is in the field"
    assert "as in the library" in shown
    assert "f-parameters-real_time_percent" in shown
    assert ">Real time, %</label>" in shown
    assert "parameter “real_time_percent”" in shown
    form.do({"op": "set", "path": ["parameters", "real_time_percent"], "kind": "one-or-many", "value": "35"})
    assert form.data["parameters"]["real_time_percent"] == 35
    shown = form.do()["form"]
    assert "Of each link: 35 % promised" in shown
    assert re.search(r'id="f-parameters-real_time_percent" value="35"', shown)
    assert "the library has 30" in shown
    form.do({"op": "override", "path": ["classes"], "value": "real-time"})
    assert form.data["classes"][0]["treatment"] == {"priority": {"percent": 35}}
    assert 'id="f-classes-0"' in form.do()["form"]
    form.do({"op": "remove", "path": ["include", 0]})
    assert "include" not in form.data


def test_many_parameters_are_folded_and_say_what_is_the_policys_own(
    client: TestClient, session: dict[str, str]
) -> None:
    form = Form(client, session, shipped_policies()["rfc4594-12"], "rfc4594-12")
    folded = re.search(r'<details id="parameters"( open)?><summary>(.*?)</summary>', form.do()["form"])
    assert folded
    assert not folded[1]
    assert re.sub("<.*?>", "", folded[2]) == "13 parameters: of its own Tolerance 5 %; the others as in the library"
    form.do({"op": "set", "path": ["parameters", "oam_percent"], "kind": "one-or-many", "value": "4"})
    folded = re.search(r'<details id="parameters"( open)?><summary>(.*?)</summary>', form.do()["form"])
    assert folded
    assert folded[1], "it is read where it differs"
    assert "13 parameters: of its own Oam 4 %, Tolerance 5 %; the others as in the library" in re.sub(
        "<.*?>", "", folded[2]
    )


def test_sums_fragments_and_ports_are_computed(client: TestClient, session: dict[str, str]) -> None:
    text = shipped_policies()["campus-collaboration"]
    shown = Form(client, session, text, "campus-collaboration").do()["form"]
    assert "Of each link: 50 % promised" in shown
    assert "After priority: 100 % promised" in shown
    assert "56 kb/s × 16 ms / 8 = 112 bytes" in shown
    assert "256 kb/s × 16 ms / 8 = 512 bytes" in shown
    assert "ports of campus" in shown
    tree = Form(client, session, shipped_policies()["torino-link-sharing"], "torino-link-sharing").do()["form"]
    assert "Inside branch-a:" in tree
    assert "600 kb/s together" in tree


def test_measurements_have_the_names_that_a_run_gives_them(client: TestClient, session: dict[str, str]) -> None:
    page = client.get("/policies/campus-collaboration/edit", params={"network": "campus"}).text
    checks = load_policy(PolicySource(shipped_policies()["campus-collaboration"])).intent.verify
    heads = re.findall(r'id="[a-z-]*verify-\d+-head">([^<]*)</h3>', page)
    assert heads == [check.path for check in checks]
    assert len(set(heads)) > 3
    begun = client.get(
        "/policies/new", params={"name": "mine", "network": "campus", "from": "campus-collaboration"}
    ).text
    assert "Measurement 1<" not in begun


def test_what_a_form_cannot_edit_is_shown(form: Form) -> None:
    form.text = SMALL.replace("direction: output", "direction: output, shape: {percent: 50, burst_time: 20 ms}")
    assert "shape.burst_time: 20 ms" in form.do()["form"]
    form.text = SMALL.replace("direction: output", "direction: output, tunnels: Tunnel0")
    assert re.search(r'<details id="f-apply-0-more" open>', form.do()["form"])
    form.text = SMALL
    assert re.search(r'<details id="f-apply-0-more">', form.do()["form"])


def test_a_mark_of_a_cos_alone_may_be_a_wish(form: Form) -> None:
    choice = 'id="f-classes-0-treatment-mark-prefer"'
    assert choice not in form.do()["form"]
    form.text = SMALL.replace("{priority: {percent: 30}}", "{priority: {percent: 30}, mark: {cos: 5}}")
    assert choice in form.do()["form"]


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("{dscp: ef, cos: 5}", "ef, CoS 5"),
        ("{precedence: 5}", "precedence 5"),
        ("{qos_group: 3}", "QoS group 3"),
        ("{}", "no mark"),
    ],
)
def test_a_folded_class_tells_its_mark(form: Form, mark: str, told: str) -> None:
    form.text = SMALL.replace("{dscp: ef}]}", f"{{dscp: ef}}]}}\n    mark: {mark}")
    line = re.search(r'Mark: </span>(.*?)</span> <span class="objective">', form.do()["form"], re.DOTALL)
    assert line
    assert line[1].strip() == told


def test_markup_in_a_policy_is_shown_as_text(form: Form) -> None:
    form.text = SMALL.replace("name: voice ", "name: '<img src=x onerror=alert(1)>' ").replace(
        "intent: small", "intent: small\ndescription: '\"><script>alert(1)</script>'"
    )
    form.text += "parameters: {'<b>': 1}\n"
    answer = form.do()
    for part in (answer["form"], answer["problems"]):
        assert "<img" not in part
        assert "<script" not in part
        assert "<b>" not in part


@pytest.mark.parametrize(
    "text",
    ["", "[]", "classes: 3", "classes: [3, {name: []}, {treatment: 3, match: {any: 3}}]", "apply: {}\nverify: [1]",
     "include: 3\nparameters: [1]", "classes: [{treatment: {children: [{name: a}], wred: {profiles: 3}}}]", "\x07",
     "link_efficiency: [{when: 3, fragment: [1]}]", "classes: [{objective: {delay: [1], variation: {}}, mark: 3}]"],
)  # fmt: skip
def test_any_text_has_an_answer(form: Form, text: str) -> None:
    form.text = text
    answer = form.do()
    assert answer["text"] == text
    assert "problem" in answer["problems"]


def test_edits_that_make_no_sense_are_refused(client: TestClient, session: dict[str, str]) -> None:
    for wrong in (
        {"op": "burn", "path": ["a"]},
        {"op": "set", "path": ["a"] * 99},
        {"op": "set", "path": []},
        {"op": "choose", "path": ["classes"], "what": "nothing"},
    ):
        body = {"name": "small", "text": SMALL, "edits": [wrong]}
        assert client.post("/editor/change", json=body, headers=session).status_code == 422
    for odd in (
        {"op": "move", "path": ["intent"], "index": 3, "target": 9},
        {"op": "insert", "path": ["intent", 3], "what": "class"},
        {"op": "choose", "path": ["classes"], "what": "service", "value": "gold"},
    ):
        answer = Form(client, session).do(odd)
        assert answer["text"] == SMALL


def test_only_networks_that_one_sees_are_shown(client: TestClient, persons: Persons) -> None:
    session = persons.add("lou", Role.VIEWER, "itesm").log_in(client)
    page = client.get("/policies/campus-collaboration/edit", params={"network": "campus"}).text
    assert '<option value="campus"' not in page
    assert 'id="store"' not in page
    body = {"name": "small", "text": SMALL, "network": "campus", "edits": []}
    assert client.post("/editor/change", json=body, headers=session).status_code == 403
    assert client.get("/policies/new", params={"name": "mine"}).status_code == 403


def test_a_policy_is_stored_unless_it_moved_on(
    client: TestClient, persons: Persons, session: dict[str, str], backend: Backend
) -> None:
    save = {"text": SMALL, "base": "0", "comment": "first", "owner": "campus"}
    assert client.post("/policies/small/versions", data=save).status_code == 403  # without the session's token
    stored = client.post("/policies/small/versions", data=save, headers=session)
    assert stored.json()["number"] == 1
    theirs = PolicySource(SMALL.replace("30", "20"), "small.yaml")
    backend.policies.seen_by(somebody("<b>bob</b>")).store("small", theirs, "less")
    mine = SMALL.replace("30", "40")
    conflict = client.post("/policies/small/versions", data={"text": mine, "base": "1"}, headers=session)
    assert conflict.status_code == 409
    panel = conflict.json()["panel"]
    assert "&lt;b&gt;bob&lt;/b&gt; stored version 2" in panel
    assert conflict.json()["theirs"] == SMALL.replace("30", "20")
    assert conflict.json()["newest"] == 2
    assert {"20", "40"} <= set(re.findall(r"\d+", panel))
    assert backend.policies.seen_by(somebody("bob")).get("small").about.number == 2
    again = client.post("/policies/small/versions", data={"text": mine, "base": "2"}, headers=session)
    assert again.json()["number"] == 3
    wrong = client.post("/policies/small/versions", data={"text": "classes: 3", "base": "3"}, headers=session)
    assert wrong.status_code == 422
    assert wrong.headers["hx-retarget"] == "#messages"
    viewer = persons.add("vic", Role.VIEWER).log_in(client)
    assert client.post("/policies/small/versions", data=save, headers=viewer).status_code == 403


def test_two_who_begin_the_same_name_meet(client: TestClient, session: dict[str, str], backend: Backend) -> None:
    backend.policies.seen_by(somebody("bob")).store("small", PolicySource(SMALL, "small.yaml"), network="campus")
    mine = SMALL.replace("30", "40")
    conflict = client.post("/policies/small/versions", data={"text": mine, "base": "0"}, headers=session)
    assert conflict.status_code == 409
    assert "bob stored version 1" in conflict.json()["panel"]
    assert client.get("/policies/new", params={"name": "small"}).status_code == 422
    assert client.get("/policies/new", params={"name": "<b>"}).status_code == 422
    older = client.get("/policies/small/edit", params={"version": 1})
    assert older.status_code == 200
    assert client.get("/policies/small/edit", params={"version": 5}).status_code == 404


def test_the_text_keeps_its_first_line_break_and_its_line_ends(
    client: TestClient, session: dict[str, str], backend: Backend
) -> None:
    text = "\n" + SMALL.replace("\n", "\r\n")
    backend.policies.seen_by(somebody("bob")).store("small", PolicySource(text, "small.yaml"), network="campus")
    page = client.get("/policies/small/edit").text
    assert "data-crlf" in page
    area = re.search(r'<textarea id="policy-text".*?>(.*?)</textarea>', page, re.DOTALL)
    assert area is not None
    assert area[1] == "\n" + text


def test_one_call_does_as_much_as_there_is_time_for(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qosforge.web.routes.editor.MOST_SECONDS", 0.0)
    percent = {"op": "amount", "path": ["classes", 0, "treatment"], "what": "service", "kind": "number"}
    found = form.do({**percent, "value": "20"}, {**percent, "value": "25"})
    assert found["taken"] == 1
    assert "percent: 20" in found["text"]
    assert form.do({**percent, "value": "25"})["taken"] == 1
    assert form.do()["taken"] == 0
