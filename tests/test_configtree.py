"""The transition between two configurations, played against a model of a device that refuses what IOS refuses."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.configtree import as_text, merge, transition
from qosforge.platforms.cisco_ios.lines import TABLE

GRAMMAR = TABLE.grammar
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
CLASSES = ("CA", "CB", "CC", "CD")
POLICIES = ("PA", "PB")
INTERFACES = ("Serial0/0", "Serial0/1", "FastEthernet0/0")
UNMANAGED = "hostname R1\n!\nip cef\n!\nrouter ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n!\n"


class Refused(AssertionError):
    """The device does not take a line."""


@dataclass
class Interface:
    """What an interface holds: policies by direction, other lines by what they set."""

    policies: dict[str, str] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)


class Router:
    """An IOS router as far as QoS goes: it holds lines, keeps their order, and refuses what IOS refuses."""

    def __init__(self, text: str = "") -> None:
        self.class_maps: dict[str, tuple[str, list[str]]] = {}
        self.policies: dict[str, dict[str, dict[str, str]]] = {}
        self.interfaces: dict[str, Interface] = {}
        self.others: list[str] = []
        self.bare: dict[tuple[str, str], int] = {}
        self.typed = 0
        self._mode: tuple[str, ...] = ()
        self.enter(text.splitlines())

    def enter(self, lines: list[str]) -> None:
        self._mode = ()
        for line in lines:
            self.typed += 1
            words = line.split()
            if words and words[0] != "!" and not self._take(line, words):
                raise Refused(f"invalid input: {line!r} in mode {self._mode}")

    def _take(self, line: str, words: list[str]) -> bool:
        if line.startswith(" ") and self._mode:
            while self._mode:
                if self._below(words):
                    return True
                self._mode = () if self._mode[0] != "class" else ("policy-map", self._mode[1])
            return False
        return self._top(words)

    def _top(self, words: list[str]) -> bool:
        match words:
            case ["class-map", how, name]:
                self.class_maps[name] = (how, self.class_maps.get(name, (how, []))[1])
                self._mode = ("class-map", name)
            case ["policy-map", name]:
                self.policies.setdefault(name, {})
                self._mode = ("policy-map", name)
            case ["interface", name]:
                self.interfaces.setdefault(name, Interface())
                self._mode = ("interface", name)
            case ["no", "class-map", name]:
                self._refuse(name not in self.class_maps, "no such class-map")
                self._refuse(any(name in body for body in self.policies.values()), f"class-map {name} is used")
                del self.class_maps[name]
                self._mode = ()
            case ["no", "policy-map", name]:
                self._refuse(name not in self.policies, "no such policy-map")
                users = [i for i in self.interfaces.values() if name in i.policies.values()]
                self._refuse(bool(users), f"policy-map {name} is used")
                del self.policies[name]
                self._mode = ()
            case ["no", *_]:
                return False
            case _:
                self.others.append(" ".join(words))
                self._mode = ("other",)
        return True

    def _below(self, words: list[str]) -> bool:
        match self._mode:
            case ("class-map", name):
                return self._match(self.class_maps[name][1], words)
            case ("policy-map", name):
                return self._class(name, words)
            case ("class", policy, name):
                return self._action(policy, name, words)
            case ("interface", name):
                return self._setting(name, words)
        self.others.append(" " + " ".join(words))
        return True

    def _match(self, lines: list[str], words: list[str]) -> bool:
        text = " ".join(words)
        if words[0] == "match":
            lines.extend([text] if text not in lines else [])
            return True
        if words[:2] != ["no", "match"]:
            return False
        self._refuse(text[3:] not in lines, f"{text[3:]} is not there")
        lines.remove(text[3:])
        return True

    def _class(self, policy: str, words: list[str]) -> bool:
        body = self.policies[policy]
        match words:
            case ["class", name]:
                self._refuse(name != "class-default" and name not in self.class_maps, f"class map {name} unknown")
                body.setdefault(name, {})
                if "class-default" in body:
                    body["class-default"] = body.pop("class-default")
                self._mode = ("class", policy, name)
            case ["no", "class", name]:
                self._refuse(name not in body, f"no class {name}")
                del body[name]
            case _:
                return False
        return True

    def _action(self, policy: str, name: str, words: list[str]) -> bool:
        actions = self.policies[policy][name]
        others = [a for n, a in self.policies[policy].items() if n != name]
        match words:
            case ["no", ("bandwidth" | "priority" | "random-detect" | "queue-limit") as key]:
                self._refuse(key not in actions, f"no {key} here")
                needs = {"random-detect", "queue-limit"} & set(actions) and name != "class-default"
                self._refuse(key == "bandwidth" and bool(needs), "something here needs the bandwidth")
                del actions[key]
            case ["no", "set", key, _]:
                self._refuse("set " + key not in actions, "no such mark")
                del actions["set " + key]
            case ["bandwidth", *_, value]:
                unit = " ".join(words[:-1])
                self._refuse("priority" in actions, "deconfigure priority first")
                held = [a["bandwidth"] for a in others if "bandwidth" in a]
                self._refuse(any(not h.startswith(unit + " ") for h in held if h), "units differ")
                total = sum(int(h.split()[-1]) for h in held)
                if unit == "bandwidth percent":
                    total += sum(int(a["priority"].split()[-1]) for a in others if "priority" in a)
                self._refuse(unit != "bandwidth" and total + int(value) > 100, f"{total} + {value} % > 100 %")
                actions["bandwidth"] = " ".join(words)
            case ["priority", "percent", value]:
                clash = {"bandwidth", "random-detect", "queue-limit"} & set(actions)
                self._refuse(bool(clash), f"deconfigure {clash} first")
                held = [a.get("priority") or a.get("bandwidth", "") for a in others]
                total = sum(int(h.split()[-1]) for h in held if re.match(r"(priority|bandwidth) percent", h))
                self._refuse(total + int(value) > 100, f"{total} + {value} % > 100 %")
                actions["priority"] = " ".join(words)
            case ["random-detect"] | ["queue-limit", _]:
                served = "bandwidth" in actions or name == "class-default"
                self._refuse(not served or "priority" in actions, "needs bandwidth")
                rival = {"random-detect": "queue-limit", "queue-limit": "random-detect"}[words[0]]
                self._refuse(rival in actions, f"deconfigure {rival} first")
                actions[words[0]] = " ".join(words)
            case ["set", "dscp", _]:
                actions["set dscp"] = " ".join(words)
            case _:
                return False
        return True

    def _setting(self, name: str, words: list[str]) -> bool:
        interface = self.interfaces[name]
        match words:
            case ["service-policy", direction, policy]:
                self._refuse(policy not in self.policies, f"policy map {policy} not configured")
                self._refuse(direction in interface.policies, f"{direction} has a policy already")
                began = self.bare.pop((name, direction), self.typed)
                self._refuse(self.typed - began > 1, f"{name} was without a policy for {self.typed - began} lines")
                interface.policies[direction] = policy
            case ["no", "service-policy", direction, policy]:
                self._refuse(interface.policies.get(direction) != policy, f"{policy} is not attached")
                del interface.policies[direction]
                self.bare[name, direction] = self.typed
            case ["no", *rest]:
                key = _setting_key(" ".join(rest))
                self._refuse(key not in interface.lines, f"{key} is not there")
                del interface.lines[key]
            case _:
                interface.lines[_setting_key(" ".join(words))] = " ".join(words)
        return True

    @staticmethod
    def _refuse(condition: bool, why: str) -> None:
        if condition:
            raise Refused(why)

    def state(self) -> object:
        """What is held, with order where order means something."""
        return (
            dict(self.class_maps),
            {n: list(body.items()) for n, body in self.policies.items()},
            {n: (i.policies, i.lines) for n, i in self.interfaces.items()},
            self.others,
        )


def _setting_key(line: str) -> str:
    for single in (
        "ip rtp header-compression",
        "ppp multilink fragment delay",
        "ip mtu",
        "ip address",
        "bandwidth",
    ):
        if line.startswith(single):
            return single
    return line


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A configuration that the router takes."""
    defined = draw(st.lists(st.sampled_from(CLASSES), unique=True))
    blocks = [
        f"class-map {draw(st.sampled_from(('match-any', 'match-all')))} {name}\n" + draw(matches())
        for name in defined
    ]
    queueing = draw(st.lists(st.sampled_from(POLICIES), unique=True))
    blocks += [f"policy-map {name}\n" + draw(bodies(defined)) for name in queueing]
    marking = draw(st.booleans()) and bool(defined)
    if marking:
        chosen = draw(st.lists(st.sampled_from(defined), min_size=1, unique=True))
        values = st.sampled_from(("af41", "af21", "ef"))
        blocks.append("policy-map MARK\n" + "".join(f" class {c}\n  set dscp {draw(values)}\n" for c in chosen))
    for name in INTERFACES:
        lines = [f" ip address 10.0.{INTERFACES.index(name)}.1 255.255.255.0"]
        if queueing and draw(st.booleans()):
            lines.append(f" service-policy output {draw(st.sampled_from(queueing))}")
        if marking and draw(st.booleans()):
            lines.append(" service-policy input MARK")
        if draw(st.booleans()):
            lines.append(f" ppp multilink fragment delay {draw(st.sampled_from((8, 16)))}")
        lines += [
            line for line in (" ppp multilink interleave", " ip rtp header-compression") if draw(st.booleans())
        ]
        blocks.append("\n".join([f"interface {name}", *lines]) + "\n")
    return UNMANAGED + "!\n".join(blocks)


def matches() -> st.SearchStrategy[str]:
    pool = ("match ip dscp ef", "match ip dscp af41 af21", "match protocol http", "match protocol rtp audio")
    return st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True).map(
        lambda lines: "".join(f" {line}\n" for line in lines)
    )


@st.composite
def bodies(draw: st.DrawFn, defined: list[str]) -> str:
    """The classes of a queueing policy; what is booked stays within 100 %."""
    order = draw(st.lists(st.sampled_from(defined), unique=True)) if defined else []
    unit = draw(st.sampled_from(("bandwidth percent", "bandwidth remaining percent")))
    left = {"priority": 100, unit: 100}
    lines = []
    for name in [*order, *(["class-default"] if draw(st.booleans()) or not order else [])]:
        lines.append(f" class {name}")
        kind = draw(st.sampled_from((None, unit, "priority")))
        if kind == "priority" and name == "class-default":
            kind = None
        value = draw(st.integers(1, 60)) if kind else 0
        if kind and value <= left[kind] and (unit != "bandwidth percent" or value <= min(left.values())):
            for key in left if unit == "bandwidth percent" else (kind,):
                left[key] -= value
            lines.append(f"  priority percent {value}" if kind == "priority" else f"  {kind} {value}")
        else:
            kind = None
        if (kind == unit or name == "class-default") and draw(st.booleans()):
            lines.append(draw(st.sampled_from(("  random-detect", "  queue-limit 30", "  queue-limit 50"))))
    return "".join(line + "\n" for line in lines)


def moved(current: str, target: str) -> tuple[Router, list[str]]:
    """The router after the transition from one text to the other, and what was typed."""
    lines = transition(GRAMMAR.parse(current), GRAMMAR.parse(target), GRAMMAR)
    router = Router(current)
    try:
        router.enter(lines)
    except Refused as refusal:
        raise AssertionError(f"{refusal}\n{as_text(lines)}\nfrom\n{current}\nto\n{target}") from None
    return router, lines


@SETTINGS
@given(configurations(), configurations())
def test_a_transition_leads_to_the_target_and_back(first: str, second: str) -> None:
    there, _ = moved(first, second)
    back, _ = moved(second, first)

    assert there.state() == Router(second).state()
    assert back.state() == Router(first).state()


@st.composite
def one_policy(draw: st.DrawFn) -> str:
    """All classes, and one policy that is attached."""
    classes = "".join(f"class-map match-any {name}\n match protocol {name.lower()}\n!\n" for name in CLASSES)
    attached = "interface Serial0/0\n service-policy output PA\n"
    return f"{classes}policy-map PA\n{draw(bodies(list(CLASSES)))}!\n{attached}"


@SETTINGS
@given(one_policy(), one_policy())
def test_an_attached_policy_changes_in_steps_the_box_takes(first: str, second: str) -> None:
    there, lines = moved(first, second)

    assert there.state() == Router(second).state()
    assert not [line for line in lines if "service-policy" in line]


@SETTINGS
@given(configurations())
def test_nothing_changes_where_nothing_differs(text: str) -> None:
    tree = GRAMMAR.parse(text)

    assert transition(tree, tree, GRAMMAR) == []
    assert transition(tree, GRAMMAR.parse(text.replace("\n", " \n!\n")), GRAMMAR) == []


def test_lines_that_are_not_ours_are_left_alone() -> None:
    ours = "class-map match-any CA\n match protocol http\n!\n"
    here = GRAMMAR.parse(f"{UNMANAGED}{ours}interface Serial0/0\n ip address 10.0.0.1 255.255.255.0\n shutdown\n")
    there = GRAMMAR.parse(f"hostname OTHER\n{ours}interface Serial0/0\n description far\n")

    assert transition(here, there, GRAMMAR) == []


def test_what_is_put_in_replaces_objects_and_settings_but_nothing_beside_them() -> None:
    current = GRAMMAR.parse(
        "hostname R1\n"
        "class-map match-any CA\n match protocol http\n match ip dscp ef\n"
        "class-map match-any MINE\n match protocol ftp\n"
        "interface Serial0/0\n ip address 10.0.0.1 255.255.255.0\n service-policy output OLD\n"
    )
    desired = GRAMMAR.parse(
        "class-map match-any CA\n match protocol http\n"
        "interface Serial0/0\n service-policy output NEW\n ip rtp header-compression\n"
    )

    assert merge(current, desired, GRAMMAR) == GRAMMAR.parse(
        "hostname R1\n"
        "class-map match-any CA\n match protocol http\n"
        "class-map match-any MINE\n match protocol ftp\n"
        "interface Serial0/0\n ip address 10.0.0.1 255.255.255.0\n service-policy output NEW\n"
        " ip rtp header-compression\n"
    )


def test_a_policy_is_swapped_by_adjacent_lines_after_the_new_one_exists() -> None:
    old = "policy-map OLD\n class class-default\n  random-detect\n!\n"
    old += "interface Serial0/0\n service-policy output OLD\n"

    lines = transition(GRAMMAR.parse(old), GRAMMAR.parse(old.replace("OLD", "NEW")), GRAMMAR)

    assert lines == [
        "policy-map NEW",
        " class class-default",
        "  random-detect",
        "interface Serial0/0",
        " no service-policy output OLD",
        " service-policy output NEW",
        "no policy-map OLD",
    ]


def test_what_leaves_a_class_by_a_policy_goes_before_the_class_changes_and_comes_back_after() -> None:
    """Also where what is attached beside it has to wait for the changed class."""
    child = "policy-map CHILD\n class CA\n  bandwidth percent 20\n!\n"
    parent = "policy-map PARENT\n class class-default\n  shape average 64000\n  service-policy CHILD\n!\n"
    classes = "class-map match-any CA\n match dscp ef\n!\n"
    old = classes + child + parent + "interface Serial0/0\n service-policy output PARENT\n"
    old += "interface Serial0/1\n service-policy output PARENT\n"
    new = classes.replace("dscp ef", "access-group name QOSFORGE-A") + child + parent
    new += "ip access-list extended QOSFORGE-A\n permit udp any any\n!\n"
    new += "policy-map IN\n class CA\n  set dscp ef\n!\n"
    new += "interface Serial0/0\n service-policy input IN\ninterface Serial0/1\n"

    lines = transition(GRAMMAR.parse(old), GRAMMAR.parse(new), GRAMMAR)

    gone = [number for number, line in enumerate(lines) if line == " no service-policy output PARENT"]
    assert len(gone) == 2
    assert max(gone) < lines.index(" match access-group name QOSFORGE-A")
    assert lines.index("  set dscp ef") < lines.index(" service-policy input IN")

    back = transition(GRAMMAR.parse(new), GRAMMAR.parse(old), GRAMMAR)
    come = [number for number, line in enumerate(back) if line == " service-policy output PARENT"]
    assert len(come) == 2
    assert min(come) > back.index(" no match access-group name QOSFORGE-A")


def test_a_policy_makes_room_for_a_class_that_what_is_attached_beside_it_needs() -> None:
    """A port's output policy changes to one without the class, its input policy comes with the class: two steps."""
    classes = "class-map match-any CA\n match dscp ef\n!\nclass-map match-any CB\n match dscp af21\n!\n"
    old = classes + "policy-map OLD\n class CA\n  bandwidth percent 20\n!\n"
    old += "interface Serial0/0\n service-policy output OLD\n"
    new = classes.replace("dscp ef", "access-group name QOSFORGE-A")
    new += "ip access-list extended QOSFORGE-A\n permit udp any any\n!\n"
    new += "policy-map IN\n class CA\n  set dscp ef\n!\npolicy-map NEW\n class CB\n  bandwidth percent 20\n!\n"
    new += "interface Serial0/0\n service-policy output NEW\n service-policy input IN\n"

    lines = transition(GRAMMAR.parse(old), GRAMMAR.parse(new), GRAMMAR)

    gone = lines.index(" no service-policy output OLD")
    assert lines[gone - 1 : gone + 2] == ["interface Serial0/0", lines[gone], " service-policy output NEW"]
    assert gone < lines.index(" match access-group name QOSFORGE-A") < lines.index(" service-policy input IN")

    back = transition(GRAMMAR.parse(new), GRAMMAR.parse(old), GRAMMAR)

    gone = back.index(" no service-policy input IN")
    assert gone < back.index(" no match access-group name QOSFORGE-A") < back.index(" service-policy output OLD")


@pytest.mark.parametrize("replaced", ["", "match-all", "policy"])
def test_a_transition_costs_what_it_has_to_change(replaced: str) -> None:
    """A device may hold any number of classes, policies and interfaces."""

    def cost(count: int) -> float:
        classes = "".join(f"class-map match-any C{n}\n match ip dscp {n % 64}\n!\n" for n in range(count))
        used = "".join(f" class C{n}\n  bandwidth remaining percent 1\n" for n in range(count))
        ports = "".join(f"interface FastEthernet0/{n}\n service-policy output P\n!\n" for n in range(count))
        whole = f"{classes}policy-map P\n{used}!\n{ports}"
        wanted = {
            "": "",
            "match-all": whole.replace("match-any", "match-all", 5),
            "policy": whole.replace("P\n", "Q\n"),
        }
        trees = GRAMMAR.parse(whole), GRAMMAR.parse(wanted[replaced])
        began = time.process_time()
        transition(*trees, GRAMMAR)
        return time.process_time() - began

    # The least of three: a search for garbage, among all that other tests left, may fall into one.
    few, many = (min(cost(count) for _ in range(3)) for count in (400, 1600))
    assert many < 8 * few + 0.1


def test_changing_the_unit_of_a_policy_enters_its_classes_anew() -> None:
    text = (
        UNMANAGED
        + "class-map match-any CA\n match protocol http\n!\npolicy-map PA\n class CA\n  bandwidth percent 60\n"
    )
    text += "  random-detect\n class class-default\n  bandwidth percent 30\n"

    router, _ = moved(text, text.replace("bandwidth", "bandwidth remaining"))

    assert router.state() == Router(text.replace("bandwidth", "bandwidth remaining")).state()
