"""Link efficiency and legacy queueing on router interfaces: cRTP, MLPPP, FRF.12, ip mtu, WFQ, CAR, PQ."""

from __future__ import annotations

from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_police import ACTION
from app.lab.boxes.ios_rows import group, leaving, row, setting
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Shell

_CAR_ACTION = ACTION.replace("{transmit", "{continue|set-dscp-continue DSCP|set-prec-continue PREC|transmit")


def global_rows() -> list[Row]:
    """Frame Relay map classes, priority and custom queue lists."""
    return [
        group("map-class frame-relay WORD", "map-class", rank=89),
        setting("priority-list <1-16> LINE", rank=93, many=True),
        setting("queue-list <1-16> LINE", rank=93, many=True),
    ]


def map_class_rows() -> list[Row]:
    """Frame Relay map-class mode."""
    return [
        *leaving(),
        setting("frame-relay cir <1-45000000>", rank=1, defaults=["frame-relay cir 56000"]),
        setting("frame-relay bc <300-16000000>", rank=2, defaults=["frame-relay bc 7000"]),
        setting("frame-relay be <0-16000000>", rank=3, defaults=["frame-relay be 0"]),
        setting("frame-relay mincir <1-45000000>", rank=4),
        setting("frame-relay adaptive-shaping [becn|foresight]", rank=5, off=True),
        setting("frame-relay fragment <16-1600>", rank=6),
        setting("frame-relay fair-queue [LINE]", rank=7),
        setting("frame-relay ip rtp priority <2000-65535> <0-16383> <0-2000>", rank=8),
        setting("service-policy [input|output] WORD", rank=9),
    ]


def interface_rows(box: IosBox) -> list[Row]:
    """Interface mode; the train decides how multilink lines are spelled and printed."""
    old = box.version != "12.4"
    multilink = [
        setting("ppp multilink", rank=66),
        setting("ppp multilink interleave", rank=68),
    ]
    if old:
        multilink += [
            setting("ppp multilink fragment-delay <1-1000>", rank=67),
            setting("multilink-group <1-2147483647>", rank=69),
        ]
    else:
        multilink += [
            row("ppp multilink fragment delay <1-1000>:ms [<1-999>:us]", _fragment_delay,
                "ppp multilink fragment delay [LINE]"),
            row("ppp multilink fragment-delay <1-1000>:ms", _fragment_delay,
                "ppp multilink fragment-delay [LINE]"),
            row("ppp multilink fragment disable", _fragment_disable, True),
            setting("ppp multilink multiclass", rank=68),
            row("ppp multilink group <1-2147483647>:n", _group, "ppp multilink group [<1-2147483647>]"),
            row("multilink-group <1-2147483647>:n", _group, "multilink-group [<1-2147483647>]"),
        ]  # fmt: skip
    return [
        *multilink,
        row("ip mtu <68-18000>:n", _ip_mtu, "ip mtu [<68-18000>]"),
        setting("ip rtp header-compression [passive|iphc-format|ietf-format] [periodic-refresh]", rank=71),
        setting("ip rtp compression-connections <3-1000>", rank=71),
        setting("ip tcp header-compression [passive|iphc-format|ietf-format]", rank=70),
        setting("ip tcp compression-connections <3-1000>", rank=70),
        setting("frame-relay ip rtp header-compression [active|passive] [periodic-refresh]", rank=71),
        setting("ip rtp priority <2000-65535> <0-16383> <0-2000000>", rank=71),
        setting("tx-ring-limit <1-32767>", rank=63),
        setting("max-reserved-bandwidth <1-100>", rank=74, defaults=["max-reserved-bandwidth 75"]),
        row("fair-queue [<16-4096> [<16-4096> [<0-1000>]]]", _fair_queue, "fair-queue [LINE]"),
        row("priority-group <1-16>", _queueing, "priority-group [<1-16>]"),
        row("custom-queue-list <1-16>", _queueing, "custom-queue-list [<1-16>]"),
        row("random-detect [dscp-based|prec-based]", _random_detect, "random-detect [LINE]"),
        setting("random-detect {precedence PREC|dscp DSCP} <1-4096> <1-4096> [<1-65536>]", rank=73, many=True),
        setting("random-detect exponential-weighting-constant <1-16>", rank=73),
        setting(
            "rate-limit {input|output} [access-group [rate-limit] <0-2699>|dscp DSCP|qos-group <0-99>]"
            f" <8000-2000000000> <1000-512000000> <2000-1024000000> conform-action {_CAR_ACTION}"
            f" exceed-action {_CAR_ACTION}",
            rank=76,
            many=True,
        ),
        setting("traffic-shape {rate <8000-100000000>|group <1-2699> <8000-100000000>} [LINE]", rank=76,
                many=True),
    ]  # fmt: skip


def default_queueing(box: IosBox, interface: Section) -> str:
    """``weighted fair``, ``fifo`` or a legacy strategy when no policy is attached.

    Serial lines of 2.048 Mb/s or less run flow WFQ unless told otherwise.
    """
    line = interface.value("fair-queue")
    kind = interface.text.split()[1].rstrip("0123456789/.:")
    for legacy, name in (("priority-group", "priority-list"), ("custom-queue-list", "custom-list"),
                         ("random-detect", "random early detection(RED)")):  # fmt: skip
        if legacy in interface:
            return name
    if line:
        return "fifo" if line.startswith("no ") else "weighted fair"
    return "weighted fair" if kind in {"Serial", "BRI"} and box.bandwidth(interface) <= 2048 else "fifo"


def _policy(section: Section) -> None:
    if "service-policy output" in section:
        raise Refused("% Must remove the output service policy first")


def _fragment_delay(shell: Shell, match: Match) -> None:
    key = "ppp multilink fragment delay"
    if match.undone:
        shell.section.remove(key)
        return
    text = f"{key} {match['ms']}" + (f" {match['us']}" if "us" in match else "")
    shell.store(Section(text, key=key, rank=67))


def _fragment_disable(shell: Shell, match: Match) -> str | None:
    key = "ppp multilink fragment disable"
    if match.undone:
        shell.section.remove(key)
        return None
    shell.store(Section(key, rank=67))
    if {"ppp multilink interleave", "ppp multilink fragment delay"} & {line.key for line in shell.section}:
        return (
            "Warning: 'ppp multilink fragment disable' or 'ppp multilink fragment maximum' will be ignored,"
            " since multilink interleaving or fragment delay has been configured and have higher precedence."
        )
    return None


def _group(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove("ppp multilink group")
        return
    shell.store(Section(f"ppp multilink group {match['n']}", key="ppp multilink group", rank=69))


def _ip_mtu(shell: Shell, match: Match) -> None:
    link = int(shell.section.value("mtu", "mtu 1500").split()[1])
    if match.undone or match.number("n") == link:
        shell.section.remove("ip mtu")
        return
    if match.number("n") > link:
        raise Refused(f"% Invalid input: ip mtu must not exceed the interface mtu of {link}")
    shell.store(Section(match.text, key="ip mtu", rank=12))


def _fair_queue(shell: Shell, match: Match) -> None:
    section = shell.section
    kind = section.text.split()[1].rstrip("0123456789/.:")
    by_default = kind in {"Serial", "BRI"}
    if match.undone:
        section.remove("fair-queue")
        if by_default:
            shell.store(Section("no fair-queue", key="fair-queue", rank=72))
        return
    _policy(section)
    if by_default and match.text == "fair-queue":
        section.remove("fair-queue")
        return
    shell.store(Section(match.text, key="fair-queue", rank=72))


def _queueing(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(match.words[0])
        return
    _policy(shell.section)
    shell.store(Section(match.text, key=match.words[0], rank=73))


def _random_detect(shell: Shell, match: Match) -> None:
    if match.undone:
        for line in shell.section.starting("random-detect"):
            shell.section.remove(line.key)
        return
    _policy(shell.section)
    text = "random-detect" if match.text.endswith("prec-based") else match.text
    shell.store(Section(text, key="random-detect", rank=73))
