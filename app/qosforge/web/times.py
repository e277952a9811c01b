"""Points in time and long names as elements of a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from markupsafe import Markup, escape


def moment(at: datetime | None, *, exact: bool = False) -> Markup:
    """A point in time as an element: UTC in the text, which scripts may show in the reader's own zone.

    ``exact``: there, too, with its seconds and the zone's name.
    """
    if at is None:
        return Markup("–")
    kind = Markup(" data-exact") if exact else ""
    return Markup('<time datetime="{}"{}>{}</time>').format(at.isoformat(), kind, _utc(at))


def ago(at: datetime, *, ngettext: Callable[[str, str, int], str]) -> Markup:
    """How long a point in time is past, with the point itself one pointer away."""
    seconds = max(0, int((datetime.now(UTC) - at).total_seconds()))
    if seconds < 60:
        number, text = seconds, ngettext("%(num)s second ago", "%(num)s seconds ago", seconds)
    elif seconds < 3600:
        number = seconds // 60
        text = ngettext("%(num)s minute ago", "%(num)s minutes ago", number)
    elif seconds < 86_400:
        number = seconds // 3600
        text = ngettext("%(num)s hour ago", "%(num)s hours ago", number)
    else:
        number = seconds // 86_400
        text = ngettext("%(num)s day ago", "%(num)s days ago", number)
    text %= {"num": number}
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), _utc(at), text)


def breakable(text: str) -> Markup:
    """A text whose long names may break after an underscore."""
    return Markup(re.sub(r"_(?=\w)", "_<wbr>", str(escape(text))))  # noqa: S704 - escaped before


def _utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
