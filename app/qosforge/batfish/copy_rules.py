"""What Batfish does not read of a platform's valid configuration, as data: ``<platform>/analysis_copy.yaml``."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from qosforge.platforms.base import platform
from qosforge.resources import path_of, read_yaml

Pattern = Annotated[re.Pattern[str], BeforeValidator(lambda text: re.compile(text, re.IGNORECASE))]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Lines(_Model):
    """Lines of a form; with ``inside`` only below a line of that form."""

    line: Pattern
    inside: Pattern | None = None


class Cut(_Model):
    """Words that Batfish does not know in a line, else in an entry of an access list.

    ``inexact`` where the entry says something else without them.
    """

    words: str
    line: Pattern | None = None
    inexact: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The words with the blank before them."""
        return re.compile(rf"\s+{self.words}(?!\S)", re.IGNORECASE)


class Referring(_Model):
    """A line that refers to something though Batfish does not see it, and lines of the same reference that it sees.

    ``written`` are formatted with the groups of the ``line`` and a ``number``, each another one.
    """

    line: Pattern
    inside: Pattern | None = None
    written: tuple[str, ...]


class Stanza(_Model):
    """A line that defines something which Batfish has to name; ``structure`` is part of what it calls the kind."""

    head: Pattern
    structure: str


class CopyRules(_Model):
    """How the copy for Batfish differs from the text of a platform.

    Of ``unread`` lines it knows nothing; ``inert`` ones it reads, and forwards alike whatever they say. ``entries``
    are those of access lists, ``free_text`` lines that only people read. A ``banner`` ends with its ``delimiter``,
    in the ``text`` of its first line or in a later one. Interfaces of the form ``kept_up`` are up whatever their
    members are. ``unanswered`` are kinds of structures that Batfish has not for this format: references to and from
    them are for our own checks.
    """

    format: str
    referring: tuple[Referring, ...] = ()
    unread: tuple[Lines, ...] = ()
    inert: tuple[Lines, ...] = ()
    cut: tuple[Cut, ...] = ()
    entries: Pattern = re.compile("(?!)")
    lists: Pattern = re.compile(r"(?:ip|ipv6) access-list\b.*")
    free_text: Pattern = re.compile("(?!)")
    banner: Pattern = re.compile("(?!)")
    kept_up: Pattern | None = None
    unanswered: tuple[str, ...] = ()
    stanzas: tuple[Stanza, ...] = ()


def copy_rules(name: str) -> CopyRules | None:
    """The rules of a platform, those of a format without known gaps included; ``None`` where Batfish has none."""
    batfish_format = platform(name).batfish_format
    return None if batfish_format is None else _rules(name, batfish_format)


@cache
def _rules(name: str, batfish_format: str) -> CopyRules:
    file = f"qosforge/platforms/{name}/analysis_copy.yaml"
    if not path_of(file).is_file():
        return CopyRules(format=batfish_format)
    data = read_yaml(file)
    if "like" in data:
        return _rules(data["like"], batfish_format)
    return CopyRules.model_validate({"format": batfish_format, **data})
