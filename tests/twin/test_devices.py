"""Devices between the lines: cut-through, forwarding engines, IP fragments."""

import pytest

from .scenarios import CUT, MILLISECOND, SECOND, chain, ethernet, flow, flows_of, port_of, run, with_mtu

MICROSECOND = 10**6


def delay_of(scenario, name="f"):
    return flows_of(run(scenario))[name]["delay_ps"]


FRAME = (8 + 1518) * 8 * 1000
"""Until the last bit of 1500 bytes at 1 Gb/s."""


class TestCutThrough:
    sent = (flow("f", rate_bps=12_000_000, ip_bytes=1500),)

    def test_saves_all_but_the_header(self):
        lines = [ethernet(delay_ps=500), ethernet(delay_ps=700)]
        stored = delay_of(chain({"latency_ps": 9_000}, self.sent, lines))
        assert stored["min"] == stored["max"] == 2 * FRAME + 1_200 + 9_000
        begun = delay_of(chain(CUT | {"latency_ps": 9_000}, self.sent, lines))
        assert begun["min"] == begun["max"] == FRAME + (8 + 14) * 8 * 1000 + 1_200 + 9_000
        # The first 64 bytes, for devices that drop the rests of collisions.
        checked = delay_of(chain(CUT | {"cut_through_bytes": 64}, self.sent, lines))
        assert checked["max"] == FRAME + (8 + 64) * 8 * 1000 + 1_200

    def test_needs_no_more_than_the_frame(self):
        lines = [ethernet(), ethernet()]
        assert delay_of(chain(CUT | {"cut_through_bytes": 9_000}, self.sent, lines))["max"] == 2 * FRAME

    @pytest.mark.parametrize(
        "lines",
        [
            [ethernet(10**8), ethernet(10**9)],
            [ethernet(10**9), ethernet(10**8)],
            [{"rate_bps": 10**8, "framing": "hdlc"}, {"rate_bps": 10**8, "framing": "hdlc"}],
            [ethernet(10**8), {"rate_bps": 10**8, "framing": "none"}],
        ],
    )
    def test_stores_between_unlike_lines(self, lines):
        assert delay_of(chain(CUT, self.sent, lines)) == delay_of(chain({}, self.sent, lines))

    def test_a_busy_egress_is_waited_for(self):
        def worst(node):
            other = flow("other", kind="poisson", rate_bps=800_000_000, ip_bytes=1500)
            scenario = chain(
                node, [flow("f", kind="poisson", rate_bps=10**8, ip_bytes=200)], [ethernet(), ethernet()]
            )
            scenario["nodes"][1]["ports"].append({"name": "in2"})
            scenario["nodes"].append({"name": "c", "ports": [{"name": "out"}]})
            scenario["links"].append({"a": ["c", "out"], "b": ["m", "in2"], **ethernet()})
            scenario["flows"].append({**other, "path": [["c", "out"], ["m", "out"]]})
            scenario["duration_ps"] = SECOND // 10
            return flows_of(run(scenario))["f"]

        begun, stored = worst(CUT), worst({})
        assert begun["delay_ps"]["min"] == begun["minimum_delay_ps"]["smallest"]
        assert begun["minimum_delay_ps"]["smallest"] < stored["minimum_delay_ps"]["smallest"]
        assert begun["delay_ps"]["max"] > 2 * begun["minimum_delay_ps"]["largest"]
        assert begun["delay_ps"]["mean"] < stored["delay_ps"]["mean"]


class TestEngine:
    lines = (ethernet(10**8), ethernet(10**8))

    def test_one_packet_costs_its_time(self):
        sent = [flow("f", rate_bps=8_000, ip_bytes=100)]
        free = delay_of(chain({}, sent, self.lines))
        slow = delay_of(chain({"per_packet_ps": 7 * MICROSECOND}, sent, self.lines))
        assert slow["max"] == free["max"] + 7 * MICROSECOND

    def test_it_bounds_the_rate_in_packets_whatever_their_size(self):
        # 20 us each: 50,000 packets a second; 75,000 of 60 bytes come.
        sent = [flow("f", rate_bps=75_000 * 480, ip_bytes=60)]
        result = run(chain({"per_packet_ps": 20 * MICROSECOND}, sent, self.lines))
        report = flows_of(result)["f"]
        assert report["throughput_bps"] == pytest.approx(50_000 * 480, rel=0.002)
        assert report["sent"] == report["delivered"] + report["lost"]
        # The input queue of 75 packets is full, one is in the engine.
        assert report["lost"] == port_of(result, "m", "in")["dropped_input"] > 0
        assert 74 < report["delay_ps"]["max"] / (20 * MICROSECOND) < 77
        assert port_of(result, "m", "out")["queues"][0]["dropped_tail"] == 0

    def test_its_ports_share_it(self):
        def worst(**node):
            scenario = chain(node, [flow("f", rate_bps=10_000_000, ip_bytes=100)], self.lines)
            scenario["nodes"][1]["ports"] += [{"name": "in2"}, {"name": "out2"}]
            scenario["nodes"] += [
                {"name": "c", "ports": [{"name": "out"}]},
                {"name": "d", "ports": [{"name": "in"}]},
            ]
            scenario["links"] += [
                {"a": ["c", "out"], "b": ["m", "in2"], **self.lines[0]},
                {"a": ["m", "out2"], "b": ["d", "in"], **self.lines[0]},
            ]
            other = flow("other", rate_bps=10_000_000, ip_bytes=100)
            scenario["flows"].append({**other, "path": [["c", "out"], ["m", "out2"]]})
            return {n: f["delay_ps"]["max"] for n, f in flows_of(run(scenario)).items()}

        free, slow = worst(), worst(per_packet_ps=5 * MICROSECOND)
        # Both come at one instant over ports of their own; one of them waits for the other.
        assert sorted(slow[n] - free[n] for n in free) == [5 * MICROSECOND, 10 * MICROSECOND]

    def test_random_latency_spreads_delays_and_keeps_the_order(self):
        sent = [flow("f", rate_bps=40_000_000, ip_bytes=500)]
        fixed = delay_of(chain({}, sent, self.lines))
        result = run(chain({"latency_jitter_ps": 50 * MICROSECOND}, sent, self.lines))
        report = flows_of(result)["f"]
        delay = report["delay_ps"]
        assert fixed["max"] <= delay["min"] < fixed["max"] + MICROSECOND
        assert delay["max"] > fixed["max"] + 49 * MICROSECOND
        assert report["reordered"] == report["lost"] == 0
        # The node draws from a stream of its own: what goes on elsewhere changes nothing.
        beside = chain({"latency_jitter_ps": 50 * MICROSECOND}, sent, self.lines)
        beside["nodes"] += [{"name": n, "ports": [{"name": "p"}]} for n in ("x", "y")]
        beside["links"].append({"a": ["x", "p"], "b": ["y", "p"], **self.lines[0]})
        beside["flows"].append(flow("g", kind="poisson", rate_bps=10**6, ip_bytes=99) | {"path": [["x", "p"]]})
        assert flows_of(run(beside))["f"] == report


class TestIpFragments:
    serial = ({"rate_bps": 10**7, "framing": "ppp"}, {"rate_bps": 10**6, "framing": "ppp"})

    def test_each_is_a_packet_with_its_header(self):
        sent = [flow("f", rate_bps=12_000, ip_bytes=1500)]
        result = run(chain({}, sent, self.serial, [{}, with_mtu(576)]))
        report = flows_of(result)["f"]
        assert report["sent"] == report["delivered"] == 1
        assert report["bytes_delivered"] == 1500
        queue = port_of(result, "m", "out")["queues"][0]
        # RFC 791: 552 + 552 + 376 bytes behind headers of 20.
        assert (queue["packets_out"], queue["bytes_out"]) == (3, 1480 + 3 * 27)
        layers = report["throughput_by_layer_bps"]
        assert (layers["ip"], layers["frame"]) == (1500 * 8, (1480 + 3 * 27) * 8)
        expected = 1507 * 8 * 10**5 + (1480 + 3 * 27) * 8 * 10**6
        assert report["delay_ps"]["max"] == report["minimum_delay_ps"]["largest"] == expected

    def test_a_smaller_mtu_later_cuts_again(self):
        sent = [flow("f", rate_bps=120_000, ip_bytes=1500)]
        result = run(chain({}, sent, self.serial, [with_mtu(1000), with_mtu(500)]))
        report = flows_of(result)["f"]
        # 976 + 504 of payload; 976 is cut into 480 + 480 + 16, 504 into 480 + 24.
        assert port_of(result, "a", "out")["queues"][0]["packets_out"] == 2 * report["sent"]
        queue = port_of(result, "m", "out")["queues"][0]
        assert queue["packets_out"] == 5 * report["sent"]
        assert queue["bytes_out"] == (1480 + 5 * 27) * report["sent"]
        assert report["delivered"] == report["sent"] == 10
        assert report["delay_ps"]["min"] == report["minimum_delay_ps"]["largest"]

    def test_one_lost_fragment_loses_the_packet(self):
        port = with_mtu(300)
        port["egress"]["queues"][0]["limit_packets"] = 7
        sent = [flow("f", kind="poisson", rate_bps=900_000, ip_bytes=1500)]
        result = run(chain({}, sent, self.serial, [{}, port], seconds=20))
        report = flows_of(result)["f"]
        queue = port_of(result, "m", "out")["queues"][0]
        assert 0 < report["lost"] <= queue["dropped_tail"]
        assert report["sent"] == report["delivered"] + report["lost"]
        # Six fragments each; what is left of a broken packet crosses the line in vain.
        assert queue["packets_in"] == 6 * report["sent"]
        assert queue["packets_out"] > 6 * report["delivered"]

    def test_fair_queueing_goes_between_them(self):
        def worst(mtu):
            port = {"egress": {"scheduler": {"kind": "wfq"}, "ip_mtu": mtu}}
            sent = [
                flow("voice", packet={"src_port": 1}, rate_bps=8_000, ip_bytes=60, jitter_ps=50 * MILLISECOND),
                flow("bulk", packet={"src_port": 2}, rate_bps=60_000, ip_bytes=1500),
            ]
            lines = [{"rate_bps": 10**7, "framing": "hdlc"}, {"rate_bps": 128_000, "framing": "hdlc"}]
            return delay_of(chain({}, sent, lines, [{}, port], seconds=60), "voice")["max"]

        assert worst(1500) > 90 * MILLISECOND
        # A fragment of 20 + 232 bytes before it, its own 67, and both kinds on the access line.
        fragment_and_own = (259 + 67) * 8 * SECOND // 128_000
        assert worst(256) < fragment_and_own + (1507 + 67) * 8 * SECOND // 10**7

    def test_tcp_survives_them(self):
        tcp = {"kind": "tcp", "bytes": 200_000}
        scenario = chain({}, [flow("f", **tcp)], self.serial, [{}, with_mtu(576)], seconds=20)
        scenario["flows"][0]["return_path"] = [["b", "in"], ["m", "in"]]
        report = flows_of(run(scenario))["f"]
        assert report["bytes_delivered"] >= 200_000
        assert report["sent"] == report["delivered"] + report["lost"]

    def test_rtp_headers_of_fragments_stay(self):
        port = with_mtu(68)
        port["egress"]["header_compression"] = True
        sent = [flow("f", packet={"application": "rtp-audio"}, rate_bps=8_000, ip_bytes=100)]
        queue = port_of(run(chain({}, sent, self.serial, [{}, port])), "m", "out")["queues"][0]
        # 80 bytes of payload are 48 and 32.
        assert queue["bytes_out"] == queue["packets_out"] // 2 * (80 + 2 * 27)
