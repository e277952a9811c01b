"""Whose configuration it is: platform, image and name from the text, or a refusal that says what to give."""

from __future__ import annotations

import pytest

from qosforge.errors import InputError
from qosforge.importing import import_configurations, read_configuration
from qosforge.importing.running_configuration import recognise_platform

from .support import FOLDERS, NETWORKS, running
from .test_library import made


@pytest.mark.parametrize(
    ("folder", "name"), [(f, d.name) for f, network in NETWORKS.items() for d in network.devices]
)
def test_a_box_is_told_by_its_lines(folder: str, name: str) -> None:
    device = NETWORKS[folder].device(name)
    assert device.startup is not None
    startup = (FOLDERS[folder] / device.startup).read_text(encoding="utf-8")
    read = read_configuration(running(made("campus-collaboration", folder)[name], startup), f"{name}.cfg")
    assert (read.platform, read.device.lower()) == (device.platform, name)


def test_what_is_given_goes_before_what_is_read() -> None:
    text = "version 12.4\nhostname a\ninterface Serial0/0\n bandwidth 64\n"
    read = read_configuration(text, "x.cfg", image="12.2", device="b")
    assert (read.device, read.images, read_configuration(text, "x.cfg").images) == ("b", ("12.2",), ("12.4",))


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("hello\n", {}, "no line tells the platform"),
        ("interface Serial0/0\n", {"platform_id": "cisco"}, "unknown platform 'cisco'"),
        ("interface Serial0/0\n", {"device": "a b"}, "'a b' is not a device's name"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_configuration(text, "x.cfg", **given)
    assert refused.value.hint


def test_a_box_without_any_policy_is_refused() -> None:
    read = read_configuration("hostname a\ninterface Serial0/0\n bandwidth 64\n", "x.cfg")
    with pytest.raises(InputError, match="no interface has anything for quality of service"):
        import_configurations([read], "made")


def test_what_is_not_understood_is_told_without_its_secret() -> None:
    text = "hostname a\nclass-map match-any V\n match ip dscp ef\npolicy-map WAN\n class V\n  priority percent 20\n"
    text += "interface Serial0/0\n bandwidth 64\n service-policy output WAN\n random-detect password 7 PLANTED01\n"
    findings = import_configurations([read_configuration(text, "x.cfg", image="12.4")], "made").findings
    told = [finding.message for finding in findings if "random-detect" in finding.message]
    assert told
    assert "PLANTED01" not in "".join(told)


def test_one_box_twice_is_refused() -> None:
    read = read_configuration("hostname a\ninterface Serial0/0\n bandwidth 64\n", "x.cfg")
    again = read_configuration("hostname a\ninterface Serial0/0\n bandwidth 64\n", "y.cfg")
    with pytest.raises(InputError, match=r"another configuration of a, beside x\.cfg") as refused:
        import_configurations([read, again], "made")
    assert refused.value.where.file == "y.cfg"


MODULE = """\
version {version}
hostname branch
class-map match-any voice
 match ip dscp ef
policy-map wan
 class voice
  priority percent 20
 class class-default
  fair-queue
{ports}interface {line}
 bandwidth 2048
 service-policy output wan
end
"""
PORTS = "".join(f"interface FastEthernet0/1/{n}\n switchport access vlan {n + 2}\n" for n in range(4))


@pytest.mark.parametrize(
    "line", ["Serial0/0/0", "ATM0/0/0.1 point-to-point", "Dialer1", "Cellular0/0/0", "Multilink1"]
)
@pytest.mark.parametrize("version", ["12.4", "15.1"])
def test_a_router_with_a_module_of_switch_ports_is_a_router(line: str, version: str) -> None:
    """HWIC-4ESW and its like put ports with switchport lines into a router; switches have no lines like Serial."""
    assert recognise_platform(MODULE.format(version=version, ports=PORTS, line=line), "branch.cfg") == "cisco_ios"


def test_a_switch_with_a_tunnel_is_a_switch() -> None:
    text = MODULE.format(version="17.9", ports=PORTS.replace("Fast", "Gigabit"), line="Tunnel1")
    assert recognise_platform(text, "core.cfg") == "catalyst_9000"
