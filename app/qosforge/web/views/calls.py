"""Entries of the audit log in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from qosforge.access.audit_log import LoggedCall, Result, result_of
from qosforge.access.call_kinds import kind_of
from qosforge.access.roles import EVERY_NETWORK
from qosforge.access.tables import ACTION_LENGTH

Text = Callable[..., str]

_API = "/api/v1"
_COMMAND = "qosforge "
_RUN = re.compile(r"(?:/api/v1)?/?runs/([0-9a-f-]{36})")


@dataclass(frozen=True)
class CallView:
    """An entry: what was asked for in words, the page of what it was about (or none), and what came of it.

    ``facts`` are its further details, without those that say nothing; ``why`` is why it was refused or failed,
    where it was; ``as_sent`` whether how it was sent tells more than the words do; ``tried`` as which user somebody
    tried in vain to log in.
    """

    call: LoggedCall
    words: str
    page: str
    result: Result
    facts: tuple[tuple[str, str], ...]
    why: str
    as_sent: bool
    tried: str

    @property
    def token(self) -> str:
        """The id of the token that let it in, or none."""
        return token_of(self.call)

    @property
    def run(self) -> str:
        """The id of the run that it is about, or none."""
        return _run(self.call)


def token_of(call: LoggedCall) -> str:
    """The id of the token that let a call in, or none."""
    kind, _, token = call.credential.partition(":")
    return token if kind == "token" else ""


def call_view(text: Text, call: LoggedCall, people: Collection[str] = ()) -> CallView:
    """An entry in words; ``text`` translates. What has no words is told as it was asked.

    ``people``: the names of all users, where the reader may know them.
    """
    method, path = _asked(call)
    words, names, known = call.action, {}, True
    for asked, pattern, said in _phrases(text):
        found = pattern.fullmatch(path.removeprefix(_API)) if asked == method else None
        if found:
            words, names = said, found.groupdict()
            break
    else:
        words = _command_words(text).get(call.action.removeprefix(_COMMAND), call.action)
        known = words != call.action
    if named := _named_by_resource(text, call):
        words, names = named
    return CallView(
        call,
        words % names if names else words,
        _page(call, names, people),
        result_of(call.status),
        _facts(text, call),
        call.reason or _why(text, call.status),
        _as_sent(call, known),
        _tried(call, people),
    )


def _as_sent(call: LoggedCall, known: bool) -> bool:
    """Whether how a call was sent helps: it has no words, or one looks for it in the service's own log. Why it was
    refused is told beside it.
    """
    return result_of(call.status) in ("failed", "unknown") or not known


def _tried(call: LoggedCall, people: Collection[str]) -> str:
    found = re.fullmatch(r"users/([^/]+)", call.resource) if not call.actor else None
    # What an earlier release kept may be a password that was typed into the field of the name.
    return found[1] if found and kind_of(call.action) == "sessions" and found[1] in people else ""


def _named_by_resource(text: Text, call: LoggedCall) -> tuple[str, dict[str, str]] | None:
    """Words, and the names in them, where whom a call was about stands not in its path, but in its resource."""
    for action, words in _resource_phrases(text).items():
        if call.action in (action, action.replace("POST ", f"POST {_API}")):
            area = next(iter(re.findall(r"%\((\w+)\)", words)))
            found = re.fullmatch(rf"{_AREAS[area]}/([^/]+)", call.resource)
            return (words, {area: found[1]}) if found else None
    return None


_AREAS = {"person": "users", "tester": "testers", "webhook": "webhooks"}
"""How the resource of a call begins that is about each."""


def _resource_phrases(text: Text) -> dict[str, str]:
    return {
        "POST /users": text("Add user %(person)s"),
        "POST /testers": text("Register external tester %(tester)s"),
        "POST /webhooks": text("Add webhook %(webhook)s"),
        "qosforge user add": text("Add user %(person)s"),
        "qosforge user grant": text("Give %(person)s a role"),
        "qosforge user revoke": text("Take a role from %(person)s"),
        "qosforge user disable": text("Disable user %(person)s"),
        "qosforge user enable": text("Enable user %(person)s"),
        "qosforge user password": text("Set the password of %(person)s"),
        "qosforge token create": text("Make a token of %(person)s"),
        "qosforge tester add": text("Register external tester %(tester)s"),
        "qosforge tester revoke": text("Revoke external tester %(tester)s"),
        "qosforge webhook add": text("Add webhook %(webhook)s"),
        "qosforge webhook change": text("Change webhook %(webhook)s"),
        "qosforge webhook enable": text("Enable webhook %(webhook)s"),
        "qosforge webhook disable": text("Disable webhook %(webhook)s"),
        "qosforge webhook secret": text("Renew the secret of webhook %(webhook)s"),
        "qosforge webhook test": text("Send a test to webhook %(webhook)s"),
        "qosforge webhook remove": text("Remove webhook %(webhook)s"),
    }


def _why(text: Text, status: int) -> str:
    """Why a call was refused, by its status, where that alone is known; empty where it does not say it."""
    return {
        400: text("it could not be read"),
        401: text("not logged in, or a wrong name or password"),
        403: text("who asked may not do it"),
        404: text("there is no such thing"),
        409: text("it does not go with the state of things then"),
        413: text("it was too long"),
        422: text("what was sent cannot be used"),
        429: text("too many at once"),
    }.get(status, "")


def _asked(call: LoggedCall) -> tuple[str, str]:
    """Method and path; a path that was too long for the log's row stands whole in what the call was done to."""
    method, _, path = call.action.partition(" ")
    return method, call.resource if len(call.action) == ACTION_LENGTH and call.resource.startswith(path) else path


def _facts(text: Text, call: LoggedCall) -> tuple[tuple[str, str], ...]:
    return tuple(
        (_fact_name(text, key), _fact(text, value)) for key, value in call.detail.items() if value not in _NOTHING
    )


_NOTHING: tuple[Any, ...] = (None, "", [], {})


def _fact(text: Text, value: Any) -> str:
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    if isinstance(value, Mapping):
        return ", ".join(f"{_fact_name(text, key)} {_fact(text, entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_fact(text, entry) for entry in value)
    return text("every network") if value == EVERY_NETWORK else str(value)


def _fact_name(text: Text, key: str) -> str:
    return _fact_words(text).get(key, key.replace("_", " "))


def _fact_words(text: Text) -> dict[str, str]:
    """What details are called for people, where their names do not say it."""
    return {
        "artifacts": text("files"),
        "identity": text("logs in by"),
        "issuer": text("login provider"),
        "subject": text("known at the login provider as"),
        "hostname": text("address"),
        "lacking": text("files that lack"),
        "minutes": text("every so many minutes"),
        "networks": text("networks"),
        "public_key": text("public key"),
        "to": text("sent to"),
        "writable": text("changes are pushed"),
    }


def _page(call: LoggedCall, names: Mapping[str, str], people: Collection[str]) -> str:
    """The page of what a call was about, where there is one."""
    if result_of(call.status) == "refused" and "webhook" in names:
        return ""  # it may be of none
    if run := _run(call):
        return f"/runs/{run}"
    if "policy" in names:
        return f"/policies/{names['policy']}"
    if "device" in names and call.action.startswith("POST"):
        return f"/networks/{names['network']}/devices/{names['device']}"
    if "network" in names and "person" not in names:
        return f"/networks/{names['network']}"
    if "webhook" in names:
        return f"/webhooks/{names['webhook']}"
    person = names.get("person")
    return f"/users/{person}" if person in people else ""


def _run(call: LoggedCall) -> str:
    found = _RUN.match(call.resource)
    return found[1] if found else ""


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))


def _phrases(text: Text) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Method and path (of a page, or of REST without its prefix) of every call that is recorded, and its words."""
    return tuple((method, _pattern(path), words) for method, path, words in _of_people(text) + _of_networks(text))


Phrases = tuple[tuple[str, str, str], ...]


def _of_people(text: Text) -> Phrases:
    return (
        ("POST", "/login", text("Log in")),
        ("GET", "/login/oidc/callback", text("Log in by the login provider")),
        ("POST", "/logout", text("Log out")),
        ("PUT", "/me/password", text("Change the own password")),
        ("POST", "/account/password", text("Change the own password")),
        ("DELETE", "/me/sessions", text("End all own sessions")),
        ("DELETE", "/account/sessions", text("End all own sessions")),
        ("DELETE", "/account/sessions/others", text("End all own other sessions")),
        ("DELETE", "/me/sessions/{session}", text("End an own session")),
        ("DELETE", "/account/sessions/{session}", text("End an own session")),
        ("POST", "/account/tokens", text("Make a token")),
        ("POST", "/tokens", text("Make a token")),
        ("DELETE", "/account/tokens/{token}", text("Revoke a token")),
        ("DELETE", "/tokens/{token}", text("Revoke a token")),
        ("DELETE", "/users/{person}/tokens/{token}", text("Revoke a token of %(person)s")),
        ("POST", "/users", text("Add a user")),
        ("POST", "/users/{person}/disable", text("Disable user %(person)s")),
        ("POST", "/users/{person}/enable", text("Enable user %(person)s")),
        ("POST", "/users/{person}/password", text("Set the password of %(person)s")),
        ("PUT", "/users/{person}/password", text("Set the password of %(person)s")),
        ("DELETE", "/users/{person}/password", text("Take the password of %(person)s away")),
        ("POST", "/users/{person}/grants", text("Give %(person)s a role")),
        ("PUT", "/users/{person}/grants/{network}", text("Give %(person)s a role on %(network)s")),
        ("DELETE", "/users/{person}/grants/{network}", text("Take the role on %(network)s from %(person)s")),
        ("POST", "/testers", text("Register an external tester")),
        ("DELETE", "/testers/{tester}", text("Revoke external tester %(tester)s")),
        ("POST", "/webhooks", text("Add a webhook")),
        ("PUT", "/webhooks/{webhook}", text("Change webhook %(webhook)s")),
        ("DELETE", "/webhooks/{webhook}", text("Remove webhook %(webhook)s")),
        ("POST", "/webhooks/{webhook}/enable", text("Enable webhook %(webhook)s")),
        ("POST", "/webhooks/{webhook}/disable", text("Disable webhook %(webhook)s")),
        ("POST", "/webhooks/{webhook}/secret", text("Renew the secret of webhook %(webhook)s")),
        ("POST", "/webhooks/{webhook}/test", text("Send a test to webhook %(webhook)s")),
        ("POST", "/webhooks/{webhook}/deliveries/{delivery}/redeliver", text("Send again to webhook %(webhook)s")),
    )


def _of_networks(text: Text) -> Phrases:
    return (
        ("POST", "/networks", text("Add a network")),
        ("PUT", "/networks/{network}/writable", text("Set whether %(network)s may be changed")),
        ("PUT", "/networks/{network}/drift", text("Set how often drift is looked for in %(network)s")),
        ("POST", "/networks/{network}/drift", text("Read all devices of %(network)s")),
        ("POST", "/networks/{network}/read", text("Read all devices of %(network)s")),
        ("POST", "/networks/{network}/sync", text("Write the inventory of %(network)s from its source")),
        ("POST", "/networks/{network}/devices", text("Add a device to %(network)s")),
        ("DELETE", "/networks/{network}/devices/{device}", text("Remove device %(device)s from %(network)s")),
        ("POST", "/networks/{network}/devices/{device}/now", text("Read device %(device)s of %(network)s")),
        ("GET", "/networks/{network}/devices/{device}/running", text("Read device %(device)s of %(network)s")),
        ("GET", "/networks/{network}/devices/{device}/check", text("Check device %(device)s of %(network)s")),
        ("GET", "/networks/{network}/devices/{device}/drift", text("Look for drift of %(device)s in %(network)s")),
        ("GET", "/networks/{network}/check", text("Check the devices of %(network)s")),
        ("POST", "/networks/{network}/check", text("Check the devices of %(network)s")),
        ("POST", "/preview", text("Preview a policy against what the devices hold now")),
        ("POST", "/preview/device", text("Preview a policy against what a device holds now")),
        ("POST", "/compile", text("Compile a policy against what the devices hold now")),
        ("POST", "/validate", text("Check a policy against what the devices hold now")),
        ("POST", "/policies/{policy}/versions", text("Store a version of policy %(policy)s")),
        (
            "POST",
            "/policies/{policy}/versions/{number}/take-over",
            text("Take over version %(number)s of policy %(policy)s"),
        ),
        ("POST", "/measurements", text("Measure a network as it is")),
        ("POST", "/sweeps", text("Start a sweep")),
        ("POST", "/runs", text("Start a run")),
        ("POST", "/runs/{run}/approve", text("Approve a run")),
        ("POST", "/runs/{run}/reject", text("Decline a run")),
        ("POST", "/runs/{run}/cancel", text("Cancel a run")),
        ("POST", "/runs/{run}/pause", text("Pause a run")),
        ("POST", "/runs/{run}/resume", text("Resume a run")),
        ("POST", "/runs/{run}/retry", text("Retry a run")),
        ("POST", "/runs/{run}/try-now", text("Try a rollback again")),
        ("POST", "/runs/{run}/rollback", text("Roll a run back")),
        ("PUT", "/runs/{run}/measurements/{side}", text("Hand in a measurement of a run")),
    )


def _command_words(text: Text) -> dict[str, str]:
    """The same for commands on the service's own machine."""
    return {
        "backup create": text("Back up"),
        "database move": text("Move to another database"),
        "user add": text("Add a user"),
        "user grant": text("Give a role"),
        "user revoke": text("Take a role away"),
        "user disable": text("Disable a user"),
        "user enable": text("Enable a user"),
        "user password": text("Set a user's password"),
        "token create": text("Make a token"),
        "token revoke": text("Revoke a token"),
        "tester add": text("Register an external tester"),
        "tester revoke": text("Revoke an external tester"),
        "webhook add": text("Add a webhook"),
        "webhook change": text("Change a webhook"),
        "webhook enable": text("Enable a webhook"),
        "webhook disable": text("Disable a webhook"),
        "webhook secret": text("Renew the secret of a webhook"),
        "webhook test": text("Send a test to a webhook"),
        "webhook redeliver": text("Send again to a webhook"),
        "webhook remove": text("Remove a webhook"),
        "drift watch": text("Set how often drift is looked for"),
    }
