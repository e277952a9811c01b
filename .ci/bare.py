"""The README's two commands on bare machines: roots of the distribution with what the README asks for, and no more.

debootstrap makes the roots. In each, a fresh clone of this checkout's HEAD runs ``make demo`` and ``make test``: as
root, who may install packages, so that nothing is skipped; and as an ordinary user, who may not, so that tests are
skipped by name. Then both run again without a network. It takes root, overlayfs, and a Rust toolchain of rustup's,
which the roots see read-only; everything is under var/bare, and mounts end with this process.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "var" / "bare"
SUITES = ("trixie", "bookworm")
"""Debian's current release and the one before it."""
HOMES = {"root": "/root", "user": "/home/user"}
README_ASKS_FOR = ("python3", "python3-venv", "gcc", "libc6-dev", "make", "ca-certificates")
"""Beside the Rust toolchain. Git is not needed once there is a clone."""
TOOLCHAIN = "/opt/rust"
SAMPLE = (
    "tests/reports tests/operations tests/client tests/examples tests/database tests/cli"
    " tests/drivers/test_routes.py tests/web/test_security.py tests/web/test_without_pango.py"
    " tests/web/test_browser_plots.py"
)
"""Tests of every part, and some that need none."""
SHORT = "tests/reports tests/test_units.py"

_PASSED_ON = re.compile(
    r"(PIP_(?!FIND_LINKS)|CARGO_(HTTP|NET)_|SSL_CERT_|REQUESTS_CA_).*|(HTTPS?|NO|ALL)_PROXY", re.IGNORECASE
)
"""Settings by which this machine's package managers reach their registries; files that they name are copied."""
_COUNTS = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s.*$", re.MULTILINE)
_MADE = re.compile(r"^(installing|building) ", re.MULTILINE)
"""What the commands say, at the beginning of a line, when they set something up."""
_LOOPBACK_UP = (
    "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0x41))"
)
_MOUNTS = """\
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /sys "$ROOT/sys"
mount --rbind /dev "$ROOT/dev"
mkdir -p "$ROOT$TOOLCHAIN"
mount --bind "$SYSROOT" "$ROOT$TOOLCHAIN"
mount -o remount,bind,ro "$ROOT$TOOLCHAIN"
"""


class Failed(Exception):
    """A bare machine did not do what the README says."""


class Machine:
    """A bare root with a user and a fresh clone in the user's home; what is written lies above ``lower``."""

    def __init__(self, name: str, user: str, lower: tuple[Path, ...]) -> None:
        self.name = name
        self._user = user
        self._folder = FOLDER / name
        shutil.rmtree(self._folder, ignore_errors=True)
        for part in ("upper", "work", "root"):
            (self._folder / part).mkdir(parents=True)
        self._lower = lower

    @property
    def layers(self) -> tuple[Path, ...]:
        """What a machine begins with that goes on from this one."""
        return (self._folder / "upper", *self._lower)

    def prepare(self) -> None:
        """Make the user and the clone."""
        home = HOMES[self._user]
        clone = f'git clone --quiet --no-hardlinks {shlex.quote(str(ROOT))} "$ROOT{home}/qosforge"'
        if self._user != "root":
            clone = f'chroot "$ROOT" useradd --create-home --shell /bin/sh {self._user} && {clone}'
            clone += f' && chroot "$ROOT" chown -R {self._user}: {home}'
        self._enter("prepare", clone, offline=False)

    def step(self, name: str, command: str, *, offline: bool = False, **more: str) -> str:
        """Run a command in the clone as the user; returns what it printed.

        Raises:
            Failed: it did not end with 0.
        """
        home = HOMES[self._user]
        environment = {
            "HOME": home,
            "PATH": f"{TOOLCHAIN}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            **{key: value for key, value in os.environ.items() if _PASSED_ON.fullmatch(key)},
            **more,
        }
        words = ["env", "-i", *(f"{key}={value}" for key, value in environment.items()), "sh", "-c"]
        inner = shlex.join([*words, f"cd {home}/qosforge && {command}"])
        return self._enter(name, f'exec chroot --userspec={self._user} "$ROOT" {inner}', offline=offline)

    def as_root(self, name: str, command: str) -> str:
        """Run a command in the root, as its root."""
        return self._enter(name, f'exec chroot "$ROOT" sh -c {shlex.quote(command)}', offline=True)

    def _enter(self, name: str, script: str, *, offline: bool) -> str:
        # Mounts and processes are in namespaces of this command's own: they end with it, however it ends.
        unshare = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
        if offline:
            unshare.append("--net")
        loopback = f"python3 -c {shlex.quote(_LOOPBACK_UP)}\n" if offline else ""
        variables = {
            "LOWER": ":".join(map(str, self._lower)),
            "UPPER": self._folder / "upper",
            "WORK": self._folder / "work",
            "ROOT": self._folder / "root",
            "TOOLCHAIN": TOOLCHAIN,
            "SYSROOT": sysroot(),
        }
        log = self._folder / f"{name}.log"
        with log.open("w") as output:
            code = subprocess.run(
                [*unshare, "sh", "-e", "-c", loopback + _MOUNTS + script],
                env=os.environ | {key: str(value) for key, value in variables.items()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        printed = log.read_text(errors="replace")
        if code != 0:
            lines = printed.splitlines()
            told = [line for line in lines if line.startswith(("FAILED ", "ERROR "))][:10] or lines[-3:]
            raise Failed(f"{name} ended with {code}: {' / '.join(told)} ({log})")
        return printed


def main() -> None:
    """Run in every root that is asked for; exit code 1 where one of them fails."""
    every = [f"{suite}/{user}" for suite in SUITES for user in HOMES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="SUITE/USER", help=f"default: {' '.join(every)}")
    parser.add_argument("--sample", action="store_true", help="run a part of the tests")
    parser.add_argument("--without", action="store_true", help="as root, also take away each package in turn")
    arguments = parser.parse_args()
    if wrong := sorted(set(arguments.machines) - set(every)):
        parser.error(f"no such machine: {', '.join(wrong)} (there are {', '.join(every)})")
    require_tools()
    failed = 0
    for name in arguments.machines or every:
        began = time.monotonic()
        try:
            said = f"passed: {machine(name, SAMPLE if arguments.sample else '', without=arguments.without)}"
        except Failed as error:
            failed += 1
            said = f"FAILED: {error}"
        print(f"bare {name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(1 if failed else 0)


def machine(name: str, tests: str, *, without: bool) -> str:
    """Both commands on one machine, twice; returns the counts of its tests."""
    suite, user = name.split("/")
    here = Machine(name.replace("/", "-"), user, (base_root(suite),))
    here.prepare()
    demo = here.step("demo", "make demo")
    require("kept" in demo, "the demo ended without a run that was kept")
    require("installing system packages" not in demo, "the demo installed system packages")
    settings = {"CI": "true"} if user == "root" else {}  # there, a skip is a failure
    tested = here.step("test", f"make test TESTS={shlex.quote(tests)}", **settings)
    require_named(tested, user)
    again = here.step("demo-again", "make demo", offline=True)
    require("no changes" in again, "the second demo found something to change")
    again += here.step("test-again", f"make test TESTS={shlex.quote(SHORT)}", offline=True)
    require(_MADE.search(again) is None, "the second time something was installed")
    said = counts(tested)
    if without and user == "root":
        for package in here.step("packages", ".venv/bin/python -m tests.install_system_packages --list").split():
            said += f"; without {package}: {take_away(here, package)}"
    return said


def take_away(complete: Machine, package: str) -> str:
    """``make test`` where one package is gone and cannot be installed again; returns its counts."""
    here = Machine(f"{complete.name}-without-{package}", "root", complete.layers)
    # A package that stands for the newest release of another one is taken away with it.
    installed = f"dpkg-query -W -f '${{Package}}\\n' | grep -xE '{re.escape(package)}(-[0-9]+)?'"
    here.as_root("remove", f"dpkg --remove --force-depends $({installed}) && apt-get clean")
    tested = here.step("test", f"make test TESTS={shlex.quote(SAMPLE)}", offline=True)
    told = [line for line in tested.splitlines() if line.startswith("not run:") and package in line]
    require(bool(told), f"without {package}: no line names it among what was not run")
    return counts(tested)


def require_named(tested: str, user: str) -> None:
    """As root nothing was skipped; an ordinary user is told the packages of every test that was."""
    skipped = [line for line in tested.splitlines() if line.startswith("SKIPPED")]
    if user == "root":
        require(not skipped, f"skipped as root: {skipped[:3]}")
        return
    require(bool(skipped), "an ordinary user lacks packages, and yet nothing was skipped")
    unnamed = [line for line in skipped if "apt-get install" not in line]
    require(not unnamed, f"skipped without a package: {unnamed[:3]}")
    require("skipping tests that need" in tested, "no line said that packages cannot be installed")


def require(holds: bool, message: str) -> None:
    """Raise `Failed` with the message where something does not hold."""
    if not holds:
        raise Failed(message)


def counts(printed: str) -> str:
    """The counts of pytest's last line."""
    found = _COUNTS.findall(printed)
    require(bool(found), "pytest printed no counts")
    return str(found[-1])


def base_root(suite: str) -> Path:
    """A root of the release with what the README asks for; made where there is none yet."""
    base = FOLDER / suite
    if base.is_dir():
        return base
    print(f"making a root of {suite}", flush=True)
    new = FOLDER / f"{suite}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    log = FOLDER / f"{suite}.log"
    with log.open("w") as output:
        command = ["debootstrap", "--variant=minbase", f"--include={','.join(README_ASKS_FOR)}", suite, str(new)]
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    require(code == 0, f"debootstrap ended with {code} ({log})")
    # Packages with a service start none here: the root has no init.
    policy = new / "usr" / "sbin" / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    for name in ("/etc/resolv.conf", "/etc/hosts", *(v for k, v in os.environ.items() if _PASSED_ON.fullmatch(k))):
        source, target = Path(name), new / name.lstrip("/")
        if source.is_absolute() and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)
    new.rename(base)
    return base


def sysroot() -> str:
    """Where rustup keeps the toolchain."""
    done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def require_tools() -> None:
    """End with the reason where this machine cannot do it; debootstrap is installed where it is missing."""
    if os.geteuid() != 0:
        sys.exit("make bare takes root: it makes roots and mounts them")
    if shutil.which("debootstrap") is None:
        print("installing debootstrap", flush=True)
        for words in (["update"], ["install", "--yes", "debootstrap"]):
            if subprocess.run(["apt-get", "--quiet=2", *words], check=False).returncode != 0:
                sys.exit("missing: debootstrap, and apt-get cannot install it")
    if shutil.which("rustc") is None or not (Path(sysroot()) / "bin" / "cargo").is_file() or sysroot() == "/usr":
        sys.exit("missing: a Rust toolchain of rustup's, which the roots can be given")


if __name__ == "__main__":
    main()
