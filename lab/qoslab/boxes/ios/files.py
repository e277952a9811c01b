"""Flash: ``dir``, ``more``, ``verify /md5``, ``copy``, ``delete``, and files typed through Tcl."""

from __future__ import annotations

import hashlib
import re

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.exec import confirm
from qoslab.boxes.ios.rows import row
from qoslab.errors import BoxError
from qoslab.grammar import Match
from qoslab.shell import Question, Reply, Row, Shell, apply_lines
from qoslab.storage import FLASH_BYTES

MISSING = "%Error opening flash:/{name} (No such file or directory)"
TCL_MODE = "tcl"


class Files:
    """File commands. ``tcl`` says whether the image carries a Tcl shell."""

    def __init__(self, box: IosBox, *, tcl: bool) -> None:
        self._box = box
        self._tcl = tcl

    def rows(self) -> list[Row]:
        """Privileged exec."""
        rows = [
            row("dir [FILE:file]", self._dir),
            row("more FILE:file", self._more),
            row("verify /md5 FILE:file", self._verify),
            row("delete [/force] FILE:file", self._delete),
            row("copy running-config FILE:to", self._from_running),
            row("copy startup-config FILE:to", self._from_startup),
            row("copy FILE:from running-config", self._to_running),
            row("copy FILE:from startup-config", self._to_startup),
            row("copy FILE:from FILE:to", self._between),
        ]
        return [*rows, row("tclsh", self._tclsh)] if self._tcl else rows

    def tcl_rows(self, exec_rows: list[Row]) -> list[Row]:
        """The Tcl shell: exec commands, ``puts [open ...] {`` and the way out."""
        return [
            row("exit", lambda s, m: _leave(s)),
            row("tclquit", lambda s, m: _leave(s)),
            row("puts LINE:rest", self._puts),
            *exec_rows,
        ]

    def text(self, name: str) -> str | None:
        """A flash file as text."""
        data = self._box.storage.read(name) if name else None
        return None if data is None else data.decode(errors="replace")

    def apply(self, text: str) -> str:
        """Merge configuration text into running; returns what the box said."""
        shell = self._box.console()
        shell.planted_faults = True
        said = apply_lines(shell, text.splitlines())
        return "\n".join(f"{line.rstrip()}\n{answer}" for _, line, answer in said)

    # -- looking -----------------------------------------------------------------------------------------
    def _dir(self, shell: Shell, match: Match) -> str:
        del shell
        file = match.get("file", "flash:")
        system, _, name = file.partition(":")
        if system != "flash":
            return f"%Error opening {file} (No such device)"
        files = [entry for entry in self._box.storage.files() if not name or entry[0] == name]
        if name and not files:
            return MISSING.format(name=name)
        stamp = self._box.clock.stamp("%b %d %Y %H:%M:%S +00:00")
        lines = [f"Directory of flash:/{name}", ""]
        lines += [f"{at:>5}  -rw-  {size:>10}  {stamp}  {one}" for at, (one, size) in enumerate(files, 1)]
        return "\n".join([*lines, "", f"{FLASH_BYTES} bytes total ({self._box.storage.free()} bytes free)"])

    def _more(self, shell: Shell, match: Match) -> str:
        del shell
        name = match["file"].partition(":")[2]
        text = self.text(name) if name else None
        return MISSING.format(name=name) if text is None else text

    def _verify(self, shell: Shell, match: Match) -> str:
        del shell
        name = match["file"].partition(":")[2]
        data = self._box.storage.read(name) if name else None
        if data is None:
            return MISSING.format(name=name)
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        return f"{'.' * 8}Done!\nverify /md5 (flash:{name}) = {digest}\n"

    # -- changing ----------------------------------------------------------------------------------------
    def _delete(self, shell: Shell, match: Match) -> Reply:
        del shell
        name = match["file"].partition(":")[2]

        def remove(key: str) -> Reply:
            if key not in "\r\nyY":
                return Reply()
            gone = bool(name) and self._box.storage.erase(name)
            return Reply("" if gone else MISSING.format(name=name))

        if "/force" in match.words:
            return remove("y")
        question = confirm(f"Delete flash:{name}? [confirm]", remove)
        return Reply(ask=Question(f"Delete filename [{name}]? ", lambda _: Reply(ask=question)))

    def _write(self, to: str, text: str) -> str:
        try:
            self._box.storage.write(to, text.encode())
        except BoxError as full:
            return f"%Error writing flash:/{to} ({full})"
        return f"{len(text)} bytes copied in 0.100 secs ({len(text) * 10} bytes/sec)\n"

    def _asked(self, name: str, shell: Shell, work: str) -> Reply:
        """Write at once under ``file prompt quiet``, else after the destination was confirmed."""
        del shell
        if "file prompt quiet" in self._box.running:
            return Reply(self._write(name, work))
        return Reply(
            ask=Question(f"Destination filename [{name}]? ", lambda a: Reply(self._write(a.strip() or name, work)))
        )

    def _from_running(self, shell: Shell, match: Match) -> Reply:
        return self._asked(match["to"].partition(":")[2], shell, self._box.running_text())

    def _from_startup(self, shell: Shell, match: Match) -> Reply:
        return self._asked(match["to"].partition(":")[2], shell, self._box.storage.startup())

    def _to_running(self, shell: Shell, match: Match) -> Reply:
        del shell
        name = match["from"].partition(":")[2]
        text = self.text(name)
        if text is None:
            return Reply(MISSING.format(name=name))

        def merge(_: str) -> Reply:
            said = self.apply(text)
            done = f"{len(text)} bytes copied in 0.200 secs ({len(text) * 5} bytes/sec)\n"
            return Reply(f"{said}\n{done}" if said else done)

        if "file prompt quiet" in self._box.running:
            return merge("")
        return Reply(ask=Question("Destination filename [running-config]? ", merge))

    def _to_startup(self, shell: Shell, match: Match) -> Reply:
        del shell
        name = match["from"].partition(":")[2]
        text = self.text(name)
        if text is None:
            return Reply(MISSING.format(name=name))

        def put(_: str) -> Reply:
            self._box.storage.save_startup(text)
            return Reply(f"[OK]\n{len(text)} bytes copied in 0.200 secs ({len(text) * 5} bytes/sec)\n")

        return Reply(ask=Question("Destination filename [startup-config]? ", put))

    def _between(self, shell: Shell, match: Match) -> Reply:
        system, _, name = match["from"].partition(":")
        if system == "null":
            text: str | None = ""
        elif system == "system":
            text = self._box.running_text()
        else:
            text = self.text(name)
        if text is None:
            return Reply(MISSING.format(name=name))
        return self._asked(match["to"].partition(":")[2], shell, text)

    # -- Tcl ---------------------------------------------------------------------------------------------
    def _tclsh(self, shell: Shell, match: Match) -> None:
        del match
        shell.enter(TCL_MODE, self._box.running)

    def _puts(self, shell: Shell, match: Match) -> Reply | str:
        del shell
        # The one form people and programs use: puts [open "flash:NAME" w+] {text over many lines}
        found = _OPEN.match(match.line)
        if found is None:
            return match["rest"].strip('"{}')
        name, lines = found[1], []

        def more(line: str) -> Reply:
            body, closed, _ = line.partition("}")
            lines.append(body)
            if not closed:
                return Reply(ask=Question("+>", more, multiline=True))
            # puts adds one newline of its own.
            return Reply(self._typed(name, "\n".join(lines) + "\n"))

        return more(found[2])

    def _typed(self, name: str, text: str) -> str:
        try:
            self._box.storage.write(name, text.encode())
        except BoxError as full:
            return f'couldn\'t open "flash:{name}": {full}'
        return ""


_OPEN = re.compile(r'\s*puts \[open "?flash:/?([^"\s]+)"? w\+?\] \{(.*)$')


def _leave(shell: Shell) -> None:
    shell.levels = []
