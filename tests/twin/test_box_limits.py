"""What lines and boxes refuse."""

import copy

import pytest
import qosforge_twin
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import CUT, chain, ethernet, flow, run, with_mtu
from .test_refusals import junk, paths_of, place


def refused(scenario):
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        run(scenario)
    assert caught.value.problem
    assert caught.value.mend
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


RICH = chain(
    CUT | {"cut_through_bytes": 64, "per_packet_ps": 5, "input_queue_packets": 3, "latency_jitter_ps": 9},
    [flow("f", rate_bps=80_000, ip_bytes=1000)],
    [ethernet(), {"rate_bps": 10**6, "delay_ps": 1, "framing": "mlppp", "short_sequence": True}],
    [{}, with_mtu(600)],
)
RICH["nodes"][1]["ports"][1]["egress"] |= {
    "tx_fifo_packets": 2,
    "tx_fifo_bytes": 900,
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
