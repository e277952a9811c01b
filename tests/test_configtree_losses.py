"""Lines that are kept: what a transition does to them, and that every loss is told."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from qosforge.configtree import Loss, Tree, as_text, keep_lines, losses, merge, transition

from .test_configtree import GRAMMAR, SETTINGS, Router, configurations


class WatchedRouter(Router):
    """A router that takes lines nobody else knows (``frob``), and says which of them are taken away."""

    def __init__(self, text: str) -> None:
        self.taken: set[str] = set()
        super().__init__(text)

    def _frobs(self) -> set[str]:
        matches = [line for _, lines in self.class_maps.values() for line in lines]
        actions = [a for body in self.policies.values() for each in body.values() for a in each]
        settings = [line for interface in self.interfaces.values() for line in interface.lines]
        return {line for line in (*matches, *actions, *settings) if "frob" in line}

    def _take(self, line: str, words: list[str]) -> bool:
        before = self._frobs()
        taken = super()._take(line, words)
        self.taken |= before - self._frobs()
        return taken

    def _action(self, policy: str, name: str, words: list[str]) -> bool:
        if words[0] == "frob":
            self.policies[policy][name][" ".join(words)] = ""
            return True
        return super()._action(policy, name, words)


def marked(text: str) -> Tree:
    """A configuration whose ``frob`` lines are kept."""
    texts = {n: line.strip() for n, line in enumerate(text.splitlines(), start=1) if "frob" in line}
    return keep_lines(GRAMMAR.parse(text), texts)


@st.composite
def frobbed(draw: st.DrawFn) -> str:
    """A configuration with lines that nobody knows among the others."""
    lines: list[str] = []
    for line in draw(configurations()).splitlines():
        lines.append(line)
        opens = re.match(r"(class-map | class |interface )", line)
        if opens and draw(st.integers(0, 3)) == 0:
            words = {"class-map ": " match frob", " class ": "  frob", "interface ": " frob"}[opens[1]]
            lines.append(f"{words} {len(lines)}")
    return as_text(lines)


def moved(text: str, desired: Tree) -> tuple[WatchedRouter, tuple[Loss, ...]]:
    current = marked(text)
    target = merge(current, desired, GRAMMAR)
    lines = transition(current, target, GRAMMAR)
    router = WatchedRouter(text)
    router.enter(lines)
    return router, losses(lines, current, target, desired, GRAMMAR)


@SETTINGS
@given(frobbed(), configurations())
def test_a_kept_line_stays_where_it_is_or_its_loss_is_told(text: str, desired: str) -> None:
    router, found = moved(text, GRAMMAR.parse(desired))

    assert {loss.line.text for loss in found if loss.how == "removed"} == router.taken


HELD = """\
class-map match-any CA
 match dscp ef
 match frob 1
class-map match-any CB
 match dscp af21
policy-map OLD
 class CA
  priority percent 10
  frob 2
 class CB
  bandwidth percent 20
interface Serial0/0
 frob 3
 service-policy output OLD
"""


def told(desired: str) -> list[tuple[str, str, str, str]]:
    _, found = moved(HELD, GRAMMAR.parse(desired))
    return [(loss.how, loss.line.text, loss.by, loss.holder) for loss in found]


def test_settings_beside_a_kept_line_change_without_it() -> None:
    router, found = moved(HELD, GRAMMAR.parse("policy-map OLD\n class CA\n  priority percent 30\n class CB\n"))

    assert found == ()
    assert router.policies["OLD"]["CA"] == {"priority": "priority percent 30", "frob 2": ""}


def test_a_class_that_goes_takes_the_kept_lines_in_it() -> None:
    assert told("policy-map OLD\n class CB\n  bandwidth percent 20\n") == [
        ("removed", "frob 2", "no class CA", ""),
        ("detached", "match frob 1", "interface Serial0/0 output", "class-map CA"),
    ]


def test_a_class_that_is_entered_anew_elsewhere_loses_the_kept_lines_in_it() -> None:
    swapped = "policy-map OLD\n class CB\n  bandwidth percent 20\n class CA\n  priority percent 10\n"

    assert ("removed", "frob 2", "no class CA", "") in told(swapped)


def test_a_policy_that_makes_place_for_another_one_takes_the_kept_lines_out_of_effect() -> None:
    new = "class-map match-any CC\n match dscp af11\npolicy-map NEW\n class CC\n  bandwidth percent 20\n"
    new += "interface Serial0/0\n service-policy output NEW\n"

    assert told(new) == [
        ("detached", "match frob 1", "interface Serial0/0 output", "class-map CA"),
        ("detached", "frob 2", "interface Serial0/0 output", "policy-map OLD"),
    ]


def test_a_class_of_ours_with_a_kept_condition_is_told() -> None:
    new = "class-map match-any CA\n match dscp ef\npolicy-map OLD\n class CA\n  priority percent 10\n"
    new += " class CB\n  bandwidth percent 20\ninterface Serial0/0\n service-policy output OLD\n"

    assert told(new) == [("condition", "match frob 1", "interface Serial0/0 output", "class-map CA")]


def test_a_kept_line_that_is_wanted_too_stays_as_it_is() -> None:
    texts = {n: line.strip() for n, line in enumerate(HELD.splitlines(), start=1) if "service-policy" in line}
    current = keep_lines(GRAMMAR.parse(HELD), texts)
    wanted = GRAMMAR.parse("interface Serial0/0\n service-policy output OLD\n")

    assert transition(current, merge(current, wanted, GRAMMAR), GRAMMAR) == []
