"""A host of namespaces: a network, mounts and processes of its own, which end with the lab's process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from qoslab.errors import StartError

_NEEDED = {
    "find": "findutils",
    "ip": "iproute2",
    "ln": "coreutils",
    "tc": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
_SBIN = ("/usr/sbin", "/sbin")
_HOLDER = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
)


def require(programs: Sequence[str], more: dict[str, str] | None = None) -> None:
    """Make sure that namespaces can be had here.

    Raises StartError, which names the privilege or the package that is missing.
    """
    packages = {**_NEEDED, **(more or {})}
    missing = sorted({packages[name] for name in programs if _found(name) is None})
    if missing:
        raise StartError(f"Linux routers need {', '.join(missing)}: install the packages")
    if os.geteuid() != 0:
        raise StartError("Linux routers need network namespaces, which root alone may make: run it as root")


def _found(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *_SBIN)))


class Host:
    """One host. Its files are below ``state``: ``run`` is its /run, ``etc`` what of /etc is its own, and lasts.

    Nothing of it has a name outside: it is held by a process that the kernel kills when the lab's process ends,
    however it ends, and with it all that runs inside.
    """

    def __init__(self, name: str, state: Path) -> None:
        self.name = name
        self._state = state
        self._holder: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Make the namespaces. Raises StartError where the kernel refuses them."""
        below, own = self._state / "run", self._state / "etc" / "qosforge"
        (below / "sshd").mkdir(parents=True, exist_ok=True)
        (below / "etc").mkdir(exist_ok=True)
        own.mkdir(parents=True, exist_ok=True)
        # Its /etc has the machine's entries, and one of its own, which outlives it. The links are in memory: on a
        # disk to make them takes longer than all else here.
        inside = (
            'mount --bind "$0" /run && mount --bind /etc /run/etc && mount -t tmpfs -o mode=755 etc /etc && '
            "find /run/etc -mindepth 1 -maxdepth 1 ! -name qosforge -exec ln -s -t /etc {} + && "
            'mkdir /etc/qosforge && mount --bind "$1" /etc/qosforge && '
            "ip link set lo up && echo ready && exec sleep infinity"
        )
        self._holder = subprocess.Popen(  # noqa: S603  # our own words
            [*_HOLDER, "sh", "-c", inside, str(below), str(own)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PATH": os.pathsep.join((os.environ.get("PATH", ""), *_SBIN))},
        )
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        if self._holder.stdout.readline().strip() != "ready":
            said = self._holder.stderr.read().strip()
            self.stop()
            raise StartError(f"router {self.name}: the kernel gives no namespaces: {said}")

    def stop(self) -> None:
        """End it and all that runs inside; again does no harm."""
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.kill()
            holder.wait()
            for stream in (holder.stdout, holder.stderr):
                if stream is not None:
                    stream.close()

    @property
    def pid(self) -> int:
        """The process that the namespaces belong to, as others see it."""
        assert self._holder is not None
        # `unshare` forks: the namespaces of processes are its child's.
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text()
        return int(children.split()[0])

    def command(self, *words: str) -> list[str]:
        """The command that runs another one inside."""
        return ["nsenter", "--target", str(self.pid), "--net", "--mount", "--pid", "--", *words]

    def run(self, *words: str, data: str = "") -> str:
        """Run a command inside; what it says. Raises StartError where it fails."""
        return run(*self.command(*words), data=data)

    def plug(self, port: str, far: Host, far_port: str) -> None:
        """Make a port here and one there, with a cable between them. Raises StartError where one cannot be made."""
        # From outside, where both have process numbers.
        ends = [port, "netns", str(self.pid), "type", "veth", "peer", "name", far_port, "netns", str(far.pid)]
        run("ip", "link", "add", *ends)


def run(*words: str, data: str = "") -> str:
    """Run a command; what it says. Raises StartError where it fails."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *_SBIN))
    done = subprocess.run(  # noqa: S603  # our own words
        words, input=data, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    if done.returncode:
        raise StartError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
