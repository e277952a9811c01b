"""What the guest is made of: programs, libraries and a kernel from this machine's packages (names are Debian's)."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from qoslab.errors import LabError
from qoslab.virtual_time.cpio import Entry, File, Link

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PYTHON = "/usr/bin/python3"
_SECONDS = 30
_LOADED = """
import sys, {names}
for module in list(sys.modules.values()):
    spec = getattr(module, "__spec__", None)
    for path in (getattr(module, "__file__", None), spec and spec.cached):
        if path:
            print(path)
"""


class PartMissing(LabError):
    """A program or a kernel that this machine does not have; ``package`` brings it."""

    def __init__(self, what: str, package: str) -> None:
        super().__init__(f"no {what} on this machine (to install: apt-get install {package})")
        self.package = package


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of the distribution: its release, its image, and the folder of its modules."""

    release: str
    image: Path
    modules: Path


def program(name: str, package: str) -> Path:
    """Where a program of the machine is; raises PartMissing."""
    found = shutil.which(name, path=_SYSTEM)
    if found is None:
        raise PartMissing(f"program {name}", package)
    return Path(found)


def kernel(boot: Path = Path("/boot"), modules: Path = Path("/lib/modules")) -> Kernel:
    """The newest installed kernel for clouds, else the newest; raises PartMissing."""
    found = [
        Kernel(release, image, modules / release)
        for image in boot.glob("vmlinuz-*")
        if (modules / (release := image.name.removeprefix("vmlinuz-")) / "modules.dep").is_file()
    ]
    if not found:
        raise PartMissing(f"kernel in {boot} with modules in {modules}", "linux-image-cloud-amd64")
    return max(found, key=lambda one: ("cloud" in one.release, _numbers(one.release)))


def with_libraries(path: Path) -> dict[str, Entry]:
    """A program under its own path and every shared library that it loads, under theirs."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603, S607 (found by name, no shell)
    libraries = re.findall(r"(/\S+) \(0x", done.stdout)
    return {str(one): copied(Path(one), executable=True) for one in (path, *libraries)}


def interpreter(imports: Iterable[str]) -> dict[str, Entry]:
    """The system's Python with what it loads for these modules of its library, and nothing else.

    Raises PartMissing, also where the modules are not in its smallest package.
    """
    if not Path(_PYTHON).is_file():
        raise PartMissing(f"interpreter {_PYTHON}", "python3-minimal")
    command = [_PYTHON, "-I", "-S", "-c", _LOADED.format(names=", ".join(imports))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    if done.returncode:
        raise PartMissing(f"standard library of {_PYTHON}", "python3-minimal")
    entries = with_libraries(Path(_PYTHON).resolve()) | {"bin/python3": Link(str(Path(_PYTHON).resolve()))}
    for line in sorted(set(done.stdout.splitlines())):
        path = Path(line)
        if path.is_file():
            entries |= with_libraries(path) if path.suffix == ".so" else {line: copied(path)}
    return entries


def modules(chosen: Kernel, patterns: Iterable[str]) -> dict[str, Entry]:
    """The kernel's modules whose path below its folder begins with a pattern, what they depend on, and the index.

    Compressed ones are unpacked, so that the guest needs no program for it.
    """
    depend = dict(_dependencies(chosen))
    prefixes = tuple(patterns)
    names = {path for path in depend if path.startswith(prefixes)}
    names |= {needed for path in names for needed in depend[path]}
    folder = f"lib/modules/{chosen.release}"
    entries: dict[str, Entry] = {
        f"{folder}/{_plain(path)}": File(_unpacked(chosen.modules / path)) for path in names
    }
    lines = (f"{_plain(path)}: {' '.join(map(_plain, depend[path]))}".rstrip() for path in sorted(names))
    entries[f"{folder}/modules.dep"] = File("".join(f"{line}\n" for line in lines).encode())
    for name in ("modules.alias", "modules.builtin"):
        entries[f"{folder}/{name}"] = copied(chosen.modules / name)
    return entries


def copied(path: Path, *, executable: bool = False) -> File:
    """A file of this machine as it is, with its time: compiled Python is held to that of its source."""
    return File(path.read_bytes(), executable, int(path.stat().st_mtime))


def _dependencies(chosen: Kernel) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in (chosen.modules / "modules.dep").read_text().splitlines():
        path, _, needed = line.partition(":")
        yield path, tuple(needed.split())


def _plain(path: str) -> str:
    return re.sub(r"\.ko\..*$", ".ko", path)


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(content)
    if path.suffix != ".ko":
        raise LabError(f"{path}: modules compressed like this cannot be unpacked (.ko and .ko.xz can)")
    return content


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release))


def merged(parts: Iterable[Mapping[str, Entry]]) -> dict[str, Entry]:
    """Several parts as one; files that two of them bring are the same."""
    return {path: entry for part in parts for path, entry in part.items()}
