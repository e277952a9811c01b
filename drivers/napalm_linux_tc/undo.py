"""Going back without a session: the files and the process on the router that undo a change nobody confirms."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from napalm_linux_tc import filters
from napalm_linux_tc.shown import TABLE
from napalm_linux_tc.virtual_queues import PREFERENCES, clear_words, is_of_others

FOLDER = "/run/qosforge"
SAVED = "/etc/qosforge/qos.conf"
UNIT = "qosforge-qos.service"
GONE = 75
"""With what `entering` exits where the router went back before; neither ``tc`` nor ``nft`` exits with it."""
ENTERING_SECONDS = 60
"""How long a batch may take before the router goes back all the same: its shell was killed, and says no more."""
_PENDING, _ENTERING = f"{FOLDER}/pending", f"{FOLDER}/entering"
_TAKE = (
    f"mv {_PENDING} {FOLDER}/undoing 2>/dev/null || "
    f"{{ [ $n -ge {ENTERING_SECONDS} ] && mv {_ENTERING} {FOLDER}/undoing 2>/dev/null; }}"
)
"""Whoever goes back takes the file that says so; ``n`` seconds were waited."""
ENTER_SAVED = (
    f"sed -n 's/^tc //p' {SAVED} | tc -force -batch - ; {{ echo 'add table inet qosforge'; "
    f"echo 'delete table inet qosforge'; sed -n 's/^nft //p' {SAVED}; }} | nft -f -"
)
_UNIT_TEXT = f"""[Unit]
Description=Quality of service entered by qosforge
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c {shlex.quote(ENTER_SAVED)}

[Install]
WantedBy=multi-user.target
"""


def batches(lines: Iterable[str], program: str) -> str:
    """The lines of one program as its own batch: each without the program's name."""
    return "".join(line.removeprefix(f"{program} ") + "\n" for line in lines if line.startswith(f"{program} "))


def going_back(before: Iterable[str], touched: Iterable[str]) -> tuple[str, str]:
    """The batches of ``tc`` and ``nft`` that bring back what was, of the interfaces that are touched."""
    held, devs = tuple(line for line in before if not _tells_alone(line)), tuple(touched)
    trees = [f"tc qdisc del dev {dev} root" for dev in devs]
    trees += [clear_words(dev, protocol) for dev in devs for protocol in PREFERENCES]
    trees += [line for line in held if line.startswith("tc ") and _dev(line) in devs]
    rules = "add table inet qosforge\ndelete table inet qosforge\n" + batches(held, "nft")
    return batches(trees, "tc"), rules


def _tells_alone(line: str) -> bool:
    """Whether a line tells what somebody else has on the router, and is no command that would enter it."""
    return is_of_others(line) or bool(filters.of_others(line))


def lost(before: Iterable[str], touched: Iterable[str]) -> tuple[str, ...]:
    """Filters of others in the trees of interfaces that are touched: `going_back` does not bring them back."""
    devs = frozenset(touched)
    return tuple(line for line in before if filters.of_others(line) in devs)


def kept(lines: Iterable[str]) -> tuple[str, ...]:
    """What a restart enters of what is held.

    A tree with filters of others in which no rule of ours chooses queues is theirs: whoever enters both does so at
    a restart, too, and without the filters it would not be what it is.
    """
    held = tuple(lines)
    devs = {filters.of_others(line) for line in held} - {""}
    theirs = {dev for dev in devs if f"nft add chain {TABLE} out/{dev}" not in held}
    return tuple(line for line in held if not _tells_alone(line) and _dev_of_tree(line) not in theirs)


def _dev_of_tree(line: str) -> str:
    return _dev(line) if line.startswith("tc ") else ""


def touched(lines: Iterable[str]) -> tuple[str, ...]:
    """The interfaces whose trees lines are about."""
    return tuple(dict.fromkeys(_dev(line) for line in lines if line.startswith("tc ")))


def _dev(line: str) -> str:
    words = line.split()
    return words[words.index("dev") + 1] if "dev" in words[:-1] else ""


def arm(seconds: int, user: str, tree: str, rules: str) -> str:
    """A shell command that goes back after so many seconds, unless `DISARM` comes before.

    Whoever moves the file ``pending`` away first decides. What it does outlives the session.
    """
    undo = f"tc -force -batch {FOLDER}/undo.tc 2>/dev/null; nft -f {FOLDER}/undo.nft"
    # Not "while one of both is there": who looks at one after the other sees none while it is moved.
    take = f"n=0; until {_TAKE}; do n=$((n+1)); [ $n -le {2 * ENTERING_SECONDS} ] || exit; sleep 1; done"
    timer = f"sleep {seconds}; {take}; {undo}; rm -f {FOLDER}/undoing"
    return (
        f"mkdir -p {FOLDER} && chmod 700 {FOLDER} && printf %s {shlex.quote(tree)} > {FOLDER}/undo.tc && "
        f"printf %s {shlex.quote(rules)} > {FOLDER}/undo.nft && rm -f {_ENTERING} && "
        f'echo "$(($(date +%s) + {seconds})) {seconds} "{shlex.quote(user)} > {_PENDING} && '
        f"{{ setsid sh -c {shlex.quote(timer)} >/dev/null 2>&1 </dev/null & echo $! > {FOLDER}/timer; }}"
    )


def entering(command: str) -> str:
    """A shell command of a commit that waits: run only while it can still go back, which waits for its end.

    It exits with `GONE` where the timer was quicker: what came after that would stay, and nothing would undo it.
    """
    held = f"mv {_PENDING} {_ENTERING} 2>/dev/null || exit {GONE}"
    return f"{held}; {command}; code=$?; mv {_ENTERING} {_PENDING} 2>/dev/null || exit {GONE}; exit $code"


STOP = f"kill -- -$(cat {FOLDER}/timer) 2>/dev/null; rm -f {FOLDER}/timer"
DISARM = f"mv {_PENDING} {FOLDER}/kept && {{ {STOP}; rm -f {FOLDER}/kept; }}"
GO_BACK = (
    f"n=0; until {_TAKE}; do n=$((n+1)); [ -e {_ENTERING} ] || [ -e {_PENDING} ] || exit 1; sleep 1; done; "
    f"{STOP}; tc -force -batch {FOLDER}/undo.tc 2>/dev/null; nft -f {FOLDER}/undo.nft && rm -f {FOLDER}/undoing"
)
PENDING = (
    f"{{ cat {_PENDING} 2>/dev/null || cat {_ENTERING} 2>/dev/null || cat {_PENDING} 2>/dev/null; }} && date +%s"
)
SAVE = (
    f"mkdir -p /etc/qosforge && cat > {SAVED}.new && mv {SAVED}.new {SAVED} && "
    f"if [ -d /run/systemd/system ]; then printf %s {shlex.quote(_UNIT_TEXT)} > /etc/systemd/system/{UNIT} && "
    f"systemctl daemon-reload && systemctl enable --quiet {UNIT}; fi"
)
