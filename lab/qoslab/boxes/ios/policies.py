"""Policy maps: their classes, what is nested, and that an attached policy stays one its places can take."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.attach import Attachments
from qoslab.boxes.ios.bandwidth import Scheduling, wred_trouble
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.classes import POLICY_RANK
from qoslab.boxes.ios.marking import Marking
from qoslab.boxes.ios.police import Policers
from qoslab.boxes.ios.rows import leaving, row, setting
from qoslab.boxes.ios.shape import Shapers
from qoslab.boxes.ios.train import HEADER_COMPRESSION, INSERT_BEFORE
from qoslab.boxes.ios.wred import Wred
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Reply, Row, Run, Shell

_LAST = 99
_WRED_RANK = 20
MOST_CLASSES = 64
_MOST_CLASSES_HQF = 256  # unconfirmed
_DEPTH, _DEPTH_HQF = 2, 3


class PolicyMaps:
    """Rows of policy-map and policy-class configuration."""

    def __init__(self, box: IosBox, attachments: Attachments) -> None:
        self._box = box
        self._attachments = attachments
        self._policers = Policers(box)

    def tables(self) -> dict[str, list[Row]]:
        """The modes ``pmap``, ``pmap-c`` and ``police``."""
        train = self._box.train
        before = "[insert-before WORD:before]" if train.since(INSERT_BEFORE) else ""
        inside = [
            *Scheduling(self._box, self._attachments).rows(),
            *Wred(train, _WRED_RANK, self._start_wred).rows(),
            *self._policers.rows(),
            *Shapers(train, hqf=self._attachments.hqf).rows(),
            *Marking(self._box).rows(),
            row("service-policy [output] WORD:name", self._child, "service-policy [output] [WORD]"),
        ]
        if train.since(HEADER_COMPRESSION):
            inside.append(setting("compression header ip [rtp|tcp]", rank=45))
        return {
            "pmap": [
                *leaving(),
                setting("description LINE", rank=0),
                row(f"class WORD:name {before}", self._class, "class WORD:name"),
            ],
            "pmap-c": [*leaving(), *(row(one.pattern, self._checked(one.run), one.no) for one in inside)],
            "police": self._policers.submode_rows(),
        }

    def global_rows(self) -> list[Row]:
        """``policy-map``."""
        return [row("policy-map WORD:name", self._policy_map, True)]

    def _checked(self, run: Run) -> Run:
        """An edit of an attached policy is live: what a place cannot take leaves the class as it was."""

        def edit(shell: Shell, match: Match) -> Reply | str | None:
            held = shell.section
            policy = held.parent
            assert policy is not None, held.text
            before, levels = held.copy(), list(shell.levels)
            trouble = self._attachments.trouble_of(policy) if match.undone else ""
            answer = run(shell, match)
            now = self._attachments.trouble_of(policy)
            if now and now != trouble:
                held.replace_with(before)
                shell.levels = levels
                raise Refused(now)
            return answer

        return edit

    # -- sections ----------------------------------------------------------------------------------------
    def _policy_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"policy-map {name}"
        held = shell.section.get(key)
        if match.undone:
            places = self._attachments
            if held is not None and (places.attached(name) or places.grouped(name) or places.parents(held)):
                raise Refused(refusals.policy_in_use(name))
            shell.section.remove(key)
            return
        shell.enter("pmap", held or shell.store(Section(key, rank=POLICY_RANK, mode="pmap")))

    def _class(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class {name}"
        if match.undone:
            shell.section.remove(key)
            return
        if name != "class-default" and f"class-map {name}" not in self._box.running:
            raise Refused(refusals.unknown_class(name))
        held = shell.section.get(key)
        if held is None:
            most = _MOST_CLASSES_HQF if self._attachments.hqf else MOST_CLASSES
            if len(shell.section.starting("class ")) >= most:
                raise Refused("% Maximum number of classes reached")
            before = f"class {match['before']}" if "before" in match else ""
            if before and before not in shell.section:
                raise Refused(refusals.unknown_class(match["before"]))
            rank = _LAST if name == "class-default" else 50
            held = shell.store(Section(key, rank=rank, mode="pmap-c"), before=before)
        shell.enter("pmap-c", held)

    # -- in a class --------------------------------------------------------------------------------------
    def _start_wred(self, section: Section) -> None:
        trouble = wred_trouble(section, hqf=self._attachments.hqf)
        if trouble:
            raise Refused(trouble)

    def _child(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("service-policy")
            return
        name = match["name"]
        child = self._box.running.get(f"policy-map {name}")
        if child is None and not shell.loading:
            raise Refused(refusals.unknown_policy(name))
        if child is not None and section.parent is not None:
            if self._reaches(child, section.parent):
                raise Refused(f"% policy map {name} cannot contain itself")
            deepest = _DEPTH_HQF if self._attachments.hqf else _DEPTH
            if self._above(section.parent) + self._below(child) > deepest:
                raise Refused(refusals.DEPTH)
        shell.store(Section(f"service-policy {name}", key="service-policy", rank=50))

    def _children(self, policy: Section) -> list[Section]:
        found = (self._attachments.child(held) for held in policy.starting("class "))
        return [child for child in found if child is not None]

    def _reaches(self, start: Section, policy: Section) -> bool:
        return start is policy or any(self._reaches(child, policy) for child in self._children(start))

    def _below(self, policy: Section) -> int:
        """How many levels a policy has, itself included."""
        return 1 + max((self._below(child) for child in self._children(policy)), default=0)

    def _above(self, policy: Section) -> int:
        """How many levels a policy stands under, itself included."""
        return 1 + max((self._above(parent) for parent in self._attachments.parents(policy)), default=0)
