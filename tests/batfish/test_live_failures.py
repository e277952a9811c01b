"""A real Batfish behind a relay that hangs, fails, cuts off or refuses in the midst of it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.batfish.folder import BatfishFolder
from qosforge.batfish.http_exchange import Address, exchange
from qosforge.findings import Severity

from .support import LIVE_SECONDS, Behaviour, askers, check, cut, hang, peer, refuse

pytestmark = pytest.mark.batfish


def relay(live: Address, takes: Callable[[bytes], bool], behaviour: Behaviour) -> Behaviour:
    """Carry requests to the service and its answers back; do otherwise from the first request on that is taken."""
    taken = threading.Event()

    def behave(connection: socket.socket, request: bytes) -> None:
        with socket.create_connection((live.host, live.port)) as service:
            threading.Thread(target=_carry, args=(service, connection), daemon=True).start()
            while request:
                if taken.is_set() or takes(request):
                    taken.set()
                    behaviour(connection, request)
                    return
                service.sendall(request)
                request = connection.recv(1 << 16)

    return behave


def _carry(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def works(request: bytes) -> bool:
    """Whether a request begins work of the service: its first parse, or a question."""
    return request.startswith(b"POST ") and b"/work " in request.partition(b"\r\n")[0]


def names(live: Address) -> set[str]:
    return {each["name"] for each in json.loads(exchange(live, "GET", "/v2/networks", 10)[1])}


@pytest.mark.parametrize(("behaviour", "seconds"), [(hang, 12.0), (refuse, 30.0), (cut, 30.0)])
def test_failing_midway_is_a_finding_in_time(
    live: Address, behaviour: Behaviour, seconds: float, tmp_path: Path
) -> None:
    with peer(relay(live, works, behaviour)) as port:
        began = time.monotonic()
        (finding,) = check(port=port, seconds=seconds, folder=tmp_path)
        assert time.monotonic() - began < seconds + 4
    assert (finding.code, finding.severity) == ("batfish-failed", Severity.WARNING)
    assert askers() == []
    installation = BatfishFolder(tmp_path).installation
    for name in [name for name in names(live) if installation in name]:  # no sweep before it has expired
        exchange(live, "DELETE", f"/v2/networks/{name}", 10)


def test_a_deletion_that_is_refused_loses_no_answer(live: Address, tmp_path: Path) -> None:
    deletes = relay(live, lambda request: request.startswith(b"DELETE "), refuse)
    with peer(deletes) as port:
        found = check(port=port, folder=tmp_path, require=True, seconds=LIVE_SECONDS)
    installation = BatfishFolder(tmp_path).installation
    (left,) = (name for name in names(live) if installation in name)
    exchange(live, "DELETE", f"/v2/networks/{left}", 10)
    assert {f.code for f in found} == {
        f.code for f in check(host=live.host, port=live.port, require=True, seconds=LIVE_SECONDS)
    }
    assert "batfish-checked" in {f.code for f in found}
