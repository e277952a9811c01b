"""The form of a new run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import Form, Query

from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.policy_library.choice import NamedPolicy, load_run_policy
from qosforge.policy_library.library import Policies
from qosforge.policy_library.versions import LATEST, PolicyVersion
from qosforge.runs.requests.requests import LONGEST_KEY
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import LONGEST_TICKET, Line, RunRequest

Name = Annotated[str, Form(min_length=1, max_length=128)]
Ticked = Annotated[Literal["yes", ""], Form()]

_LONGEST_MINUTES = 30 * 24 * 60


@dataclass(frozen=True)
class AsideLink:
    """The finding that the form has chosen to be set aside, as a link from a run's findings names it."""

    set_aside_code: Annotated[str, Query(max_length=64)] = ""
    set_aside_device: Annotated[str, Query(max_length=128)] = ""
    set_aside_text: Annotated[str, Query(max_length=500)] = ""


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
    accept_unconfirmed: Ticked = ""
    set_aside_code: Annotated[str, Form(max_length=64)] = ""
    set_aside_device: Annotated[str, Form(max_length=128)] = ""
    set_aside_text: Annotated[str, Form(max_length=500)] = ""
    set_aside_reason: Annotated[str, Form(max_length=500)] = ""
    ticket: Annotated[Line, Form(max_length=LONGEST_TICKET)] = ""
    not_before: Annotated[str, Form(max_length=32)] = ""
    timeout_minutes: Annotated[str, Form(max_length=32, title="Give up after")] = ""

    def request(self, documents: RunDocuments) -> RunRequest:
        """The request that the form makes, with the Git commit of its policy.

        Raises:
            InputError, InputErrors: a field says nothing that can be meant.
        """
        return RunRequest.parse(
            {
                "network": self.network,
                "policy": NamedPolicy(name=self.policy, version=_number(self.version)),
                "measure": self.judge != "nobody",
                "strict": bool(self.strict),
                "require_batfish": bool(self.require_batfish),
                "accept_unconfirmed": bool(self.accept_unconfirmed),
                "set_aside": self._aside(),
                "tester": "external" if self.judge == "external" else "twin",
                "before": bool(self.before) and self.judge == "external",
                "ticket": self.ticket.strip(),
                "not_before": _moment(self.not_before, documents.network),
                "timeout_seconds": _timeout(self.timeout_minutes),
                "source": documents.stored.source if documents.stored else None,
            }
        )

    def _aside(self) -> dict[str, str] | None:
        if not self.set_aside_code.strip():
            if self.set_aside_reason.strip():
                place = Place(path="set_aside_code")
                raise InputError("no finding is named", place, "name the code of the finding that is set aside")
            return None
        return {
            "code": self.set_aside_code.strip(),
            "device": self.set_aside_device.strip(),
            "text": self.set_aside_text.strip(),
            "reason": self.set_aside_reason.strip(),
        }


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


def _timeout(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_MINUTES):
        hint = f"give whole minutes from 1 to {_LONGEST_MINUTES}, or nothing"
        raise InputError("this is no time limit", Place(path="timeout_minutes"), hint)
    return 60 * int(text)
