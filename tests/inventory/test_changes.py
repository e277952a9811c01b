"""When a network may be changed: windows and freezes over every change of the clocks, and mistakes in the file."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.inventory.changes import DAYS, ChangeRules, Freeze, Window
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root

ZONES = ("UTC", "Europe/Madrid", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")
TIMES = st.times().map(lambda t: t.replace(second=0, microsecond=0))
MOMENTS = st.datetimes(datetime(2004, 1, 1), datetime(2030, 1, 1)).map(  # noqa: DTZ001 - given a zone at once
    lambda m: m.replace(microsecond=0, tzinfo=UTC)
)


@st.composite
def rules(draw: st.DrawFn) -> ChangeRules:
    windows = draw(
        st.lists(
            st.builds(Window, days=st.sets(st.sampled_from(DAYS), min_size=1).map(tuple), from_=TIMES, to=TIMES),
            max_size=3,
        )
    )
    freezes = []
    for begin in draw(st.lists(MOMENTS, max_size=3)):
        hours = draw(st.integers(1, 24 * 40))
        freezes.append(Freeze(from_=begin, to=begin + timedelta(hours=hours)))
    return ChangeRules(zone=draw(st.sampled_from(ZONES)), windows=tuple(windows), freezes=tuple(freezes))


def is_open(rules: ChangeRules, moment: datetime) -> bool:
    """The plain reading: a local time of day between two others, on a day of the week, and in no freeze."""
    zone = ZoneInfo(rules.zone)
    if any(f.from_ <= moment < f.to for f in rules.freezes):
        return False
    here = moment.astimezone(zone)
    day, now = here.date(), here.time()
    for window in rules.windows:
        today, yesterday = (DAYS[(day - timedelta(days=n)).weekday()] in window.days for n in (0, 1))
        if window.from_ < window.to:
            if today and window.from_ <= now < window.to:
                return True
        elif (today and now >= window.from_) or (yesterday and now < window.to):
            return True
    return not rules.windows


def clock_changes(zone: str, moment: datetime) -> bool:
    """Whether the clocks change within two days: there the plain reading of a time of day has two answers."""
    offsets = {(moment + timedelta(hours=h)).astimezone(ZoneInfo(zone)).utcoffset() for h in range(-48, 49)}
    return len(offsets) > 1


def test_a_weekly_window_that_the_clocks_leave_out_is_followed_by_the_next_ones() -> None:
    weekly = ChangeRules(zone="Europe/Madrid", windows=(Window(days=("sun",), from_="02:30", to="03:15"),))
    missed = datetime(2027, 3, 21, 5, 0, tzinfo=UTC)  # the next Sunday has no half past two
    assert weekly.next_open(missed) == datetime(2027, 4, 4, 0, 30, tzinfo=UTC)


@settings(max_examples=300, deadline=None)
@given(rules(), MOMENTS)
def test_the_next_opening_is_open_and_the_first(rules: ChangeRules, now: datetime) -> None:
    opening = rules.next_open(now)
    assert opening >= now
    assert rules.closed_by(opening) == ""
    assert rules.next_open(opening) == opening
    assert (opening == now) == (rules.closed_by(now) == "")
    for part in range(1, 20):
        between = now + (opening - now) * part / 20
        assert between >= opening or rules.closed_by(between) != ""
        assert rules.next_open(between) == max(between, opening) or between >= opening


@settings(max_examples=300, deadline=None)
@given(rules(), MOMENTS)
def test_open_is_what_the_clock_on_the_wall_says(rules: ChangeRules, now: datetime) -> None:
    if not clock_changes(rules.zone, now):
        assert (rules.closed_by(now) == "") == is_open(rules, now)


NIGHT = Window(from_="22:00", to="04:00")


@pytest.mark.parametrize(
    ("now", "opening"),
    [
        ("2026-03-28T20:00Z", "2026-03-28T21:00Z"),  # Madrid: CET
        ("2026-03-29T01:59Z", "2026-03-29T01:59Z"),  # 03:59 CEST: the night was an hour shorter
        ("2026-03-29T02:00Z", "2026-03-29T20:00Z"),
        ("2026-10-25T02:59Z", "2026-10-25T02:59Z"),  # 03:59 CET: the night was an hour longer
        ("2026-10-25T03:00Z", "2026-10-25T21:00Z"),
    ],
)
def test_a_night_over_a_change_of_clocks_ends_by_the_local_clock(now: str, opening: str) -> None:
    rules = ChangeRules(zone="Europe/Madrid", windows=(NIGHT,))
    assert rules.next_open(datetime.fromisoformat(now)) == datetime.fromisoformat(opening)


def test_a_window_that_the_clocks_leave_out_is_lost_for_that_day_alone() -> None:
    rules = ChangeRules(zone="Europe/Madrid", windows=(Window(days=("sun",), from_="02:30", to="03:10"),))
    assert rules.next_open(datetime(2026, 3, 27, tzinfo=UTC)) == datetime(2026, 4, 5, 0, 30, tzinfo=UTC)


def test_a_day_that_a_zone_skipped_ends_the_search_nowhere() -> None:
    rules = ChangeRules(zone="Pacific/Apia", windows=(Window(days=("fri",), from_="08:00", to="09:00"),))
    # Samoa had no 30 December 2011, a Friday.
    assert rules.next_open(datetime(2011, 12, 29, tzinfo=UTC)) <= datetime(2012, 1, 6, tzinfo=UTC)


CHANGES = """\
approval: four_eyes
ticket: {pattern: "CHG[0-9]{6}"}
zone: Europe/Madrid
windows:
  - {days: [mon, tue], from: 22:00, to: 04:00}
freezes:
  - {from: 2026-12-18, to: 2027-01-07, reason: year end}
  - {from: 2026-08-01 12:00, to: 2026-08-02T12:00:00+00:00}
"""


def written(tmp_path: Path, text: str) -> Network:
    folder = tmp_path / "campus"
    shutil.copytree(root() / "inventories" / "campus", folder)
    (folder / "changes.yaml").write_text(text, encoding="utf-8")
    return load_network(folder)


def test_rules_are_read_with_their_network(tmp_path: Path) -> None:
    network = written(tmp_path, CHANGES)
    rules = network.changes
    assert rules.approval == "four_eyes"
    monday_evening = datetime(2026, 11, 23, 22, 30, tzinfo=ZoneInfo("Europe/Madrid"))
    assert rules.next_open(monday_evening) == monday_evening
    assert rules.closed_by(datetime(2027, 1, 7, 22, 59, tzinfo=UTC)) == "a change freeze (year end)"
    assert rules.closed_by(datetime(2027, 1, 7, 23, 0, tzinfo=UTC)) == "the change windows"
    assert rules.closed_by(datetime(2026, 8, 1, 10, 0, tzinfo=UTC)) == "a change freeze"
    assert Network.model_validate_json(network.model_dump_json(by_alias=True)) == network


def test_a_network_without_rules_is_always_open() -> None:
    rules = load_network(root() / "inventories" / "campus").changes
    assert (rules.approval, rules.ticket_problem(""), rules.closed_by(datetime.now(UTC))) == (None, None, "")


@pytest.mark.parametrize(
    ("ticket", "problem"),
    [
        ("CHG123456", None),
        ("", "a ticket is required"),
        ("CHG1", "ticket 'CHG1' does not match CHG[0-9]{6}"),
        ("CHG123456x", "ticket 'CHG123456x' does not match CHG[0-9]{6}"),
    ],
)
def test_a_ticket_matches_as_a_whole(tmp_path: Path, ticket: str, problem: str | None) -> None:
    assert written(tmp_path, CHANGES).changes.ticket_problem(ticket) == problem


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("four_eyes", "two", 1, "'two' is not possible here"),
        ("CHG[0-9]{6}", "CHG[", 2, "is no regular expression"),
        ("Europe/Madrid", "Madrid", 3, "'Madrid' is no time zone"),
        ("mon, tue", "mon, funday", 5, "'funday' is not possible here"),
        ("[mon, tue]", "[]", 5, "nothing is listed here"),
        ("from: 22:00", "from: 25:00", 5, "'25:00' is not a time of day"),
        ("from: 22:00, ", "", 5, "missing key 'from'"),
        ("to: 2027-01-07", "to: 2026-12-01", 1, "before it begins"),
        ("2027-01-07", "soon", 7, "is not a moment"),
        ("2027-01-07", "9999-12-31", 7, "is not a moment"),
        ("reason: year end", "why: year end", 7, "unknown key 'why'"),
        ("windows:", "window:", 4, "unknown key 'window'"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    assert old in CHANGES
    with pytest.raises(InputError) as caught:
        written(tmp_path, CHANGES.replace(old, new, 1))
    problem = caught.value.problems()[0]
    assert says in problem.message
    assert (Path(str(problem.where.file)).name, problem.where.line) == ("changes.yaml", line)
    assert problem.hint


@pytest.mark.parametrize("text", ["- a\n", "just text\n", "windows: 3\n", "freezes: {a: 1}\n"])
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    assert caught.value.problems()[0].where.line == 1
