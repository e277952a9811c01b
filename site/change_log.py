"""The change log as pages of the site: the newest changes on one, and all of them by subject on others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "changes.md"
"""The page that leads to the others."""

_NEWEST = 25
"""Changes that stand on the first page."""

_OTHERS = ("changes-other.md", "Everything else")
_SUBJECTS = (
    (
        "changes-platforms.md",
        "Platforms",
        (
            "Linux routers | Catalyst | IOS | routers | 5510 | E300 | FTOS | OS9 | 2950 | 2970 | "
            "platform | devices that | devices whose | NAPALM | multilink | mixed networks | SSH"
        ),
    ),
    (
        "changes-pages.md",
        "Pages and reports",
        (
            "page | editor | preview | home | dashboard | new run | networks: | networks, | policies | "
            "audit log | account | browser | phone | web | report | banner | translat | figures | "
            "objectives: | form"
        ),
    ),
    (
        "changes-experiments.md",
        "Simulator and experiments",
        ("twin | experiment | simulator | kernel | virtual time | virtual-time | plot | predict"),
    ),
    (
        "changes-measuring.md",
        "Measuring",
        ("probe | measur | tester | STAMP | counters | verdict | objective | jitter | packets | active tests"),
    ),
    (
        "changes-networks.md",
        "Networks: inventory, import, audit, drift",
        ("import | audit | inventor | discover | NetBox | drift | topolog | network"),
    ),
    (
        "changes-runs.md",
        "Runs",
        ("run | approv | roll | wave | recover | retry"),
    ),
    (
        "changes-operating.md",
        "REST, command line and operating",
        (
            "REST | OpenAPI | client | Ansible | webhook | PostgreSQL | SQLite | database | backup | "
            "doctor | metrics | traces | process | serve | upgrad | settings | qosforge | command line "
            "| make | token | user | container | log | work | service"
        ),
    ),
    (
        "changes-policies.md",
        "Policies and findings",
        ("finding | polic | intent | class | mark | queue | share | priority | shaper | WRED | treatment"),
    ),
)
"""File, title and words of each subject: an entry belongs to the first of which a word stands at its beginning."""
_BEGINNING = 60
"""Characters of an entry that tell what it is about."""


@dataclass(frozen=True)
class Subject:
    """A page of the changes of one subject."""

    file: str
    title: str
    text: str


def pages(log: str) -> tuple[Subject, ...]:
    """The pages of a change log in Markdown (a heading for each version, below it a list); the first is `FIRST`."""
    title, _, rest = log.partition("\n## ")
    versions = [
        (name, tuple(_entries(text))) for name, _, text in (one.partition("\n") for one in rest.split("\n## "))
    ]
    by_file = {file: (words, dict[str, list[str]]()) for file, words in _titles()}
    for version, entries in versions:
        for entry in entries:
            by_file[_file_of(entry)][1].setdefault(version, []).append(entry)
    made = [
        Subject(file, words, _page(f"Changes: {words}", found)) for file, (words, found) in by_file.items() if found
    ]
    newest = [entry for _, entries in versions for entry in entries][:_NEWEST]
    lines = [title.strip(), "", "All changes, by what they are about:", ""]
    for file, (words, found) in by_file.items():
        if found:
            lines.append(f"- [{words}]({file}) ({sum(map(len, found.values()))})")
    lines += ["", "## Newest", ""]
    lines += newest
    return (Subject(FIRST, "Newest", "\n".join(lines) + "\n"), *made)


def _titles() -> Iterator[tuple[str, str]]:
    yield from ((file, title) for file, title, _ in _SUBJECTS)
    yield _OTHERS


def _entries(text: str) -> Iterator[str]:
    """The entries of a version, each with the lines that belong to it."""
    yield from (f"- {one.rstrip()}" for one in re.split(r"(?m)^- ", text)[1:])


def _file_of(entry: str) -> str:
    beginning = entry[:_BEGINNING]
    return next((file for file, _, words in _SUBJECTS if _has_one(beginning, words)), _OTHERS[0])


def _has_one(text: str, words: str) -> bool:
    """Whether a word of the text is one of these, or begins with one."""
    return bool(re.search(rf"(?<!\w)(?:{'|'.join(map(re.escape, words.split(' | ')))})", text, re.IGNORECASE))


def _page(title: str, versions: dict[str, list[str]]) -> str:
    parts = [f"# {title}\n\n[Newest changes]({FIRST})\n"]
    for version, entries in versions.items():
        parts.append(f"## {version}\n\n" + "\n".join(entries) + "\n")
    return "\n".join(parts)
