"""Old Cisco IOS (2600 with 12.2, Catalyst 2950 with 12.1, 2970) over Netmiko's ``cisco_ios``."""

from __future__ import annotations

import math
import re
from typing import ClassVar

import cli_candidate
from cli_candidate.answers import SAYS_NO, read_answer
from cli_candidate.dialect import Dialect, FactPatterns
from cli_candidate.errors import CommitPendingError
from cli_candidate.pending import PendingCommit
from cli_candidate.terminal import GO_ON, Replies
from cli_candidate.unsaved import unsaved_lines
from napalm.base.constants import CISCO_SANITIZE_FILTERS
from napalm.base.exceptions import CommandErrorException, CommitConfirmException
from napalm.base.helpers import sanitize_config
from netmiko.cisco import CiscoIosSSH

# Besides the lines that begin with "%": the queueing code refuses in sentences that have no mark.
_REFUSAL = re.compile(
    rf"^%(?!\s*warning)|{SAYS_NO}"
    r"|^I/f .* requested bandwidth .*available only|^CBWFQ\s*:|\bconsistent units\b|^Mixed bandwidth types",
    re.IGNORECASE,
)

IOS = Dialect(
    platform="ios_legacy",
    vendor="Cisco",
    device_type="cisco_ios",
    connection=CiscoIosSSH,
    save_command="write memory",
    saved=re.compile(r"\[OK\]"),
    refusal=_REFUSAL,
    volatile=(
        re.compile(r"Building configuration"),
        re.compile(r"Current configuration\s*:"),
        re.compile(r"Using \d+ out of \d+ bytes"),
        re.compile(r"! (?:Last|No) configuration change"),
        re.compile(r"! NVRAM config last updated"),
        re.compile(r"ntp clock-period\b"),
    ),
    # The release whose image printed the text, at the head of every configuration in Cisco's guides: nobody enters
    # it, and startup keeps that of the image that saved it.
    cosmetic=(re.compile(r"version \d+\.\d+"),),
    ordered=(
        re.compile(r"access-list (\S+) "),
        re.compile(r"(?:\d+ )?(?:permit|deny|remark)\b"),
        re.compile(r"class \S"),
        re.compile(r"rate-limit (input|output) "),
    ),
    absent_is_off=(
        "access-list",
        "class ",
        "class-map",
        "ip access-list",
        "map-class",
        "match ",
        "policy-map",
        "service-policy",
    ),
    facts=FactPatterns(
        command="show version",
        model=re.compile(r"^[Cc]isco (\S+) .*bytes of", re.MULTILINE),
        os_version=re.compile(r"(?:IOS \(tm\)|Cisco IOS Software).*?Version (\S+?),"),
        serial_number=re.compile(r"Processor board ID (\S+)"),
        uptime=re.compile(r"uptime is (.+)$", re.MULTILINE),
    ),
)

# Saving here would put the change into the very configuration the reload is to go back to.
_RELOAD: Replies = ((re.compile(r"save\?\s*\[yes/no\]\s*:?\s*\Z", re.IGNORECASE), "no"), *GO_ON)

# Cisco, IOS Configuration Fundamentals Command Reference, "show reload": "Reload scheduled for 15:12:00 UTC Mon
# Mar 1 2004 (in 14 minutes and 20 seconds) by admin on vty0". Without a user name there stands the line alone.
_UNITS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
_AMOUNT = re.compile(rf"(\d+) ({'|'.join(_UNITS)})")
_LEFT = re.compile(rf"\bin ((?:\d+ (?:{'|'.join(_UNITS)})s?(?:,? and |, | )?)+)")
_BY = re.compile(r"\bby (\S+) on \S+")


def _sanitized(difference: str) -> str:
    """A line of :func:`unsaved_lines` without secrets; NAPALM's filters know a command by its beginning."""
    place, mark, command = difference[1:].rpartition(" / ")
    return f"{difference[0]}{place}{mark}{sanitize_config(command, CISCO_SANITIZE_FILTERS)}"


class IOSLegacyDriver(cli_candidate.CandidateDriver):
    """Merges into IOS; a scheduled reload is its dead-man switch.

    ``commit_config(revert_in=seconds)`` schedules ``reload in`` (whole minutes, rounded up) before the
    first command: unless ``confirm_commit()`` comes in time, the device restarts from startup, which
    nothing has touched. To keep the change: ``confirm_commit()``, which cancels the reload and saves.
    To take it back: load the inverse, ``commit_config()`` (without ``revert_in``; the reload stays
    scheduled meanwhile, also after a refused line), read back, then ``confirm_commit()``: it cancels
    the reload and saves what startup holds already.
    """

    dialect: ClassVar[Dialect] = IOS

    def _arm(self, revert_in: int) -> None:
        """Schedule the reload.

        Raises:
            CommitPendingError: a reload is scheduled already.
            CommitConfirmException: ``revert_in`` is not positive, running and startup differ (the
                reload would lose that difference), or the device does not schedule it.
        """
        if revert_in <= 0:
            raise CommitConfirmException(f"revert_in={revert_in}: at least one second is needed")
        if self.has_pending_commit():
            raise CommitPendingError("a reload is scheduled already: confirm_commit() cancels it")
        self._require_saved()
        reply = self._terminal.run(f"reload in {max(1, math.ceil(revert_in / 60))}", _RELOAD)
        answer = read_answer(reply.text, self.dialect.refusal, self.dialect.warning)
        if answer.refusal is not None or not self.has_pending_commit():
            words = answer.refusal or reply.text.strip()
            raise CommitConfirmException(f"the device does not schedule a reload: {words}")

    def _require_saved(self) -> None:
        configs = self.get_config()
        delta = unsaved_lines(configs["startup"], configs["running"], self.dialect)
        if not delta:
            return
        shown = "; ".join(map(_sanitized, delta[:5]))
        raise CommitConfirmException(
            f"running and startup differ in {len(delta)} lines ({shown}): the reload that serves as timer would "
            "lose that; save first, or commit without revert_in"
        )

    def has_pending_commit(self) -> bool:
        """Whether a reload is scheduled, by whomever; a device that does not know the command has none.

        Raises:
            CommitConfirmException: the answer to ``show reload`` cannot be understood.
        """
        return self._scheduled() is not None

    def get_pending_commit(self) -> PendingCommit | None:
        """The scheduled reload, by whomever.

        Raises:
            CommitConfirmException: the answer to ``show reload`` cannot be understood.
        """
        told = self._scheduled()
        if told is None:
            return None
        user = _BY.search(told)
        by = user[1] if user is not None else ""
        left = _LEFT.search(told)
        seconds = sum(int(n) * _UNITS[unit] for n, unit in _AMOUNT.findall(left[1])) if left is not None else None
        return PendingCommit(by, by == self.username, left=seconds)

    def _scheduled(self) -> str | None:
        """What the device says of a scheduled reload; ``None`` where there is none."""
        text = self._terminal.run("show reload").text
        if read_answer(text, self.dialect.refusal, self.dialect.warning).refusal is not None:
            return None
        if re.search(r"no reload is scheduled", text, re.IGNORECASE):
            return None
        if re.search(r"reload scheduled", text, re.IGNORECASE):
            return str(text)
        raise CommitConfirmException(f"show reload: unexpected answer {text.strip()!r}")

    def confirm_commit(self) -> None:
        """Cancel a scheduled reload, then write running to startup.

        Raises:
            CommitConfirmException: the reload is still scheduled.
            CommandErrorException: the device did not save.
        """
        if self.has_pending_commit():
            self._terminal.run("reload cancel", GO_ON)
            if self.has_pending_commit():
                raise CommitConfirmException("the device does not cancel the scheduled reload")
        super().confirm_commit()

    def rollback(self) -> None:
        """Not possible: the device keeps no checkpoint.

        Raises:
            CommandErrorException: always, with the way that exists.
        """
        raise CommandErrorException(
            "ios_legacy: the device keeps no checkpoint to go back to; load the inverse of the change with "
            "load_merge_candidate and commit it, then confirm_commit() cancels a scheduled reload and saves"
        )
