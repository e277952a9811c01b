"""Runs of every end in a network whose devices quote the secrets that they hold: how each came about, and ended.

A run that went back is tried again from its push, so that one run fails at every step in turn: what a viewer is
told of it is kept as each of its attempts has ended.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2
import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.sessions import cookie_name, open_session
from qosforge.access.tokens import create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.database.connections import Database
from qosforge.settings import Settings
from qoslab import control
from tests.patience import PATIENCE

from .chaos import Installation, wait_until
from .command import Command, Ended
from .crowd import POLICY
from .vault import BOXES, NETWORK, PLANTED, Vault

BEFORE: Mapping[str, object] = {"voice": 30, "web": 60, "rest": 40, "mark": "af21"}
AFTER: Mapping[str, object] = {"voice": 35, "web": 55, "rest": 45, "mark": "cs2"}
"""Parameters of the policy that is kept, and of the one that never stands: all devices would have to change."""

ENDS: Mapping[str, tuple[str, str]] = {
    "kept": ("kept", ""),
    "unread": ("failed", "read"),
    "unsaved": ("rejected", "validate"),
    "unmeasured": ("failed", "measure-before"),
    "cancelled": ("cancelled", "push"),
    "refused": ("rolled_back", "push"),
    "otherwise": ("rolled_back", "push"),
    "uncounted": ("rolled_back", "counters"),
    "unkept": ("rolled_back", "keep"),
    "unrestored": ("needs_recovery", "rollback"),
    "recovered": ("rolled_back", "counters"),
    "unback": ("rolled_back", "push"),
    "back": ("kept", ""),
}
"""The status of each, and the step that its reason names."""

SILENCE = 8
"""Seconds after which a device that says nothing in the midst of its lines is left."""
UNSAVED = f"snmp-server community {PLANTED}998 RW"
_PATIENCE = 240
_WAITING = ("pending", "running")

CONFIGURING, READING = "^configure terminal", "^show running-config"
ENTERING = {"r1": r"^copy flash:\S+ running-config", "c9300": r"^copy flash:\S+ running-config"}
"""What the lines of a change come behind; elsewhere it is `CONFIGURING`."""
COUNTING = "^show (policy-map|mls qos interface|qos statistics)"
UNCOUNTED = {"s2950"}
SAVING = "^(write mem|copy config nvram)"

_MEASURED = POLICY.replace('{percent: "${voice}"}}', '{percent: "${voice}"}}\n    objective: {loss: 1 %}') + (
    "verify:\n  - {from: ann, to: bob, classes: [voice], seconds: 5, confidence: 95 %}\n"
)
assert "objective" in _MEASURED


@dataclass
class Told:
    """What became of the runs, what a viewer was told of each as it ended, and where everything is kept."""

    vault: Vault
    installation: Installation
    traces: list[bytes]
    processes: list[Command]
    """Those that serve, and carry out runs."""
    runs: dict[str, str] = field(default_factory=dict)
    ended: dict[str, tuple[str, str]] = field(default_factory=dict)
    seen: dict[str, dict[str, bytes]] = field(default_factory=dict)
    unmet: list[str] = field(default_factory=list)
    """Faults that did not come about, with the end that they were to bring about."""
    recovering: list[Ended] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return Settings(
            var_dir=self.vault.var, inventories_dir=self.vault.inventories, database_url=self.installation.url
        )

    @property
    def secrets(self) -> set[bytes]:
        return {secret.encode() for held in self.vault.secrets.values() for secret in held}

    def secret(self, box: str) -> str:
        """One that a device holds."""
        held = re.search(rf'snmp-server community "?({PLANTED}\d+)', self.vault.running(box))
        assert held is not None
        return held[1]

    def quoted(self, box: str, mark: str = "%") -> str:
        """What a device says: it quotes a secret of its own by itself, and lines with one that it never held."""
        line = f"snmp-server community {PLANTED}999 RO"
        return f"{mark} Failed near '{self.secret(box)}', see {line}\n{line}\n{self.secret(box)}"

    def viewer(self, name: str) -> httpx2.Client:
        """A viewer of every network, logged in and with a token."""
        with closing(Database(self.installation.url)) as database:

            def write(connection: sa.Connection) -> tuple[str, str]:
                now = datetime.now(UTC)
                add_user(connection, name, now)
                grant(connection, name, EVERY_NETWORK, Role.VIEWER)
                owner = find_user(connection, name)
                token = create_token(connection, owner, "t", Role.VIEWER, None, at=now)[1]
                return token, open_session(connection, owner.id, now)

            token, session = database.transact(write)
        port = self.installation.port
        client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE + 60, follow_redirects=True)
        client.cookies.set(cookie_name(self.settings), session)
        client.headers["Authorization"] = f"Bearer {token}"
        return client

    @contextmanager
    def faults(self, end: str) -> Iterator[Callable[..., None]]:
        """Gives what plants faults, ``(box, kind, **arguments)``; notes those not met at the end of the block."""
        planted: list[tuple[str, str]] = []

        def plant(box: str, kind: str, **arguments: object) -> None:
            control.plant(self.vault.state, box, kind, **arguments)
            planted.append((box, kind))

        yield plant
        for box, kind in planted:
            if not control.met(self.vault.state, box).get(kind):
                self.unmet.append(f"{end}: {kind} of {box}")
        for box in {box for box, _ in planted}:
            control.plant(self.vault.state, box, "clear")


Plant = Callable[..., None]


@dataclass
class Ends:
    """Lets runs come to every end of `ENDS`."""

    told: Told
    client: httpx2.Client
    """A viewer's."""

    def go(self) -> None:
        self._end("kept", self._ordered(BEFORE))
        with self.told.faults("unread") as plant:
            self._unread(plant)
            run = self._ordered(AFTER)
            self._end("unread", run)
        control.configure(self.told.vault.state, "s2950", [UNSAVED])
        self._again(run, "read")
        self._end("unsaved", run)
        control.configure(self.told.vault.state, "s2950", [f"no {UNSAVED}"])
        self._unmeasured_and_cancelled()
        with self.told.faults("refused") as plant:
            self._refused(plant)
            run = self._ordered(AFTER)
            self._end("refused", run)
        for name, faults in (
            ("otherwise", self._otherwise),
            ("uncounted", self._uncounted),
            ("unkept", self._unkept),
            ("unrestored", self._unrestored),
        ):
            with self.told.faults(name) as plant:
                faults(plant)
                self._again(run, "push")
                self._end(name, run)
                if name == "unrestored":
                    self._stop()
        self._recovered(run)
        with self.told.faults("unback") as plant:
            self._unchecked(plant, *BOXES)
            answer = self.told.installation.post(f"/runs/{self.told.runs['kept']}/rollback")
            run = self._made(answer)
            self._end("unback", run)
        self._again(run, "read")
        self._end("back", run)

    # -- what goes wrong, by the step that it does at ------------------------------------------------------
    def _unread(self, plant: Plant) -> None:
        for box in ("s2970", "ers5510", "c9300"):
            plant(box, "refuse", pattern=READING, text=self.told.quoted(box))
        plant("e300", "disconnect", pattern=READING, taken=True)
        plant("r1", "refuse", pattern="^terminal width", text=self.told.quoted("r1"))
        plant("s2950", "banner", text=self.told.quoted("s2950"))
        plant("s2950", "refuse", pattern="^enable", text=self.told.quoted("s2950"))

    def _refused(self, plant: Plant) -> None:
        """Before the lines, at one of them, and in the midst of one."""
        refusal = f"% Invalid input detected at '^' marker.\n{self.told.quoted('r1')}"
        plant("r1", "refuse", pattern=ENTERING["r1"], text=refusal, times=1)
        plant("c9300", "refuse", pattern="^configure terminal revert", text=self.told.quoted("c9300"), times=1)
        plant("s2970", "refuse", pattern="^reload in", text=self.told.quoted("s2970"), times=1)
        plant("s2950", "refuse", mode="configuration", lines=2, text=self.told.quoted("s2950"), times=1)
        plant("ers5510", "disconnect", mode="configuration", lines=4)
        plant("e300", "hang", mode="configuration", lines=4)

    def _otherwise(self, plant: Plant) -> None:
        """At the reading behind the lines, and by what it gives."""
        plant("r1", "drop_line", pattern="^priority percent")
        plant("c9300", "disconnect", pattern=[ENTERING["c9300"], READING], taken=True)
        self._unchecked(plant, *(set(BOXES) - set(ENTERING)))

    def _unchecked(self, plant: Plant, *boxes: str) -> None:
        for box in boxes:
            entered = [ENTERING.get(box, CONFIGURING), READING]
            plant(box, "refuse", pattern=entered, text=self.told.quoted(box), times=1)

    def _uncounted(self, plant: Plant) -> None:
        for box in set(BOXES) - UNCOUNTED:
            plant(box, "refuse", pattern=COUNTING, text=self.told.quoted(box))

    def _unkept(self, plant: Plant) -> None:
        """By words that say no, and by those that say neither yes nor no."""
        for box in BOXES:
            mark = "%" if box in ("s2970", "ers5510") else "!"
            plant(box, "refuse", pattern=SAVING, text=self.told.quoted(box, mark), times=1)

    def _unrestored(self, plant: Plant) -> None:
        """The counters of one are refused, and then all are asked to go back."""
        plant("s2970", "refuse", pattern=COUNTING, text=self.told.quoted("s2970"))
        for box in ("s2950", "s2970", "ers5510", "e300"):
            entered = [CONFIGURING, READING, CONFIGURING]
            plant(box, "refuse", pattern=entered, text=self.told.quoted(box), times=0)
        for box in ENTERING:
            plant(box, "refuse", pattern="^configure revert", text=self.told.quoted(box), times=0)

    def _unmeasured_and_cancelled(self) -> None:
        """What a router holds that the twin does not model has the name of a secret; elsewhere a device drips."""
        told = self.told
        name = told.secret("r1")
        modelled = [f"class-map match-any {name}", "match source-address mac 0011.2233.4455"]
        entered = ["policy-map QOSFORGE-IN", f"class {name}", "set dscp af11"]
        assert not any(control.configure(told.vault.state, "r1", [*modelled, *entered]))
        with told.faults("cancelled") as plant:
            plant("e300", "drip", pattern="", mode="configuration", lines=2, times=1)
            cancelled = self._ordered({**AFTER, "roles": ["core"]})
            unmeasured = self._ordered({**AFTER, "roles": ["access"]}, _MEASURED)
            drips = lambda: bool(control.met(told.vault.state, "e300").get("drip"))  # noqa: E731
            wait_until(drips, "the device to drip", _PATIENCE)
            answer = told.installation.post(f"/runs/{cancelled}/cancel")
            assert answer.status_code == 202, answer.text
            self._end("cancelled", cancelled)
            self._end("unmeasured", unmeasured)
        control.configure(told.vault.state, "r1", [entered[0], f"no {entered[1]}", f"no {modelled[0]}"])

    # -- runs ----------------------------------------------------------------------------------------------
    def _ordered(self, parameters: Mapping[str, object], text: str = POLICY) -> str:
        policy = {"text": text, "parameters": parameters}
        order = {"network": NETWORK, "policy": policy, "measure": text is not POLICY}
        return self._made(self.told.installation.post("/runs", order))

    def _again(self, run: str, start: str) -> None:
        answer = self.told.installation.post(f"/runs/{run}/retry", {"start": start})
        assert answer.status_code in (200, 201, 202), answer.text

    def _made(self, answer: httpx2.Response) -> str:
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def _end(self, name: str, run: str) -> None:
        """Wait for the end, and keep what a viewer is told of it."""
        waiting = _WAITING if name == "unrestored" else (*_WAITING, "needs_recovery")
        self.told.runs[name] = run
        wait_until(lambda: self._status(run) not in waiting, f"the run {name} to end", _PATIENCE, every=0.5)
        self._seen(name, run)

    def _seen(self, name: str, run: str) -> None:
        ended = self._run(run)
        self.told.ended[name] = (str(ended["status"]), str(ended["reason_step"]))
        one = f"/api/v1/runs/{run}"
        paths = (one, f"{one}/report?format=html", f"{one}/report?format=junit", f"/runs/{run}")
        self.told.seen[name] = {path: self.client.get(path).raise_for_status().content for path in paths}

    def _status(self, run: str) -> str:
        """As the list has it: a look at the run itself puts its whole report together."""
        listed = self.told.installation.client.get("/runs", params={"network": NETWORK}).json()["runs"]
        return next(str(one["status"]) for one in listed if one["id"] == run)

    def _run(self, run: str) -> Mapping[str, object]:
        found: Mapping[str, object] = self.told.installation.client.get(f"/runs/{run}").json()
        return found

    # -- recovery ------------------------------------------------------------------------------------------
    def _stop(self) -> None:
        """End what would settle devices by itself."""
        for process in self.told.processes:
            os.kill(process.pid or 0, signal.SIGTERM)
        for process in self.told.processes:
            assert process.wait(60).code == 0

    def _recovered(self, run: str) -> None:
        """By the command: first devices refuse to be read, and its process has read none; then they answer."""
        told = self.told
        with told.faults("recovered") as plant:
            for box in ("r1", "s2970", "ers5510", "e300"):
                plant(box, "refuse", pattern=READING, text=told.quoted(box), times=9)
            told.recovering.append(told.installation.command("recover").wait(_PATIENCE))
        told.recovering.append(told.installation.command("recover").wait(_PATIENCE))
        told.processes = [told.installation.command(*process.arguments) for process in told.processes]
        wait_until(told.installation.ready, "the service", _PATIENCE)
        self._end("recovered", run)
