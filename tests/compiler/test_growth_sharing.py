"""What devices share is what each would have alone, at every rate; and work grows with the classes, no faster."""

from __future__ import annotations

import json
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from benchmarks.fleet import IMAGES, fleet, flow_classes, numbered_classes, recognised_classes
from qosforge import memoise
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan import core

from .support import CAMPUS, ROOT, intents
from .test_growth import calls, taken

PROPERTY = settings(max_examples=20, deadline=None, derandomize=True, database=None)
POLICIES = sorted((ROOT / "policies").glob("*.yaml"))
EVERYWHERE = [
    {"role": ["edge", "middle", "access", "core"], "interfaces": ["lan", "wan"], "direction": side}
    for side in ("input", "output")
]
OLD_IMAGES = ("11.2", "12.0", "12.1", "12.2", "12.4(20)T")


def everywhere(text: str) -> LoadedIntent:
    """A generated intent on all ports of all devices."""
    document = YAML(typ="safe", pure=True).load(text)
    return parse_intent(json.dumps({**document, "apply": EVERYWHERE}), "made.yaml")


def some_devices() -> Network:
    """Devices of every platform, and routers of old images: rates, ports and names all differ."""
    made = fleet(2 * len(IMAGES))
    routers = fleet(2 * len(OLD_IMAGES), platforms=("cisco_ios",)).devices
    old = tuple(
        d.model_copy(update={"name": f"old{n}", "image": OLD_IMAGES[n % len(OLD_IMAGES)]})
        for n, d in enumerate(routers)
    )
    return made.model_copy(update={"devices": (*made.devices, *old)})


def made_of(found: Compilation) -> list[tuple[object, ...]]:
    return [(d.plan, d.text, d.blocks, d.findings, d.fidelity, dict(d.classes)) for d in found.devices]


def check_at_every_rate(loaded: LoadedIntent, network: Network) -> None:
    """What devices share whatever their rates are is what each has at its own, and names no nameless port."""
    memoise.forget()
    found = compile_intent(loaded, network)
    assert all(f.interface is None or f.interface.strip(", ") for f in found.findings)
    freely = made_of(found)
    memoise.forget()
    with patch.object(core, "_rated", lambda treatment: True):
        strictly = made_of(compile_intent(loaded, network))
    memoise.forget()
    assert freely == strictly


@PROPERTY
@given(intents())
def test_a_made_intent_is_compiled_the_same_at_every_rate(text: str) -> None:
    check_at_every_rate(everywhere(text), some_devices())


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_a_policy_is_compiled_the_same_at_every_rate(path: object) -> None:
    loaded = load_intent(ROOT / "policies" / str(path))
    check_at_every_rate(loaded, load_network(CAMPUS))
    check_at_every_rate(loaded, some_devices())


@PROPERTY
@given(st.permutations(range(10)), st.lists(intents(), min_size=1, max_size=2))
def test_what_was_compiled_before_changes_nothing(order: list[int], texts: list[str]) -> None:
    network = fleet(10)
    shuffled = network.model_copy(update={"devices": tuple(network.devices[at] for at in order)})
    loaded = [everywhere(text) for text in texts]
    for each in loaded:
        compile_intent(each, shuffled)
    after = [made_of(compile_intent(each, network)) for each in loaded]
    for each, found in zip(loaded, after, strict=True):
        memoise.forget()
        assert found == made_of(compile_intent(each, network))


def test_devices_that_differ_share_what_is_made_of_their_classes() -> None:
    memoise.forget()
    first, more = (calls(fleet(count), recognised_classes()) for count in (len(IMAGES), 3 * len(IMAGES)))
    assert (more - first) / 2 < first / 2


@pytest.mark.parametrize(("some", "more"), [(6, 12), (12, 24)])
def test_work_grows_with_the_classes_and_no_faster(some: int, more: int) -> None:
    network = fleet(20)
    for count in (some, more):
        taken(network, numbered_classes(count))
    once, twice = (calls(network, numbered_classes(count)) for count in (some, more))

    assert once * 1.2 < twice < once * 2.2


def test_no_text_is_shared_by_devices_that_differ() -> None:
    made = compile_intent(flow_classes(), fleet(10, platforms=("cisco_ios",))).devices
    texts = [id(block.text) for device in made for block in device.blocks]
    assert len(set(texts)) == len(texts)
