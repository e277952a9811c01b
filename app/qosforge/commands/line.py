"""One row of a command table: a line of a configuration, and what changing it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

from qosforge.configtree import LineChange


@dataclass(frozen=True, kw_only=True)
class Change(LineChange):
    """How a line is entered, replaced and taken back; ``only`` narrows named arguments to what is ours: a regular
    expression for each."""

    only: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """One configuration line as data, in the notation of `qosforge.commands.pattern`.

    ``pattern`` is what is understood. ``also`` are further forms of the command, which plans have no place for:
    they are spelt out and changed like it, but kept as not understood where they are read. A line without
    ``pattern`` has such forms alone. ``no`` is what may stand behind ``no`` where that is a setting of its own (it
    is read as `ReadLine.negated`).

    ``mode`` is where the line stands (empty at the top), ``opens`` the mode below it. Lines without a ``change``
    are read and never changed. ``since`` is the release that brought the line and who says so, where that is known.
    ``defines`` is the object that a line which is never changed makes, for what refers to it.
    A long line whose beginning another row has with ``REST`` is not ``abbreviated``: its later words are not spelt
    out, and the table stays small.
    """

    id: str
    pattern: str = ""
    mode: str = ""
    _: KW_ONLY
    opens: str = ""
    change: Change | None = None
    also: tuple[str, ...] = ()
    no: str = ""
    since: str = ""
    defines: str = ""
    abbreviated: bool = True
