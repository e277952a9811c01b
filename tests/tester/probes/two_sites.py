"""Two stations with a router between them, and an intent for it: what the tests of testers of packets measure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from qosforge.intent.loader import LoadedIntent, load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network

Described = dict[str, Any]
"""A flow, or a file, as YAML has it."""

VOICE = {
    "name": "voice", "from": "h1", "to": "h2", "application": "rtp-audio", "dst_port": 16384, "dscp": 46,
    "source": {"kind": "cbr", "rate": "80 kb/s", "ip_bytes": 200},
}  # fmt: skip
FLOOD = {
    "name": "flood", "from": "h1", "to": "h2", "dst_port": 9000, "count": 2,
    "source": {"kind": "poisson", "rate": "400 kb/s", "ip_bytes": 700},
}  # fmt: skip
FILES = {
    "name": "files", "from": "h1", "to": "h2", "protocol": "tcp", "dst_port": 5201, "count": 2,
    "source": {"kind": "tcp"},
}  # fmt: skip
INTENT = """\
version: 1
intent: two-sites
classes:
  - name: voice
    match: {any: [{dscp: [ef]}]}
    treatment: {priority: {percent: 30}}
    objective: {delay: {p95: 20 ms}, loss: 5 %%}
  - name: default
apply:
  - {role: [edge], interfaces: wan, direction: output}
verify:
  - {from: h1, to: h2, classes: [voice], seconds: %d}
"""


def write(folder: Path, flows: list[Described], probes: Described | None = None, *, line: str = "1 Mb/s",
          addresses: tuple[str, str] = ("10.9.1.1", "10.9.2.1")) -> Path:  # fmt: skip
    """The network's folder."""
    ports = {"FastEthernet0/0": {"rate": "100 Mb/s"}, "FastEthernet0/1": {"rate": line, "tags": ["wan"]}}
    stations = [
        {"name": name, "address": address, "attach": ["r", port], "rate": "100 Mb/s"}
        for name, address, port in zip(("h1", "h2"), addresses, ports, strict=True)
    ]
    device = {
        "platform": "cisco_ios",
        "data": {"image": "12.4", "role": "edge", "driver": "ios_legacy", "interfaces": ports},
    }
    files = {
        "hosts.yaml": {"r": device},
        "links.yaml": {"links": [], "stations": stations},
        "traffic.yaml": {
            "scenarios": [{"name": "both", "title": "Both", "between": [["h1", "h2"]], "flows": flows}]
        },
    }
    if probes is not None:
        files["probes.yaml"] = probes
    for name, content in files.items():
        with (folder / name).open("w") as file:
            YAML().dump(content, file)
    return folder


def intent(folder: Path, seconds: int = 2) -> LoadedIntent:
    """The intent, whose one check measures for so long."""
    path = folder / "intent.yaml"
    path.write_text(INTENT % seconds)
    return load_intent(path)


def network(folder: Path, flows: list[Described], probes: Described | None = None, **more: Any) -> Network:
    """The network."""
    return load_network(write(folder, flows, probes, **more))


SLOW = """\
#!/bin/sh
case "$*" in {sends}) sleep {seconds} ;; esac
exec {mgen} "$@"
"""


def slow_mgen(folder: Path, seconds: float, monkeypatch: pytest.MonkeyPatch, sends: str = '*" UDP SRC "*') -> None:
    """Have MGEN take so long to begin where its words are like ``sends``, a pattern of the shell."""
    slow = folder / "slow" / "mgen"
    slow.parent.mkdir()
    slow.write_text(SLOW.format(sends=sends, seconds=seconds, mgen=shutil.which("mgen")))
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
