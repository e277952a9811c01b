"""Tables 1, 2 and 6 of Risso (2001): classic CBQ as in ns-2, and decoupled CBQ.

The paper gives no setting of the estimator: one is used for all, and for single cells another.
"""

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, run

LINK = 2_000_000
ESTIMATOR = {"burst_packets": 2, "packet_bytes": 500}
CBQ = {"kind": "cbq", "ns2_wrr_flaw": True, "estimator": ESTIMATOR}
DCBQ = {"kind": "dcbq", "estimator": ESTIMATOR}
DCBQE = DCBQ | {"kind": "dcbqe"}


def kbps(scheduler, classes, offered):
    """Throughput of each class that sends; all are children of the root and may borrow."""
    listed = [
        {"name": name, "share": share, "priority": priority, "queue": queue}
        for queue, (name, (share, priority)) in enumerate(classes.items())
    ]
    return measured(scheduler, listed, offered)


def measured(scheduler, classes, offered):
    """Throughput in kb/s by class of constant loads in kb/s."""
    queues = {entry["name"]: entry["queue"] for entry in classes if "queue" in entry}
    flows = [
        flow(name, queues[name], rate_bps=rate * 1000, ip_bytes=500, phase_ps=20 * MILLISECOND)
        for name, rate in offered.items()
    ]
    port = egress(len(queues), {**scheduler, "classes": classes}, 50)
    scenario = one_port(port, flows, rate_bps=LINK, seconds=120) | {"warmup_ps": 20 * SECOND}
    return {name: report["throughput_bps"] / 1000 for name, report in flows_of(run(scenario)).items()}


@pytest.mark.parametrize(("priority", "offered"), [("low", 100), ("high", 200)])
def test_a_small_class_gets_its_share_whatever_its_priority(priority, offered):
    classes = {"A": (0.01, priority), "B": (0.99, "low")}
    loads = {"A": offered, "B": 2000}
    # 7 % above the theory, as in the paper, is the estimator's bias.
    assert kbps(DCBQ, classes, loads) == pytest.approx({"A": 21.46, "B": 1978.56}, rel=0.05)
    assert kbps(CBQ, classes, loads)["A"] > 50


def test_what_a_silent_class_leaves_goes_by_share_or_by_priority():
    classes = {"A": (0.1, "high"), "B": (0.2, "low"), "C": (0.7, "low")}
    loads = {"A": 2000, "C": 2000}
    assert kbps(DCBQ, classes, loads) == pytest.approx({"A": 250, "C": 1750}, rel=0.005)
    assert kbps(CBQ, classes, loads) == pytest.approx({"A": 604.08, "C": 1395.94}, rel=0.005)


# Settings of A, 1, 2, B, 3 and 4 (priority, borrows?); which of 1 to 4 send.
TABLE_6 = [
    ("LY LY LY LY LY LY", "1 2 4"),
    ("LN LN LN LY LY LY", "1 2 4"),
    ("LN LN LN LY LY LY", "1 2"),
    ("LY LY LY LY LY LY", "1 2 3 4"),
    ("LN LY LY LY LY LY", "1 2 4"),
    ("HY HY HY LY LY LY", "1 2 4"),
    ("HY HY LY HY LY HY", "1 2 4"),
    ("HN HY HY LY LY LY", "1 2 4"),
    ("HN HY LY HY LY HY", "1 2 4"),
]
TREE = {"A": (0.3, None), "1": (0.1, "A"), "2": (0.2, "A"), "B": (0.7, None), "3": (0.1, "B"), "4": (0.6, "B")}
# Class 3 just fills its share, where the paper has a source that is off two thirds of the time.
LOADS = {"1": 300, "2": 600, "3": 200, "4": 2000}


def errors(scheduler):
    """Relative error of each cell of Table 6."""
    for settings, sending in TABLE_6:
        classes = [
            {
                "name": name,
                "parent": parent,
                "share": share,
                "priority": "high" if setting[0] == "H" else "low",
                "borrow": setting[1] == "Y",
                **({"queue": int(name) - 1} if parent else {}),
            }
            for (name, (share, parent)), setting in zip(TREE.items(), settings.split(), strict=True)
        ]
        got = measured(scheduler, classes, {name: LOADS[name] for name in sending.split()})
        expected = {"1": 200, "2": 400, "3": 200, "4": 1200 if "3" in sending else 1400}
        yield from (abs(rate / expected[name] - 1) for name, rate in got.items())


def test_the_quality_index_of_table_6_is_the_published_one():
    index = {}
    for name, scheduler in (("cbq", CBQ), ("dcbq", DCBQ), ("dcbqe", DCBQE)):
        cells = list(errors(scheduler))
        index[name] = 100 * sum(cells) / len(cells)
    assert index == pytest.approx({"cbq": 3.5506, "dcbq": 1.7568, "dcbqe": 2.7292}, rel=0.3)
    assert index["dcbq"] < min(index["dcbqe"], index["cbq"])


def test_a_slower_estimator_keeps_every_cell_of_table_6():
    slow = DCBQ | {"estimator": {"gain_exponent": 5, "burst_packets": 8, "packet_bytes": 500}}
    assert max(errors(slow)) < 0.021


def counted(scheduler, depth=1, seconds=20):
    """The report of a run in which two classes, ``depth`` classes deep each, want the whole line."""
    classes = []
    for queue, name in enumerate("ab"):
        above = None
        for level in range(depth):
            last = level == depth - 1
            classes.append(
                {"name": f"{name}{level}", "parent": above, "share": 0.4, **({"queue": queue} if last else {})}
            )
            above = f"{name}{level}"
    flows = [flow(name, queue, rate_bps=LINK, ip_bytes=500) for queue, name in enumerate("ab")]
    return run(one_port(egress(2, {**scheduler, "classes": classes}, 50), flows, rate_bps=LINK, seconds=seconds))


def visits_per_packet(scheduler, **more):
    port = port_of(counted({**scheduler, "count_visits": True}, **more))
    return port["class_visits"] / sum(queue["packets_out"] for queue in port["queues"])


@pytest.mark.parametrize("scheduler", [CBQ, CBQ | {"guideline": "top_level"}, DCBQ, DCBQE])
def test_counting_visits_changes_nothing_else(scheduler):
    plain, counting = counted(scheduler), counted({**scheduler, "count_visits": True})

    assert "class_visits" not in port_of(plain)
    assert counted({**scheduler, "count_visits": True}) == counting
    del port_of(counting)["class_visits"]
    assert plain == counting


@pytest.mark.parametrize("scheduler", [CBQ, DCBQ])
def test_visits_grow_with_packets_and_with_ancestors(scheduler):
    assert visits_per_packet(scheduler, seconds=40) == pytest.approx(visits_per_packet(scheduler), rel=0.01)
    assert visits_per_packet(scheduler, depth=4) > 1.3 * visits_per_packet(scheduler)


def test_who_borrows_asks_more_of_decoupled_queuing():
    """It looks at the status of all ancestors (section 4)."""
    assert visits_per_packet(DCBQ, depth=3) > visits_per_packet(CBQ, depth=3)


def test_behind_a_shaper_visits_are_counted_too():
    scheduler = {**DCBQ, "count_visits": True, "classes": [{"name": "a", "share": 1.0, "queue": 0}]}
    flows = [flow("a", 0, rate_bps=LINK, ip_bytes=500)]
    shape = {"rate_bps": LINK // 2, "burst_bytes": 3000}
    for port in (egress(1, scheduler, shape=shape), egress(1, {**scheduler, "shapes": {"0": shape}})):
        assert port_of(run(one_port(port, flows, rate_bps=LINK)))["class_visits"] > 0
