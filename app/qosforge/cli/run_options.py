"""Options that start a run, on this machine or on a service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from qosforge.cli.terminal import progress
from qosforge.client.request_documents import network_name, policy_choice
from qosforge.client.source import GitSource, git_source
from qosforge.errors import InputError, Place
from qosforge.runs.requests.run_request import RunRequest

WAIT_SECONDS = 3600.0

Ticket = Annotated[str, typer.Option("--ticket", help="The change's ticket number.")]
NotBefore = Annotated[
    str | None, typer.Option("--not-before", metavar="TIME", help="Push no earlier: 2026-11-30T22:00+01:00.")
]
Timeout = Annotated[
    int | None, typer.Option("--timeout", min=60, metavar="SECONDS", help="Give up, and roll back, after so long.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Follow the run on the service and exit by its verdict.")]
WaitSeconds = Annotated[float, typer.Option("--wait-seconds", min=1, help="Longest time to follow it.")]
Key = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="The same key makes one run, however often it is sent."),
]


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """How long to follow a run on a service, and its idempotency key."""

    wait: bool
    seconds: float
    key: str | None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a new run."""

    policy: Path
    network: Path | None
    parameters: list[str] | None
    measure: bool
    strict: bool
    require_batfish: bool
    seed: int
    ticket: str
    not_before: str | None
    timeout: int | None
    accept_unconfirmed: bool = False
    set_aside: str | None = None
    reason: str = ""
    tester: str = "twin"

    def request(self) -> RunRequest:
        """The request of the run, with the text of a policy that is a file here.

        Raises:
            InputError, InputErrors: the policy is no valid intent, or an option is wrong.
        """
        source = self._source()
        return RunRequest.parse(
            {
                "network": network_name(self.network),
                "policy": policy_choice(self.policy, self.parameters or ()),
                "measure": self.measure,
                "strict": self.strict,
                "require_batfish": self.require_batfish,
                "accept_unconfirmed": self.accept_unconfirmed,
                "set_aside": self._aside(),
                "seed": self.seed,
                "tester": self.tester,
                "ticket": self.ticket,
                "not_before": self._moment(),
                "timeout_seconds": self.timeout,
                "source": source.document() if source else None,
            }
        )

    def _aside(self) -> dict[str, str] | None:
        if self.set_aside is None:
            if self.reason:
                raise InputError("names no finding", Place(path="--reason"), "name it: --set-aside CODE@DEVICE")
            return None
        named, _, text = self.set_aside.partition(":")
        code, _, device = named.partition("@")
        if not self.reason:
            place = Place(path="--set-aside")
            raise InputError("a finding is set aside for a reason", place, "say it: --reason TEXT")
        return {"code": code.strip(), "device": device.strip(), "text": text.strip(), "reason": self.reason}

    def _source(self) -> GitSource | None:
        try:
            return git_source(self.policy) if self.policy.exists() else None
        except InputError as refused:
            progress("source", f"the commit is not recorded: {refused}")
            return None

    def _moment(self) -> datetime | None:
        if self.not_before is None:
            return None
        try:
            moment = datetime.fromisoformat(self.not_before)
        except ValueError:
            place = Place(path="--not-before")
            raise InputError("is no time", place, "write it like 2026-11-30T22:00+01:00") from None
        return moment if moment.tzinfo else moment.astimezone(UTC)
