"""Files of compiled devices in a folder that the user named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from qosforge.cli.output import write_file, writing
from qosforge.cli.terminal import progress

INCOMPLETE = "not complete: findings stand against it"
"""What is said of a device whose configuration may not be used."""


def write_device_files(folder: Path, ending: str, texts: Mapping[str, str], complete: Collection[str]) -> None:
    """Write ``DEVICE.ending`` of every device that is complete.

    Of the others there is no file: one that an earlier compilation left is removed.

    Raises:
        InputError: a file cannot be written there, or not removed.
    """
    for device, text in texts.items():
        path = folder / f"{device}.{ending}"
        if device in complete:
            write_file(path, text)
            continue
        removed = path.is_file()
        if removed:
            with writing(path):
                path.unlink()
        progress("not written", f"{path}: {INCOMPLETE}{'; the earlier file is removed' if removed else ''}")
