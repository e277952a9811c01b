"""What the library's intents compile to, line by line on emulated devices of their releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from qoslab.boxes import installed, make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from tests.answers import refusals
from tests.compiler.goldens import GOLDEN, booted_with, every_platform

DEVICES = {device.name: device for device in every_platform().devices}
EMULATED = {name for name, device in DEVICES.items() if device.platform in installed()}
CONFIGURATIONS = sorted(path for path in GOLDEN.glob("*/*.cfg") if path.stem in EMULATED)


def test_all_devices_are_emulated_but_those_with_a_kernel_of_their_own() -> None:
    assert {device.platform for device in DEVICES.values() if device.name not in EMULATED} == {"linux_tc"}


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_device_of_its_release_takes_every_line(path: Path, tmp_path: Path) -> None:
    device = DEVICES[path.stem]
    spec = BoxSpec(name=device.name, platform=device.platform, image=device.image, username="u", password="p")
    box = make_box(spec, Storage(tmp_path, booted_with()[device.name]), Clock())
    box.boot()
    assert box.boot_messages == []
    assert refusals(box.configure(path.read_text(encoding="utf-8").splitlines())) == []
