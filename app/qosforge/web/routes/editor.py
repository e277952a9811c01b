"""The policy editor: a form and a text kept in sync, and storing the text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.api.access_models import NetworkName
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes.policies import require_owner
from qosforge.errors import InputError, Place
from qosforge.intent.base import is_name
from qosforge.intent.differences import meant_changes, text_changes
from qosforge.intent.editing import NotEditable, edited
from qosforge.intent.library import trimmed
from qosforge.intent.policy_analysis import analyse_policy
from qosforge.intent.policy_source import PolicySource, shipped_policies
from qosforge.intent.schema import intent_schema
from qosforge.intent.yaml_source import Path_
from qosforge.inventory.models import Network
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.policy_library.library import Policies
from qosforge.policy_library.versions import LATEST, SHIPPED_VERSION, Policy, PolicyMoved, PolicyUnknown
from qosforge.runs.requests.run_request import Line
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.routes.new_policy import new_policy_form
from qosforge.web.views.changes import describe_change, diff_lines
from qosforge.web.views.choices import choices
from qosforge.web.views.form_edits import FormEdit, PathPart, edit_changes, focus_after
from qosforge.web.views.policy_form import policy_form
from qosforge.web.views.starting_points import begin_from

router = APIRouter()

MOST_CHANGES = 500
"""Changes that one call takes: what was done while the connection was away comes at once."""

MOST_SECONDS = 5.0
"""How long one call makes changes; those that are left are sent again."""

_EMPTY = """version: 1
intent: {name}
classes:
  - name: default
apply: []
"""
"""What a policy begins with that begins from nothing."""

Name = Annotated[str, Query(max_length=40)]


@dataclass(frozen=True)
class EditorState:
    """What an editor begins from: a policy's text and the texts that it includes, and the number that is the newest
    (0: the shipped one, or none). ``checks`` are those that were derived for a network, where they were.
    """

    name: str
    text: str
    policy: Policy | None
    base: int
    is_new: bool = False
    may_store: bool = True
    checks: tuple[dict[str, Any], ...] | None = None


@router.get("/policies/new", dependencies=sees(Role.OPERATOR))
def new(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    name: Annotated[str | None, Query(max_length=40, title="Name")] = None,
    from_: Annotated[str, Query(alias="from", max_length=40)] = "",
    network: Name = "",
) -> Response:
    """The form of a new policy; with a ``name`` the editor of it, empty or based on another one.

    The form's own call is answered with where the editor is, so that a refusal is told in the form.
    """
    if name is None:
        return new_policy_form(page, caller, backend, from_, network)
    place = Place(path="name")
    if not is_name(name):
        hint = "letters, digits, '-' and '_' only, beginning with a letter"
        raise InputError(f"{name!r} is no name", place, hint)
    seen = backend.policies.seen_by(caller)
    if name in seen.names():
        hint = "edit that one, or choose another name"
        raise InputError(f"there is a policy {name!r} already", place, hint)
    if page.is_fragment:
        return Response(status_code=204, headers={"HX-Redirect": f"/policies/new?{page.request.url.query}"})
    if from_:
        policy = seen.get(from_)
        inventory: Network | None = None
        if network and from_ in STARTING_POINTS:
            caller.require(Role.VIEWER, network)
            inventory = backend.networks.network(network)
        made = begin_from(policy.written(), name, inventory)
        begun = EditorState(name, made.text, policy, SHIPPED_VERSION, is_new=True, checks=made.checks)
    else:
        begun = EditorState(name, _EMPTY.format(name=name), None, SHIPPED_VERSION, is_new=True)
    return _editor(page, caller, backend, begun, network)


@router.get("/policies/{name}/edit", dependencies=sees(Role.VIEWER))
def edit(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    name: str,
    version: Annotated[int | None, Query()] = None,
    network: Name = "",
) -> Response:
    """The editor of a stored version; read-only for callers who may not store one."""
    seen = backend.policies.seen_by(caller)
    newest = seen.get(name).about.number
    policy = seen.get(name, LATEST if version is None else version)
    return _editor(
        page,
        caller,
        backend,
        EditorState(name, policy.text, policy, newest, may_store=seen.may_store(name)),
        network,
    )


class EditRequest(BaseModel):
    """A text with what is to be done to it. ``begun`` and ``number`` name the version that has what it includes;
    ``touched`` is the path of the treatment whose share was entered last.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=40)]
    text: str
    begun: Annotated[str, Field(max_length=40)] = ""
    number: int = SHIPPED_VERSION
    network: Annotated[str, Field(max_length=100)] = ""
    edits: Annotated[tuple[FormEdit, ...], Field(max_length=MOST_CHANGES)] = ()
    touched: Annotated[tuple[PathPart, ...], Field(max_length=64)] = ()


@router.get("/editor/schema", dependencies=sees(Role.VIEWER, recorded=False))
def schema() -> Response:
    """The JSON Schema of the language, which the editor completes from."""
    return JSONResponse(intent_schema())


@router.post("/editor/change", dependencies=sees(Role.VIEWER, recorded=False))
def change(page: ThePage, caller: Caller, backend: TheBackend, body: EditRequest) -> Response:
    """Apply edits of the form to the text, and return the text with its form. Nothing is stored.

    ``taken`` says how many of the edits are in the text: many on a long text are more than one call does.
    """
    seen = backend.policies.seen_by(caller)
    included = _policy(seen, body.begun, body.number)
    text, refused, focus, taken = body.text, None, "", 0
    until = time.monotonic() + MOST_SECONDS
    for edit in body.edits:
        if taken and time.monotonic() > until:
            break
        taken += 1
        reading = analyse_policy(_policy_source(body.name, text, included))
        try:
            changes = edit_changes(edit, reading.data, reading.merged)
            text = edited(text, f"{body.name}.yaml", changes)
            focus = focus_after(changes)
        except NotEditable as error:
            refused = {"message": error.message, "hint": error.hint, "line": error.where.line}
    locked = not (page.may("operator") and (body.begun != body.name or seen.may_store(body.name)))
    written = _policy_source(body.name, text, included)
    shown = _render_form(page, caller, backend, written, body.network, locked=locked, touched=body.touched)
    return JSONResponse(
        {
            "text": text,
            "taken": taken,
            "form": shown.form,
            "problems": shown.problems,
            "refused": refused,
            "focus": focus,
        }
    )


@router.post("/policies/{name}/versions", dependencies=sees(Role.OPERATOR))
def save(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: str,
    text: Annotated[str, Form()],
    base: Annotated[int, Form(ge=0)],
    comment: Annotated[Line, Form()] = "",
    begun: Annotated[str, Form(max_length=40)] = "",
    number: Annotated[int, Form()] = SHIPPED_VERSION,
    owner: Annotated[Literal["", "*"] | NetworkName, Form(title="Belongs to")] = "",
    shadow_shipped: Annotated[Literal["yes", ""], Form()] = "",
    network: Annotated[str, Form(max_length=100)] = "",
    then: Annotated[Literal["run", ""], Form()] = "",
) -> Response:
    """Store the text as the newest version; if somebody stored one meanwhile, show the conflict.

    A browser without scripts is led on to the editor, or to the form of a run of it on ``network``.
    """
    require_owner(caller, backend, owner or None)
    included = _policy(backend.policies.seen_by(caller), begun, number)
    written = _policy_source(name, text, included)
    try:
        version, _ = backend.policies.seen_by(caller).store(
            name, written, comment, base=base, network=owner or None, shadow_shipped=bool(shadow_shipped)
        )
    except PolicyMoved as moved:
        audit.reason = moved.message
        return _conflict(page, backend.policies.seen_by(caller), moved, written, base)
    audit.resource, audit.network = f"/policies/{name}?version={version.number}", version.network
    if page.is_plain_form:
        run = urlencode({"policy": name, "version": version.number, "network": network})
        edit = f"/policies/{name}/edit?{urlencode({'network': network})}"
        return Response(status_code=204, headers={"HX-Redirect": f"/runs/new?{run}" if then else edit})
    return JSONResponse({"number": version.number, "panel": page.markup("editor/saved.html.j2", version=version)})


def _editor(page: Page, caller: Principal, backend: Backend, begun: EditorState, network: str) -> Response:
    networks = caller.networks(backend.networks.names())
    about = begun.policy.about if begun.policy else None
    # Where it runs first: a run of a policy that belongs to a network is one of that network.
    likely = (network, about.network if about else "", *networks)
    chosen = next((name for name in likely if name in networks), "")
    written = _policy_source(begun.name, begun.text, begun.policy)
    shown = _render_form(page, caller, backend, written, chosen, locked=not begun.may_store)
    return page.answer(
        "editor/edit.html.j2",
        begun=begun,
        about=about,
        networks=networks,
        chosen=chosen,
        locked=not begun.may_store,
        owners=_owners(caller, networks, begun),
        shadows=begun.base == SHIPPED_VERSION and begun.name in shipped_policies(),
        form_markup=shown.form,
        problems_markup=shown.problems,
    )


@dataclass(frozen=True)
class FormMarkup:
    """The markup of a policy's form and of the list of its problems."""

    form: str
    problems: str


def _owners(caller: Principal, networks: Sequence[str], begun: EditorState) -> tuple[str, ...]:
    """The networks that a new policy may belong to, the likeliest first."""
    if begun.base != SHIPPED_VERSION:
        return ()
    everywhere = (EVERY_NETWORK,) if caller.may(Role.ADMIN, EVERY_NETWORK) else ()
    if begun.name in shipped_policies():
        return everywhere
    return (*caller.networks(networks, Role.OPERATOR), *everywhere)


def _render_form(
    page: Page,
    caller: Principal,
    backend: Backend,
    written: PolicySource,
    network: str,
    *,
    locked: bool,
    touched: Path_ = (),
) -> FormMarkup:
    inventory: Network | None = None
    if network:
        caller.require(Role.VIEWER, network)
        inventory = backend.networks.network(network)
    form = policy_form(written, inventory, touched)
    context = {
        "form": form,
        "file": written.file,
        "name": written.file.removesuffix(".yaml"),
        "locked": locked,
        "network": inventory,
        **choices(page.text, form, inventory),
    }
    return FormMarkup(
        page.markup("editor/form.html.j2", **context), page.markup("editor/problems.html.j2", **context)
    )


def _policy_source(name: str, text: str, policy: Policy | None) -> PolicySource:
    return trimmed(PolicySource(text, f"{name}.yaml", policy.included if policy else {}))


def _policy(policies: Policies, name: str, number: int) -> Policy | None:
    """The version that an editor is based on, which has the included texts."""
    return policies.get(name, number) if name else None


def _conflict(page: Page, policies: Policies, moved: PolicyMoved, mine: PolicySource, base: int) -> Response:
    """A conflict: the version stored meanwhile, its changes and mine."""
    name = mine.file.removesuffix(".yaml")
    theirs = policies.get(name)
    try:
        before: Policy | None = policies.get(name, base)
    except PolicyUnknown:  # it was new when this text began
        before = None
    common = before.text if before else ""
    meant = analyse_policy(mine).loaded
    was = analyse_policy(before.written()).loaded if before else None
    theirs_since = policies.difference(name, base, theirs.about.number).changes if before else ()
    mine_since = meant_changes(was.intent, meant.intent) if was and meant else ()
    told: dict[str, Any] = {
        "moved": moved,
        "theirs": theirs.about,
        "base": base,
        "their_words": [describe_change(one) for one in theirs_since],
        "my_words": [describe_change(one) for one in mine_since],
        "their_lines": list(diff_lines(text_changes(common, theirs.text, "", ""))),
        "my_lines": list(diff_lines(text_changes(common, mine.text, "", ""))),
        "mine": mine.text,
    }
    if page.is_plain_form:
        return page.answer("editor/conflict.html.j2", 409, **told)
    panel = page.markup("editor/conflict.html.j2", **told)
    return JSONResponse({"panel": panel, "newest": theirs.about.number, "theirs": theirs.text}, 409)
