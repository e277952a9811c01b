"""Send the plan's packets at their times, and note when each went."""

# Of itself: the module around it makes enumerations, which takes a guest longer than many packets.
import _socket as socket
import gc
import os
from array import array
from struct import pack_into
from time import CLOCK_MONOTONIC, CLOCK_REALTIME, clock_gettime_ns, sleep

RECEIVER = ("10.0.2.2", 9000)
SO_SNDBUFFORCE = 32  # Linux has it, the module of the language does not
HEADERS = 14 + 20 + 8
S = 1_000_000_000
SOON_NS = 1_000_000


def numbers(name: str, code: str) -> "array[int]":
    found = array(code)
    with open(f"/plan/{name}", "rb") as file:
        found.frombytes(file.read())
    return found


def opened(flow: int, tos: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    found.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)
    found.bind(("10.0.1.2", 5000 + flow))
    found.connect(RECEIVER)
    return found


def whole_second() -> int:
    """Sleep into a second of the kernel's own time, and tell when the next one begins.

    Its ticks come at whole milliseconds of that time. How long the boot took may differ by nanoseconds, and with it
    where packets would stand between the ticks.
    """
    sleep((S - clock_gettime_ns(CLOCK_MONOTONIC) % S + SOON_NS) / S)
    ahead = clock_gettime_ns(CLOCK_REALTIME) - (now := clock_gettime_ns(CLOCK_MONOTONIC))
    return now // S * S + S + ahead


def main() -> None:
    times, flows, sizes = numbers("times", "Q"), numbers("flows", "H"), numbers("sizes", "H")
    sends = [opened(flow, tos).send for flow, tos in enumerate(numbers("tos", "B"))]
    payload = bytearray(65536)
    view = memoryview(payload)
    sent = array("Q", bytes(8 * len(times)))
    gc.disable()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))  # wakes to the nanosecond, before anything else
    begin = whole_second()
    for number, at in enumerate(times):
        pack_into("<I", payload, 0, number)
        left = begin + at - clock_gettime_ns(CLOCK_REALTIME)
        if left > 0:
            sleep(left / 1e9)
        send, size = sends[flows[number]], sizes[number] - HEADERS
        now = clock_gettime_ns(CLOCK_REALTIME)
        send(view[:size])
        sent[number] = now
    with open("/results/sent", "wb") as file:
        file.write(array("Q", [begin]).tobytes() + sent.tobytes())


main()
