"""What a compiled device rests on that no published source confirms."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.compiler.unconfirmed import as_pushed, find_unconfirmed
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root

CAMPUS = load_network(root() / "inventories" / "campus")
POLICY = """\
version: 1
intent: doubt
classes:
  - name: voice
    match: {any: [{dscp: 46}]}
    treatment: {priority: {percent: 10}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 50}}
apply: [{devices: [%s], direction: output}]
"""


def compiled(device: str, image: str | None = None, policy: str = "") -> CompiledDevice:
    devices = tuple(
        d.model_copy(update={"image": image}) if image is not None and d.name == device else d
        for d in CAMPUS.devices
    )
    network = CAMPUS.model_copy(update={"devices": devices})
    return compile_intent(parse_intent(policy or POLICY % device, "p.yaml"), network).devices[0]


def unconfirmed(device: str, image: str | None = None) -> Finding:
    found = find_unconfirmed(compiled(device, image))
    assert found is not None
    return found


def test_lines_are_named_with_how_each_is_confirmed() -> None:
    found = unconfirmed("e300")
    assert (found.code, found.severity, found.device) == ("lines-unconfirmed", Severity.WARNING, "e300")
    strict = next(row for row in found.rows if (row.text or "").startswith("strict-priority unicast "))
    assert strict.hint == "strict-priority ?"


@pytest.mark.parametrize(
    ("line", "undo"),
    [
        ("qos if-assign port ", "no qos if-assign ?"),
        ("qos egressmap ", "default qos egressmap ?"),
        ("qos ingressmap ", "default qos ingressmap ?"),
        ("qos queue-set-assignment ", "default qos queue-set-assignment ?"),
    ],
)
def test_lines_whose_way_back_has_no_source_are_named_with_it(line: str, undo: str) -> None:
    # No grammar of a 5510 at hand has these; refused, ports and queues would stay as they were put.
    campus = load_intent(root() / "policies" / "campus-collaboration.yaml")
    device = next(d for d in compile_intent(campus, CAMPUS).devices if d.name == "ers5510")
    found = find_unconfirmed(device)
    assert found is not None
    assert [row.hint for row in found.rows if (row.text or "").startswith(line)] == [f"{undo}, which takes it back"]


def test_lines_alike_are_one_row() -> None:
    campus = load_intent(root() / "policies" / "campus-collaboration.yaml")
    device = next(d for d in compile_intent(campus, CAMPUS).devices if d.name == "ers5510")
    found = find_unconfirmed(device)
    assert found is not None
    (actions,) = [row for row in found.rows if (row.text or "").startswith("qos action")]
    count = device.text.count("qos action ")
    assert (actions.text or "").endswith(f" (and {count - 1} like it)")
    assert actions.hint == "qos action 1 ?"
    doubtful = ("action", "policy", "if-assign", "egressmap", "ingressmap", "queue-set-assignment")
    lines = sum(device.text.count(f"qos {what} ") for what in doubtful)
    assert found.applied == f"{lines} lines"


@pytest.mark.parametrize(("image", "in_doubt"), [("12.2(15)T", True), ("12.4(15)T", False), ("15.1(4)M", False)])
def test_a_release_that_a_source_attests_is_in_no_doubt(image: str, in_doubt: bool) -> None:
    found = find_unconfirmed(compiled("r1", image))
    texts = {row.text for row in found.rows} if found else set()
    assert ("match dscp ef" in texts) is in_doubt, texts


def test_numbers_alone_are_information() -> None:
    found = unconfirmed("s2950")
    assert (found.code, found.severity, found.hint) == ("numbers-unconfirmed", Severity.INFO, None)
    assert [row.text for row in found.rows] == ["packets that a queue holds: 100"]


def test_a_push_is_refused_unless_somebody_accepts() -> None:
    lines, numbers = unconfirmed("e300"), unconfirmed("s2950")
    refused, same = as_pushed((lines, numbers), accepted=False)
    assert (refused.severity, refused.rows, same) == (Severity.ERROR, lines.rows, numbers)
    assert "--accept-unconfirmed" in (refused.hint or "")
    accepted, same = as_pushed((lines, numbers), accepted=True)
    assert (accepted.severity, accepted.rows, same) == (Severity.INFO, lines.rows, numbers)


@pytest.mark.parametrize(
    ("image", "mark", "in_doubt"),
    [("12.0(7)T", "dscp: 46", True), ("12.1(5)T", "dscp: 46", False), ("12.0(7)T", "precedence: 5", False)],
)
def test_dscps_in_access_lists_and_car_of_an_image_that_may_not_have_them(
    image: str, mark: str, in_doubt: bool
) -> None:
    policy = f"""\
version: 1
intent: marks
classes:
  - name: web
    match: {{any: [{{application: http}}]}}
    mark: {{{mark}}}
apply: [{{devices: [r1], direction: input}}]
"""
    found = find_unconfirmed(compiled("r1", image, policy))
    texts = [row.text or "" for row in found.rows] if found else []
    assert any(text.startswith("rate-limit input access-group") for text in texts) is in_doubt, texts
