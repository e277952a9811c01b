"""Reading the devices for a request: a device that never comes to an end is named, and holds nobody up for long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.previews import Previews
from qosforge.compute import Compute
from qosforge.errors import DeviceErrors
from qosforge.inventory.catalogue import Networks
from qosforge.inventory.models import Device, DeviceRole, Network
from qosforge.settings import Settings
from tests.drivers.hostile import HEALTHY, Devices, Way, drip
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.hostile

REQUEST_SECONDS = 6
CALL = AuditEntry("POST /api/v1/validate")


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    """Two devices, of which ``bad`` drips when it is read."""
    for name in ("USERNAME", "PASSWORD", "SECRET"):
        monkeypatch.setenv(f"QOSFORGE_{name}", "lab")
    with Devices() as devices:
        ports = {"bad": devices.add(Way("drips", "read", drip)), "good": devices.add(HEALTHY)}
        state = tmp_path / "var" / "lab" / "pair"
        state.mkdir(parents=True)
        boxes = {name: {"hostname": "127.0.0.1", "port": port} for name, port in ports.items()}
        with (state / "overlay.yaml").open("w") as file:
            YAML().dump({"boxes": boxes}, file)
        lines = [f"[127.0.0.1]:{port} {devices.host_key}\n" for port in ports.values()]
        (state / "known_hosts").write_text("".join(lines))
        made = tuple(
            Device(
                name=n, platform="cisco_ios", image="12.4", role=DeviceRole.EDGE, driver="ios_legacy", interfaces=()
            )
            for n in ports
        )
        yield Network(name="pair", devices=made, links=(), stations=())


@pytest.fixture
def previews(tmp_path: Path) -> Previews:
    settings = Settings(var_dir=tmp_path / "var", request_seconds=REQUEST_SECONDS)
    nothing: Any = None
    return Previews(settings, cast(Networks, nothing), cast(Compute, nothing))


def test_a_dripping_device_is_named_within_the_time_of_the_request(previews: Previews, network: Network) -> None:
    watch = Stopwatch()
    now, errors = previews.answers(CALL, network)
    assert watch.seconds < REQUEST_SECONDS + 2
    assert set(now.running) == {"good"}
    assert "the time of the request is over" in errors["bad"].message
    assert errors["bad"].hint
    with previews.alone("pair"):
        pass  # the next call has its turn


def test_the_end_of_the_service_ends_what_is_read(previews: Previews, network: Network) -> None:
    timer = Timer(1.5, previews.sessions.close, ["the service ends"])
    timer.start()
    watch = Stopwatch()
    with pytest.raises(DeviceErrors, match="the service ends"):
        previews.running(CALL, network)
    assert watch.seconds < 3
