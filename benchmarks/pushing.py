"""A push to hundreds of devices against a bare Nornir and Netmiko script that asks and enters the same.

The lab of a made campus is pushed to by the command line, from nothing to the change that is saved, and again where
there is nothing to change. What devices were asked and given is read from the lab's own record of what was typed.
Then the same lab, new again, is given the same by the script: as many devices at once, no proof and no record.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmiko import BaseConnection, ConnectHandler
from nornir.core import Nornir
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.core.task import Result, Task
from nornir.plugins.runners import ThreadedRunner

from benchmarks.campus import INTENT_OF_ALL, write_campus
from benchmarks.serving import command
from benchmarks.timing import Ratio
from qosforge.deploy.credentials import Credentials, lab_credentials
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.overlay import state_folder
from qosforge.inventory.rollout import MOST_AT_ONCE
from qoslab import control

DEVICES = 300
FEWER = 100
_NETMIKO = {
    "catalyst_2970": "cisco_ios",
    "cisco_ios": "cisco_ios",
    "force10_e300": "dell_force10",
    "nortel_5510": "extreme_ers",
}
_SESSION = ("", "enable", "disable", "exit", "end", "configure terminal")
"""Lines that a session of Netmiko's types by itself."""
_ASKED = r"\[confirm\]\s*$"
_EXEC = ("exec", "enable")
_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Took:
    """What one piece of work took: seconds on the clock, seconds of a processor, megabytes and threads at most."""

    name: str
    seconds: float
    cpu: float
    megabytes: float
    threads: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.seconds:.1f} s, {self.cpu:.1f} s of processor time, "
            f"{self.megabytes:.0f} MB and {self.threads} threads at most"
        )


@dataclass(frozen=True)
class _Lab:
    """The lab of a made campus, and where a command line finds it."""

    folder: Path
    var: Path
    network: Network

    @property
    def state(self) -> Path:
        return state_folder(self.var, self.network.name)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "QOSFORGE_VAR_DIR": str(self.var)}

    def ask(self, *words: str) -> list[str]:
        return [*command(*words), "--network", str(self.folder)]


def measure() -> Iterator[Took | Ratio]:
    """Start of the lab, push, push of nothing, and the same by the script; of two sizes, for the growth."""
    pushes = {}
    for count in (FEWER, DEVICES):
        with tempfile.TemporaryDirectory() as scratch:
            for found in _side_by_side(count, Path(scratch)):
                yield found
                if isinstance(found, Took) and found.name.startswith("push to"):
                    pushes[count] = found.seconds
    yield Ratio(f"push to {DEVICES} / {DEVICES // FEWER} × push to {FEWER}", pushes[DEVICES], 3 * pushes[FEWER])


def _side_by_side(count: int, scratch: Path) -> Iterator[Took | Ratio]:
    lab = _make_lab(count, scratch)
    with _running(lab) as started:
        yield started
        policy = scratch / "all.yaml"
        policy.write_text(INTENT_OF_ALL, encoding="utf-8")
        lines = _record_sessions(lab)
        pushed = _took(f"push to {count} devices", lab.ask("push", str(policy)), lab.environment)
        asked = {name: new[len(lines[name]) :] for name, new in _record_sessions(lab).items()}
        lines = _record_sessions(lab)
        nothing = _took(f"push of nothing to {count} devices", lab.ask("push", str(policy)), lab.environment)
        read = {name: new[len(lines[name]) :] for name, new in _record_sessions(lab).items()}
        yield pushed
        yield nothing
    with _running(lab):
        script = _time(lambda: _script_sessions(lab, asked))
        reading = _time(lambda: _script_sessions(lab, read))
    yield Ratio(f"push to {count} devices / bare script", pushed.seconds, script, at_most=1.2)
    yield Ratio(f"push of nothing to {count} devices / bare reading", nothing.seconds, reading, at_most=1.1)


def _make_lab(count: int, scratch: Path) -> _Lab:
    folder = scratch / f"campus-{count}"
    write_campus(folder, count, changed=0, startup=True)
    return _Lab(folder, scratch / "var", load_network(folder))


@contextmanager
def _running(lab: _Lab) -> Iterator[Took]:
    """The lab, new, with what its devices run saved."""
    started = _took(f"lab of {len(lab.network.devices)} devices", lab.ask("lab", "up"), lab.environment)
    try:
        _script_sessions(lab, {device.name: [("enable", "write memory")] for device in _of_ios(lab.network)})
        yield started
    finally:
        subprocess.run(lab.ask("lab", "clean"), env=lab.environment, check=True, capture_output=True)  # noqa: S603


def _of_ios(network: Network) -> list[Any]:
    return [device for device in network.devices if device.platform != "nortel_5510"]


def _record_sessions(lab: _Lab) -> dict[str, list[tuple[str, str]]]:
    """What was typed at each device so far, each line behind the mode it was typed in."""
    found = {}
    for device in lab.network.devices:
        history: Any = control.request(lab.state, {"op": "typed", "box": device.name})["history"]
        found[device.name] = [(str(mode), str(line)) for mode, line in history]
    return found


# -- the bare script -----------------------------------------------------------------------------------------
def _script_sessions(lab: _Lab, typed: dict[str, list[tuple[str, str]]]) -> None:
    """Ask and enter on each device what was typed at it, by Netmiko, as many devices at once as a push has.

    Raises:
        RuntimeError: a device failed, so that nothing was measured.
    """
    overlay = control.overlay(lab.state)
    hosts = Hosts()
    for device in lab.network.devices:
        if device.name in typed:
            address = overlay.boxes[device.name]
            hosts[device.name] = Host(
                device.name, hostname=address.hostname, port=address.port, platform=_NETMIKO[device.platform]
            )
    nornir = Nornir(Inventory(hosts, Groups(), Defaults()), runner=ThreadedRunner(MOST_AT_ONCE))

    def on_host(task: Task) -> Result:
        _enter(task.host, lab_credentials(task.host.name, lab.state), typed[task.host.name])
        return Result(host=task.host)

    results = nornir.run(task=on_host)
    if results.failed:
        raise RuntimeError(f"the script failed on {sorted(results.failed_hosts)}: {results}")


def _enter(host: Host, login: Credentials, typed: list[tuple[str, str]]) -> None:
    with ConnectHandler(
        device_type=str(host.platform),
        host=host.hostname,
        port=host.port,
        username=login.username,
        password=login.password,
        secret=login.secret,
    ) as connection:
        connection.enable()
        lines: list[str] = []
        for mode, line in typed:
            if mode not in _EXEC:
                lines.append(line)
                continue
            if lines:
                connection.send_config_set([line for line in lines if line != "end"])
                lines = []
            if line not in _SESSION:
                _ask(connection, line)


def _ask(connection: BaseConnection, line: str) -> None:
    prompt = rf"{re.escape(connection.base_prompt)}.*[#>]\s*$"
    said = connection.send_command(line, expect_string=rf"(?:{prompt}|{_ASKED})", read_timeout=60)
    if re.search(_ASKED, str(said)):
        connection.send_command("", expect_string=prompt)


# -- timing --------------------------------------------------------------------------------------------------
def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _took(name: str, words: list[str], environment: dict[str, str]) -> Took:
    """Run a command to its end.

    Raises:
        RuntimeError: it failed.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    most = [0.0, 0]
    watching = threading.Thread(target=_watch, args=(process, most))
    watching.start()
    said, _ = process.communicate()
    seconds = time.perf_counter() - began
    watching.join()
    if process.returncode != 0:
        raise RuntimeError(f"{name} ended with {process.returncode}: {said[-2000:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return Took(name, seconds, cpu, most[0], int(most[1]))


def _watch(process: subprocess.Popen[str], most: list[float]) -> None:
    """Note the most memory and threads that a process has while it runs."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            told = dict(line.split(":", 1) for line in status.read_text().splitlines())
            most[0] = max(most[0], int(told["VmHWM"].split()[0]) / 1000)
            most[1] = max(most[1], int(told["Threads"]))
        except (OSError, KeyError):  # it has just ended
            return
        time.sleep(_LOOK_SECONDS)
