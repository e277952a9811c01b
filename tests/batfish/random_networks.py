"""Random networks of all platforms: an intent on some devices, and what they run, with secrets and banners in it,
classes within classes and policies of layer 2.

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
_SHOWN = 10_000
"""Characters of an intent in what is said of a network."""
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
NESTED = (
    """\
class-map match-any held-voice
 match ip dscp ef
class-map match-all held-calls
 match class-map held-voice
 match access-group name held-phones
ip access-list extended held-phones
 permit udp 10.0.0.0 0.255.255.255 any range 16384 32767
policy-map held-in
 class held-calls
  set ip dscp ef
""",
    """\
ip access-list standard held-guests
 permit 192.0.2.0 0.0.0.255
class-map match-any held-guests
 match access-group name held-guests
class-map match-all held-staff
 match ip precedence 1 2
 match not class-map held-guests
class-map match-any held-all
 match class-map held-staff
 match class-map held-guests
policy-map held-inner
 class held-staff
  bandwidth percent 10
policy-map held-outer
 class held-all
  service-policy held-inner
""",
)
"""Classes within classes that a router holds and no intent is about; some stand before what they refer to."""
FRAMES = (
    """\
mac access-list extended held-server
 seq 5 permit host 00:01:e8:00:00:01 any
class-map match-any held-server layer2
 match mac access-group held-server
 match mac dot1p 5
qos-policy-input held-mark layer2
 set mac-dot1p 5
policy-map-input held-in layer2
 service-queue 3 class-map held-server qos-policy held-mark
""",
    """\
class-map match-all held-dot1p layer2
 match mac dot1p 6
policy-map-input held-in layer2
 service-queue 2 class-map held-dot1p
ip access-list extended held-web
 seq 5 permit tcp any any eq 80
class-map match-any held-web
 match ip access-group held-web
policy-map-input held-web
 service-queue 1 class-map held-web
""",
)
"""Policies of layer 2 that a Force10 holds."""
HELD = {"cisco_ios": NESTED, "catalyst_9000": NESTED, PARTLY_MODELLED: FRAMES}
FRAME_DEVICES = ("force10-e300", "ios-12-4")
"""Devices that tell classes by headers of Ethernet."""
FRAME_TERMS = st.one_of(
    st.fixed_dictionaries({"cos": st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True)}),
    st.fixed_dictionaries({"source_mac": st.just("00:04:23:aa:00:01")}),
    st.fixed_dictionaries({"destination_mac": st.just("00:04:23:aa:00:02"), "cos": st.just([5])}),
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
        return f"{hostnames}, {self.choice}: {self.intent:.{_SHOWN}}"

    @cached_property
    def predicted(self) -> Mapping[str, PredictedConfiguration]:
        """What the devices come to hold."""
        return predict_configurations(self.compilation, self.running)

    @cached_property
    def after(self) -> Mapping[str, str]:
        """The texts of what the devices come to hold."""
        return {
            name: tree_text(made.target, platform(DEVICES[name]).grammar) for name, made in self.predicted.items()
        }

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


def planted(text: str, held: str, hostname: str | None, marker: str) -> tuple[str, tuple[str, ...]]:
    """What a device boots with, with secrets, what it holds and perhaps another host name; and these secrets."""
    enable, community, key, password = made = tuple(_secret() for _ in range(4))
    head = [
        f"enable secret 0 {enable}",
        f"snmp-server community {community} RO",
        "key chain ring",
        " key 1",
        f"  key-string {key}",
        *held.splitlines(),
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
def intents_of_frames(draw: st.DrawFn) -> dict[str, object]:
    """An intent whose classes are told by headers of Ethernet alone: a Force10 has policies of layer 2 of it."""
    matches = draw(st.lists(FRAME_TERMS, min_size=1, max_size=3, unique_by=str))
    classes: list[dict[str, object]] = [
        {"name": f"frames-{at}", "match": {"any": [match]}, "mark": {"cos": 7 - at}}
        for at, match in enumerate(matches)
    ]
    return {"version": 1, "intent": "random", "classes": classes}


@st.composite
def networks(draw: st.DrawFn) -> RandomNetwork:
    """Two to five devices of an intent: some of one host name, some that hold the intent already."""
    kind = draw(st.sampled_from(["routers", "all", "frames"]))
    document = {
        "routers": lambda: json.loads(draw(intents_of_routers())),
        "all": lambda: draw(intents_of_all()),
        "frames": lambda: draw(intents_of_frames()),
    }[kind]()
    document["apply"] = list(draw(st.lists(st.sampled_from(APPLY), min_size=1, max_size=2, unique_by=str)))
    names = draw(st.lists(st.sampled_from(sorted(DEVICES)), min_size=3, max_size=5, unique=True))
    if kind == "frames":
        names = list(dict.fromkeys((*FRAME_DEVICES, *names)))
    hostname = draw(st.sampled_from([None, "Switch", "R1"]))
    running, made, marker = {}, list[str](), f"marker-{_secret()}"
    for name in names:
        text = booted_with()[name]
        if DEVICES[name] != NO_FORMAT:
            head = draw(st.sampled_from(BANNERS)) + "\n" + draw(st.sampled_from(["", *HELD.get(DEVICES[name], ())]))
            text, some = planted(text, head, hostname, marker)
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
