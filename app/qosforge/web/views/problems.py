"""A problem document as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.api.middleware.authorization import NO_CREDENTIAL
from qosforge.web.pages import Page

_FOR_PROGRAMS = "/api/v1"
"""A hint that names it tells a program what to do."""


@dataclass(frozen=True)
class FieldProblem:
    """One error of a problem; ``field`` is the form field that it is about, or empty."""

    message: str
    hint: str
    field: str


@dataclass(frozen=True)
class ProblemView:
    """A problem with its title, detail, errors and request id."""

    status: int
    title: str
    detail: str
    errors: tuple[FieldProblem, ...]
    request_id: str


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
    if kind == "not-authenticated" and problem["detail"] == NO_CREDENTIAL:  # browsers forget what has expired
        own = page.text("You are not logged in"), page.text("Your session has ended.")
    errors: tuple[FieldProblem, ...] = ()
    if own is not None and not (kind == "not-found" and problem["detail"] != "Not Found"):
        title, detail = own
    else:
        title, detail = titles.get(kind, problem["title"]), problem["detail"]
        errors = tuple(wrong for one in problem["errors"] if (wrong := _field_problem(one, detail)))
    return ProblemView(problem["status"], title, detail, errors, problem["instance"].rpartition(":")[2])


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
