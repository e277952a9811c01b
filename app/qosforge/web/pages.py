"""Pages: a template rendered for a caller in a language."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, partial
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.params import Depends as Dependency
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from qosforge.access.roles import Principal, Role
from qosforge.access.sessions import cookie_name, csrf_token
from qosforge.api.backend import Backend
from qosforge.api.middleware.authorization import Needs, NeedsNamed
from qosforge.platforms.base import installed, platform
from qosforge.release import release
from qosforge.reports.row_table import row_table
from qosforge.visible import visible_in_page
from qosforge.web.assets import asset
from qosforge.web.documentation import documentation
from qosforge.web.finding_texts import translate_finding, translate_meaning
from qosforge.web.language import COOKIE as LANGUAGE_COOKIE
from qosforge.web.language import chosen_language, translations
from qosforge.web.plain_forms import METHOD_FIELD, PLAIN_FORM, TOKEN_FIELD, form_page
from qosforge.web.sentences import capital, sentence
from qosforge.web.times import ago, breakable, moment
from qosforge.web.views.class_colours import class_colour
from qosforge.web.views.finding_fields import class_field, sections

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Content Security Policy (level 3) of every page: nothing inline, nothing of others, in no frame."""


def sees(role: Role, *, everywhere: bool = False, recorded: bool = True, names: str = "") -> list[Dependency]:
    """The ``dependencies`` of a page's route: the role that it needs, see `Needs`. ``names``: what its form names,
    see `NeedsNamed`.
    """
    if names:
        return [Depends(NeedsNamed(names, role, everywhere=everywhere))]
    return [Depends(Needs(role, everywhere=everywhere, recorded=recorded))]


class Page:
    """Renders for one request. ``caller`` is ``None`` where nobody is logged in."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.backend: Backend = request.app.state.backend
        self.caller: Principal | None = getattr(request.state, "caller", None)
        self.language = chosen_language(
            request.headers.get("accept-language", ""), request.cookies.get(LANGUAGE_COOKIE, "")
        )

    @property
    def is_fragment(self) -> bool:
        """Whether a script of an open page sent the request, not the browser for a whole page."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def is_plain_form(self) -> bool:
        """Whether a form was sent by a browser without scripts: it shows what is answered, or where that leads."""
        return bool(getattr(self.request.state, PLAIN_FORM, False))

    @property
    def came_from(self) -> str:
        """The path of the page that the request comes from; empty where that is not known."""
        return form_page(self.request.headers)

    @property
    def now(self) -> datetime:
        """This moment, for times that go on."""
        return datetime.now(UTC)

    def text(self, message: str, **values: object) -> str:
        """A string of our own in the page's language, with its ``%(name)s`` filled in."""
        told = translations(self.language).gettext(message)
        return told % values if values else told

    def may(self, role: str, network: str | None = None) -> bool:
        """Whether the caller has the role on the network; without one, on any."""
        if self.caller is None:
            return False
        if network is not None:
            return self.caller.may(Role(role), network)
        return any(held.covers(Role(role)) for held in self.caller.roles.values())

    def markup(self, template: str, **context: Any) -> Markup:
        """Render a template."""
        found = _environment(self.language, self.backend.settings.path_prefix).get_template(template)
        return Markup(found.render(page=self, **context))  # noqa: S704  autoescaped

    def answer(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        """Render a page, or a part of one, as a response."""
        made = self.markup(template, **context)
        if self.is_plain_form and not made.startswith("<!doctype"):
            made = self.markup("plain-answer.html.j2", part=made)
        return HTMLResponse(
            made,
            status,
            headers={
                "Content-Security-Policy": POLICY,
                "Referrer-Policy": "same-origin",  # with none at all, forms would not tell their origin
                "Vary": "HX-Request, Accept-Language",
            },
        )

    @property
    def token(self) -> Markup:
        """The field of a form by which a browser without scripts sends the CSRF token."""
        return Markup('<input type="hidden" name="{}" value="{}">').format(TOKEN_FIELD, self.csrf)

    def sends(self, path: str, method: str = "post") -> Markup:
        """The attributes of a button that calls ``path`` alone, with scripts and without."""
        address = f"{self.backend.settings.path_prefix}{path}"
        plain = Markup('form="plain" formaction="{0}" hx-{1}="{0}"').format(address, method)
        if method == "post":
            return plain
        return plain + Markup(' name="{}" value="{}" hx-params="none"').format(METHOD_FIELD, method)

    @property
    def csrf(self) -> str:
        """The CSRF token of changing calls; empty without a session."""
        cookie = self.request.cookies.get(cookie_name(self.backend.settings))
        return csrf_token(cookie) if cookie and self.caller and self.caller.credential == "session" else ""


async def _page(request: Request) -> Page:
    return Page(request)


ThePage = Annotated[Page, Depends(_page)]
"""The page of a request, on a route with ``dependencies=sees(role)``."""


@cache
def _environment(language: str, prefix: str) -> Environment:
    environment = Environment(
        loader=PackageLoader("qosforge.web"),
        autoescape=True,
        finalize=visible_in_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    environment.globals["prefix"] = prefix  # stands before every path that a template links to
    environment.globals["asset"] = partial(asset, prefix=prefix)
    environment.globals["documentation"] = partial(documentation, prefix=prefix)
    environment.globals["release"] = release()
    environment.filters["moment"] = moment
    environment.filters["ago"] = partial(ago, ngettext=translations(language).ngettext)
    environment.filters["breakable"] = breakable
    environment.filters["row_table"] = row_table
    environment.filters["meaning"] = partial(translate_meaning, gettext=translations(language).gettext)
    environment.filters["translated"] = partial(translate_finding, gettext=translations(language).gettext)
    environment.filters["platform_title"] = _platform_title
    environment.filters["class_colour"] = class_colour
    environment.filters["class_field"] = class_field
    environment.filters["sections"] = sections
    environment.filters["capital"] = capital
    environment.filters["sentence"] = sentence
    return environment


def _platform_title(name: str) -> str:
    """What people call the devices of a platform; the id of one that is not installed any more."""
    return platform(name).family.title if name in installed() else name
