"""Marks along the paths that are verified."""

from __future__ import annotations

from qosforge.findings import Severity
from qosforge.plan.model import Egress, Ingress, Rule, Term, Trust
from qosforge.validation.context import ValidationContext
from qosforge.validation.marks import check_marks
from tests.validation.support import INTENT, RUNNING, compiled, with_interface, without_device


def marks(compilation, running=None):
    return list(check_marks(ValidationContext(compilation, running or {})))


def _reading(compilation, device: str, interface: str, name: str, *terms: Term):
    """A compilation where one egress rule recognises something else."""
    plan = next(d for d in compilation.devices if d.name == device).plan.interface(interface)
    rules = tuple(r.model_copy(update={"any_of": terms}) if r.name == name else r for r in plan.egress.rules)
    egress: Egress = plan.egress.model_copy(update={"rules": rules})
    return with_interface(compilation, device, interface, egress=egress)


def test_marks_are_set_and_read() -> None:
    assert marks(compiled()) == []


def test_edge_that_does_not_read_its_own_mark_is_found() -> None:
    found = marks(compiled(INTENT.replace("[ef, af41]", "[ef]")))
    assert [(f.device, f.interface, f.direction) for f in found] == [
        ("r1", "Serial0/0", "output"),
        ("r3", "Multilink1", "output"),
    ]
    assert "(packets sent with DSCP ef)" in found[0].message, "RTP is recognised again, what was EF is not"
    assert "(packets sent with DSCP ef, in the return direction, from phone2 to phone1)" in found[1].message


def test_edge_that_does_not_mark_is_found_where_the_mark_is_missed() -> None:
    found = marks(with_interface(compiled(), "r1", "FastEthernet0/0", ingress=Ingress()))
    assert {(f.code, f.severity, f.device, f.interface, f.direction) for f in found} == {
        ("mark-lost", Severity.WARNING, "r2", "Serial0/1", "input")
    }
    assert {f.traffic_class for f in found} == {"voice", "web"}
    voice = next(f for f in found if f.traffic_class == "voice")
    assert "without its mark af41" in voice.message
    assert "(rtp-audio sent with DSCP default, packets sent with DSCP ef)" in voice.message
    assert voice.line == 4


def test_rewriting_is_found_at_the_input_that_rewrites() -> None:
    found = marks(with_interface(compiled(), "r2", "Serial0/1", ingress=Ingress(trust=Trust.NONE)))
    voice = next(f for f in found if f.traffic_class == "voice")
    assert (voice.device, voice.interface, voice.direction) == ("r2", "Serial0/1", "input")
    assert "the mark af41 is rewritten to default here, before r2 Multilink1" in voice.message


def test_trusting_cos_with_the_default_map_rewrites_the_mark() -> None:
    compilation = with_interface(compiled(), "r2", "Serial0/1", ingress=Ingress(trust=Trust.COS))
    r2 = next(d for d in compilation.devices if d.name == "r2")
    system = r2.plan.system.model_copy(update={"cos_to_dscp": tuple(8 * cos for cos in range(8))})
    object.__setattr__(r2, "plan", r2.plan.model_copy(update={"system": system}))
    assert {(f.device, f.interface) for f in marks(compilation)} == {("r2", "Serial0/1")}


def test_mark_that_the_output_does_not_read_is_found_there() -> None:
    found = marks(_reading(compiled(), "r2", "Multilink1", "voice", Term(dscp=(46,))))
    assert [(f.device, f.interface, f.direction) for f in found] == [("r2", "Multilink1", "output")]
    assert "the mark af41 is not read here" in found[0].message


def test_mark_read_into_another_class_is_found() -> None:
    found = marks(_reading(compiled(), "r2", "Multilink1", "control", Term(dscp=(18, 48))))
    assert found == [], "rules go in order: the class itself comes first"
    found = marks(_reading(compiled(), "r2", "Multilink1", "voice", Term(dscp=(34, 18))))
    assert [f.traffic_class for f in found] == ["web"]


def test_class_without_mark_must_be_recognised_at_every_hop() -> None:
    intent = INTENT.replace("    mark: {dscp: af21, cos: 2}\n", "")
    assert marks(compiled(intent)) == []
    found = marks(_reading(compiled(intent), "r2", "Multilink1", "web", Term(dscp=(18,))))
    assert [(f.traffic_class, f.interface) for f in found] == [("web", "Multilink1")]
    assert "carries no mark" in found[0].message


def test_device_the_intent_leaves_alone_works_as_it_is_configured() -> None:
    alone = without_device(compiled(), "r1")
    assert {f.device for f in marks(alone, RUNNING)} == {"r2"}
    marking = (
        "class-map match-any v\n match protocol rtp audio\n match ip dscp ef\n"
        "class-map match-any w\n match protocol http\n"
        "policy-map M\n class v\n  set dscp af41\n class w\n  set dscp af21\n"
    )
    r1 = marking + RUNNING["r1"].replace("0/0\n!\ninterface S", "0/0\n service-policy input M\n!\ninterface S")
    assert marks(alone, {**RUNNING, "r1": r1}) == []


def test_class_that_another_takes_first_is_not_followed_twice() -> None:
    intent = INTENT.replace("{application: [http]}", "{application: [http]}, {dscp: [ef]}")
    assert marks(compiled(intent)) == []


def test_rule_that_marks_too_much_does_not_hide_the_loss() -> None:
    everything = Ingress(rules=(Rule(name="all", any_of=(Term(),), set_dscp=18),))
    found = marks(with_interface(compiled(), "r1", "FastEthernet0/0", ingress=everything))
    assert {f.traffic_class for f in found} == {"voice"}


TREE = INTENT.replace(
    """\
  - name: web
    match: {any: [{application: [http]}]}
    mark: {dscp: af21, cos: 2}
    treatment: {bandwidth: {remaining_percent: 70}}
""",
    """\
  - name: data
    match: {any: [{dscp: [af11, af21]}]}
    treatment:
      bandwidth: {remaining_percent: 70}
      bounded: true
      children:
        - name: web
          match: {any: [{dscp: [af21]}]}
          mark: {dscp: af21}
          treatment: {bandwidth: {percent: 30}}
        - name: bulk
          match: {any: [{dscp: [af11]}]}
          mark: {dscp: af11}
          treatment: {bandwidth: {percent: 20}}
""",
)


def test_class_below_a_class_is_followed_to_its_own_queue() -> None:
    assert marks(compiled(TREE)) == []
    found = marks(_reading(compiled(TREE), "r2", "Multilink1", "data.MARK", Term(dscp=(10,))))
    assert {(f.traffic_class, f.interface) for f in found} == {("web", "Multilink1")}, "its parent is not found"


def test_class_in_the_queue_of_its_sister_is_found() -> None:
    compilation = compiled(TREE)
    interface = next(d.plan for d in compilation.devices if d.name == "r2").interface("Multilink1")
    assert interface is not None
    assert interface.egress.scheduler is not None
    scheduler = interface.egress.scheduler
    queues = tuple(
        q.model_copy(
            update={
                "child": q.child.model_copy(
                    update={
                        "rules": tuple(r.model_copy(update={"any_of": (Term(dscp=(46,)),)}) for r in q.child.rules)
                    }
                )
            }
        )
        if q.child
        else q
        for q in scheduler.queues
    )
    egress = interface.egress.model_copy(update={"scheduler": scheduler.model_copy(update={"queues": queues})})
    found = marks(with_interface(compilation, "r2", "Multilink1", egress=egress))
    assert {(f.traffic_class, f.interface) for f in found} == {("web", "Multilink1")}


def test_an_output_that_writes_another_mark_is_found_where_nobody_behind_reads_it() -> None:
    compilation = compiled()
    plan = next(d for d in compilation.devices if d.name == "r1").plan.interface("Serial0/0")
    rules = tuple(r.model_copy(update={"set_dscp": 8} if r.name == "voice" else {}) for r in plan.egress.rules)
    egress = plan.egress.model_copy(update={"rules": rules})

    (voice,) = (f for f in marks(with_interface(compilation, "r1", "Serial0/0", egress=egress)))

    assert (voice.traffic_class, voice.device, voice.interface, voice.direction) == (
        "voice",
        "r1",
        "Serial0/0",
        "output",
    )
    assert "the mark af41 is rewritten to cs1 as packets leave here" in voice.message
