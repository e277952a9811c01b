"""A resolved run: the policy, the network and the options of a run, as they were settled when it was created."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from qosforge.inventory.changes import Approval
from qosforge.keep_rule import KeepRule
from qosforge.runs.record.set_aside import RecordedSetAside

ROLLBACK_OF = "undo_of"
REAPPLIES = "redoes"
"""The name under which records keep which run one rolls back."""


class ResolvedRun(BaseModel):
    """What a run does, with its documents as artifacts: what its workflow needs, and what the store keeps of it.

    The first fields are columns of a run; the others are the JSON of its ``params``, some under the key that
    earlier releases gave them. What a record of an earlier release lacks has the value that it had then.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    network_name: str = Field(exclude=True)
    policy: str = Field(exclude=True)
    """What the intent calls itself."""
    policy_version: str = Field(exclude=True)
    """Hash of the policy's canonical form."""
    ticket: str = Field(default="", exclude=True)
    source: dict[str, str] | None = Field(default=None, exclude=True)
    """The Git commit that the policy came from: ``repository``, ``commit``, ``path``."""
    not_before: datetime | None = Field(default=None, exclude=True)
    """When it may push at the earliest."""
    deadline: datetime | None = Field(default=None, exclude=True)
    """When it gives up, and rolls back."""

    intent_file: str = ""
    """What messages call the policy's text."""
    intent_artifact: str = Field(default="", alias="intent_text")
    intent_included: dict[str, str] = Field(default_factory=dict)
    """Artifacts of the files that the intent includes, by name."""
    intent_parameters: tuple[str, ...] = ()
    """The parameters set beside the intent, ``name=value``."""
    network_artifact: str = Field(default="", alias="network")
    lab: str | None = None
    """State folder of the lab, where the devices are emulated."""
    seed: int = 1
    measure: bool = True
    strict: bool = False
    require_batfish: bool = False
    accept_unconfirmed: bool = False
    """Whether lines may be entered that no published source confirms."""
    set_aside: RecordedSetAside | None = None
    """The finding of Batfish that a person set aside for this run alone."""
    batfish_host: str | None = None
    batfish_port: int = 9996
    tester: Literal["twin", "probes", "external"] = "twin"
    before: bool = False
    """Whether an external tester measures before the push, too."""
    timeout_seconds: float | None = None
    rollback_of: str | None = Field(default=None, alias=ROLLBACK_OF)
    """The run that this one rolls back."""
    rollback_reason: str = ""
    """Why a person rolls that run back; empty where nobody said."""
    reapplies: bool = Field(default=False, alias=REAPPLIES)
    """Whether it brings a change again, as it rolls a rollback back."""
    approval: Approval = "none"
    """Who has to approve the change."""
    keep: KeepRule = "met"
    """When a measured change is kept."""
    traceparent: str | None = None
    """The trace of the request that created the run (W3C Trace Context)."""
    policy_name: str = ""
    """The stored policy that the intent is, with its ``policy_number``: parameters may give the intent another
    name.
    """
    policy_number: int | None = None
    only: tuple[str, ...] = ()
    """The devices that may be changed, where an earlier run left them out; empty: all of the scope."""

    @property
    def brings_policy(self) -> bool:
        """Whether it brings something of its policy into a device; to roll a change back does not."""
        return self.rollback_of is None or self.reapplies

    @property
    def takes_unconfirmed(self) -> bool:
        """Whether lines that no published source confirms may be entered: somebody said so, or in a lab."""
        return self.accept_unconfirmed or self.lab is not None

    @property
    def measures_before(self) -> bool:
        """Whether it measures before the push."""
        return self.measure and (self.tester != "external" or self.before)

    def params(self) -> dict[str, Any]:
        """The JSON that the store and the engine keep."""
        return self.model_dump(mode="json", by_alias=True)
