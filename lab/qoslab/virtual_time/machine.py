"""QEMU in virtual time: the guest's clock counts its instructions, and waits pass almost at once.

One instruction is one nanosecond, so that the same plan gives the same bytes. A second thread of QEMU moves the
clock where the guest's processor halts; so it never does but while it boots, of which packets know nothing
(`idle.py`, `guest/send.py`, `launch.py`). Source: "TCG Instruction Counting" of QEMU's documentation.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qoslab.errors import LabError
from qoslab.virtual_time.cpio import Entry, File, Link, archive
from qoslab.virtual_time.idle import idle_program
from qoslab.virtual_time.parts import copied, interpreter, kernel, merged, modules, program, with_libraries

_GUEST = Path(__file__).with_name("guest")
_MODULES = ("kernel/net/sched/", "kernel/drivers/net/veth")
_IMPORTS = ("array", "gc", "_socket", "struct", "time")
_TOOLS = (("ip", "iproute2"), ("tc", "iproute2"))
_COMMAND_LINE = (
    # Programs stand where they stood before: QEMU translates their code once, and not again for each process.
    "console=ttyS0 panic=-1 rdinit=/init nokaslr norandmaps mitigations=off {more} "
    "cryptomgr.notests "  # the kernel need not try its ciphers, which takes a tenth of its start
    # Known, so that nothing is calibrated: the loops in which a kernel does that are slow under a count.
    "tsc=reliable clocksource=tsc tsc_early_khz=1000000 lpj=1000000 no_timer_check nolapic noapic"
)
_LAUNCH = (sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")))
_IDLE_NOPS = 500
"""Near the longest round that QEMU translates as one: ten seconds of waiting take less than one of a processor."""
_TOLD = 12
"""Lines of the guest's console that an error shows."""


@dataclass(frozen=True, slots=True)
class GuestRun:
    """What a guest left: its results by file name, and what it printed."""

    results: Mapping[str, bytes]
    log: str


def boot(plan: Mapping[str, bytes], *, memory_mb: int = 256, seconds: float = 600.0) -> GuestRun:
    """Boot the guest with a plan (files below ``/plan``; ``main`` is the script it runs) and wait until it is over.

    ``seconds`` of this machine's time bound it.
    Raises PartMissing, and LabError where the guest or its script fail.
    """
    qemu = program("qemu-system-x86_64", "qemu-system-x86")
    chosen = kernel()
    with tempfile.TemporaryDirectory(prefix="qoslab-virtual-time-") as name:
        folder = Path(name)
        files: dict[str, Entry] = {f"plan/{path}": File(content) for path, content in plan.items()}
        files |= idle_program(_IDLE_NOPS)
        (folder / "initramfs").write_bytes(system(_TOOLS, _MODULES, _IMPORTS) + archive(files))
        console, results = folder / "console", folder / "results"
        command = [*_LAUNCH, str(qemu), *options(memory_mb)]
        command += ["-kernel", str(chosen.image), "-initrd", str(folder / "initramfs")]
        command += ["-append", command_line("ipv6.disable=1")]
        command += ["-serial", f"file:{console}", "-serial", f"file:{results}"]
        _run(command, console, seconds)
        return _collected(results, console)


def command_line(more: str) -> str:
    """What the kernel is told, with some words more."""
    return _COMMAND_LINE.format(more=more)


def options(memory_mb: int) -> list[str]:
    """QEMU's options for a guest of one processor in virtual time."""
    return [
        *("-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot"),
        *("-machine", "pc", "-m", str(memory_mb), "-cpu", "qemu64", "-smp", "1", "-seed", "1"),
        *("-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=0,sleep=off"),
        *("-rtc", "base=2020-01-01T00:00:00,clock=vm"),
    ]


@cache
def system(programs: tuple[tuple[str, str], ...], modules_: tuple[str, ...], imports: tuple[str, ...]) -> bytes:
    """The part of the first file system that all plans share: programs with their packages, modules of the kernel
    by the beginning of their paths, and Python with what it imports.

    Raises PartMissing.
    """
    busybox = program("busybox", "busybox-static")
    paths = [program(name, package) for name, package in programs]
    links: dict[str, Entry] = {f"sbin/{path.name}": Link(str(path)) for path in paths}
    tools = merged(with_libraries(path) for path in paths)
    guest: dict[str, Entry] = {
        f"guest/{path.name}": copied(path) for path in sorted(_GUEST.glob("*")) if path.is_file()
    }
    return archive(
        merged(
            (
                tools,
                {path: link for path, link in links.items() if f"/{path}" not in tools},
                modules(kernel(), modules_),
                interpreter(imports),
                guest,
                {
                    "init": copied(_GUEST / "init", executable=True),
                    "bin/busybox": copied(busybox, executable=True),
                    "sbin/modprobe": Link("/bin/busybox"),  # the kernel asks it for schedulers that tc names
                },
            )
        )
    )


def _run(command: list[str], console: Path, seconds: float) -> None:
    try:
        done = subprocess.run(  # noqa: S603 (programs found by name, no shell)
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise LabError(
            f"the guest was not over after {seconds:g} s; it said last:\n{last_words(console)}"
        ) from None
    if done.returncode:
        raise LabError(f"QEMU ended with {done.returncode}: {done.stderr.strip()}")


def _collected(results: Path, console: Path) -> GuestRun:
    try:
        with tarfile.open(fileobj=io.BytesIO(results.read_bytes())) as tar:
            files = {
                Path(member.name).name: content.read()
                for member in tar
                if (content := tar.extractfile(member)) is not None
            }
    except (OSError, tarfile.TarError):
        raise LabError(f"the guest left no results; it said last:\n{last_words(console)}") from None
    log = files.pop("log", b"").decode(errors="replace")
    if files.pop("code", b"").strip() != b"0":
        raise LabError(f"a command failed in the guest:\n{_tail(log)}")
    return GuestRun(files, log)


def last_words(console: Path) -> str:
    """What a guest said last."""
    return _tail(console.read_text(errors="replace")) if console.is_file() else "nothing"


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_TOLD:])
