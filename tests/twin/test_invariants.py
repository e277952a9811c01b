"""What every discipline keeps under any traffic: conservation, work, order, the least delay, Kleinrock's law."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.properties.budget import tried

from .disciplines import KINDS, QUEUES, SCHEDULER_KINDS, Discipline, egress
from .scenarios import flow, one_port, port_of, refusal, run
from .timeline import carried, check_line, check_never_idle_with_a_backlog, check_no_priority_inversion

RATE = 1_000_000
BIT_PS = 10**12 // RATE
Json = dict[str, Any]

gap = st.integers(10**8, 2 * 10**10)
size = st.integers(40, 1500)


def source(kind: str, ip_bytes: int, load: int, on: int, off: int) -> Json:
    common = {"kind": kind, "ip_bytes": ip_bytes, "rate_bps": load}
    return common | ({"on_ps": on, "off_ps": off} if kind == "onoff" else {})


sources = st.builds(
    source, st.sampled_from(["cbr", "poisson", "onoff"]), size, st.integers(50_000, 1_500_000), gap, gap
)
offers = st.lists(st.tuples(sources, st.integers(0, QUEUES - 1)), min_size=2, max_size=5)


def scenario(discipline: Discipline, offered: list[tuple[Json, int]], limit: int, **port: Any) -> Json:
    flows = [
        flow(f"f{i}", cos, {"src_port": i, "dscp": 8 * cos}, **source) | {"samples": True}
        for i, (source, cos) in enumerate(offered)
    ]
    return one_port(egress(discipline, limit, **port), flows, rate_bps=RATE, seconds=0.4)


def check_conserved(result: Json, hardware: int) -> None:
    """Packets in = out + dropped + queued, per queue and flow; the hardware holds no more than it can."""
    port = port_of(result)
    queued = 0
    for queue in port["queues"]:
        dropped = sum(count for key, count in queue.items() if key.startswith("dropped_"))
        left = queue["packets_in"] - queue["packets_out"] - dropped
        assert 0 <= left <= queue["max_depth"]
        queued += left
    lost = {share["flow"]: share["dropped"] for share in port["by_flow"]}
    entered = {share["flow"]: share["packets_in"] for share in port["by_flow"]}
    unfinished = 0
    for report in result["flows"]:
        assert report["sent"] == entered.get(report["name"], 0) == len(report["samples"])
        assert report["lost"] == lost.get(report["name"], 0)
        assert report["sent"] == report["delivered"] + report["lost"] + report["unfinished"]
        unfinished += report["unfinished"]
    assert 0 <= unfinished - queued <= hardware


@pytest.mark.parametrize("kind", KINDS)
@tried(0.25)
@given(data=st.data())
def test_every_discipline(kind: str, data: st.DataObject) -> None:
    discipline = data.draw(KINDS[kind]())
    offered, limit = data.draw(offers), data.draw(st.integers(1, 60))
    hardware, drain = data.draw(st.integers(1, 3)), data.draw(st.booleans())
    document = scenario(discipline, offered, limit, tx_fifo_packets=hardware) | {"drain": drain}
    result = run(document, data.draw(st.integers(0, 99)))
    check_conserved(result, hardware)
    for report, (sent, _) in zip(result["flows"], offered, strict=True):
        if report["delivered"]:
            assert (
                report["delay_ps"]["min"] >= sent["ip_bytes"] * 8 * BIT_PS == report["minimum_delay_ps"]["smallest"]
            )
    packets = carried(document, result)
    check_line(packets)
    # What is cut off at the end had not left: only a whole record shows whether the line should have worked.
    if drain and discipline.work_conserving:
        check_never_idle_with_a_backlog(packets)
    if drain and discipline.levels:
        check_no_priority_inversion(packets, discipline.levels, hardware)


@tried(0.5)
@given(data=st.data(), ip_bytes=size, seed=st.integers(0, 99))
def test_equal_packets_wait_equally_in_sum_whatever_the_discipline(
    data: st.DataObject, ip_bytes: int, seed: int
) -> None:
    """Σ ρᵢ Wᵢ is one for all work-conserving disciplines (Kleinrock 1965); with equal packets, sample by sample."""
    offered = [(source | {"ip_bytes": ip_bytes}, cos) for source, cos in data.draw(offers)]
    sums = {}
    for kind, draw in KINDS.items():
        discipline = data.draw(draw())
        # Where a policer drops, the traffic is another.
        if discipline.work_conserving and not discipline.scheduler.get("priority") and kind != "wfq":
            result = run(scenario(discipline, offered, 10**6), seed)
            delays = [delay for report in result["flows"] for _, delay in report["samples"]]
            assert min(delays, default=0) >= 0
            sums[kind] = (len(delays), sum(delays))
    assume(sums["fifo"][0])
    assert set(sums.values()) == {sums["fifo"]}, sums


@tried(0.4)
@given(data=st.data(), ip_bytes=size, places=st.integers(1, 30), seed=st.integers(0, 99))
def test_equal_packets_are_lost_equally_whatever_the_discipline(
    data: st.DataObject, ip_bytes: int, places: int, seed: int
) -> None:
    """Who finds the shared buffer full depends on how many wait, not on which."""
    offered = [(source | {"ip_bytes": ip_bytes}, cos) for source, cos in data.draw(offers)]
    lost = {}
    for kind, draw in KINDS.items():
        discipline = data.draw(draw())
        if discipline.work_conserving and not discipline.scheduler.get("priority") and kind != "wfq":
            document = scenario(discipline, offered, places, pools=[{"name": "shared", "packets": places}])
            for queue in document["nodes"][0]["ports"][0]["egress"]["queues"]:
                del queue["limit_packets"]
                queue["pool"] = "shared"
            result = run(document, seed)
            lost[kind] = (sum(report["lost"] for report in result["flows"]), port_of(result)["busy_ps"])
    assert set(lost.values()) == {lost["fifo"]}, lost


def test_every_kind_of_scheduler_is_here() -> None:
    """The list of kinds is the twin's own: what it names when it meets one that it does not know."""
    error = refusal(one_port({"queues": [{"name": "q", "limit_packets": 1}], "scheduler": {"kind": "?"}}, []))
    named = error.hint.removeprefix("use ").replace(" or ", ", ").split(", ")
    assert set(named) == SCHEDULER_KINDS
