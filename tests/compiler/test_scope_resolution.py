"""What parts of an intent reach on a network: the same as the compiler says of the whole."""

from __future__ import annotations

import pytest

from qosforge.compiler.resolve import resolve
from qosforge.compiler.scope_resolution import links_of, ports_in
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root

POLICIES = sorted((root() / "policies").glob("*.yaml"))


@pytest.fixture(scope="module")
def campus() -> Network:
    return load_network(root() / "inventories" / "campus")


@pytest.mark.parametrize("policy", [path.stem for path in POLICIES])
def test_ports_links_and_fragments_are_those_of_the_compiler(policy: str, campus: Network) -> None:
    loaded = load_intent(root() / "policies" / f"{policy}.yaml")
    requests, _ = resolve(loaded, campus)
    interfaces = {(request.device, one.name): one for request in requests for one in request.interfaces}
    covered = {
        (port.device, port.interface.name) for scope in loaded.intent.apply for port in ports_in(scope, campus)
    }
    assert covered == set(interfaces)
    links = links_of(loaded.intent.link_efficiency, loaded.intent.apply, campus)
    sizes = {
        (link.device, link.interface.name): link.fragment.bytes if link.fragment else None
        for rule in links
        for link in rule
    }
    requested = {port: one.efficiency.fragment_bytes for port, one in interfaces.items() if one.efficiency}
    assert sizes == requested


def test_a_rule_that_is_wrong_concerns_no_link_and_leaves_the_others(campus: Network) -> None:
    loaded = load_intent(root() / "policies" / "campus-collaboration.yaml")
    rule = loaded.intent.link_efficiency[0]
    (nothing, links) = links_of([None, rule], loaded.intent.apply, campus)
    assert nothing == ()
    assert {link.fragment.bytes for link in links if link.fragment} == {112, 512}
