"""The waves of a rollout, as its rules choose them, and what must change in one step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qosforge.compiler.waves import Wave, joined_ends, plan_waves, require_canary, stranded, without_canary
from qosforge.errors import InputError
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.rollout import DeviceSelection, Rollout
from qosforge.plan.model import Efficiency, InterfacePlan, Plan
from qosforge.resources import root

CAMPUS = load_network(root() / "inventories" / "campus")
NAMES = tuple(device.name for device in CAMPUS.devices)
SITES = {"r1": "vigo", "s2950": "vigo", "s2970": "vigo", "r3": "oporto", "e300": "oporto", "ers5510": "oporto"}


def sited() -> Network:
    """The campus with sites, and a tag on two devices."""
    devices = [
        device.model_copy(
            update={
                "site": SITES.get(device.name, ""),
                "tags": frozenset({"pilot"} if device.name in ("e300", "b56") else ()),
            }
        )
        for device in CAMPUS.devices
    ]
    return CAMPUS.model_copy(update={"devices": tuple(devices)})


def waves(
    rule: dict[str, Any], *joined: tuple[str, str], devices: tuple[str, ...] = NAMES
) -> list[tuple[str, ...]]:
    planned = plan_waves(sited(), Rollout.model_validate(rule), devices, map(frozenset, joined))
    return [wave.devices for wave in planned]


def test_without_a_rule_all_devices_change_in_one_wave() -> None:
    (wave,) = plan_waves(CAMPUS, Rollout(), NAMES)
    assert wave == Wave("all devices", tuple((name,) for name in NAMES))


@pytest.mark.parametrize("canary", [{"tag": "pilto"}, {"site": "lugo"}])
def test_a_canary_of_no_device_is_refused(canary: dict[str, str]) -> None:
    def ruled(canary: dict[str, Any]) -> Network:
        rules = ChangeRules.model_validate({"rollout": {"canary": canary, "waves": [{"tag": "none"}]}})
        return sited().model_copy(update={"changes": rules})

    ((kind, word),) = canary.items()
    with pytest.raises(
        InputError, match=f"no device of campus has the {kind} '{word}', so there is no canary"
    ) as told:
        require_canary(ruled(canary))
    assert (told.value.where.file, told.value.where.path) == ("changes.yaml", f"rollout.canary.{kind}")
    assert told.value.hint
    for good in ({"tag": "pilot"}, {"site": "vigo"}, {"role": "core"}, {"count": 1}):
        require_canary(ruled(good))
    require_canary(sited())


def test_a_canary_that_does_not_change_is_told() -> None:
    rule = Rollout.model_validate({"canary": {"tag": "pilot"}})
    with_it = plan_waves(sited(), rule, NAMES)
    without = plan_waves(sited(), rule, ("r1", "r3"))
    assert without_canary(rule, with_it) == ""
    assert without_canary(rule, without) == "no canary: none of tag pilot is among what is changed"
    assert without_canary(Rollout(), without) == ""


def test_waves_are_chosen_by_site_role_tag_count_and_percentage() -> None:
    rule = {
        "canary": {"count": 1},
        "waves": [{"site": "vigo"}, {"tag": "pilot"}, {"role": "edge"}, {"percent": 10}],
    }
    planned = plan_waves(sited(), Rollout.model_validate(rule), NAMES)
    assert [(wave.name, wave.devices) for wave in planned] == [
        ("canary", ("r1",)),
        ("site vigo", ("s2950", "s2970")),
        ("tag pilot", ("b56", "e300")),
        ("role edge", ("r3", "b256")),
        ("10 %", ("r2",)),  # of all nine, rounded up
        ("the rest", ("ers5510",)),
    ]


def test_devices_that_do_not_change_are_in_no_wave() -> None:
    assert waves({"waves": [{"site": "vigo"}]}, devices=("s2970", "e300")) == [("s2970",), ("e300",)]
    assert waves({"waves": [{"site": "vigo"}]}, devices=("e300",)) == [("e300",)]


def test_both_ends_of_a_link_come_in_the_first_wave_of_either() -> None:
    (canary, *rest) = plan_waves(
        sited(),
        Rollout.model_validate({"canary": {"tag": "pilot"}}),
        NAMES,
        [frozenset(("r2", "b56")), frozenset(("r2", "b256"))],
    )
    assert canary.steps == (("r2", "b256", "b56"), ("e300",))
    assert [wave.devices for wave in rest] == [("r1", "r3", "s2950", "s2970", "ers5510")]


def test_what_is_joined_to_a_missing_device_is_stranded_and_so_on() -> None:
    joined = [frozenset(pair) for pair in (("r2", "b56"), ("r2", "b256"), ("r1", "r3"))]
    assert stranded(joined, ["b56"]) == {"r2", "b256"}
    assert stranded(joined, ["s2950"]) == stranded(joined, []) == frozenset()


def plan(device: str, **interfaces: Efficiency) -> Plan:
    parts = tuple(InterfacePlan(name=name, efficiency=each) for name, each in interfaces.items())
    return Plan(device=device, platform="cisco_ios", interfaces=parts)


def test_ends_are_joined_where_the_link_efficiency_changes_and_nowhere_else() -> None:
    none, crtp = Efficiency(), Efficiency(header_compression=True)
    before = {"r2": plan("r2", Multilink1=none, Multilink2=crtp), "b256": plan("b256", Multilink1=none)}
    before["b56"] = plan("b56", Multilink1=crtp)
    after = {"r2": plan("r2", Multilink1=crtp, Multilink2=crtp), "b256": plan("b256", Multilink1=crtp)}
    after["b56"] = plan("b56", Multilink1=crtp)
    assert joined_ends(CAMPUS, before, after) == {frozenset(("r2", "b256"))}
    del before["b256"]  # it cannot be read: r2 says that it has to change with it
    assert joined_ends(CAMPUS, before, after) == {frozenset(("r2", "b256"))}
    del before["r2"]
    assert joined_ends(CAMPUS, before, after) == frozenset()
    del after["b256"]  # it holds its plan already
    assert joined_ends(CAMPUS, before, after) == frozenset()


@pytest.mark.parametrize(
    "written", [{}, {"site": "a", "role": "edge"}, {"percent": 0}, {"count": 0}, {"role": "router"}]
)
def test_a_wave_is_chosen_by_one_word(written: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DeviceSelection.model_validate(written)


@pytest.mark.parametrize(("failures", "of", "most"), [(0, 300, 0), (3, 10, 3), ("10 %", 300, 30), ("10%", 9, 0)])
def test_so_many_may_fail(failures: object, of: int, most: int) -> None:
    rule = Rollout.model_validate({"failures": failures})
    assert rule.may_fail(of) == most
    assert Rollout.model_validate_json(rule.model_dump_json()) == rule


SELECTIONS = st.one_of(
    st.builds(DeviceSelection, site=st.sampled_from(["vigo", "oporto", "nowhere"])),
    st.builds(DeviceSelection, role=st.sampled_from(["edge", "middle", "access", "core"])),
    st.builds(DeviceSelection, count=st.integers(1, 5)),
    st.builds(DeviceSelection, percent=st.floats(1, 100)),
)
PAIRS = st.sets(st.sets(st.sampled_from(NAMES), min_size=2, max_size=2).map(frozenset), max_size=4)


@given(st.one_of(st.none(), SELECTIONS), st.lists(SELECTIONS, max_size=4), st.sets(st.sampled_from(NAMES)), PAIRS)
def test_every_device_is_in_one_wave_and_with_those_it_is_joined_to(
    canary: DeviceSelection | None, chosen: list[DeviceSelection], devices: set[str], joined: set[frozenset[str]]
) -> None:
    planned = plan_waves(sited(), Rollout(canary=canary, waves=tuple(chosen)), devices, joined)
    every = [name for wave in planned for name in wave.devices]
    assert sorted(every) == sorted(devices)
    assert all(wave.devices for wave in planned)
    step = {name: names for wave in planned for names in wave.steps for name in names}
    for pair in joined:
        a, b = pair
        if pair <= devices:
            assert step[a] == step[b]
