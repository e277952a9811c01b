"""Traffic offered to a box through the control channel, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from qoslab.errors import BoxError


@dataclass(frozen=True)
class Packets:
    """``count`` equal packets of ``bytes`` each (layer 2 length as the box counts it)."""

    count: int
    bytes: int
    dscp: int = 0
    cos: int = 0
    protocol: int = 17
    src: str = "0.0.0.0"  # noqa: S104  # "any host", not a bind address
    dst: str = "0.0.0.0"  # noqa: S104
    src_port: int = 0
    dst_port: int = 0
    application: str = ""
    tagged: bool = True
    vlan: int = 0
    qos_group: int = 0  # that which an input of this box has written; 0 as they arrive
    exp: int = -1  # of the topmost MPLS label; -1 without one

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Packets:
        """From one JSON object. Raises BoxError for unknown fields or values out of range."""
        unknown = set(raw) - set(cls.__dataclass_fields__)
        if unknown:
            raise BoxError(f"packets: unknown field {sorted(unknown)[0]!r}")
        try:
            made = cls(**raw)  # type: ignore[arg-type]  # checked just below
        except TypeError as bad:
            raise BoxError(f"packets: {bad}") from bad
        limits = {
            "count": 10**9, "bytes": 65535, "dscp": 63, "cos": 7,
            "protocol": 255, "src_port": 65535, "dst_port": 65535, "vlan": 4094,
            "qos_group": 99, "exp": 7,
        }  # fmt: skip
        for name, high in limits.items():
            value = getattr(made, name)
            low = -1 if name == "exp" else 0
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise BoxError(f"packets: {name} must be a whole number from {low} to {high}, not {value!r}")
        return made

    @property
    def ip_version(self) -> int:
        """The version of IP, by the addresses."""
        return 6 if ":" in self.src + self.dst else 4

    def marked(self, *, dscp: int | None = None, cos: int | None = None) -> Packets:
        """The same packets with other marks."""
        return replace(self, dscp=self.dscp if dscp is None else dscp, cos=self.cos if cos is None else cos)

    def kept(self, count: int) -> Packets:
        """Fewer of the same packets."""
        return replace(self, count=count)


@dataclass
class PortCount:
    """Packets and bytes (layer 2, as `Packets`) that came in at a port and went out of it."""

    input_packets: int = 0
    input_bytes: int = 0
    output_packets: int = 0
    output_bytes: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a box did to one group of packets.

    ``ingress_class`` and ``egress_class`` name the class of the box's own configuration ("" when nothing
    classified it there); ``queue`` is the egress queue in the box's own words; drops are policer drops.
    Where a policer marks down or drops part of a group there is one outcome per part: ``group`` is the
    index of the group in the offer and ``count`` the part's packets (0: the whole group, in order).
    """

    dscp_in: int
    cos_in: int
    ingress_class: str
    dropped_in: int
    dscp_out: int
    cos_out: int
    egress_class: str
    queue: str
    dropped_out: int
    group: int = 0
    count: int = 0

    def document(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)
