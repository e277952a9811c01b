"""What lines and devices refuse, and the least delay that they allow."""

import copy

import pytest
import qosforge_twin
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import CUT, chain, ethernet, flow, flows_of, run, with_mtu
from .test_refusals import junk, paths_of, place


def refused(scenario):
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        run(scenario)
    assert caught.value.problem
    assert caught.value.hint
    return caught.value


class TestRefusals:
    sent = (flow("f", rate_bps=8_000, ip_bytes=100),)

    @pytest.mark.parametrize(
        ("node", "field"),
        [
            ({"switching": "fast"}, "switching"),
            ({"cut_through_bytes": 64}, "cut_through_bytes"),
            (CUT | {"cut_through_bytes": 13}, "cut_through_bytes"),
            ({"per_packet_ps": 10**16}, "per_packet_ps"),
            ({"per_packet_ps": -1}, "per_packet_ps"),
            ({"latency_jitter_ps": 10**16}, "latency_jitter_ps"),
            ({"input_queue_packets": 5}, "input_queue_packets"),
        ],
    )
    def test_nodes(self, node, field):
        assert refused(chain(node, self.sent, [ethernet(), ethernet()])).path == f"nodes[1].{field}"

    @pytest.mark.parametrize(
        ("framing", "egress", "field"),
        [
            ("ppp", {"ip_mtu": 67}, "ip_mtu"),
            ("ppp", {"compressed_header_bytes": 5}, "compressed_header_bytes"),
            ("ppp", {"compressed_header_bytes": 1}, "compressed_header_bytes"),
            ("atm", {"header_compression": True}, "header_compression"),
            ("atm", {"fragment_bytes": 100}, "fragment_bytes"),
            ("hdlc", {"fragment_bytes": 100}, "fragment_bytes"),
            ("mlppp", {"fragment_bytes": 100, "multiclass": True}, "multiclass"),
            ("frame_relay", {"fragment_bytes": 100, "interleave": True, "multiclass": True}, "multiclass"),
        ],
    )
    def test_lines(self, framing, egress, field):
        port = with_mtu(1500)
        port["egress"] |= egress
        lines = [ethernet(), {"rate_bps": 10**6, "framing": framing}]
        assert refused(chain({}, self.sent, lines, [{}, port])).path == f"nodes[1].ports[1].egress.{field}"

    def test_short_sequences_are_of_multilinks(self):
        error = refused(chain({}, self.sent, [ethernet(), ethernet(short_sequence=True)]))
        assert error.path == "links[1].short_sequence"

    def test_a_loop_names_the_port_that_comes_twice(self):
        scenario = chain({}, self.sent, [ethernet(), ethernet()])
        scenario["flows"][0]["path"] = [["a", "out"], ["m", "in"], ["a", "out"], ["m", "out"]]
        error = refused(scenario)
        assert error.path == "flows[0].path[2]"
        assert "'out' of 'a'" in error.problem.replace('"', "'")
        assert "loop" in error.problem

    def test_a_hop_elsewhere_and_one_that_leads_nowhere(self):
        scenario = chain({}, self.sent, [ethernet(), ethernet()])
        scenario["flows"][0]["path"] = [["a", "out"], ["b", "in"]]
        assert refused(scenario).path == "flows[0].path[1]"
        scenario["nodes"][1]["ports"].append({"name": "spare"})
        scenario["flows"][0]["path"] = [["a", "out"], ["m", "spare"]]
        error = refused(scenario)
        assert error.path == "flows[0].path[1]"
        assert "no link" in error.problem


framings = st.sampled_from(["none", "ethernet", "hdlc", "ppp", "mlppp", "frame_relay", "atm", "atm_mux"])


@st.composite
def lines_and_ports(draw):
    lines, ports = [], []
    for _ in range(2):
        framing = draw(framings)
        lines.append(
            {
                "framing": framing,
                "rate_bps": draw(st.sampled_from([256_000, 1_000_000, 1_234_567])),
                "delay_ps": draw(st.integers(0, 10**9)),
            }
        )
        cuts = framing in ("mlppp", "frame_relay")
        fragment = draw(st.none() | st.integers(40, 400)) if cuts else None
        interleave = fragment is not None and draw(st.booleans())
        egress = {
            "queues": [{"name": n, "limit_packets": 200} for n in ("high", "low")],
            "rules": [{"match": {"dscp": [46]}, "queue": 0}],
            "otherwise": {"queue": 1},
            "scheduler": {"kind": "strict", "order": [0, 1]},
            "ip_mtu": draw(st.none() | st.integers(68, 1500)),
            "tx_fifo_packets": draw(st.integers(1, 3)),
            "tx_fifo_bytes": draw(st.sampled_from([0, 700])),
            "extra_gap_ps": draw(st.sampled_from([0, 10**7])),
            "fragment_bytes": fragment,
            "interleave": interleave,
            "multiclass": interleave and framing == "mlppp" and draw(st.booleans()),
            "header_compression": framing not in ("ethernet", "atm", "atm_mux") and draw(st.booleans()),
            "compressed_header_bytes": draw(st.integers(2, 4)),
        }
        ports.append({"egress": egress})
    if draw(st.booleans()):
        remark = {"rate_bps": 20_000, "burst_bytes": 2_000, "exceed": {"dscp": 0}}
        ports[1]["ingress"] = {"otherwise": {}}
        ports[0]["egress"]["otherwise"]["police"] = remark
    return lines, ports


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    network=lines_and_ports(),
    node=st.fixed_dictionaries(
        {
            "latency_ps": st.integers(0, 10**8),
            "latency_jitter_ps": st.sampled_from([0, 10**8]),
            "per_packet_ps": st.sampled_from([0, 10**8]),
            "switching": st.sampled_from(["store_and_forward", "cut_through"]),
        }
    ),
    small=st.integers(41, 300),
    large=st.integers(301, 1500),
    reference=st.sampled_from(["arrival", "first_bit"]),
)
def test_no_delay_is_below_the_least_and_an_empty_network_reaches_it(network, node, small, large, reference):
    lines, ports = network
    voice = {"application": "rtp-audio", "dscp": 46}
    busy = [
        flow("voice", packet=voice, kind="poisson", rate_bps=small * 160, ip_bytes=small),
        flow("video", kind="video", frame_rate=5, frame_bytes_mean=2000, frame_bytes_sd=800, ip_bytes=large),
        flow("bulk", kind="poisson", rate_bps=150_000, ip_bytes=large),
    ]
    for report in run(chain(node, busy, lines, ports, seconds=3) | {"delay_reference": reference})["flows"]:
        assert report["sent"] == report["delivered"] + report["lost"]
        if report["delivered"]:
            assert report["delay_ps"]["min"] >= report["minimum_delay_ps"]["smallest"]
            assert report["minimum_delay_ps"]["largest"] >= report["minimum_delay_ps"]["smallest"]
    if node["latency_jitter_ps"]:
        return
    lone = flow("lone", packet=voice, rate_bps=large * 8, ip_bytes=large, stop_ps=1)
    report = flows_of(run(chain(node, [lone], lines, ports) | {"delay_reference": reference}))["lone"]
    assert report["delay_ps"]["max"] == report["minimum_delay_ps"]["largest"]
    assert report["minimum_delay_ps"]["smallest"] == report["minimum_delay_ps"]["largest"]


RICH = chain(
    CUT | {"cut_through_bytes": 64, "per_packet_ps": 5, "input_queue_packets": 3, "latency_jitter_ps": 9},
    [flow("f", rate_bps=80_000, ip_bytes=1000)],
    [ethernet(), {"rate_bps": 10**6, "delay_ps": 1, "framing": "mlppp", "short_sequence": True}],
    [{}, with_mtu(600)],
)
RICH["nodes"][1]["ports"][1]["egress"] |= {
    "tx_fifo_packets": 2,
    "tx_fifo_bytes": 900,
    "extra_gap_ps": 1000,
    "fragment_bytes": 100,
    "interleave": True,
    "multiclass": True,
    "header_compression": True,
    "compressed_header_bytes": 3,
}


@settings(derandomize=True, max_examples=300, deadline=None)
@given(path=st.sampled_from(sorted(paths_of(RICH))), value=junk)
def test_junk_anywhere_is_refused_or_run_but_never_fatal(path, value):
    scenario = copy.deepcopy(RICH)
    *way, last = place(path)
    spot = scenario
    for step in way:
        spot = spot[step]
    spot[last] = value
    try:
        reports = run(scenario)["flows"]
    except qosforge_twin.ScenarioError as error:
        place_named = error.path
    else:
        place_named = "flows"
        assert all(f["sent"] == f["delivered"] + f["lost"] for f in reports)
    assert place_named
