"""What every IOS box shares: printout, prompts, error texts, hardware, modes."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import ClassVar

from qoslab.box import Box
from qoslab.boxes.ios.arguments import (
    INTERFACE_KINDS,
    IOS_TYPES,
    LOGICAL_KINDS,
    interface_name,
    split_interface,
)
from qoslab.boxes.ios.train import Train
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.errors import BoxError
from qoslab.grammar import Grammar, Match, Refused, SyntaxRefused
from qoslab.patterns import ArgumentType
from qoslab.shell import Mode, Row, Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from qoslab.wiring import Announcement, base_mac

INTERFACE_RANK = 70
_CISCO = "000dbd"  # one of Cisco's prefixes
_PROMPT_ROOM = 20  # IOS cuts the host name in configuration prompts at this many characters

SUFFIXES = {
    "config": "(config)", "if": "(config-if)", "subif": "(config-subif)", "cmap": "(config-cmap)",
    "pmap": "(config-pmap)", "pmap-c": "(config-pmap-c)", "police": "(config-pmap-c-police)",
    "map-class": "(config-map-class)", "fr-dlci": "(config-fr-dlci)", "std-nacl": "(config-std-nacl)",
    "ext-nacl": "(config-ext-nacl)", "ipv6-acl": "(config-ipv6-acl)",
    "router": "(config-router)", "line": "(config-line)",
    "archive": "(config-archive)", "archive-log": "(config-archive-log-cfg)", "vlan": "(config-vlan)",
    "pvc": "(config-if-atm-vc)", "table-map": "(config-tablemap)", "control-plane": "(config-cp)",
    "iphc": "(config-iphcp)", "keys": "(config-keys)", "routing": "(config-router)",
    "dhcp": "(dhcp-config)", "service": "(config-service)", "tcl": "(tcl)", "mac-acl": "(config-ext-macl)",
}  # fmt: skip


class IosBox(Box):
    """A box with the IOS command line. ``ports`` are the interfaces it was delivered with."""

    # Cisco IOS System Messages Guide: how a message looks without time stamps, and what it says of a session's end.
    log_line = "%SYS-5-CONFIG_I: Configured from console by vty0 (192.0.2.9)"
    version = "12.2"
    train = Train.of("12.2")
    default_ports: tuple[str, ...] = ()
    own_types: ClassVar[dict[str, ArgumentType]] = {}

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        super().__init__(spec, storage, clock)
        self.ports = self._delivered()
        self._saved = ""
        self.modes = {
            name: Mode(name, SUFFIXES.get(name, ""), Grammar(rows, {**IOS_TYPES, **self.own_types}))
            for name, rows in self.tables().items()
        }

    @abstractmethod
    def tables(self) -> dict[str, list[Row]]:
        """The command tables by mode name."""

    @abstractmethod
    def version_texts(self) -> tuple[str, str]:
        """The software banner and the processor lines of ``show version``."""

    @abstractmethod
    def interface_report(self, interface: Section) -> str:
        """The block of ``show interfaces`` for one interface."""

    def passed(self, interface: Section) -> list[str]:
        """The lines of ``show interfaces`` that count packets, as records of ntc-templates print them."""
        count = self.port_count(interface.text.split(maxsplit=1)[1])
        return [
            f"     {count.input_packets} packets input, {count.input_bytes} bytes, 0 no buffer",
            f"     {count.output_packets} packets output, {count.output_bytes} bytes, 0 underruns",
        ]

    @abstractmethod
    def clear_counters(self) -> None:
        """Every traffic counter back to zero."""

    def feature(self, name: str, default: bool) -> bool:
        """A feature of the image: what the spec says, else what such an image has."""
        return self.spec.features.get(name, default)

    def _delivered(self) -> tuple[str, ...]:
        ports = tuple(name for name in _mentioned(self.storage.factory()) if _is_port(name))
        return ports or self.default_ports

    # -- the box contract --------------------------------------------------------------------------------
    def boot(self) -> None:
        """Load startup."""
        super().boot()
        self._saved = self.running_text()

    def save(self) -> None:
        """Running becomes startup."""
        super().save()
        self._saved = self.running_text()

    @property
    def modified(self) -> bool:
        """True when running was changed since it was loaded or saved."""
        return self.running_text() != self._saved

    def factory_reset(self) -> None:
        """As delivered, before startup is loaded."""
        self.blank(self.storage.startup())

    def blank(self, config: str) -> None:
        """Only the delivered interfaces; those that ``config`` does not mention are shut down."""
        self.hostname = self.spec.name
        self.running = Section("")
        mentioned = set(_mentioned(config))
        for name in self.ports:
            section = self.new_interface(name)
            if name not in mentioned:
                section.put(Section("shutdown", rank=95))

    def new_interface(self, name: str) -> Section:
        """Add an interface with what it prints by default."""
        kind, numbers = split_interface(name)
        section = Section(
            f"interface {name}",
            key=f"interface {name}",
            rank=INTERFACE_RANK,
            mode="subif" if "." in name else "if",
            order=(list(INTERFACE_KINDS).index(kind), numbers),
        )
        self.interface_defaults(section)
        return self.running.put(section)

    def interface_defaults(self, section: Section) -> None:
        """Lines a new interface prints."""
        section.put(Section("no ip address", key="ip address", rank=10))

    def interface(self, name: str) -> Section:
        """An interface of the running configuration. Raises BoxError when there is none."""
        full = interface_name(name)
        held = self.running.get(f"interface {full}")
        if full is None or held is None:
            raise BoxError(f"{self.spec.name}: no interface {name!r}")
        return held

    def interfaces(self) -> list[Section]:
        """All interfaces in printing order."""
        return self.running.starting("interface ")

    # -- what is plugged in ------------------------------------------------------------------------------
    capabilities: tuple[str, ...] = ("Router",)
    """What CDP calls the box."""

    @property
    def cdp_off(self) -> bool:
        """True after ``no cdp run``."""
        return self.running.value("cdp run").startswith("no ")

    def is_up(self, interface: Section) -> bool:
        """Neither shut down nor, where the lab knows the cables, without one on itself or its bundle."""
        if "shutdown" in interface:
            return False
        name = interface.text.split()[1]
        if self.cables is None or not _is_port(name):
            return True
        bundles = {
            f"{kind}{interface.value(key).split()[word]}" for kind, key, word in _BUNDLES if interface.value(key)
        }
        return any(port == name or port in bundles or port.startswith(f"{name}.") for port in self.cables)

    def speed(self, interface: Section) -> int:
        """The speed (Mb/s) of an Ethernet port: as set, else as agreed with the other end."""
        given = interface.value("speed").split()[-1:]
        name = interface.text.split()[1]
        most = INTERFACE_KINDS[split_interface(name)[0]] // 1000
        if given and given[0].isdigit():
            return int(given[0])
        cable = (self.cables or {}).get(name)
        return most if cable is None else min(most, cable.rate // 1_000_000)

    def port_name(self, name: str) -> str:
        """``fa0/1`` in full."""
        return interface_name(name.replace(" ", "")) or name

    def sends(self, protocol: str, port: str) -> bool:
        """CDP, unless it is switched off."""
        held = self.running.get(f"interface {port}")
        if held is None or not self.is_up(held):
            return False
        return protocol == "cdp" and not self.cdp_off and held.value("cdp enable") != "no cdp enable"

    def announcement(self, protocol: str, port: str) -> Announcement:
        """CDP's device id is the host name with the domain, its address that of the port it is sent on."""
        held = self.interface(port)
        domain = self.running.value("ip domain name").split()[-1:]
        banner, processor = self.version_texts()
        return Announcement(
            name=".".join([self.hostname, *domain]),
            port=port,
            address=self.own_address(held),
            mac=base_mac(_CISCO, self.spec.name),
            platform=" ".join(processor.split()[:2]),
            software=banner,
            capabilities=self.capabilities,
            native_vlan=self.native_vlan(held) if protocol == "cdp" else None,
        )

    def own_address(self, interface: Section) -> str:
        """The address that it tells on a port; "" where it has none."""
        words = interface.value("ip address").split()
        return words[2] if words[:2] == ["ip", "address"] and len(words) > 3 else ""

    def native_vlan(self, interface: Section) -> int | None:
        """The VLAN of untagged frames; None on a routed port."""
        del interface
        return None

    def bandwidth(self, interface: Section) -> int:
        """The bandwidth (kb/s) the box computes with."""
        held = interface.value("bandwidth")
        if held:
            return int(held.split()[1])
        name = interface.text.split()[1]
        if "." in name:
            parent = self.running.get(f"interface {name.split('.')[0]}")
            if parent is not None:
                return self.bandwidth(parent)
        return INTERFACE_KINDS[split_interface(name)[0]]

    def running_text(self) -> str:
        """The configuration with its ``!`` separators, from ``version`` to ``end``."""
        lines = ["!", f"version {self.version}"]
        last: Section | None = None
        for child in self.running:
            if last is None or child.rank != last.rank or child.rank == INTERFACE_RANK or len(last) > 6:
                lines.append("!")
            lines.append(child.text)
            lines.extend(child.lines(1))
            last = child
        return "\n".join([*lines, "!", "end"]) + "\n"

    def attached_policies(self) -> dict[str, str]:
        """``service-policy`` lines of interfaces and of their circuits."""
        found = {}
        for interface in self.interfaces():
            for line in interface.walk():
                words = line.text.split()
                if words[0] == "service-policy":
                    inside = line.parent.text if line.parent is not None and line.parent is not interface else ""
                    found[" ".join([*interface.text.split()[1:], *inside.split(), words[1]])] = words[-1]
        return found

    def name_line(self, name: str) -> str:
        """``hostname``."""
        return f"hostname {name}"

    def new_shell(self, user: str) -> Shell:
        """A user with a privilege level below 15 gets its prompt, and the commands of level 1 (none were moved)."""
        shell = super().new_shell(user)
        lines = [line.text for line in self.running.starting(f"username {user} privilege ")]
        level = next((int(line.split()[3]) for line in lines if line.split()[3].isdigit()), 15)
        if not shell.privileged and level < 15:
            shell.level = level
        return shell

    def prompt(self, shell: Shell) -> str:
        """``R1>``, ``R1#``, ``R1(config-if)#``."""
        mode = shell.mode
        if shell.configuring:
            return f"{self.hostname[:_PROMPT_ROOM]}{mode.suffix}#"
        return f"{self.hostname}{'#' if shell.privileged or shell.level > 1 else '>'}"

    def syntax_error(self, shell: Shell, error: SyntaxRefused) -> str:
        """IOS's three texts; the caret stands under the typed line, prompt included."""
        if error.kind == "incomplete":
            return "% Incomplete command.\n"
        if error.kind == "ambiguous":
            return f'% Ambiguous command:  "{error.line.strip()}"'
        words = error.line.split()
        if not shell.configuring and len(words) == 1:
            return "% Unknown command or computer name, or unable to find computer address\n"
        return " " * (len(shell.prompt) + error.column) + "^\n% Invalid input detected at '^' marker.\n"

    # -- commands every IOS box has ----------------------------------------------------------------------
    def enter_interface(self, shell: Shell, match: Match) -> None:
        """``interface X``: delivered ports always exist, logical ones are made, others are refused."""
        name = interface_name(match["interface"].replace(" ", ""))
        if name is None:
            raise SyntaxRefused("invalid", match.line.rfind(" ") + 1, match.line)
        key = f"interface {name}"
        if match.undone:
            self.drop_interface(name)
            return
        held = self.running.get(key)
        if held is None:
            parent = name.split(".")[0]
            known = f"interface {parent}" in self.running if "." in name else _can_be_made(name)
            if not known:
                raise SyntaxRefused("invalid", match.line.rfind(" ") + 1, match.line)
            held = self.new_interface(name)
        if "kind" in match:
            held.text = f"{key} {match['kind']}"
        shell.levels = shell.levels[:1]
        shell.enter(held.mode, held)

    def drop_interface(self, name: str) -> None:
        """``no interface X``. Raises Refused for what is built in."""
        if _is_port(name) and "." not in name:
            raise Refused("% Removal of physical interfaces is not permitted")
        self.running.remove(f"interface {name}")


_BUNDLES = (
    ("Multilink", "ppp multilink group", -1),
    ("Multilink", "multilink-group", -1),
    ("Port-channel", "channel-group", 1),
)
"""Kinds of bundle, the line that makes a port a member, and which word of it is the bundle's number."""


def _is_port(name: str) -> bool:
    return "." not in name and split_interface(name)[0] not in LOGICAL_KINDS


def _can_be_made(name: str) -> bool:
    """True for logical interfaces; multilink bundles are numbered from 1."""
    kind, numbers = split_interface(name)
    return not _is_port(name) and not (kind == "Multilink" and numbers[0] == 0)


def _mentioned(config: str) -> list[str]:
    """The interfaces a configuration names, those of its subinterfaces included."""
    found = re.findall(r"(?m)^interface[ \t]+(\S+(?:[ \t]+\d\S*)?)", config)
    names = [interface_name(re.sub(r"\s", "", name)) for name in found]
    return list(dict.fromkeys(name.split(".")[0] for name in names if name is not None))
