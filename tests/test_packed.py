"""Values that travel as bytes: taken apart once where one is asked for after another, and the right one always."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler

from qosforge.compute import Compute
from qosforge.packed import Packed


def sent(packed: Packed[list[str]]) -> Packed[list[str]]:
    """As it arrives in another process."""
    arrived: Packed[list[str]] = ForkingPickler.loads(ForkingPickler.dumps(packed))
    return arrived


def test_who_packed_it_has_it_still() -> None:
    value = ["a"]
    packed = Packed(value)
    assert packed.value() is value
    assert sent(packed).value() is value


def test_another_one_is_taken_apart_once() -> None:
    first, second = Packed(["a"]), Packed(["b"])
    arrived = sent(first)
    assert arrived.value() == ["a"]
    assert sent(first).value() is arrived.value()
    assert (second.value(), first.value()) == (["b"], ["a"])


def test_a_process_beside_asks_for_it_as_often_as_it_likes() -> None:
    compute = Compute(1)
    try:
        packed = compute.call(Packed, ["a", "b"], timeout=60)
        assert compute.call(same_object_twice, packed, timeout=60)
        assert packed.value() == ["a", "b"]
    finally:
        compute.close()


def same_object_twice(packed: Packed[list[str]]) -> bool:
    return packed.value() is sent(packed).value()
