"""Sources of packets of the twin's scenario."""

from __future__ import annotations

from typing import Literal

from qosforge.twin.part import ScenarioPart

Control = Literal["reno", "newreno", "cubic"]
Distribution = Literal["normal", "lognormal"]
Lengths = Literal["exponential", "deterministic"]
Life = Literal["new", "persistent"]
RateLayer = Literal["ip", "frame", "wire"]


class UniformAmount(ScenarioPart, frozen=True, kw_only=True, tag_field="kind", tag="uniform"):
    """Bytes or time, evenly drawn."""

    min: int | None = None
    max: int


class ExponentialAmount(ScenarioPart, frozen=True, kw_only=True, tag_field="kind", tag="exponential"):
    """Bytes or time, the least and an exponential amount."""

    min: int | None = None
    mean: int


Amount = int | UniformAmount | ExponentialAmount


class ExponentialSizes(ScenarioPart, frozen=True, kw_only=True, tag_field="kind", tag="exponential"):
    """Packet sizes of an exponential distribution, between limits."""

    mean_bytes: int
    min_bytes: int = 20
    max_bytes: int = 65535


Sizes = int | tuple[tuple[int, int], ...] | ExponentialSizes
"""A size, sizes with their weights, or a distribution."""


class BucketSpec(ScenarioPart, frozen=True, kw_only=True):
    """A token bucket in front of a source, of IP bytes."""

    rate_bps: int
    burst_bytes: int


class SynchronisedPhase(ScenarioPart, frozen=True, kw_only=True, tag_field="mode", tag="synchronised"):
    """All flows of a group send at the same instant."""

    group: str


class IndependentPhase(ScenarioPart, frozen=True, kw_only=True, tag_field="mode", tag="independent"):
    """A clock of its own, off by ``ppm``, or by up to ``ppm_within``."""

    ppm: float | None = None
    ppm_within: float | None = None


class RandomPhase(ScenarioPart, frozen=True, kw_only=True, tag_field="mode", tag="random"):
    """A random start within a period."""


PhaseSpec = SynchronisedPhase | IndependentPhase | RandomPhase


class _Source(ScenarioPart, frozen=True, kw_only=True, tag_field="kind"):
    start_ps: int = 0
    stop_ps: int | None = None
    phase_ps: int = 0


class _Regular(_Source, frozen=True, kw_only=True):
    rate_bps: int
    rate_layer: RateLayer = "ip"
    ip_bytes: Sizes | None = None
    frame_bytes: Sizes | None = None
    phase: PhaseSpec | None = None
    jitter_ps: int = 0
    bucket: BucketSpec | None = None


class CbrSource(_Regular, frozen=True, kw_only=True, tag="cbr"):
    """Packets at equal distances."""


class PoissonSource(_Regular, frozen=True, kw_only=True, tag="poisson"):
    """Packets at exponential distances."""


class OnOffSource(_Source, frozen=True, kw_only=True, tag="onoff"):
    """Bursts of equal distances, and silence."""

    rate_bps: int
    rate_layer: RateLayer = "ip"
    ip_bytes: Sizes | None = None
    frame_bytes: Sizes | None = None
    on_ps: int
    off_ps: int
    lengths: Lengths = "exponential"
    bucket: BucketSpec | None = None


class VideoSource(_Source, frozen=True, kw_only=True, tag="video"):
    """Frames of video, each cut into packets."""

    frame_rate: float
    frame_bytes_mean: int
    frame_bytes_sd: int = 0
    distribution: Distribution = "normal"
    group_frames: int = 1
    intra_ratio: float = 1.0
    ip_bytes: int
    bucket: BucketSpec | None = None


class TraceSource(_Source, frozen=True, kw_only=True, tag="trace"):
    """Recorded packets."""

    times_ps: tuple[int, ...]
    ip_bytes: tuple[int, ...]
    repeat_ps: int | None = None
    bucket: BucketSpec | None = None


class _Connected(_Source, frozen=True, kw_only=True):
    mss: int = 1460
    congestion_control: Control = "newreno"
    sack: bool = False
    limited_transmit: bool = True
    byte_counting: bool = True
    initial_window: int = 10
    idle_restart: bool = True
    receive_window_bytes: int = 65535
    send_buffer_bytes: int | None = None
    rto_initial_ps: int = 10**12
    rto_min_ps: int = 2 * 10**11
    rto_max_ps: int = 60 * 10**12
    tick_ps: int = 0
    tick_phase_ps: int | None = None
    timestamps: bool = False
    delayed_ack_ps: int = 2 * 10**11
    ack_every: int = 2
    quick_ack: int = 0
    handshake: bool = False
    retries: int = 15


class TcpSource(_Connected, frozen=True, kw_only=True, tag="tcp"):
    """A bulk transfer."""

    bytes: int | None = None


class TcpSessionSource(_Connected, frozen=True, kw_only=True, tag="tcp_session"):
    """Requests and responses."""

    request_bytes: Amount
    response_bytes: Amount
    think_ps: Amount | None = None
    period_ps: Amount | None = None
    server_ps: Amount | None = None
    connection: Life = "new"
    sessions: int = 1
    transactions: int | None = None


class EchoSource(_Source, frozen=True, kw_only=True, tag="udp_echo"):
    """Probes that are answered."""

    ip_bytes: int
    reply_bytes: int | None = None
    interval_ps: Amount
    server_ps: Amount | None = None
    count: int | None = None


SourceSpec = (
    CbrSource | PoissonSource | OnOffSource | VideoSource | TraceSource | TcpSource | TcpSessionSource | EchoSource
)
