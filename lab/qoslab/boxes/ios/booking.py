"""What the classes of a policy book of a rate, and what of it a policy inside a class divides. Rates are kb/s."""

from __future__ import annotations

from qoslab.config import Section


def booked(held: Section, base: int) -> int | None:
    """What a class books (kb/s) of ``base``; None when it books nothing."""
    words = (held.value("priority") or held.value("bandwidth")).split()
    if words[1:2] == ["level"]:
        words = [words[0], *words[3:]]
    if len(words) < 2 or words[1] == "remaining":
        return None
    return base * int(words[2]) // 100 if words[1] == "percent" else int(words[1])


def default_books(policy: Section, base: int) -> bool:
    """Whether the class of everything else has a bandwidth of its own, in kb/s or per cent."""
    default = policy.get("class class-default")
    return default is not None and booked(default, base) is not None


def shaped_rate(held: Section, base: int) -> int | None:
    """The rate (kb/s) a class is shaped to; None when it is not."""
    words = held.value("shape").split()
    if not words:
        return None
    return base * int(words[3]) // 100 if words[2] == "percent" else int(words[2]) // 1000


def inner_rate(policy: Section, held: Section, base: int, *, hqf: bool) -> int | None:
    """The rate that a policy inside a shaped class divides and its per cents are of; None where nothing shapes it.

    With HQF it is the lesser of the shaper's rate and what the class around it is guaranteed ("QoS: Hierarchical
    Queueing Framework", 12.4(20)T: nested policy and reference bandwidth for child policy maps; networklessons.com,
    "QoS HQF shaper and bandwidth inheritance"). A class that is alone in its policy has all there is.
    """
    rate = shaped_rate(held, base)
    if rate is None or not hqf or len(_classes(policy)) == 1:
        return rate
    return min(rate, _guaranteed(policy, held, base))


def _guaranteed(policy: Section, held: Section, base: int) -> int:
    """What a class has for sure: its own bandwidth; without one an equal part of what the others do not book.

    A router shows ``bandwidth remaining 40%`` with the kb/s that it comes to (mail-archive.com, cisco-nsp
    msg31917); that a ratio does the same is unconfirmed.
    """
    own = booked(held, base)
    if own is not None or "priority" in held:
        return base if own is None else own
    sharing = [one for one in _classes(policy) if "priority" not in one and booked(one, base) is None]
    left = max(base - sum(booked(one, base) or 0 for one in _classes(policy)), 0)
    lines = [one.value("bandwidth").split() for one in sharing]
    if any("ratio" in words for words in lines):
        return left * _part(held) // sum(map(_part, sharing))
    if "bandwidth" in held:
        return left * _part(held) // 100
    percents = sum(int(words[-1]) for words in lines if words)
    return left * (100 - percents) // 100 // lines.count([])


def _part(held: Section) -> int:
    """The figure of a ``bandwidth remaining`` line; the ratio is 1 where there is none."""
    return int(held.value("bandwidth", "1").split()[-1])


def _classes(policy: Section) -> list[Section]:
    """The classes of a policy, that of everything else included."""
    listed = list(policy.starting("class "))
    return listed if "class class-default" in policy else [*listed, Section("class class-default")]
