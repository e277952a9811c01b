"""The packets of STAMP, against another implementation of them (scapy's) and the RFCs' own figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.contrib.stamp import STAMPSessionReflectorTestUnauthenticated, STAMPSessionSenderTestUnauthenticated

from qosforge.stamp.packet import Answer, ErrorEstimate, SenderPacket, decode_time, encode_time

NS = 10**9
BEFORE_THE_ERA_ENDS = 2_085_978_495 * NS  # 2036-02-07 06:28:15Z
MOMENTS = st.integers(min_value=0, max_value=2**32 * NS)


def test_another_implementation_reads_what_a_sender_sends() -> None:
    moment = 1_790_000_000_500_000_000
    estimate = ErrorEstimate(synchronized=True, error_seconds=0.25)
    payload = SenderPacket(7, encode_time(moment), estimate.encode(), 4711).encode(44)
    read = STAMPSessionSenderTestUnauthenticated(payload)
    assert len(payload) == 44
    assert (read.seq, read.ssid, read.mbz) == (7, 4711, 0)
    assert (int(read.err_estimate.S), int(read.err_estimate.Z)) == (1, 0)
    assert read.err_estimate.multiplier * 2.0 ** (read.err_estimate.scale - 32) == 0.25
    assert float(read.ts) == pytest.approx(moment / NS + 2_208_988_800, abs=1e-6)


def test_what_another_implementation_answers_is_read() -> None:
    there = STAMPSessionReflectorTestUnauthenticated(seq=3, ssid=9, seq_sender=5, ttl_sender=61)
    payload = bytearray(bytes(there))
    payload[16:24] = encode_time(1_790_000_000 * NS)
    read = Answer.decode(bytes(payload))
    assert len(payload) == 44
    assert (read.sequence, read.session, read.sender_sequence, read.sender_ttl) == (3, 9, 5, 61)
    assert decode_time(read.received, ptp=False, near_ns=1_790_000_001 * NS) == 1_790_000_000 * NS
    assert read.encode(44) == bytes(payload)


@given(MOMENTS, st.integers(min_value=-(2**30) * NS, max_value=2**30 * NS))
def test_a_moment_comes_back_whatever_the_era(moment: int, away: int) -> None:
    assert abs(decode_time(encode_time(moment), ptp=False, near_ns=moment + away) - moment) <= 1


@pytest.mark.parametrize("later", [-1, 0, 1, 2])
def test_the_era_of_ntp_ends_between_two_packets(later: int) -> None:
    moment = BEFORE_THE_ERA_ENDS + later * NS
    assert decode_time(encode_time(moment), ptp=False, near_ns=BEFORE_THE_ERA_ENDS) == moment


def test_timestamps_of_ieee_1588_are_read() -> None:
    octets = (1_790_000_000).to_bytes(4) + (123_456_789).to_bytes(4)
    assert decode_time(octets, ptp=True, near_ns=1_790_000_000 * NS) == 1_790_000_000_123_456_789


@given(st.floats(min_value=0, max_value=1e9), st.booleans(), st.booleans())
def test_an_error_estimate_is_never_less_than_the_error(seconds: float, synchronized: bool, ptp: bool) -> None:
    estimate = ErrorEstimate(synchronized, seconds, ptp)
    read = ErrorEstimate.decode(estimate.encode())
    assert (read.synchronized, read.ptp) == (synchronized, ptp)
    assert seconds <= read.error_seconds <= max(2**-32, seconds * (1 + 1 / 127) + 2**-32)
    assert estimate.encode() & 0xFF > 0  # RFC 4656: a multiplier of 0 is a corrupt packet


@pytest.mark.parametrize("payload", [b"", b"\0" * 13])
def test_short_packets_are_none_of_the_protocol(payload: bytes) -> None:
    with pytest.raises(ValueError, match="14 octets"):
        SenderPacket.decode(payload)
    with pytest.raises(ValueError, match="41 octets"):
        Answer.decode(payload)


def test_the_shortest_packets_of_twamp_light_are_read() -> None:
    assert SenderPacket.decode(b"\0\0\0\5" + b"\1" * 8 + b"\0\1") == SenderPacket(5, b"\1" * 8, 1)
    assert Answer.decode(bytes(40) + b"\x40").sender_ttl == 64
