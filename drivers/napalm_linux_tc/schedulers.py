"""The schedulers that a router's kernel has: looked up where one would be loaded by trying it, tried elsewhere."""

from __future__ import annotations

from collections.abc import Collection

_TRIED = {
    "htb": "htb default 1",
    "hfsc": "hfsc default 1",
    "red": "red limit 60000b min 5000b max 15000b avpkt 1000b burst 8 probability 0.1 bandwidth 10mbit",
    "fq_codel": "fq_codel limit 1",
    "gred": "gred setup DPs 2 default 1 grio limit 60000b && tc qdisc add dev lo clsact && "
    "tc filter add dev lo egress protocol ip flower ip_tos 0x28/0xfc classid :1",
    "tbf": "tbf rate 8kbit burst 1600b limit 1600b",
    "ets": "ets strict 1 quanta 1600",
    "prio": "prio",
    "drr": "drr && tc class add dev lo parent 1: classid 1:1 drr && tc filter add dev lo parent 1: protocol all "
    "matchall classid 1:1",
}
"""By scheduler, a queue of it that any kernel takes which has it, and the filters that it needs."""
SCHEDULERS = tuple(_TRIED)
"""Those that a router is asked for."""
_MODULES = {"gred": "sch_gred sch_ingress cls_flower", "drr": "sch_drr cls_matchall"}
"""The modules of a scheduler, where these are several."""
_UNTOLD = "untold"
_LOOK = """\
folder=/lib/modules/$(uname -r); untold=; whole=
lists="/proc/modules $folder/modules.builtin"
if [ -e /proc/modules ] && ! grep -qs 1 /proc/sys/kernel/modules_disabled; then
    lists="$lists $folder/modules.dep"
    if [ -r $folder/modules.builtin ]; then whole=yes; fi
    [ -r $folder/modules.dep ] || files=$(find $folder/ -name 'sch_*' -o -name 'cls_*' 2>/dev/null) || whole=
fi
files="$files
$(grep -hsE 'sch_|cls_' $lists)"
for name in ASKED; do
    case $used in *" $name "*) continue;; esac
    case $name in MODULES *) modules=sch_$name;; esac; lacks=
    for module in $modules; do echo "$files" | grep -qE "(^|/)$module([.]ko| )" || lacks=yes; done
    if [ -z "$lacks" ]; then echo $name
    elif [ -z "$whole" ]; then untold="$untold $name "
    fi
done
export untold
[ -z "$untold" ] || unshare --net sh -c 'TRIALS true' 2>/dev/null || echo UNTOLD
"""
"""A kernel loads a module that a queue asks for, and keeps it. So where it loads modules, those that it has are
those loaded, and those of its package's lists (modules.builtin(5), modules.dep(5)); without the latter the files
themselves. What is not known by that is tried on a loopback that nobody uses and that is gone with the command,
which takes ``unshare`` (util-linux, busybox).
"""
_TRIAL = 'case "$untold" in *" {name} "*) tc qdisc add dev lo root handle 1: {words} && echo {name}; {undo};; esac;'
_UNDO = "tc qdisc del dev lo root"
_CASE = "{name}) modules='{modules}';;"


def look() -> str:
    """The commands that tell which schedulers a kernel has besides those of ``$used``, each between spaces."""
    trials = " ".join(_TRIAL.format(name=name, words=words, undo=_UNDO) for name, words in _TRIED.items())
    cases = " ".join(_CASE.format(name=name, modules=modules) for name, modules in _MODULES.items())
    told = _LOOK.replace("ASKED", " ".join(_TRIED)).replace("MODULES", cases)
    return told.replace("TRIALS", trials).replace("UNTOLD", _UNTOLD)


def known(said: str, in_use: Collection[str]) -> tuple[str, ...]:
    """The schedulers that a router has, as the commands that load their modules; none where it does not tell.

    What was told of some would say that the kernel has no others.
    """
    told = said.split()
    if _UNTOLD in told:
        return ()
    return tuple(f"modprobe sch_{name}" for name in _TRIED if name in told or name in in_use)
