"""A class of a policy without its class-map, mostly a slip in its name, is told and takes no packets."""

from __future__ import annotations

import pytest

from qosforge.platforms.base import platform

TEXT = """\
mls qos
class-map match-all VOICE
 match ip dscp ef
policy-map P
 class VOCIE
  set ip dscp 46
 class VOICE
  set ip dscp 46
 class class-default
  set ip dscp 0
policy-map UNUSED
 class GONE
  set ip dscp 0
interface {port}
 service-policy input P
"""


@pytest.mark.parametrize(
    ("name", "port"),
    [
        ("cisco_ios", "FastEthernet0/0"),
        ("catalyst_2970", "GigabitEthernet0/1"),
        ("catalyst_2950", "FastEthernet0/1"),
        ("catalyst_9000", "GigabitEthernet1/0/1"),
    ],
)
def test_it_is_told_where_it_stands(name: str, port: str) -> None:
    plan = platform(name).parse(TEXT.format(port=port), "box", "12.4")

    assert [rule.name for rule in plan.interfaces[0].ingress.rules if not rule.any_of] == ["VOCIE"]
    assert [(line.line, line.undefined, line.context) for line in plan.unknown if line.undefined] == [
        (5, "class-map VOCIE", "policy-map P"),
        (12, "class-map GONE", "policy-map UNUSED"),
    ]
