"""A compile grows with the network alone: devices of one shape share its work, and nothing else is different."""

from __future__ import annotations

import cProfile
import pstats
import tracemalloc
from collections import deque
from unittest.mock import Mock, patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fleet import fleet, flow_classes, recognised_classes
from qosforge.compiler import compile as compiling
from qosforge.compiler.compile import CompiledDevice, Compiler, compile_devices, compile_intent
from qosforge.compiler.features import find_unsupported, without_unsupported
from qosforge.compiler.resolve import resolve
from qosforge.errors import InputError
from qosforge.findings import Finding
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, Network
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import platform
from qosforge.platforms.cisco_ios import PLATFORM

from .support import CAMPUS, ROOT, intents, policy, routers

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def named_alike(devices: tuple[Device, ...], order: list[int]) -> Network:
    """A network of copies of devices, each under a name of its own."""
    made = tuple(
        devices[at % len(devices)].model_copy(update={"name": f"copy{number}"}) for number, at in enumerate(order)
    )
    return Network(name="copies", devices=made, links=(), stations=())


def unplaced(findings: tuple[Finding, ...]) -> list[Finding]:
    return [f.model_copy(update={"file": None, "line": None}) for f in findings]


def check_as_alone(made: CompiledDevice, request: DeviceRequest) -> None:
    """A device is what its platform makes of its own request, with its own name."""
    box = platform(request.platform)
    inside = without_unsupported(request, box.features)
    lowered = box.lower(inside, None)
    assert made.request == inside
    assert made.plan == lowered.plan
    assert made.plan.device == request.device
    assert made.blocks == box.blocks(lowered.plan, lowered, inside)
    assert unplaced(made.findings) == unplaced((*find_unsupported(request, box.features), *lowered.findings))
    assert all(f.device in (request.device, None) for f in made.findings)
    assert made.fidelity == lowered.fidelity
    assert made.classes == lowered.classes


def check_fleet(loaded: LoadedIntent, network: Network) -> None:
    requests, _ = resolve(loaded, network)
    made = tuple(compile_devices(loaded, network)[0])
    assert [d.name for d in made] == [r.device for r in requests]
    for device, request in zip(made, requests, strict=True):
        check_as_alone(device, request)


@PROPERTY
@given(intents(), st.lists(st.integers(0, 4), min_size=2, max_size=8))
def test_a_router_among_its_likes_is_as_alone(text: str, order: list[int]) -> None:
    check_fleet(parse_intent(text, "made.yaml"), named_alike(routers().devices, order))


@PROPERTY
@given(st.lists(st.integers(0, 8), min_size=2, max_size=12), st.integers(1, 3))
def test_any_box_among_its_likes_is_as_alone(order: list[int], kept: int) -> None:
    loaded = load_intent(ROOT / "policies" / "campus-collaboration.yaml")
    with patch.object(compiling, "SHAPES", kept):
        check_fleet(loaded, named_alike(load_network(CAMPUS).devices, order))


def test_findings_stand_where_their_class_does_under_every_name() -> None:
    loaded = recognised_classes()
    network = fleet(20, shapes=10)
    first, second = (compile_intent(loaded, network).devices[at] for at in (4, 14))

    assert first.findings
    assert [f.model_copy(update={"device": "d14"}) for f in first.findings] == list(second.findings)
    placed = [f for f in second.findings if f.traffic_class]
    places = [loaded.class_place(f.traffic_class or "") for f in placed]
    assert [(f.file, f.line) for f in placed] == [(place.file, place.line) for place in places if place]


def test_a_shape_is_kept_when_it_comes_again() -> None:
    network = fleet(60, shapes=5, platforms=("cisco_ios",))
    with patch.dict(vars(PLATFORM), lower=Mock(side_effect=PLATFORM.lower)) as changed:
        compile_intent(flow_classes(), network)
        assert changed["lower"].call_count == 2 * 5


def test_no_more_shapes_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "SHAPES", 3)
    monkeypatch.setattr(compiling, "MET", 4)
    network = fleet(60, shapes=5, platforms=("cisco_ios",))
    compiler = Compiler(flow_classes())
    for request in resolve(flow_classes(), network)[0]:
        compiler.device(request)

    assert (len(compiler._kept), len(compiler._met)) == (3, 4)


def test_what_a_box_runs_is_looked_at_for_every_box() -> None:
    network = named_alike(routers().devices, [0, 0])
    text = (CAMPUS / "startup" / "r1.cfg").read_text(encoding="utf-8")
    changed = text.replace(" bandwidth 2000\n", " bandwidth 1000\n")

    made = compile_intent(policy("itesm-paper"), network, {"copy0": text, "copy1": changed})

    assert {(f.device, f.code) for f in made.findings if f.code == "bandwidth-differs"} == {
        ("copy1", "bandwidth-differs")
    }


def test_an_error_names_its_device() -> None:
    strange = routers().devices[0].model_copy(update={"image": "strange"})
    network = named_alike((strange,), [0, 0])
    with pytest.raises(InputError) as raised:
        compile_intent(policy("itesm-paper"), network)

    assert raised.value.where.device == "copy0"


def taken(network: Network, loaded: LoadedIntent) -> None:
    deque((device.text for device in compile_devices(loaded, network)[0]), maxlen=0)


def calls(network: Network, loaded: LoadedIntent) -> int:
    """Python calls of a compile: the work it does, whatever else the machine does."""
    profile = cProfile.Profile()
    profile.enable()
    taken(network, loaded)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_work_grows_with_the_devices_and_no_faster() -> None:
    taken(fleet(10), recognised_classes())  # reads data and templates once
    some, more = calls(fleet(10), recognised_classes()), calls(fleet(40), recognised_classes())

    assert more < some * 4 * 1.1


def test_devices_of_known_shapes_cost_little() -> None:
    taken(fleet(10), recognised_classes())
    shapes, some, more = (calls(fleet(n, shapes=10), recognised_classes()) for n in (10, 20, 120))

    assert (more - some) / 100 < shapes / 10 / 3


def peak(network: Network, loaded: LoadedIntent) -> int:
    """Most bytes in use while a network is compiled, devices taken one by one."""
    tracemalloc.start()
    try:
        taken(network, loaded)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_what_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "SHAPES", 4)
    loaded = flow_classes()
    taken(fleet(4, platforms=("cisco_ios",)), loaded)
    some, more = (peak(fleet(count, platforms=("cisco_ios",)), loaded) for count in (20, 100))
    held = tracemalloc_of_one(loaded)

    assert (more - some) / 80 < held / 2


def tracemalloc_of_one(loaded: LoadedIntent) -> float:
    """Bytes that a device holds which is kept."""
    network = fleet(40, platforms=("cisco_ios",))
    tracemalloc.start()
    try:
        made = compile_intent(loaded, network)
        return tracemalloc.get_traced_memory()[0] / len(made.devices)
    finally:
        tracemalloc.stop()


def test_the_platform_does_not_see_the_name() -> None:
    network = fleet(2, shapes=1, platforms=("cisco_ios",))
    with patch.dict(vars(PLATFORM), lower=Mock(side_effect=PLATFORM.lower)) as changed:
        compile_intent(flow_classes(), network)
        asked = [call.args[0].device for call in changed["lower"].call_args_list]

    assert asked == [""] * 2
