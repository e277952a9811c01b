"""Bytes that a packet takes on a link."""

from __future__ import annotations

from qosforge.inventory.models import Framing, Link

HEADERS = 40
"""IP, UDP and RTP headers (RFC 791, 768, 3550), and as many of IP and TCP: no packet of these is smaller."""
COMPRESSED = 2
"""What RFC 2508 leaves of the 40 bytes at best."""
OVERHEAD = {
    Framing.ETHERNET: 18,
    Framing.HDLC: 7,
    Framing.PPP: 7,
    Framing.MLPPP: 7,
    Framing.FRAME_RELAY: 7,
    Framing.ATM: 16,
}
"""Bytes of framing: IEEE 802.3 header and FCS; address, control, type, FCS and one shared flag (RFC 1662); Q.922
address, control, NLPID, FCS and flag (RFC 2427); LLC/SNAP header and AAL5 trailer (RFC 2684)."""
CELL, CELL_PAYLOAD = 53, 48
TAG = 4
ETHERNET_MINIMUM = 64


def frame_bytes(link: Link, ip_bytes: int, *, compressed: bool = False) -> int:
    """Bytes on a link of a packet of ``ip_bytes``; ``compressed`` where RTP headers are, at their best."""
    size = ip_bytes - HEADERS + COMPRESSED if compressed and ip_bytes >= HEADERS else ip_bytes
    frame = size + OVERHEAD[link.framing] + (TAG if link.tagged else 0)
    if link.framing is Framing.ATM:
        return -(-frame // CELL_PAYLOAD) * CELL
    return max(frame, ETHERNET_MINIMUM) if link.framing is Framing.ETHERNET else frame
