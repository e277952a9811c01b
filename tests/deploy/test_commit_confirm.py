"""The time for which devices hold a change that nobody confirms."""

from __future__ import annotations

from itertools import pairwise

from qosforge.compiler.waves import plan_waves
from qosforge.deploy.commit_confirm import LEAST_SECONDS, Lengths, revert_seconds, too_short
from qosforge.inventory.loader import load_network
from qosforge.inventory.rollout import Rollout
from qosforge.resources import root

CAMPUS = load_network(root() / "inventories" / "campus")
NAMES = [device.name for device in CAMPUS.devices]
ONE = plan_waves(CAMPUS, Rollout(), NAMES)
FOUR = plan_waves(
    CAMPUS,
    Rollout.model_validate({"canary": {"count": 1}, "waves": [{"role": "edge"}, {"count": 2}]}),
    NAMES,
)


def test_it_grows_with_the_measurement_and_with_the_waves_and_is_whole_minutes() -> None:
    (short,) = revert_seconds(CAMPUS, ONE, Lengths())
    assert short == LEAST_SECONDS
    (long,) = revert_seconds(CAMPUS, ONE, Lengths(measuring=3000))
    (asking,) = revert_seconds(CAMPUS, ONE, Lengths(measuring=3000, waiting=600))
    assert long > 3000
    assert asking == long + 600
    waves = revert_seconds(CAMPUS, FOUR, Lengths(measuring=3000))
    assert waves[0] > long
    assert all(earlier > later for earlier, later in pairwise(waves)), "a later wave begins later"
    assert all(seconds % 60 == 0 for seconds in (short, long, *waves))


def test_a_timer_that_cannot_hold_so_long_is_named_with_its_device() -> None:
    assert too_short(CAMPUS, ONE, [7200]) == []
    archived = [device.name for device in CAMPUS.devices if device.driver == "ios"]
    found = too_short(CAMPUS, ONE, [7260])
    assert [error.where.device for error in found] == archived
    assert "configure terminal revert timer" in found[0].message
    assert "at most 120 min" in found[0].message
    assert "up to 121 min" in found[0].message
    # A switch without a timer is never too short: nothing is saved there before it is confirmed.
    every = {error.where.device for error in too_short(CAMPUS, ONE, [1000 * 60])}
    assert every == {device.name for device in CAMPUS.devices if device.driver in ("ios", "ios_legacy")}
