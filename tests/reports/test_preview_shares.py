"""A preview made in shares is the preview, byte for byte."""

from __future__ import annotations

import pytest

from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import platform
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import compile_document
from qosforge.reports.preview_shares import LEAST_DEVICES, join_shares, preview_share, share_out
from qosforge.resources import root

CAMPUS = load_network(root() / "inventories" / "campus")
NAMES = tuple(device.name for device in CAMPUS.devices)
POLICIES = sorted(path.name for path in (root() / "policies").glob("*.yaml"))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_shares_make_the_whole_document(policy: str, strict: bool) -> None:
    """Of every policy: findings of the policy, of devices and of doubtful lines, each once and in its place."""
    loaded = load_intent(root() / "policies" / policy)
    whole = compile_document(check_policy(loaded, CAMPUS, strict=strict)).model_dump_json(by_alias=True).encode()
    for count in (1, 2, 3):
        parts = share_out(CAMPUS, NAMES, count)
        assert len(parts) == count
        shares = [preview_share(check_policy(loaded, CAMPUS, devices=part, strict=strict)) for part in parts]
        assert join_shares(shares) == whole


@pytest.mark.parametrize("count", range(1, 12))
def test_every_device_is_in_one_share_and_none_has_much_more_work(count: int) -> None:
    parts = share_out(CAMPUS, NAMES, count)
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert len(parts) == max(1, min(count, len(NAMES) // LEAST_DEVICES))
    weights = {device.name: platform(device.platform).compile_weight for device in CAMPUS.devices}
    loads = [sum(weights[name] for name in part) for part in parts]
    assert max(loads) - min(loads) <= max(weights.values())


def test_many_devices_of_one_platform_are_parted_evenly() -> None:
    routers = [f"r{number}" for number in range(100)]
    one = CAMPUS.device("r1")
    network = CAMPUS.model_copy(
        update={"devices": tuple(one.model_copy(update={"name": name}) for name in routers), "links": ()}
    )
    for count in range(2, 10):
        sizes = [len(part) for part in share_out(network, routers, count)]
        assert (len(sizes), sum(sizes)) == (count, 100)
        assert max(sizes) - min(sizes) <= 2


def test_devices_that_nobody_asks_for_are_not_compiled() -> None:
    loaded = load_intent(root() / "policies" / "rfc4594-12.yaml")
    checked = check_policy(loaded, CAMPUS, devices=["r1"])
    assert [device.name for device in checked.compilation.devices] == ["r1"]
    assert checked.devices == tuple(d for d in check_policy(loaded, CAMPUS).devices if d.name == "r1")
