"""Templates: one renders one configuration object."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, TemplateError

from qosforge.dscp import dscp_name
from qosforge.resources import root


class _Environment(Environment):
    """An environment whose globals do not change once a template is read.

    Jinja2 has templates look through to those of the environment, and does it for every text and every import of
    macros: a fourth of the time of a text.
    """

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


@cache
def _environment() -> Environment:
    # Device configuration is no HTML: names are held to a closed character set by the intent language instead.
    environment = _Environment(
        loader=FileSystemLoader(root() / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        auto_reload=False,
    )
    environment.filters["dscp_name"] = dscp_name
    return environment


@cache
def _template(name: str) -> Template:
    return _environment().get_template(name)


def load_all() -> None:
    """Read every template, so that none is read when it first serves.

    One that cannot be read fails where it first serves, and hinders no other.
    """
    for name in _environment().list_templates(extensions=["j2"]):
        with suppress(TemplateError, OSError, UnicodeDecodeError):
            _template(name)


@cache
def _globals() -> dict[str, Any]:
    return dict(_environment().globals)


def render(template: str, **values: object) -> str:
    """The text of one configuration object; ``template`` is its path below ``templates/``."""
    text = _text(_template(template), values)
    # The template engine takes the last newline of a file for its own.
    return text if text.endswith("\n") else text + "\n"


def _text(template: Template, values: Mapping[str, object]) -> str:
    """As `Template.render`, which looks all globals up anew for each text: half of the time of a short one."""
    context = template.new_context({**_globals(), **values}, shared=True)
    try:
        return "".join(template.root_render_func(context))
    except Exception:  # noqa: BLE001  # raised again, with the template's own lines in the traceback
        template.environment.handle_exception()
