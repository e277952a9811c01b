"""Random networks of all platforms: an intent on some devices, and what they run, with secrets and banners in it.

A network can lose definitions of what its devices come to hold.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from hypothesis import assume
from hypothesis import strategies as st

from qosforge.batfish.check import BatfishCheck, prepare_check
from qosforge.compiler.candidate import predict_configurations
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import QosforgeError
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.platforms.base import platform
from tests.compiler.goldens import booted_with, every_platform
from tests.compiler.support import intents as intents_of_routers
from tests.importing.test_random import intents as intents_of_all

PARTLY_MODELLED = "force10_e300"
"""Of this platform Batfish reads no policy: references to it and from it are not said to be checked."""
NO_FORMAT = "nortel_5510"
DEVICES = {device.name: device.platform for device in every_platform().devices}
APPLY = (
    {"interfaces": "lan", "direction": "input"},
    {"interfaces": ["wan", "trunk"], "direction": "output"},
    {"interfaces": "wan", "direction": "output"},
    {"interfaces": ["lan", "trunk"], "direction": "input"},
)
BANNERS = (
    "banner motd ^CKeep out^C",
    "banner motd ^C\nAccess to this device is logged.\n  No entry without leave\n^C",
    "banner login ^C\ninterface of the campus\npolicy-map of the town\nip access-list extended nothing\n^C",
    "banner exec #\nhostname is no secret\n permit nobody\nRelease: Cisco IOS XR, feature voice\n#",
    "banner motd ^C\nclass-map match-all guests\n match any who come\nAsk the desk for help. ^C",
)


@dataclass(frozen=True)
class Loss:
    """A definition that is taken out of what a device comes to hold, though it is referred to."""

    device: str
    kind: str
    name: str


@dataclass(frozen=True)
class RandomNetwork:
    """Devices that an intent compiles for without an error, what they run, and the secrets in it."""

    compilation: Compilation
    running: Mapping[str, str]
    secrets: tuple[str, ...]
    marker: str
    choice: int
    intent: str

    def __repr__(self) -> str:
        hostnames = {name: _HOSTNAME.findall(text) for name, text in self.running.items()}
        return f"{hostnames}, {self.choice}: {self.intent}"

    @cached_property
    def predicted(self) -> Mapping[str, PredictedConfiguration]:
        """What the devices come to hold."""
        return predict_configurations(self.compilation, self.running)

    @property
    def modelled(self) -> set[str]:
        """The devices whose format Batfish has."""
        return {name for name in self.running if DEVICES[name] != NO_FORMAT}

    def check(self) -> BatfishCheck:
        """What is asked of the change as it is."""
        return prepare_check(self.compilation, self.running, self.predicted)

    def with_losses(self) -> tuple[BatfishCheck, tuple[Loss, ...]]:
        """What is asked where every device loses a definition, if it has one, and what each loses."""
        predicted, losses = dict(self.predicted), []
        for name, made in self.predicted.items():
            grammar = platform(DEVICES[name]).grammar
            text = tree_text(made.target, grammar)
            known = [] if name not in self.modelled else list(definitions(text, DEVICES[name]))
            if known:
                kind, lost = known[self.choice % len(known)]
                predicted[name] = replace(made, target=grammar.parse(without(text, kind, lost)))
                losses.append(Loss(name, kind, lost))
        return prepare_check(self.compilation, self.running, predicted), tuple(losses)


_HOSTNAME = re.compile(r"^hostname (\S+)", re.MULTILINE)
_HEADS = {
    "class-map": re.compile(r"class-map (?:match-\w+ )?(\S+)"),
    "policy-map": re.compile(r"policy-map (\S+)"),
    "access-list": re.compile(r"(?:ip )?access-list (?:standard |extended )?(\S+)"),
}
_REFERENCES = {
    "class-map": r" (?:class|match class-map|match not class-map) {}(?!\S)",
    "policy-map": r" service-policy (?:input |output )?{}(?!\S)",
    "access-list": r" (?:match (?:not )?(?:ip )?|rate-limit (?:in|out)put )access-group (?:name )?{}(?!\S)",
}


def definitions(text: str, held_by: str) -> Iterator[tuple[str, str]]:
    """What a text defines and refers to elsewhere, each a kind and a name, as far as Batfish models it."""
    kinds = ("access-list",) if held_by == PARTLY_MODELLED else tuple(_HEADS)
    for kind in kinds:
        for name in dict.fromkeys(found[1] for line in text.splitlines() if (found := _HEADS[kind].match(line))):
            reference = re.compile(_REFERENCES[kind].format(re.escape(name)))
            if any(reference.search(line) for line in without(text, kind, name).splitlines()):
                yield kind, name


def without(text: str, kind: str, name: str) -> str:
    """A text without a definition."""
    kept, inside = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            found = _HEADS[kind].match(line)
            inside = found is not None and found[1] == name
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def _secret() -> str:
    return secrets.token_hex(16)


def planted(text: str, banner: str, hostname: str | None, marker: str) -> tuple[str, tuple[str, ...]]:
    """What a device boots with, with secrets, a banner and perhaps another host name in it; and these secrets."""
    enable, community, key, password = made = tuple(_secret() for _ in range(4))
    head = [
        f"enable secret 0 {enable}",
        f"snmp-server community {community} RO",
        "key chain ring",
        " key 1",
        f"  key-string {key}",
        *banner.splitlines(),
        f"ip access-list standard {marker}",
        " permit any",
    ]
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("line vty") or line == "end":
            continue
        lines.append(f"hostname {hostname}" if hostname and line.startswith("hostname ") else line)
        if line.startswith("hostname "):
            lines += head
        elif line.startswith("interface "):
            lines.append(f" description of {community}, ask for it")
    lines += ["line vty 0 4", f" password {password}", " login local"]
    return "\n".join((*lines, "end")) + "\n", made


@st.composite
def networks(draw: st.DrawFn) -> RandomNetwork:
    """Two to five devices of an intent: some of one host name, some that hold the intent already."""
    document = json.loads(draw(intents_of_routers())) if draw(st.booleans()) else draw(intents_of_all())
    document["apply"] = list(draw(st.lists(st.sampled_from(APPLY), min_size=1, max_size=2, unique_by=str)))
    names = draw(st.lists(st.sampled_from(sorted(DEVICES)), min_size=3, max_size=5, unique=True))
    hostname = draw(st.sampled_from([None, "Switch", "R1"]))
    running, made, marker = {}, list[str](), f"marker-{_secret()}"
    for name in names:
        text = booted_with()[name]
        if DEVICES[name] != NO_FORMAT:
            text, some = planted(text, draw(st.sampled_from(BANNERS)), hostname, marker)
            made += some
        running[name] = text
    if draw(st.booleans()):
        held = predict_configurations(_compiled(document, running), running)
        running = {name: tree_text(held[name].target, platform(DEVICES[name]).grammar) for name in held}
        assume(running)
    compilation = _compiled(document, running)
    running = {device.name: running[device.name] for device in compilation.devices}
    return RandomNetwork(compilation, running, tuple(made), marker, draw(st.integers(0, 99)), json.dumps(document))


def _compiled(document: object, running: Mapping[str, str]) -> Compilation:
    """The intent on those of the devices that it compiles for without an error."""
    network = every_platform()
    devices = tuple(device for device in network.devices if device.name in running)
    try:
        intent = parse_intent(json.dumps(document), "random.yaml")
        whole = compile_intent(intent, network.model_copy(update={"devices": devices}), running)
    except QosforgeError:
        assume(False)
        raise
    refused = {finding.device for finding in whole.findings if finding.severity is Severity.ERROR}
    assume(refused.issubset(running))
    right = tuple(device for device in whole.devices if device.name not in refused and device.blocks)
    assume(len(right) > 1 and any(DEVICES[device.name] != NO_FORMAT for device in right))
    return replace(whole, devices=right)
