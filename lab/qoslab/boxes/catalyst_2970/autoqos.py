"""What AutoQoS types on a 2970 (configuration guide 78-15462-03, table 27-5; values of 12.2(25)SEE)."""

from __future__ import annotations

from qoslab.boxes.catalyst.autoqos import Generated
from qoslab.config import Section

_SOFTPHONE = "AutoQoS-Police-SoftPhone"

_INPUT_COS = ("1 threshold 3 0", "1 threshold 2 1", "2 threshold 1 2", "2 threshold 2 4 6 7", "2 threshold 3 3 5")
_OUTPUT_COS = ("1 threshold 3 5", "2 threshold 3 3 6 7", "3 threshold 3 2 4", "4 threshold 2 1", "4 threshold 3 0")
_INPUT_DSCP = (
    "1 threshold 2 9 10 11 12 13 14 15",
    "1 threshold 3 0 1 2 3 4 5 6 7",
    "1 threshold 3 32",
    "2 threshold 1 16 17 18 19 20 21 22 23",
    "2 threshold 2 33 34 35 36 37 38 39 48",
    "2 threshold 2 49 50 51 52 53 54 55 56",
    "2 threshold 2 57 58 59 60 61 62 63",
    "2 threshold 3 24 25 26 27 28 29 30 31",
    "2 threshold 3 40 41 42 43 44 45 46 47",
)
_OUTPUT_DSCP = (
    "1 threshold 3 40 41 42 43 44 45 46 47",
    "2 threshold 3 24 25 26 27 28 29 30 31",
    "2 threshold 3 48 49 50 51 52 53 54 55",
    "2 threshold 3 56 57 58 59 60 61 62 63",
    "3 threshold 3 16 17 18 19 20 21 22 23",
    "3 threshold 3 32 33 34 35 36 37 38 39",
    "4 threshold 1 8",
    "4 threshold 2 9 10 11 12 13 14 15",
    "4 threshold 3 0 1 2 3 4 5 6 7",
)


def _map(place: str, lines: tuple[str, ...]) -> list[str]:
    head = f"mls qos srr-queue {place}-map"
    return [f"no {head}", *(f"{head} queue {line}" for line in lines)]


def _port_lines(port: Section, kind: str) -> list[str]:
    trust = {
        "cisco-phone": ["mls qos trust device cisco-phone", "mls qos trust cos"],
        "cisco-softphone": [f"service-policy input {_SOFTPHONE}"],
        "trust": ["mls qos trust cos"],
    }
    # The buffers of queue set 2 are those of gigabit ports.
    sets = ["queue-set 2"] if "GigabitEthernet" in port.text else []
    return [*sets, "srr-queue bandwidth shape 10 0 0 0", "srr-queue bandwidth share 10 10 60 20", *trust[kind]]


AUTO_QOS = Generated(
    switch=(
        "mls qos",
        "mls qos map cos-dscp 0 8 16 26 32 46 48 56",
        *_map("input cos", _INPUT_COS),
        *_map("output cos", _OUTPUT_COS),
        *_map("input dscp", _INPUT_DSCP),
        *_map("output dscp", _OUTPUT_DSCP),
        "no mls qos srr-queue input priority-queue 1",
        "no mls qos srr-queue input priority-queue 2",
        "mls qos srr-queue input bandwidth 90 10",
        "mls qos srr-queue input threshold 1 8 16",
        "mls qos srr-queue input threshold 2 34 66",
        "mls qos srr-queue input buffers 67 33",
        "mls qos queue-set output 1 threshold 1 138 138 92 138",
        "mls qos queue-set output 1 threshold 2 138 138 92 400",
        "mls qos queue-set output 1 threshold 3 36 77 100 318",
        "mls qos queue-set output 1 threshold 4 20 50 67 400",
        "mls qos queue-set output 2 threshold 1 149 149 100 149",
        "mls qos queue-set output 2 threshold 2 118 118 100 235",
        "mls qos queue-set output 2 threshold 3 41 68 100 272",
        "mls qos queue-set output 2 threshold 4 42 72 100 242",
        "mls qos queue-set output 1 buffers 10 10 26 54",
        "mls qos queue-set output 2 buffers 16 6 17 61",
    ),
    softphone=(
        "mls qos map policed-dscp 24 26 46 to 0",
        "class-map match-all AutoQoS-VoIP-RTP-Trust",
        "match ip dscp ef",
        "class-map match-all AutoQoS-VoIP-Control-Trust",
        "match ip dscp cs3 af31",
        f"policy-map {_SOFTPHONE}",
        "class AutoQoS-VoIP-RTP-Trust",
        "set dscp ef",
        "police 320000 8000 exceed-action policed-dscp-transmit",
        "class AutoQoS-VoIP-Control-Trust",
        "set dscp cs3",
        "police 32000 8000 exceed-action policed-dscp-transmit",
    ),
    port=_port_lines,
    back=(
        "no mls qos trust",
        "no mls qos trust device",
        "no service-policy input",
        "no queue-set",
        "no srr-queue bandwidth shape",
        "no srr-queue bandwidth share",
    ),
)
