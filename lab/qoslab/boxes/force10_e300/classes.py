"""Commands of FTOS for class maps."""

from __future__ import annotations

from qoslab.boxes.force10_e300.qos import chassis, checked, existing, item, layer2_of, since, unused
from qoslab.boxes.force10_e300.state import ClassMap
from qoslab.boxes.force10_e300.state import Match as MatchLine
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell
from qoslab.typed import Held, row

MATCH_ANY_ACLS, MATCH_ALL_ACLS = 5, 1
"""Access-lists a class map may refer to (S4820T reference p. 647)."""


def _class_map(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).class_maps, match["name"]
    if match.negated:
        there = existing(held, name, "Class-map")
        if (there.mode, there.layer2) != (match["mode"], "layer2" in match):
            raise Refused(f"% Error: Class-map {name} is of another type.")
        unused(chassis(shell).users_of_class(name), "Class-map")
        del held[name]
        return
    mode, layer2 = match["mode"], layer2_of(shell, match)
    present = held.setdefault(checked(shell, name), ClassMap(name, mode, layer2))
    if (present.mode, present.layer2) != (mode, layer2):
        raise Refused(f"% Error: Class-map {name} already exists with another type.")
    shell.enter("class-map", Held(name, present))


def _match(shell: Shell, match: Match) -> None:
    edited = item(shell, ClassMap)
    if "mark" in match:
        since(shell, match, "set-ip-dscp", 8)
    if match["kind"] == "ip vlan":
        since(shell, match, "vlan", 8)
    acl = match.get("acl")
    values = ",".join(match.values("values")).split(",") if "values" in match else []
    mark = match.number("mark") if "mark" in match else None
    line = MatchLine(match["kind"], tuple(map(int, values)), acl, mark)
    same = [held for held in edited.matches if (held.kind, held.values, held.acl) == (line.kind, line.values, acl)]
    if match.negated:
        if not same:
            raise Refused("% Error: Match criteria does not exist.")
        edited.matches.remove(same[0])
        return
    if edited.layer2 != line.kind.startswith("mac"):
        raise Refused(f"% Error: Class-map {edited.name} is a {'layer2' if edited.layer2 else 'layer3'} class-map.")
    if mark is not None and edited.mode == "match-all":
        raise Refused("% Error: set-ip-dscp is allowed in match-any class-maps only.")
    if acl:
        existing(chassis(shell).lists("mac" if edited.layer2 else "ip"), acl, "Access-list")
        limit = MATCH_ALL_ACLS if edited.mode == "match-all" else MATCH_ANY_ACLS
        if not same and sum(1 for held in edited.matches if held.acl) >= limit:
            raise Refused(f"% Error: Only {limit} access-list(s) allowed in a {edited.mode} class-map.")
    if same:
        edited.matches[edited.matches.index(same[0])] = line
    else:
        edited.matches.append(line)


CLASS_MAP_ROWS: list[Row] = [
    row("match {ip access-group}:kind WORD:acl [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip dscp}:kind DSCPS:values*8 [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip precedence}:kind PRIORITIES:values*8 [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip vlan}:kind <1-4094>:values", _match, no=True),
    row("match {mac access-group}:kind WORD:acl", _match, no=True),
    row("match {mac dot1p}:kind PRIORITIES:values*8", _match, no=True),
    row("match {mac vlan}:kind <1-4094>:values", _match, no=True),
]

CLASS_ROWS: list[Row] = [
    row(
        "class-map {match-any|match-all}:mode WORD:name [layer2:layer2]",
        _class_map,
        no="class-map {match-any|match-all}:mode WORD:name [layer2:layer2]",
    ),
]
"""What configuration mode offers; it opens a mode of its own.

A class map is taken away with the words that it was made with (FTOS command line reference, class-map; recalled).
"""
