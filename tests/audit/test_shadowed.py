"""Classes of running configurations that no packet reaches."""

from __future__ import annotations

import pytest

from qosforge.audit.audit import audit
from qosforge.findings import Finding
from qosforge.inventory.models import Device, DeviceRole, Interface, Network

TEXT = """\
ip access-list extended MAIL
 permit tcp any any eq 25
ip access-list extended TCP
 permit tcp any any
class-map match-any tcp
 match access-group name TCP
class-map match-any mail
 match access-group name MAIL
class-map match-any five
 match ip precedence 5
class-map match-any ef
 match ip dscp ef
class-map match-any both
 match ip dscp ef
 match ip dscp af21
policy-map OUT
{classes}
interface Serial0/0
 bandwidth 2048
 service-policy output OUT
"""


def _found(*classes: str) -> list[Finding]:
    text = TEXT.format(classes="\n".join(f" class {name}\n  bandwidth percent 5" for name in classes))
    router = Device(
        name="r1",
        platform="cisco_ios",
        image="12.4(15)T",
        role=DeviceRole.EDGE,
        driver="ios",
        interfaces=(Interface(name="Serial0/0", rate=2_048_000, role=DeviceRole.EDGE),),
    )
    result = audit(Network(name="one", devices=(router,), links=(), stations=()), {"r1": text})
    return [f for f in result.findings if f.code == "class-never-reached"]


@pytest.mark.parametrize(("first", "second"), [("tcp", "mail"), ("five", "ef")])
def test_a_class_inside_one_before_it_is_told_with_a_packet(first: str, second: str) -> None:
    (found,) = _found(first, second)

    assert (found.device, found.interface, found.direction) == ("r1", "Serial0/0", "output")
    assert found.traffic_class == second
    assert f"by {first}" in found.message


@pytest.mark.parametrize("classes", [("mail", "tcp"), ("ef", "five"), ("five", "both"), ("tcp", "five")])
def test_a_class_that_gets_anything_is_not(classes: tuple[str, ...]) -> None:
    assert not _found(*classes)
