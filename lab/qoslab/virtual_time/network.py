"""The Linux routers of a lab in one guest in virtual time: namespaces there, reached by OpenSSH on loopback here.

The guest's network is QEMU's own (``user``), which forwards ports of loopback and nothing else. The guest never
sleeps: where it has nothing to do, a program of the lowest class counts on, at some nine seconds for each of a
processor. A guest that slept would skip waits, and with them the time in which the far end of a session answers.
So a busy machine makes the guest slow, and its clock with it: what packets wait there is not longer for that.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from qoslab.errors import StartError
from qoslab.routers.cabling import Cabling
from qoslab.routers.router import HOST_KEY, LOGIN_KEY, SSHD_CONFIG, bound, enter, make_keys, public_key
from qoslab.server import ADDRESS
from qoslab.spec import BoxSpec, LinkSpec
from qoslab.virtual_time.cpio import Entry, File, archive
from qoslab.virtual_time.idle import idle_program
from qoslab.virtual_time.machine import command_line, last_words, options, system
from qoslab.virtual_time.parts import copied, kernel, merged, program, with_libraries

READY = "qoslab: ready"
START_SECONDS = 300.0
"""How long a guest may take to start: it does so in some 4 s of an idle processor."""
_GUEST_ADDRESS = "10.0.2.15"
_FIRST_PORT = 2200
_MEMORY_MB = 384
_IDLE_NOPS = 24
"""Instructions of a round of the program that counts on; more make the guest's idle time pass faster."""
_POLL_SECONDS = 0.1
_MODULES = (
    *(
        "kernel/net/sched/",
        "kernel/net/bridge/bridge.ko",
        "kernel/drivers/net/veth",
        "kernel/drivers/net/virtio_net",
    ),
    *("kernel/drivers/virtio/virtio_pci.ko", "kernel/net/netfilter/nf_tables", "kernel/net/netfilter/nft_"),
)
_IMPORTS = ("os", "selectors", "socket")
_PROGRAMS = {
    "dash": "dash",
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
    "sshd": "openssh-server",
    "mgen": "mgen",
    "iperf3": "iperf3",
    "chrt": "util-linux",
    "unshare": "util-linux",
}
_SSHD_PARTS = (Path("/usr/lib/openssh/sshd-session"), Path("/usr/lib/openssh/sshd-auth"))
"""Programs that OpenSSH's server is made of since releases 9.8 and 10.0; where Debian has them."""
_PASSWD = b"root:x:0:0::/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n"
_BEGIN = """\
exec > /dev/ttyS0 2>&1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
rm -f /bin/ip /bin/tc
ln -sf {dash} /bin/sh
mkdir -p /dev/pts /run/sshd /run/netns /run/qosforge /etc/qosforge /root /var/log
ln -s /run /var/run
touch /run/utmp /var/log/wtmp /var/log/lastlog
mount -t devpts devpts /dev/pts
chmod 600 /hosts/*/{key}
modprobe virtio_pci
modprobe virtio_net
ip link set lo up
ip address add {address}/24 dev eth0
ip link set eth0 up
"""
_END = """\
setsid python3 -S /guest/serve.py &
wait
"""


class GuestHost:
    """A host in the guest, by what a script says of it: it is run when the guest starts."""

    def __init__(self, name: str, script: list[str]) -> None:
        self.name = re.sub(r"[^A-Za-z0-9_.-]", "-", name)  # a folder's, and a word of the shell
        self._script = script

    def start(self) -> None:
        """Have it made."""
        self._script += [
            f"mkdir -p /etc/netns/{self.name}/qosforge /hosts/{self.name}/run",
            f"ip netns add {self.name}",
            f"ip -n {self.name} link set lo up",
            # Routers forward; stations have one port only, and might.
            f"ip netns exec {self.name} sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
        ]

    def stop(self) -> None:
        """Nothing: it ends with the guest."""

    def run(self, *words: str, data: str = "") -> str:
        """Have a command run inside; the guest does not start where it fails. Says nothing, since it runs later."""
        command = f"ip netns exec {self.name} {shlex.join(words)}"
        self._script.append(f"{command} <<'END-OF-DATA'\n{data}END-OF-DATA" if data else command)
        return ""

    def plug(self, port: str, far: GuestHost, far_port: str) -> None:
        """Have a port made here and one there, with a cable between them."""
        ends = f"{shlex.quote(port)} netns {self.name} type veth peer name {shlex.quote(far_port)} netns {far.name}"
        self._script.append(f"ip link add {ends}")


@dataclass
class SshHost:
    """A host that an SSH server of its own makes reachable at a port of loopback. Its keys are in ``state``."""

    host: GuestHost
    state: Path
    port: int = 0
    spec: BoxSpec | None = None

    @property
    def key(self) -> Path:
        """The private key that logs in."""
        return self.state / LOGIN_KEY

    @property
    def public_key(self) -> str:
        """The key that the server shows."""
        return public_key(self.state)


@dataclass
class GuestNetwork:
    """All Linux routers of a network with their stations, in one guest. What routers save is gone with it."""

    boxes: Sequence[BoxSpec]
    links: Sequence[LinkSpec]
    state: Path
    routers: dict[str, SshHost] = field(default_factory=dict)
    stations: dict[str, SshHost] = field(default_factory=dict)
    _qemu: subprocess.Popen[str] | None = None

    @property
    def process(self) -> int:
        """QEMU's process."""
        assert self._qemu is not None
        return self._qemu.pid

    async def start(self) -> None:
        """Start the guest and wait until it answers.

        Raises PartMissing where this machine lacks a program or a kernel, and StartError where the guest does not
        come up.
        """
        script = self._script()
        hosts = [*self.routers.values(), *self.stations.values()]
        for one in hosts:
            make_keys(one.state)
        _choose_ports(hosts)
        servers = "".join(f"{_FIRST_PORT + n} {one.host.name}\n" for n, one in enumerate(hosts))
        plan = {"main": "".join(f"{line}\n" for line in script), "servers": servers}
        self.state.mkdir(parents=True, exist_ok=True)
        console, image = self.state / "console", self.state / "initramfs"
        console.unlink(missing_ok=True)
        own = _server_files(hosts) | {f"plan/{name}": File(text.encode()) for name, text in plan.items()}
        image.touch(mode=0o600)  # it has keys
        image.write_bytes(system(tuple(_PROGRAMS.items()), _MODULES, _IMPORTS) + archive(own))
        forwarded = "".join(
            f",hostfwd=tcp:{ADDRESS}:{one.port}-{_GUEST_ADDRESS}:{_FIRST_PORT + n}" for n, one in enumerate(hosts)
        )
        command = [
            *("setpriv", "--pdeathsig", "KILL", "--"),  # ends with the lab, however that ends
            *(str(program("qemu-system-x86_64", "qemu-system-x86")), *options(_MEMORY_MB)),
            *("-cpu", "qemu64,+rdrand"),  # sshd waits for randomness
            *("-kernel", str(kernel().image), "-initrd", str(image), "-serial", f"file:{console}"),
            *("-append", command_line("pci=nomsi random.trust_cpu=on")),
            *("-netdev", f"user,id=loopback,restrict=on{forwarded}", "-device", "virtio-net-pci,netdev=loopback"),
        ]
        self._qemu = subprocess.Popen(  # noqa: S603 (programs found by name, no shell)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        await self._await_ready(console)
        image.unlink()

    def _script(self) -> list[str]:
        """What the guest does when it starts; fills ``routers`` and ``stations``."""
        shell = program("dash", "dash").resolve()
        script = _BEGIN.format(dash=shell, key=HOST_KEY, address=_GUEST_ADDRESS).splitlines()
        for box in self.boxes:
            host = GuestHost(f"routers/{box.name}", script)
            host.start()
            self.routers[box.name] = SshHost(host, self.state / box.name, spec=box)
        hosts = {name: one.host for name, one in self.routers.items()}
        cabling = Cabling(self.links, hosts, lambda name: GuestHost(name, script), late_seconds=0)
        cabling.plug()
        for name, station in cabling.stations.items():
            self.stations[name] = SshHost(station, self.state / "stations" / name)
        for box in self.boxes:
            if box.startup_config is not None:
                enter(hosts[box.name], _read(box).splitlines())
        return [*script, _END]

    async def _await_ready(self, console: Path) -> None:
        assert self._qemu is not None
        end = time.monotonic() + START_SECONDS
        while not (console.is_file() and READY in console.read_text(errors="replace")):
            if self._qemu.poll() is not None:
                assert self._qemu.stderr is not None
                said = self._qemu.stderr.read().strip()
                raise StartError(f"the guest ended: {said}\n{last_words(console)}")
            if time.monotonic() > end:
                raise StartError(f"the guest is not up after {START_SECONDS:g} s:\n{last_words(console)}")
            await asyncio.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End the guest; again does no harm."""
        qemu, self._qemu = self._qemu, None
        if qemu is not None:
            qemu.kill()
            qemu.wait()


def _read(box: BoxSpec) -> str:
    assert box.startup_config is not None
    try:
        return box.startup_config.read_text()
    except (OSError, UnicodeDecodeError) as bad:
        raise StartError(f"router {box.name}: startup configuration: {bad}") from bad


def _server_files(hosts: Sequence[SshHost]) -> dict[str, Entry]:
    """The keys of every host, and what its SSH server needs."""
    files: dict[str, Entry] = {
        "guest/serve.py": copied(Path(__file__).with_name("guest_network") / "serve.py"),
        **idle_program(_IDLE_NOPS),
        "etc/passwd": File(_PASSWD),
        "etc/group": File(b"root:x:0:\n"),
        **merged(with_libraries(path) for path in _SSHD_PARTS if path.is_file()),
    }
    for one in hosts:
        folder = f"hosts/{one.host.name}"
        files[f"{folder}/sshd_config"] = File(
            f"{SSHD_CONFIG.format(state=f'/{folder}')}LoginGraceTime 0\n".encode()
        )
        for name in (HOST_KEY, f"{LOGIN_KEY}.pub"):
            files[f"{folder}/{name}"] = File((one.state / name).read_bytes())
    return files


def _choose_ports(hosts: Sequence[SshHost]) -> None:
    """A port of loopback for each that is free now, the one of last time where that can be.

    All are held until the last one is chosen: one that is let go may be chosen again.
    """
    with ExitStack() as held:
        for one in hosts:
            known = one.state / "port"
            last = int(known.read_text()) if known.is_file() else 0
            wanted = one.spec.port if one.spec is not None else 0
            one.port = int(held.enter_context(bound(wanted or last)).getsockname()[1])
            known.write_text(f"{one.port}\n")
