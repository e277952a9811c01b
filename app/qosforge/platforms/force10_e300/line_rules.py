"""Rules about the lines of FTOS: shares of the eight queues, layers that go together, names, lists and meters.

Sources: FTOS TeraScale configuration guide (QoS); S4820T reference p. 647 (lists of a class-map); C150
configuration manual (WRED profiles; p. 861, marks and queues); names and meters as the capability data says.
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.platforms.force10_e300.capabilities import (
    CAPABILITIES,
    acl_name_limit,
    dscp_to_queue,
    dscp_written,
    has_kbps,
    has_layer2,
    name_limit,
)
from qosforge.platforms.line_rules import (
    ConfigurationLines,
    Fault,
    not_together,
    out_of_range,
    reversed_pair,
    sum_above,
    too_many,
)
from qosforge.platforms.mqc.list_rules import access_lists

_ALL = 100
_OBJECTS = ("class-map", "input-policy", "output-policy", "input-map", "output-map", "wred-profile")
_HIGHEST = {"dscp": 63, "precedence": 7, "cos": 7}
_LISTS = {"match-any": 5, "match-all": 1}
_METERED = ("police", "limit", "port-meter")


def percentages(lines: ConfigurationLines) -> Iterator[Fault]:
    """The queues of a port divide it among each other, and more than all of it is scaled down; one with 0 is out of
    service.
    """
    policies, maps = lines.named("output-policy"), lines.named("output-map")
    attached = {line.name for line in lines.all("service-policy") if line.get("direction") == "output"}
    for output_map in (maps[name] for name in sorted(attached & maps.keys())):
        total = 0
        for service in output_map.all("service"):
            policy = policies.get(str(service.get("policy")))
            share = policy.first("percentage") if policy is not None else None
            if share is None:
                continue
            total += share.values["percent"]
            if total > _ALL:
                yield sum_above(f"shares of {output_map.text}", service, total, _ALL, "%")
    for share in lines.all("percentage"):
        if not share.values["percent"]:
            yield out_of_range(share, "0 takes a queue out of service")


def strict(lines: ConfigurationLines) -> Iterator[Fault]:
    """The queue that the device serves first."""
    low, high = CAPABILITIES.strict_queues.minimum, CAPABILITIES.strict_queues.maximum
    for line in lines.all("strict"):
        if not low <= line.values["queue"] <= high:
            yield out_of_range(line, f"{line.values['queue']} is not between {low} and {high}")


def profiles(lines: ConfigurationLines) -> Iterator[Fault]:
    """WRED profiles: their thresholds, their number, and those that nobody changes."""
    for line in lines.all("threshold"):
        if line.values["minimum"] > line.values["maximum"]:
            yield reversed_pair(line, line.values["minimum"], line.values["maximum"])
        elif line.values["maximum"] > CAPABILITIES.wred_threshold.maximum:
            yield out_of_range(line, f"{line.values['maximum']} is above {CAPABILITIES.wred_threshold.maximum} KB")
    own = list(lines.all("wred-profile"))
    yield from too_many("WRED profiles", own, CAPABILITIES.user_wred_profiles.value, "C150 configuration manual")
    for line in own:
        if line.name in CAPABILITIES.wred_profiles.profiles:
            yield not_together(line, line.name, "a predefined profile cannot be changed")


def layers(lines: ConfigurationLines) -> Iterator[Fault]:
    """What stands together is of one layer."""
    maps, policies = lines.named("class-map"), lines.named("input-policy")
    for input_map in lines.all("input-map"):
        for service in input_map.all("service", "service-unmarked"):
            for other in (maps.get(service.name), policies.get(str(service.get("policy")))):
                if other is not None and _layer2(other) != _layer2(input_map):
                    yield not_together(service, other.text, f"it is of another layer than {input_map.text}")
    for class_map in maps.values():
        for match in class_map.all("match-acl", "match-vlan", "match-mark"):
            if match.text.startswith("match mac") != _layer2(class_map):
                yield not_together(match, class_map.text, "it matches in another layer than its class-map")
    for policy in policies.values():
        for line in policy.all("set-dscp", "set-cos"):
            if (line.id == "set-cos") != _layer2(policy):
                yield not_together(line, policy.text, "it marks in another layer than its policy")
    input_maps = lines.named("input-map")
    for attached in lines.all("service-policy"):
        there = input_maps.get(attached.name) if attached.get("direction") == "input" else None
        if there is not None and _layer2(there) != ("layer" in attached.values):
            yield not_together(attached, there.text, "it attaches a policy of another layer")


def layers_of_release(lines: ConfigurationLines) -> Iterator[Fault]:
    """Lines of layer 2, on releases that have none."""
    if has_layer2(lines.image):
        return
    for line in lines.all(
        "class-map", "input-policy", "input-map", "service", "service-unmarked", "service-policy"
    ):
        if _layer2(line):
            yield Fault(line, because("line-too-new", since=CAPABILITIES.layer2_since.value, image=lines.image))


def rates_of_release(lines: ConfigurationLines) -> Iterator[Fault]:
    """Rates in kb/s, on releases that know Mb/s alone."""
    if has_kbps(lines.image):
        return
    for line in lines.all(*_METERED, "shape", "port-shape"):
        if {"kbps", "peak_kbps"} & line.values.keys():
            yield Fault(line, because("line-too-new", since=CAPABILITIES.kbps_since.value, image=lines.image))


def _layer2(line: PlacedLine) -> bool:
    return line.text.endswith(" layer2")


def marks(lines: ConfigurationLines) -> Iterator[Fault]:
    """Marks that packets do not have."""
    for line in lines.all("match-mark"):
        for field, highest in _HIGHEST.items():
            listed = ",".join(line.get(field, ()))
            for mark in map(int, listed.split(",") if listed else ()):
                if mark > highest:
                    yield out_of_range(line, f"{mark} is not between 0 and {highest}")


def written_marks(lines: ConfigurationLines) -> Iterator[Fault]:
    """A DSCP is written whole in its own queue only: the queue's number replaces its first three bits."""
    policies = lines.named("input-policy")
    for input_map in lines.all("input-map"):
        for service in input_map.all("service"):
            policy = policies.get(str(service.get("policy")))
            mark = policy.first("set-dscp") if policy is not None else None
            if policy is None or mark is None:
                continue
            dscp, queue = mark.values["set_dscp"], service.values["queue"]
            if (leaves := dscp_written(dscp, queue)) != dscp:
                own = dscp_to_queue()[dscp]
                why = f"DSCP {dscp} is written in queue {own} alone, and leaves queue {queue} as {leaves}"
                yield not_together(service, policy.text, why)


def lists_of_classes(lines: ConfigurationLines) -> Iterator[Fault]:
    """How many lists a class-map refers to."""
    for class_map in lines.all("class-map"):
        limit = _LISTS.get(str(class_map.get("mode")))
        if limit is not None:
            found = class_map.all("match-acl")
            yield from too_many(
                f"lists of a {class_map.values['mode']} class-map", found, limit, "S4820T reference"
            )


def names(lines: ConfigurationLines) -> Iterator[Fault]:
    """Names that the release cuts or refuses."""
    for line in lines.all(*_OBJECTS, "ip acl", "mac acl"):
        limit = acl_name_limit(lines.image) if line.id.endswith(" acl") else name_limit(lines.image)
        if len(line.name) > limit:
            yield out_of_range(line, f"the name has {len(line.name)} characters, of {limit} on {lines.image}")


def meters(lines: ConfigurationLines) -> Iterator[Fault]:
    """Rates of policers and meters; a peak is no less than the rate beside it."""
    limits = CAPABILITIES.meter
    for line in lines.all(*_METERED):
        rate, peak = _kbps(line, ""), _kbps(line, "peak_")
        if rate is None:
            continue
        if not limits.minimum <= rate <= limits.maximum:
            yield out_of_range(line, f"{rate} is not between {limits.minimum} and {limits.maximum} kb/s")
        if peak is not None and peak < rate:
            yield reversed_pair(line, rate, peak)


def _kbps(line: PlacedLine, prefix: str) -> int | None:
    if f"{prefix}mbps" in line.values:
        return int(line.values[f"{prefix}mbps"]) * 1000
    value = line.get(f"{prefix}kbps")
    return None if value is None else int(value)


LINE_RULES = (
    percentages,
    strict,
    profiles,
    layers,
    layers_of_release,
    rates_of_release,
    marks,
    written_marks,
    lists_of_classes,
    names,
    meters,
    access_lists,
)
"""The rules of these switches."""
