"""The request of a new run, as people and pipelines make it: on the command line, by REST and in the form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationError,
)

from qosforge.errors import InputError, InputErrors, Place
from qosforge.policy_library.choice import PolicyChoice
from qosforge.runs.record.set_aside import SetAside

LONGEST_TICKET = 64

_REQUEST = ConfigDict(extra="forbid")

Line = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""One line of free text: it is shown, and goes into no configuration."""

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")

_FIRST_YEAR, _LAST_YEAR = 1970, 9000


def _moment(value: object) -> object:
    if not isinstance(value, datetime) and not (isinstance(value, str) and _RFC_3339.fullmatch(value)):
        raise ValueError("a moment is written by RFC 3339, such as 2026-03-01T22:00:00+01:00")
    return value


def _within(value: datetime) -> datetime:
    # Near the ends of what a moment can be, another zone or a timeout would lead beyond.
    if not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise ValueError(f"a moment is in the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_moment), AfterValidator(_within)]
"""A moment with its zone; a bare number is none."""


class CommitSource(BaseModel):
    """The Git commit that a policy came from; ``dirty`` where the policy differs from what the commit holds."""

    model_config = _REQUEST

    repository: Line = Field(min_length=1, examples=["campus/qos"])
    commit: str = Field(
        pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$", examples=["3f786850e387550fdab836ed7e6dc881de23001b"]
    )
    path: Line = Field(min_length=1, examples=["policies/campus.yaml"])
    dirty: Literal["yes"] | None = None


class RunRequest(BaseModel):
    """A new run: a policy for a network, and how it is to be tried.

    ``measure``: judge it by measurement and keep it only if its objectives are met; without, it is kept when every
    device holds it. ``strict``: warnings stand against it, too. ``tester``: the twin of what the devices hold;
    probes, which send packets between the hosts of stations; or an external one that gives its measurements,
    signed. ``not_before``: push no earlier. ``timeout_seconds``: give up, and roll back, after so long.
    """

    model_config = _REQUEST

    network: str = Field(min_length=1, max_length=128, examples=["campus"])
    policy: PolicyChoice
    measure: StrictBool = True
    strict: StrictBool = False
    require_batfish: StrictBool = False
    accept_unconfirmed: StrictBool = Field(
        default=False, description="Enter lines that no published source confirms for the device, too."
    )
    set_aside: SetAside | None = Field(
        default=None,
        description="One finding of Batfish that stops nothing in this run; it takes an approver of the network.",
    )
    seed: StrictInt = Field(default=1, ge=0, le=2**64 - 1)
    tester: Literal["twin", "probes", "external"] = "twin"
    before: StrictBool = Field(default=False, description="Let an external tester measure before the push, too.")
    ticket: Line = Field(default="", max_length=LONGEST_TICKET, examples=["CHG-1234"])
    not_before: Moment | None = None
    timeout_seconds: StrictInt | None = Field(default=None, ge=60, le=30 * 24 * 3600)
    source: CommitSource | None = None

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        """The request of these fields.

        Raises:
            InputErrors: some cannot be meant.
        """
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            problems = [
                InputError(each["msg"], Place(path=".".join(map(str, each["loc"])))) for each in error.errors()
            ]
            raise InputErrors("the request of the run is wrong", errors=problems) from None
