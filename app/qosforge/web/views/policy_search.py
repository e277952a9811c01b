"""The list of policies: those that fit a search, in groups, those that people stored a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlencode

from fastapi import Query

from qosforge.access.roles import EVERY_NETWORK
from qosforge.runs.record.tables import IN_FORCE, RunStatus
from qosforge.web.views.policies import PolicyCard, PolicyGroups

AT_ONCE = 24
"""Policies that people stored, on one page of them."""
MOST_CARDS = 8
"""Of more policies that people stored the page has a table in place of cards."""

State = Literal["in_force", "waiting", "undone", "never"]
STATES: tuple[State, ...] = ("in_force", "waiting", "undone", "never")
"""``in_force``: a network holds it; else what came of its last run on a network; ``never``: it did not run."""
Order = Literal["newest", "name"]

_WAITING = frozenset({RunStatus.PENDING, RunStatus.RUNNING, RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED})


@dataclass(frozen=True)
class PolicySearch:
    """What a person looks for among policies; every word has to stand somewhere in what the card says.

    ``network`` is one that a policy is for by itself, or on which it ran. Empty ones filter nothing.
    """

    q: Annotated[str, Query(max_length=200)] = ""
    network: Annotated[str, Query(max_length=128)] = ""
    state: Annotated[State | Literal[""], Query()] = ""
    order: Annotated[Order, Query()] = "newest"
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves something out."""
        return bool(self.q.strip() or self.network or self.state)

    def query(self, **changes: Any) -> str:
        """The query of an address that asks for the same, but for these changes."""
        chosen = {name: getattr(self, name) for name in ("q", "network", "state", "order")}
        chosen |= {"page": self.number} | changes
        usual = {"order": "newest", "page": 1}
        return urlencode({name: value for name, value in chosen.items() if value and value != usual.get(name)})

    def fits(self, card: PolicyCard) -> bool:
        """Whether a policy is among those that are looked for."""
        networks = {card.about.network, *(run.network for run in card.runs)}
        if self.network and self.network not in networks:
            return False
        if self.state and not _STATE_TESTS[self.state](card):
            return False
        words = self.q.lower().split()
        text = search_text(card) if words else ""
        return all(word in text for word in words)


@dataclass(frozen=True)
class PolicyMatches:
    """The policies of a group that fit a search, of ``all`` that it has."""

    cards: tuple[PolicyCard, ...]
    all: int


@dataclass(frozen=True)
class PolicyList:
    """The policies that fit a search, by group; of those that people stored a page: ``shown``, with its number."""

    active: PolicyMatches
    own: PolicyMatches
    starting_points: PolicyMatches
    papers: PolicyMatches
    shown: tuple[PolicyCard, ...]
    number: int

    @classmethod
    def of(cls, groups: PolicyGroups, search: PolicySearch) -> Self:
        """What of the groups fits; the last page where there are not so many."""
        own = _matches(groups.own, search)
        in_order = sorted(own.cards, key=_ORDERS[search.order], reverse=search.order == "newest")
        number = min(search.number, _pages(own))
        shown = tuple(in_order[(number - 1) * AT_ONCE : number * AT_ONCE])
        active = PolicyMatches(
            tuple(sorted((card for card in groups.active if search.fits(card)), key=_activity)), len(groups.active)
        )
        return cls(
            active, own, _matches(groups.starting_points, search), _matches(groups.papers, search), shown, number
        )

    @property
    def last(self) -> int:
        """The number of the last page of policies that people stored."""
        return _pages(self.own)

    @property
    def fitting(self) -> int:
        """How many policies fit."""
        return sum(len(group.cards) for group in self._groups)

    @property
    def all(self) -> int:
        """How many policies there are."""
        return sum(group.all for group in self._groups)

    @property
    def _groups(self) -> tuple[PolicyMatches, ...]:
        return self.active, self.own, self.starting_points, self.papers


def search_text(card: PolicyCard) -> str:
    """What of a policy is searched, in small letters."""
    about, summary = card.about, card.summary
    classes = (one.name for one in summary.classes)
    network = "" if about.network == EVERY_NETWORK else about.network
    runs = (run.network for run in card.runs)
    words = (about.name, about.author, about.comment, network, summary.description, *classes, *runs)
    return " ".join(words).lower()


def _matches(cards: Sequence[PolicyCard], search: PolicySearch) -> PolicyMatches:
    return PolicyMatches(tuple(card for card in cards if search.fits(card)), len(cards))


def _pages(own: PolicyMatches) -> int:
    return max(1, -(-len(own.cards) // AT_ONCE))


def _activity(card: PolicyCard) -> tuple[bool, bool, str]:
    """What wants somebody first, then what is in force, then what is over."""
    return not card.is_unfinished, not card.in_force, card.about.name.lower()


def _undone(card: PolicyCard) -> bool:
    return any(run.takes_away or run.status not in IN_FORCE | _WAITING for run in card.runs)


_STATE_TESTS: dict[State, Callable[[PolicyCard], bool]] = {
    "in_force": lambda card: bool(card.in_force),
    "waiting": lambda card: any(run.status in _WAITING for run in card.runs),
    "undone": _undone,
    "never": lambda card: not card.runs,
}
_ORDERS: dict[Order, Callable[[PolicyCard], Any]] = {
    "newest": lambda card: card.about.at,
    "name": lambda card: card.about.name.lower(),
}
