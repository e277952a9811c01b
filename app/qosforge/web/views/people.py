"""The list of users: those that fit a search, with their last logins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query

from qosforge.access.roles import EVERY_NETWORK
from qosforge.api.access_models import UserView
from qosforge.device_names import natural_order
from qosforge.web.views.table_pages import TablePage, table_page

SEARCHED_FROM = 20
"""Users from which on their page has a search: fewer are seen at once."""


@dataclass(frozen=True)
class PeopleSearch:
    """What is looked for among users; every word has to stand in a name or in a network of which a role is held."""

    q: Annotated[str, Query(max_length=200)] = ""
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1

    def query(self, *, page: int, tab: str = "") -> str:
        """The query of an address that asks for another page of the same; its parts have no ``tab``."""
        return urlencode({name: value for name, value in (("tab", tab), ("q", self.q), ("page", page)) if value})

    def fits(self, user: UserView) -> bool:
        """Whether a user is among those that are looked for; a role on every network is not one on each."""
        networks = (network for network in user.roles if network != EVERY_NETWORK)
        said = " ".join((user.name, user.subject or "", *networks)).lower()
        return all(word in said for word in self.q.lower().split())


@dataclass(frozen=True)
class PersonRow:
    """A user in the list, with the last login by a browser; ``None``: there was none."""

    user: UserView
    last_login: datetime | None


@dataclass(frozen=True)
class PeopleList:
    """The page of the users that fit a search, user2 before user10, of ``all`` that there are."""

    page: TablePage[PersonRow]
    search: PeopleSearch

    @property
    def all(self) -> int:
        """How many users there are."""
        return self.page.all

    @property
    def is_searched(self) -> bool:
        """Whether there are so many that one looks for somebody, or somebody was looked for."""
        return self.all >= SEARCHED_FROM or bool(self.search.q.strip())


def people_list(known: Iterable[UserView], logins: Mapping[str, datetime], search: PeopleSearch) -> PeopleList:
    """The list of all ``known`` users narrowed by a search; ``logins``: the last one of each, by name."""
    users = sorted(known, key=lambda user: natural_order(user.name))
    rows = [PersonRow(user, logins.get(user.name)) for user in users if search.fits(user)]
    return PeopleList(table_page(rows, len(users), search.number), search)
