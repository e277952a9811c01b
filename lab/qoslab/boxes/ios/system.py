"""An IOS box's system part: files, reload, and where the image has them archive, Tcl and SCP."""

from __future__ import annotations

from qoslab.boxes.ios.archive import Archive
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.cdp import Cdp
from qoslab.boxes.ios.exec import Exec
from qoslab.boxes.ios.files import Files
from qoslab.boxes.ios.general import submode_rows
from qoslab.boxes.ios.reload import Reload
from qoslab.clock import Clock
from qoslab.errors import BoxError
from qoslab.shell import Row
from qoslab.spec import BoxSpec
from qoslab.storage import Storage


class IosSystem(IosBox):
    """IOS without any QoS. ``modern``: what the features ``archive``, ``tcl`` and ``scp`` default to."""

    modern = False

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self.files = Files(self, tcl=spec.features.get("tcl", self.modern))
        self.archive = Archive(self, self.files) if spec.features.get("archive", self.modern) else None
        self.reload = Reload(self)
        self.accepts_files = spec.features.get("scp", self.modern)
        super().__init__(spec, storage, clock)

    def system_tables(self, shows: list[Row]) -> dict[str, list[Row]]:
        """Exec, Tcl, archive and the small modes; ``shows`` are the platform's own exec commands."""
        exec_ = Exec(self)
        cdp = Cdp(self).rows()
        privileged = [
            *exec_.rows(privileged=True),
            *cdp,
            *self.files.rows(),
            *self.reload.rows(),
            *shows,
            *(self.archive.exec_rows() if self.archive is not None else []),
        ]
        return {
            "exec": [*exec_.rows(privileged=False), *cdp],
            "enable": privileged,
            "tcl": self.files.tcl_rows(privileged),
            **submode_rows(),
            **(Archive.tables() if self.archive is not None else {}),
        }

    def system_rows(self) -> list[Row]:
        """The system's own rows of global configuration."""
        return Archive.global_rows() if self.archive is not None else []

    def receive_file(self, path: str, data: bytes) -> None:
        """A file by SCP, onto flash; the server must be switched on."""
        if "ip scp server enable" not in self.running:
            raise BoxError("SCP server is not enabled")
        system, _, name = path.rpartition(":")
        if system not in {"", "flash"}:
            raise BoxError(f"no file system {system}:")
        self.storage.write(name.lstrip("/"), data)

    @property
    def timer_runs(self) -> bool:
        """A reload is scheduled, or a change waits to be confirmed."""
        return self.reload.scheduled or (self.archive is not None and self.archive.pending)

    def fire_timer(self) -> bool:
        """A scheduled reload happens, a change that waits to be confirmed is taken back."""
        return self.reload.run_out() or (self.archive is not None and self.archive.run_out())

    def put_timer_off(self) -> bool:
        """Neither happens for another year."""
        return self.reload.put_off() or (self.archive is not None and self.archive.put_off())

    def power_off(self) -> None:
        """Timers die, sessions are cut."""
        self._forget_timers()
        super().power_off()

    def reboot(self) -> None:
        """A reload: timers and counters are gone with running."""
        self._forget_timers()
        self.clear_counters()
        super().reboot()

    def _forget_timers(self) -> None:
        self.reload.clear()
        if self.archive is not None:
            self.archive.clear()
