"""A problem document as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.api.middleware.authorization import NO_CREDENTIAL
from qosforge.inventory.models import Network
from qosforge.web.documentation import NO_PAGE
from qosforge.web.pages import Page
from qosforge.web.sections import Section, section_of
from qosforge.web.short_run_ids import runs_meant

_FOR_PROGRAMS = "/api/v1"
"""A hint that names it tells a program what to do."""


_MOST_NAMED = 12
"""Devices of a network that are named where the one asked for is none of them."""


@dataclass(frozen=True)
class FieldProblem:
    """One error of a problem; ``field`` is the form field that it is about, or empty."""

    message: str
    hint: str
    field: str


@dataclass(frozen=True)
class ProblemView:
    """A problem with its title, detail, errors and request id; ``section`` is where the address belongs."""

    status: int
    title: str
    detail: str
    errors: tuple[FieldProblem, ...]
    request_id: str
    section: Section | None = None


def explain(page: Page, problem: dict[str, Any], retry_after: str | None) -> ProblemView:
    """A problem document in words for people: the API's own speak of requests and methods."""
    kind = problem["type"].rpartition(":")[2]
    titles = {
        "wrong-input": page.text("Please check what you entered"),
        "rejected": page.text("This policy cannot be used as it is"),
        "not-authenticated": page.text("You are not logged in"),
        "not-allowed": page.text("You may not do this"),
        "not-found": page.text("There is no such thing here"),
        "wrong-state": page.text("This is not possible now"),
        "device-failed": page.text("A device failed"),
        "source-failed": page.text("The source of the inventory failed"),
        "not-installed": page.text("Something is not installed for this"),
        "unavailable": page.text("The service cannot do this now"),
    }
    own = _request_problem(page, kind, retry_after)
    section = section_of(page, page.request.url.path)
    hidden = _hidden(page, kind, section)
    if hidden is None and kind == "not-found" and (network := _without_device(page)):
        hidden = _missing_device(page, network)
        section = Section(f"/networks/{network.name}", network.name)
    if problem["detail"] == NO_PAGE:
        hidden = (
            page.text("The documentation has no such page"),
            page.text("Its search finds pages by their words."),
        )
    if kind == "not-authenticated" and problem["detail"] == NO_CREDENTIAL:  # browsers forget what has expired
        own = page.text("You are not logged in"), page.text("Your session has ended.")
    errors: tuple[FieldProblem, ...] = ()
    if hidden is not None:
        title, detail = hidden
    elif own is not None and not (kind == "not-found" and problem["detail"] != "Not Found"):
        title, detail = own
    else:
        detail = problem["detail"]
        errors = tuple(wrong for one in problem["errors"] if (wrong := _field_problem(one, detail)))
        entered = kind == "not-allowed" and any(wrong.field for wrong in errors)  # such as the password until now
        title = titles.get("wrong-input" if entered else kind, problem["title"])
    request_id = problem["instance"].rpartition(":")[2]
    return ProblemView(problem["status"], title, detail, errors, request_id, section)


def _hidden(page: Page, kind: str, section: Section | None) -> tuple[str, str] | None:
    """Title and words for what is not there for the reader: one for what is missing and what is not to be seen."""
    if section is None or page.caller is None or kind not in ("not-allowed", "not-found"):
        return None
    ask = page.text("Ask an administrator for a role, if you need one.")
    if section.admins and kind == "not-allowed":
        who = page.text("%(section)s: for %(who)s.", section=section.name, who=section.admins)
        return page.text("You may not see this"), f"{who} {_own_roles(page)} {ask}"
    given = page.request.path_params
    network, run = given.get("network"), given.get("run_id")
    if network is not None and not _has(page, network):
        title = page.text("There is no network %(name)s, or you may not see it", name=network[:128])
        return title, f"{_own_roles(page)} {ask}"
    if run is not None and kind == "not-found" and page.request.method == "GET":
        if len(runs_meant(page)) > 1:
            title = page.text("Several runs begin with %(id)s", id=run[:64])
            return title, page.text("Choose one from the list of runs.")
        title = page.text("There is no run %(id)s, or you may not see it", id=run[:64])
        return title, page.text("Look for it in the list of runs, which has those that you may see.")
    return None


def _has(page: Page, network: str) -> bool:
    """Whether there is such a network for the reader."""
    visible = page.caller is not None and page.caller.may(Role.VIEWER, network)
    return visible and network in page.backend.networks.names()


def _without_device(page: Page) -> Network | None:
    """The network that an address names with a device which it does not have; ``None`` of any other address."""
    name, device = page.request.path_params.get("network"), page.request.path_params.get("device")
    if name is None or device is None or not _has(page, name):
        return None
    network = page.backend.networks.network(name)
    return None if any(one.name == device for one in network.devices) else network


def _missing_device(page: Page, network: Network) -> tuple[str, str]:
    """Title and words for a device that a network does not have; of many devices the first ones are named."""
    device = page.request.path_params["device"][:128]
    title = page.text("There is no device %(name)s in %(network)s", name=device, network=network.name)
    names = ", ".join(one.name for one in network.devices[:_MOST_NAMED])
    more = len(network.devices) - _MOST_NAMED
    if not names:
        return title, page.text("The network has no devices yet.")
    if more > 0:
        return title, page.text("The network has %(names)s and %(num)s more.", names=names, num=more)
    return title, page.text("The network has %(names)s.", names=names)


def _own_roles(page: Page) -> str:
    """What the reader is, and where."""
    roles = page.caller.roles if page.caller else {}
    if not roles:
        return page.text("You have no role here yet.")
    words = {
        Role.VIEWER: page.text("viewer"),
        Role.OPERATOR: page.text("operator"),
        Role.APPROVER: page.text("approver"),
        Role.ADMIN: page.text("administrator"),
    }
    every = page.text("every network")
    told = (
        page.text("%(role)s on %(where)s", role=words[role], where=every if where == EVERY_NETWORK else where)
        for where, role in roles.items()
    )
    return page.text("You are %(what)s.", what=", ".join(told))


def _request_problem(page: Page, kind: str, retry_after: str | None) -> tuple[str, str] | None:
    """Title and words for what is wrong with the request itself, or with the service."""
    wait = retry_after or "1"
    texts = {
        "not-found": (
            page.text("There is no such page"),
            page.text("Check the address, or go on from the overview."),
        ),
        "method-not-allowed": (
            page.text("This address cannot be used so"),
            page.text("Go back to the page where you were, load it again and repeat what you did."),
        ),
        "too-large": (page.text("Too large"), page.text("What was sent is larger than the service takes.")),
        "too-long": (page.text("The address is too long"), page.text("Choose less at once.")),
        "headers-too-large": (
            page.text("Too many cookies"),
            page.text("Delete the cookies of this site, and log in again."),
        ),
        "too-many-requests": (
            page.text("Too much at once"),
            page.text("Wait %(seconds)s s, then try again.", seconds=wait),
        ),
        "busy": (
            page.text("The service is busy"),
            page.text("Others are at work. Wait %(seconds)s s, then try again.", seconds=wait),
        ),
        "timed-out": (
            page.text("This took too long"),
            page.text("Look whether it was done before you repeat it; ask for less at once."),
        ),
        "internal": (
            page.text("Something failed that should not"),
            page.text("It is our fault, not yours. Who runs the service finds it in the log by the number below."),
        ),
    }
    return texts.get(kind)


def _field_problem(error: dict[str, Any], detail: str) -> FieldProblem | None:
    message = "" if error["message"] == detail else error["message"]
    hint = "" if _FOR_PROGRAMS in error["hint"] else error["hint"]
    field = error.get("path") or ""
    return FieldProblem(message, hint, field) if message or hint or field else None
