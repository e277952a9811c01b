"""What the theme's scripts do otherwise: its search, and the marks of what was searched.

The scripts are the theme's, made small; each change is an exact text of theirs and what stands in its place, so
that a release of the theme that writes it otherwise ends the build instead of passing unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mkdocs.exceptions import PluginError

_KEEP_WHOLE = "\nself.lunr.QueryLexer.termSeparator = /\\s/;\n"
"""What the search's worker does before it is asked anything: only spaces part the words of a question."""

_CHANGES: Mapping[str, str] = {
    # Marks are of whole words: a code is one, and "not" is none of "nothing".
    r"n=n.replace(/[\s*+\-:~^]+/g": r"n=n.replace(/[\s*+:~^]+/g",
    "new RegExp(`(^|${e.separator}|)(${": r"new RegExp(`(?<![\\w-])()(${",
    r'.replace(r,"|")})`,"img")': r'.replace(r,"|")})(?![\\w-])`,"img")',
    # A page leads to its heading or row that answers best, where that is not its top.
    "p=[oo(i,2|": "p=[oo(!n||!r[0]?i:{...i,location:r[0].location,terms:r[0].terms},2|",
}
"""In the script of all pages."""


def change(folder: Path) -> None:
    """Change the scripts below ``folder``.

    Raises:
        PluginError: the theme has other scripts, or writes them otherwise.
    """
    worker = _only(folder, "workers/search.*.js")
    worker.write_text(worker.read_text(encoding="utf-8") + _KEEP_WHOLE, encoding="utf-8")
    bundle = _only(folder, "bundle.*.js")
    text = bundle.read_text(encoding="utf-8")
    for theirs, ours in _CHANGES.items():
        if text.count(theirs) != 1:
            raise PluginError(f"the theme's {bundle.name} has not once: {theirs}")
        text = text.replace(theirs, ours)
    bundle.write_text(text, encoding="utf-8")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise PluginError(f"the theme has {len(found)} scripts {pattern}, and one is to be changed")
    return found[0]
