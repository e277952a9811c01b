"""Keep comments of YAML with their entries when ruamel reads and writes it.

With an entry it keeps the comment behind it, and the lines of comments below, though these are about what follows.
"""

from __future__ import annotations

from typing import Any


def remove_entry(collection: Any, key: Any) -> None:
    """Take an entry out of a mapping or a list; the lines of comments below it stay above what follows."""
    below = lines_below(collection.ca.items.pop(key, None))
    if isinstance(collection, list):
        following = key if key + 1 < len(collection) else None
    else:
        keys = list(collection)
        following = next(iter(keys[keys.index(key) + 1 :]), None)
    del collection[key]
    if below and following is not None:
        text = "\n".join(line.strip().removeprefix("#").removeprefix(" ") for line in below)
        collection.yaml_set_comment_before_after_key(following, before=text, indent=collection.lc.col)


def lines_below(comment: Any) -> list[str]:
    """The lines of a comment, as ruamel has it, after the first: that one stands behind the entry."""
    tokens = [token for token in comment or () if hasattr(token, "value")]
    return str(tokens[0].value).rstrip().split("\n")[1:] if tokens else []
