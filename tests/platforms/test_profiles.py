"""Device profiles: every platform has one, every figure a source, and disciplines may differ."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from qosforge.platforms.base import installed, platform
from qosforge.platforms.profile import BufferSize, DeviceProfile, DisciplineProfile, platform_profile


@pytest.mark.parametrize("name", sorted(installed()))
def test_every_platform_has_a_profile_whose_figures_have_sources(name: str) -> None:
    profile = platform(name).profile
    assert profile == platform_profile(name)
    assert profile.transmit_fifo >= 1
    assert {"transmit_fifo", "latency"} <= set(profile.sources)


def test_a_figure_without_a_source_is_refused() -> None:
    with pytest.raises(ValidationError, match="no source is given for latency"):
        DeviceProfile(title="t", latency=1e-6, sources={})


def test_room_in_packets_and_bytes_gives_both_limits_queue_by_queue() -> None:
    room = BufferSize(packets=(5, 7), bytes=9000, early={"weight_exponent": 0})
    assert room.of(1) == {"limit_packets": 7, "limit_bytes": 9000, "red": {"weight_exponent": 0}}
    with pytest.raises(ValidationError, match="packets or in bytes"):
        BufferSize()


def test_a_discipline_replaces_the_latency_that_it_states_only() -> None:
    slow = DisciplineProfile(scheduler={"kind": "fifo"}, latency=3e-6)
    profile = DeviceProfile(
        title="t",
        latency=1e-6,
        latency_jitter=2e-6,
        disciplines={"fifo": slow},
        sources=dict.fromkeys(("latency", "latency_jitter", "disciplines"), "made up"),
    )
    assert profile.forwarding() == {"latency_ps": 1_000_000, "latency_jitter_ps": 2_000_000}
    assert profile.forwarding("fifo") == {"latency_ps": 3_000_000, "latency_jitter_ps": 2_000_000}
    assert profile.forwarding("strict") == profile.forwarding()
