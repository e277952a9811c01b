"""Templates: one renders one configuration object."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.dscp import dscp_name
from app.resources import root


@cache
def _environment() -> Environment:
    # Device configuration is no HTML: names are held to a closed character set by the intent language instead.
    environment = Environment(
        loader=FileSystemLoader(root() / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters["dscp_name"] = dscp_name
    return environment


def render(template: str, **values: object) -> str:
    """The text of one configuration object; ``template`` is its path below ``templates/``."""
    text = _environment().get_template(template).render(**values)
    # The template engine takes the last newline of a file for its own.
    return text if text.endswith("\n") else text + "\n"
