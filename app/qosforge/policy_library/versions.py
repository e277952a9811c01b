"""Policies, their versions and the differences of two versions; shipped policies are version 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from qosforge.access.roles import EVERY_NETWORK
from qosforge.errors import InputError
from qosforge.intent.differences import PolicyChange
from qosforge.intent.policy_source import PolicySource, load_policy, shipped_policies

SHIPPED_VERSION = 0
"""The number of a shipped policy, which nobody can replace."""
LATEST: Literal["latest"] = "latest"
Number = int | Literal["latest"]


@dataclass(eq=False)
class PolicyUnknown(InputError):
    """There is no such policy, or not this version."""


@dataclass(eq=False)
class PolicyMoved(InputError):
    """Somebody stored another version since the one that the text began from."""

    newest: PolicyVersion | None = None


@dataclass(frozen=True)
class PolicyVersion:
    """One version. ``version`` is the hash of the intent's canonical form; ``at`` and ``author`` are empty for a
    shipped one; ``source`` is the Git commit that it came from (``repository``, ``commit``, ``path``).

    ``network`` is whose policy it is (`EVERY_NETWORK`: of all); ``trusted_on`` the networks on which it may be run:
    its author is operator there, or one of their operators took it over.
    """

    name: str
    number: int
    version: str
    author: str
    comment: str
    source: dict[str, str] | None
    at: datetime | None
    network: str = EVERY_NETWORK
    trusted_on: tuple[str, ...] = (EVERY_NETWORK,)

    def is_trusted_on(self, network: str) -> bool:
        """Whether it may be run on a network."""
        return not {EVERY_NETWORK, network}.isdisjoint(self.trusted_on)

    @property
    def shadows_shipped(self) -> bool:
        """Whether it stands in the place of a policy that ships with qosforge."""
        return self.number != SHIPPED_VERSION and self.name in shipped_policies()


@dataclass(frozen=True)
class Policy:
    """A version with its text, byte for byte, and the texts that it includes by their names beside it."""

    about: PolicyVersion
    text: str
    included: Mapping[str, str]

    def written(self, parameters: Mapping[str, Any] | None = None) -> PolicySource:
        """The version as the source of a run's policy, with values for parameters."""
        return PolicySource(self.text, f"{self.about.name}.yaml", self.included, parameters or {})


@dataclass(frozen=True)
class PolicyDifference:
    """What one version has other than another: as a unified diff of the texts, and by what they mean."""

    before: PolicyVersion
    after: PolicyVersion
    text: str
    changes: tuple[PolicyChange, ...]


@cache
def shipped(name: str) -> Policy:
    """A shipped policy, which is of all networks.

    Raises:
        KeyError: none of this name ships.
    """
    text = shipped_policies()[name]
    loaded = load_policy(PolicySource(text, f"{name}.yaml"))
    about = PolicyVersion(name, SHIPPED_VERSION, loaded.version, "", "shipped with qosforge", None, None)
    return Policy(about, text, dict(loaded.included))
