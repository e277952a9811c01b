"""What a router is asked for all that it holds: one script in one session of SSH, and its answers.

A session of its own for each command costs a router more than the commands do. The script asks for queues, rules,
classes and filters, each answer behind the command that it is to. It takes a POSIX shell (that of busybox, too) and
``cut`` and ``grep``.
"""

from __future__ import annotations

from collections.abc import Mapping

from napalm_linux_tc import filters
from napalm_linux_tc.answers import AnswerError
from napalm_linux_tc.schedulers import known, look
from napalm_linux_tc.shown import (
    CLASSES,
    LINKS,
    QDISCS,
    ROOTS,
    RULES,
    TABLE,
    Answers,
    filtered,
    kinds,
    shown_lines,
    trees,
)
from napalm_linux_tc.virtual_queues import FILTERS as OUTPUTS
from napalm_linux_tc.virtual_queues import HOLDER

_ASKED = "qosforge asks: "
"""What stands before the command of an answer. A router that answers with such a line spoils its own reading."""
_SCHEDULERS = "schedulers"
_CLASSES = f"^class ({'|'.join(sorted(filters.WITH))}) [0-9a-f]*:[0-9a-f]"
"""Not the root of HFSC, which is a class, too (``class hfsc 1: root``): its filters are those of the queue."""
_SCRIPT = f"""\
set -f
ask() {{ printf '%s\\n' "{_ASKED}$*"; "$@" || exit 1; }}
filters() {{
    printf '%s\\n' "{_ASKED}{filters.FILTERS.format(dev="$1", parent="$2")}"
    {filters.FILTERS.format(dev='"$1"', parent='"$2"')} || echo "filter {filters.LACKING}"
}}
ask {QDISCS}
ask {LINKS}
printf '%s\\n' "{_ASKED}{RULES}"
if nft list tables | grep -qx 'table {TABLE}'; then {RULES} || exit 1; fi
queues=$(tc qdisc show) || exit 1
printf '%s\\n' "$queues" | {{
asked=; parents=; found=
while read -r word kind handle dev name place more; do
    [ "$word $dev" = "qdisc dev" ] || continue
    case "$place $kind" in {"|".join(f'"root {kind}"' for kind in sorted(ROOTS))}) ask {CLASSES} "$name";; esac
    case $kind in
        {HOLDER}) ask {OUTPUTS} "$name";;
        {"|".join(sorted(filters.WITHOUT))}) ;;
        *) [ "$handle" = 0: ] || parents="$parents $name $handle";;
    esac
    case "$kind $asked " in
        *" $name "*) ;;
        {"|".join(f'"{kind} "*' for kind in sorted(filters.WITH))})
            asked="$asked $name"
            classes=$(tc class show dev "$name" | grep -E '{_CLASSES}' | cut -d' ' -f3)
            for class in $classes; do parents="$parents $name $class"; done;;
    esac
done
set -- $parents
[ $# = 0 ] || found=$(while [ $# -gt 1 ]; do
    printf '%s\\n' "filter show dev $1 parent $2"; shift 2
done | {{ tc -j -batch - 2>/dev/null || printf '\\nx\\n'; }} | cut -c1-2)
case $found in *x*) found=;; esac
case $parents in *'#'*|*'"'*|*"'"*|*'\\'*) found=;; esac
[ "$(printf '%s\\n' "$found" | grep -c '')" = $(($# / 2)) ] || found=
while [ $# -gt 1 ]; do
    case $found in "[]"*) ;; *) filters "$1" "$2";; esac
    found=${{found#*
}}; shift 2
done
}} || exit 1
"""
"""Few queues and classes have filters: one process of ``tc`` looks which do, before each of these has its own. It
prints a line of JSON for each, which begins with ``[]`` where there are none. Where it fails, lines are
more or fewer, or names have what its batches read otherwise, each one is asked."""


def script(*, schedulers: bool) -> str:
    """The script that asks for all, and for the schedulers that the kernel has where that is wanted."""
    if not schedulers:
        return _SCRIPT
    used = """used=" $(echo $(printf '%s\\n' "$queues" | cut -d' ' -f2)) "\n"""
    return f'{_SCRIPT}{used}echo "{_ASKED}{_SCHEDULERS}"\n{look()}'


def answered(said: str) -> dict[str, str]:
    """The answers of a script by the commands that they are to."""
    answers: dict[str, list[str]] = {}
    held: list[str] = []
    for line in said.split("\n"):
        if line.startswith(_ASKED):
            held = answers.setdefault(line.removeprefix(_ASKED), [])
        else:
            held.append(line)
    return {command: "\n".join(lines) for command, lines in answers.items()}


def broken_off(said: str) -> tuple[str, str]:
    """The command that a script ended with, and what was answered to it."""
    command = next(reversed(answered(said)), QDISCS)
    return command, answered(said).get(command, said).strip()


def told_schedulers(answers: Mapping[str, str]) -> tuple[str, ...]:
    """The schedulers that a router has, as the commands that load their modules; none where it does not tell.

    Raises:
        AnswerError: an answer is not what the program prints, a `ValueError`.
    """
    return known(answers.get(_SCHEDULERS, ""), kinds(_answer(answers, QDISCS)))


def held_lines(answers: Mapping[str, str]) -> tuple[str, ...]:
    """The commands that would enter what a router holds, but for its schedulers.

    Raises:
        AnswerError: an answer is missing, or is not what the program prints, a `ValueError`.
    """
    qdiscs = _answer(answers, QDISCS)
    asked = {filters.asked_of(command): answer for command, answer in answers.items()}
    return shown_lines(
        Answers(
            links=_answer(answers, LINKS),
            qdiscs=qdiscs,
            classes={dev: _answer(answers, f"{CLASSES} {dev}") for dev in trees(qdiscs)},
            rules=_answer(answers, RULES),
            outputs={dev: _answer(answers, f"{OUTPUTS} {dev}") for dev in filtered(qdiscs)},
            inside={place: answer for place, answer in asked.items() if place is not None},
        )
    )


def _answer(answers: Mapping[str, str], command: str) -> str:
    try:
        return answers[command]
    except KeyError:
        raise AnswerError(f"there is no answer to {command!r}"[:200]) from None
