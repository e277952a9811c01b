"""The form of a new run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import Form

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.api.policy_choice import NamedPolicy, load_run_policy
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.policy_library.library import Policies
from qosforge.policy_library.versions import LATEST, PolicyVersion
from qosforge.runs.requests.requests import LONGEST_KEY
from qosforge.runs.requests.run_request import LONGEST_TICKET, RunRequest

Name = Annotated[str, Form(min_length=1, max_length=128)]
Ticked = Annotated[Literal["yes", ""], Form()]

_LONGEST_MINUTES = 30 * 24 * 60


@dataclass(frozen=True)
class RunForm:
    """The fields of the form. ``not_before`` is on the clock of the network's change rules; ``key`` is drawn with
    the form, so that sending it twice starts one run.
    """

    network: Name
    policy: Name
    key: Annotated[str, Form(min_length=1, max_length=LONGEST_KEY)]
    version: Annotated[str, Form(pattern=r"^(latest|[0-9]{1,9})$")] = LATEST
    judge: Annotated[Literal["twin", "external", "nobody"], Form()] = "twin"
    before: Ticked = ""
    strict: Ticked = ""
    require_batfish: Ticked = ""
    ticket: Annotated[str, Form(max_length=LONGEST_TICKET)] = ""
    not_before: Annotated[str, Form(max_length=32)] = ""
    timeout_minutes: Annotated[str, Form(max_length=32, title="Give up after")] = ""

    def order(self, backend: Backend, caller: Principal) -> RunRequest:
        """The order of a run, as `RunRequests.submit` takes it.

        Raises:
            InputError: a field says nothing that can be meant, or there is no such network or policy.
        """
        network = backend.networks.network(self.network)
        intent, stored = chosen_policy(backend.policies.seen_by(caller), self.policy, self.version)
        return RunRequest(
            network=network,
            intent=intent,
            stored=stored,
            measure=self.judge != "nobody",
            strict=bool(self.strict),
            require_batfish=bool(self.require_batfish),
            tester="external" if self.judge == "external" else "twin",
            before=bool(self.before) and self.judge == "external",
            ticket=self.ticket.strip(),
            not_before=_moment(self.not_before, network),
            timeout=_timeout(self.timeout_minutes),
            source=stored.source if stored else None,
        )


def chosen_policy(policies: Policies, name: str, version: str) -> tuple[LoadedIntent, PolicyVersion | None]:
    """A version of a policy, and which one it is.

    Raises:
        PolicyUnknown: there is no such policy, or not this version.
        InputError: it is no valid intent.
    """
    return load_run_policy(policies, NamedPolicy(name=name, version=_number(version)))


def _number(version: str) -> int | Literal["latest"]:
    return LATEST if version == LATEST else int(version)


def _moment(text: str, network: Network) -> datetime | None:
    if not text:
        return None
    try:
        local = datetime.fromisoformat(text)
    except ValueError:
        raise InputError("this is no moment", Place(path="not_before"), "give day and time, or nothing") from None
    return local.replace(tzinfo=local.tzinfo or ZoneInfo(network.changes.zone)).astimezone(UTC)


def _timeout(text: str) -> timedelta | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_MINUTES):
        hint = f"give whole minutes from 1 to {_LONGEST_MINUTES}, or nothing"
        raise InputError("this is no time limit", Place(path="timeout_minutes"), hint)
    return timedelta(minutes=int(text))
