"""Request and response bodies of the routes about networks, devices and policies."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.api.access_models import DeviceName, NetworkName
from qosforge.deploy.inspection import DeviceCheck
from qosforge.deploy.new_device import NewDevice
from qosforge.device_state.drift import Drift
from qosforge.device_state.drift_watch import LEAST_MINUTES, MOST_MINUTES, DriftState
from qosforge.inventory.models import Device, Link, Network, Station
from qosforge.plan.model import Plan
from qosforge.plan.unknown_line import UnknownLine
from qosforge.platforms.device_text import DeviceText
from qosforge.policy_library.versions import Policy, PolicyDifference, PolicyVersion


class NetworkEntry(BaseModel):
    """A network in a list, with its size."""

    name: str
    devices: int
    links: int
    stations: int

    @classmethod
    def of(cls, network: Network) -> Self:
        """A network's."""
        counts = {part: len(getattr(network, part)) for part in ("devices", "links", "stations")}
        return cls(name=network.name, **counts)


class NetworkList(BaseModel):
    """The networks that the caller sees."""

    networks: list[NetworkEntry]


class NetworkDetail(BaseModel):
    """A network: its devices' names, its links and end hosts, and the names of its traffic scenarios."""

    name: str
    devices: list[str]
    links: list[Link]
    stations: list[Station]
    traffic: list[str]

    @classmethod
    def of(cls, network: Network) -> Self:
        """A network's."""
        return cls(
            name=network.name,
            devices=[device.name for device in network.devices],
            links=list(network.links),
            stations=list(network.stations),
            traffic=[scenario.name for scenario in network.traffic],
        )


class NewNetwork(BaseModel):
    """A new network, without devices and read-only."""

    model_config = ConfigDict(extra="forbid")

    name: NetworkName = Field(examples=["library"])


class NewDeviceBody(NewDevice):
    """A new device of a network's inventory."""

    name: DeviceName = Field(examples=["r1"])


class Writable(BaseModel):
    """Whether changes may be pushed to the devices of a network."""

    model_config = ConfigDict(extra="forbid")

    writable: StrictBool = Field(examples=[True])


class DeviceList(BaseModel):
    """The devices of a network, as the inventory has them."""

    devices: list[Device]


class RunningQos(BaseModel):
    """The QoS configuration of a device as a plan, and the lines that were not understood.

    The plan has what differs from its defaults. No other line of the running configuration is told: it has secrets.
    """

    device: str
    platform: str
    plan: dict[str, Any]
    not_understood: list[UnknownLine]

    @classmethod
    def of(cls, plan: Plan, text: DeviceText) -> Self:
        """What a device's configuration, ``text``, amounts to."""
        held = plan.model_dump(mode="json", exclude_defaults=True, exclude={"unknown"})
        return cls(
            device=plan.device,
            platform=plan.platform,
            plan=text.words.shown_document(held),
            not_understood=[line.shown(text.words.shown) for line in plan.unknown],
        )


class DriftDocument(BaseModel):
    """Whether a device still holds what the last run left on it, and where not, in words.

    ``run`` is the last one that was kept on the device, or found that it held the plan; ``drifted`` is ``null``
    where there is none.
    """

    device: str
    run: str | None
    since: datetime | None
    drifted: bool | None
    differences: list[str]

    @classmethod
    def of(cls, device: str, found: Drift) -> Self:
        """What was found on a device."""
        return cls(
            device=device,
            run=found.run.id if found.run else None,
            since=found.run.updated if found.run else None,
            drifted=bool(found.differences) if found.run else None,
            differences=list(found.differences),
        )


class PolicyOrigin(BaseModel):
    """The Git commit that a version came from."""

    repository: str
    commit: str
    path: str


class PolicyVersionDocument(BaseModel):
    """A version of a policy. Number 0 ships with qosforge; ``version`` is the hash of what the policy means.

    ``network`` is whose policy it is (``*``: of all); ``trusted_on`` has those of the caller's networks on which it
    may be run, because its author is operator there or an operator took it over.
    """

    name: str
    number: int
    version: str
    author: str
    comment: str
    source: PolicyOrigin | None
    at: datetime | None
    network: str
    trusted_on: list[str]
    shadows_shipped: bool = Field(description="Whether it hides a policy that ships with qosforge.")

    @classmethod
    def of(cls, version: PolicyVersion, caller: Principal) -> Self:
        """A version's, as a caller sees it."""
        seen = [name for name in version.trusted_on if name == EVERY_NETWORK or caller.may(Role.VIEWER, name)]
        return cls(**{**vars(version), "trusted_on": seen, "shadows_shipped": version.shadows_shipped})


class PolicyList(BaseModel):
    """The newest version of every policy, by name."""

    policies: list[PolicyVersionDocument]


class PolicyVersions(BaseModel):
    """The versions of a policy, newest first."""

    versions: list[PolicyVersionDocument]


class PolicyDocument(BaseModel):
    """A version with its text, byte for byte, and what it includes by name."""

    about: PolicyVersionDocument
    text: str
    included: dict[str, str]

    @classmethod
    def of(cls, policy: Policy, caller: Principal) -> Self:
        """A policy's, as a caller sees it."""
        about = PolicyVersionDocument.of(policy.about, caller)
        return cls(about=about, text=policy.text, included=dict(policy.included))


class ChangeDocument(BaseModel):
    """A place where the meaning of two versions differs; ``null`` where one of them says nothing."""

    path: str
    before: Any
    after: Any


class PolicyDiff(BaseModel):
    """The difference of two versions: a unified diff of their texts, and the changes of their meaning."""

    before: PolicyVersionDocument
    after: PolicyVersionDocument
    text: str
    changes: list[ChangeDocument]

    @classmethod
    def of(cls, found: PolicyDifference, caller: Principal) -> Self:
        """A difference's, as a caller sees it."""
        return cls(
            before=PolicyVersionDocument.of(found.before, caller),
            after=PolicyVersionDocument.of(found.after, caller),
            text=found.text,
            changes=[ChangeDocument(**vars(change)) for change in found.changes],
        )


class DriftInterval(BaseModel):
    """The minutes between two drift checks of a network; null: none."""

    model_config = ConfigDict(extra="forbid")

    minutes: StrictInt | None = Field(ge=LEAST_MINUTES, le=MOST_MINUTES, examples=[60])


class DeviceDriftView(BaseModel):
    """In how many places a device is not as the last run left it; ``digest`` tells one drift from another."""

    model_config = ConfigDict(from_attributes=True)

    count: int
    digest: str


class DriftWatchDocument(BaseModel):
    """The schedule of a network's drift checks, and the result of the last one.

    ``minutes`` and ``due``: how often and when next, null: never; ``looked``: the last look; ``drifted``: by
    device; ``unread``: why a device could not be read, which counts as it was before; ``uncompared``: devices that
    no run has settled yet.
    """

    model_config = ConfigDict(from_attributes=True)

    network: str
    state: DriftState
    minutes: int | None
    due: datetime | None
    looked: datetime | None
    drifted: dict[str, DeviceDriftView]
    unread: dict[str, str]
    uncompared: list[str]


class NetworkCheck(BaseModel):
    """Whether devices are reached, are what the inventory says, and can be changed; in the inventory's order."""

    network: str
    devices: list[DeviceCheck]
