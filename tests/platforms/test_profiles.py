"""Device profiles: every platform has one, every figure a source, and disciplines may differ."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from qosforge.platforms.base import installed, platform
from qosforge.platforms.profile import BufferSize, DeviceProfile, DisciplineProfile, platform_profile
from qosforge.twin.scenario import QueueSpec, RedSpec


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
    red = RedSpec(weight_exponent=0)
    assert room.queue("q", 1) == QueueSpec(name="q", limit_packets=7, limit_bytes=9000, red=red)
    with pytest.raises(ValidationError, match="packets or in bytes"):
        BufferSize()
    with pytest.raises(ValidationError, match="unknown field `weight`"):
        BufferSize(packets=5, early={"weight": 0})


def test_a_discipline_replaces_the_latency_that_it_states_only() -> None:
    slow = DisciplineProfile(scheduler={"kind": "fifo"}, latency=3e-6)
    profile = DeviceProfile(
        title="t",
        latency=1e-6,
        latency_jitter=2e-6,
        disciplines={"fifo": slow},
        sources=dict.fromkeys(("latency", "latency_jitter", "disciplines"), "made up"),
    )
    assert profile.latencies_ps() == (1_000_000, 2_000_000)
    assert profile.latencies_ps("fifo") == (3_000_000, 2_000_000)
    assert profile.latencies_ps("strict") == profile.latencies_ps()
