"""Names of the objects of classes on FTOS; an object cannot change its kind under a name, so kinds have endings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from qosforge.plan.model import Rule
from qosforge.platforms.force10_e300.matching import together
from qosforge.platforms.names import like_keywords, short_names

MARK, COS = "-mark", "-cos"
"""Endings of rules by the marks of an edge, and by 802.1p priorities."""
_FORMS = ("", "-a", "-2", "-2a")
"""Endings by form: all lines of the class map must hold (``a``), layer 2."""
_KEYWORDS = ("match-any", "match-all")
"""What may stand before the name of a class map where it is taken away."""
_ENDINGS = (*_FORMS, *(MARK + form for form in _FORMS), COS)


@lru_cache(maxsize=1024)
def _names(classes: tuple[str, ...], limit: int, reserved: tuple[str, ...]) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for ending in _ENDINGS:
        wanted = [name + ending for name in classes]
        made = short_names(wanted, limit, {*reserved, *found.values(), *like_keywords(wanted, _KEYWORDS)})
        found |= {(name, ending): made[name + ending] for name in classes}
    return found


class Names:
    """Names of at most ``limit`` characters for the objects of classes, none ``reserved`` or like a keyword."""

    def __init__(self, classes: tuple[str, ...], limit: int, reserved: tuple[str, ...]) -> None:
        self._found = _names(classes, limit, reserved)

    def policy(self, name: str) -> str:
        """What a class's output policy is called."""
        return self._found[name, ""]

    def named(self, rule: Rule, ending: str = "", *, layer2: bool = False) -> Rule:
        """A rule, which has the name of its class, as the device calls it."""
        form = ("-" if layer2 or together(rule.any_of) else "") + "2" * layer2 + "a" * together(rule.any_of)
        found = self._found[rule.name, ending + form if ending != COS else COS]
        return rule.model_copy(update={"name": found})

    def classes(self) -> dict[str, str]:
        """The class of everything that is named here."""
        return {found: name for (name, _), found in self._found.items()}
