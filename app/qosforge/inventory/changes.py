"""When and how a network may be changed: approvals, tickets, change windows, freezes and rollouts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from qosforge.inventory.rollout import Rollout
from qosforge.keep_rule import KeepRule
from qosforge.units import shortened

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FURTHEST = timedelta(days=16)
"""Further than a week's window lies after one that was lost in the hour that a clock leaves out."""
_YEARS = (2000, 2199)
_TRIES = 100
"""How often rules may hand a moment on to each other: a few weeks of windows that never meet."""

Approval = Literal["none", "any", "four_eyes"]


def _time(value: object) -> object:
    if isinstance(value, time):
        return value
    found = re.fullmatch(r"([0-9]{2}):([0-9]{2})(?::00)?", value) if isinstance(value, str) else None
    hour, minute = (int(found[1]), int(found[2])) if found else (99, 0)
    if (hour, minute) != (24, 0) and (hour > 23 or minute > 59):
        raise ValueError(f"{shortened(value)} is not a time of day: write it like '22:00'")
    return time(hour % 24, minute)


def _moment(value: object) -> object:
    """A date is its midnight."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
    except ValueError:
        value = None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime) or not _YEARS[0] <= value.year <= _YEARS[1]:
        raise ValueError(
            f"{shortened(value)} is not a moment of {_YEARS[0]} to {_YEARS[1]}: write it like 2026-12-18 08:00"
        )
    return value


def _end(value: object) -> object:
    """As a moment; a date is its end."""
    is_date = isinstance(value, date) and not isinstance(value, datetime)
    is_date = is_date or (isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None)
    moment = _moment(value)
    return moment + timedelta(days=1) if is_date and isinstance(moment, datetime) else moment


@cache
def _zones() -> frozenset[str]:
    """All time zones: to list them reads some hundred files, which is too long for each reading of a network."""
    return frozenset(available_timezones())


def _zone(value: str) -> str:
    if value not in _zones():
        raise ValueError(f"{shortened(value)} is no time zone: write it as the IANA does, like Europe/Madrid")
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{shortened(value)} is no regular expression, {error}: write it like CHG[0-9]+") from None
    return value


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Window(_Model):
    """When changes may begin: on each of ``days`` from one time of day to another, of the next day where that is
    not later. Where clocks change, a time counts as its first occurrence, one that is left out as if they had not.
    """

    days: Annotated[tuple[Day, ...], Field(min_length=1)] = DAYS
    from_: Annotated[time, BeforeValidator(_time)] = Field(alias="from")
    to: Annotated[time, BeforeValidator(_time)]

    def on(self, day: date, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
        """Beginning and end, in UTC, of the window that begins on a day; ``None`` where there is none."""
        if DAYS[day.weekday()] not in self.days:
            return None
        last = day + timedelta(days=1) if self.to <= self.from_ else day
        begin = datetime.combine(day, self.from_, zone).astimezone(UTC)
        end = datetime.combine(last, self.to, zone).astimezone(UTC)
        return (begin, end) if begin < end else None


class Freeze(_Model):
    """When nothing may be changed, whatever the windows; a date at the end means the end of that day."""

    from_: Annotated[datetime, BeforeValidator(_moment)] = Field(alias="from")
    to: Annotated[datetime, BeforeValidator(_end)]
    reason: Annotated[str, Field(max_length=200)] = ""

    def span(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Beginning and end in UTC; without an offset of their own they are local."""
        begin, end = (m if m.tzinfo else m.replace(tzinfo=zone) for m in (self.from_, self.to))
        return begin.astimezone(UTC), end.astimezone(UTC)


class Ticket(_Model):
    """The ticket of a change: a regular expression that all of it has to match, and whether there must be one."""

    required: bool = True
    pattern: Annotated[str, Field(max_length=200), AfterValidator(_pattern)] = ".+"


class BatfishRules(_Model):
    """Devices, by name, that are changed without a check by Batfish even where a run requires one."""

    except_: Annotated[tuple[str, ...], Field(alias="except")] = ()


class ChangeRules(_Model):
    """The rules of a network. Without windows it is always open; times without an offset are those of ``zone``.

    ``approval``: ``none``; by ``any`` approver; ``four_eyes``: by one who had no hand in the change. ``None``
    leaves it to the installation. ``keep``: when a change is kept at least, whatever its intent says. ``writable``:
    whether changes are pushed at all; ``None``: into a lab alone, so that a network is read-only until an
    administrator says otherwise. ``rollout``: in which order and how fast devices are changed. ``batfish``: what
    its check need not cover.
    """

    writable: bool | None = None

    approval: Approval | None = None
    keep: KeepRule | None = None
    ticket: Ticket | None = None
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    windows: tuple[Window, ...] = ()
    freezes: tuple[Freeze, ...] = ()
    rollout: Rollout = Rollout()
    batfish: BatfishRules = BatfishRules()

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        for freeze in self.freezes:
            begin, end = freeze.span(ZoneInfo(self.zone))
            if begin >= end:
                raise ValueError(f"a freeze ends {end:%Y-%m-%d %H:%M}Z before it begins: exchange from and to")
        return self

    def ticket_problem(self, ticket: str) -> str | None:
        """What is wrong with the ticket of a run, in words."""
        rule = self.ticket
        if rule is None or (not ticket and not rule.required):
            return None
        if re.fullmatch(rule.pattern, ticket):
            return None
        return f"ticket {shortened(ticket)} does not match {rule.pattern}" if ticket else "a ticket is required"

    def read_only(self, *, emulated: bool) -> bool:
        """Whether nothing may be pushed to the devices themselves, or to their emulated ones."""
        return not (emulated if self.writable is None else self.writable)

    def next_open(self, now: datetime) -> datetime:
        """The first moment from ``now`` on, in UTC, at which a change may begin."""
        moment = now.astimezone(UTC)
        while True:
            frozen = self._freeze_at(moment)
            if frozen is not None:
                moment = frozen.span(self._timezone)[1]
                continue
            opening = self._window_from(moment)
            if opening == moment:
                return moment
            moment = opening

    def closed_by(self, now: datetime) -> str:
        """Why nothing may be changed now, in words; empty when it may."""
        moment = now.astimezone(UTC)
        frozen = self._freeze_at(moment)
        if frozen is not None:
            return f"a change freeze ({frozen.reason})" if frozen.reason else "a change freeze"
        return "" if self._window_from(moment) == moment else "the change windows"

    @property
    def _timezone(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def _freeze_at(self, moment: datetime) -> Freeze | None:
        for freeze in self.freezes:
            begin, end = freeze.span(self._timezone)
            if begin <= moment < end:
                return freeze
        return None

    def _window_from(self, moment: datetime) -> datetime:
        """The moment itself inside a window or where there are none, else the beginning of the next one."""
        if not self.windows:
            return moment
        first = moment.astimezone(self._timezone).date() - timedelta(days=1)
        days = [first + timedelta(days=n) for n in range(_FURTHEST.days)]
        spans = [s for day in days for window in self.windows if (s := window.on(day, self._timezone)) is not None]
        if any(begin <= moment < end for begin, end in spans):
            return moment
        return min(begin for begin, _ in spans if begin > moment)


def first_open(rules: Sequence[ChangeRules], now: datetime) -> datetime | None:
    """The first moment from ``now`` on, in UTC, that all rules leave open; ``None`` if they seem to share none."""
    moment = now.astimezone(UTC)
    for _ in range(_TRIES):
        opening = max((one.next_open(moment) for one in rules), default=moment)
        if opening == moment:
            return moment
        moment = opening
    return None
