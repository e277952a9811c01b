"""Nortel BayStack 5510 and ERS over Netmiko's ``extreme_ers``."""

from __future__ import annotations

import re
from typing import ClassVar

import cli_candidate
from cli_candidate.answers import SAYS_NO
from cli_candidate.dialect import Dialect, FactPatterns

from napalm_ers.connection import ErsConnection

# The widest screen without side effects; the device breaks longer output lines there.
_WIDTH = 131

# The family prints "% ..." for warnings too, so of those only the texts known as refusals count.
_REFUSAL = re.compile(
    r"^%\s*(?:Invalid|Incomplete|Ambiguous|Error|Unknown|Cannot|Inappropriate|Insufficient"
    r"|Bad (?:port|unit|format|VLAN list)"
    r"|MLT \d+ does not exist|No such VLAN|View name does not exist|User .* does not exist"
    r"|Partial configuration of .* already exists)"
    rf"|{SAYS_NO}",
    re.IGNORECASE,
)

ERS = Dialect(
    platform="ers",
    vendor="Nortel",
    device_type="extreme_ers",
    connection=ErsConnection,
    # The only form all releases know; "save config" came with later ones.
    save_command="copy config nvram",
    refusal=_REFUSAL,
    warning=re.compile(r"^%"),
    show_running_full="show running-config verbose",
    show_startup=None,
    volatile=(
        re.compile(r"!?\s*clock set\b"),
        re.compile(r"!.*\b\d{1,2}:\d{2}:\d{2}\b"),
    ),
    # The device prints every QoS setting that differs from its default.
    absent_is_off=("qos ",),
    block_open=re.compile(r"(?:interface|router)\s"),
    setup=(f"terminal width {_WIDTH}",),
    wrap_width=_WIDTH,
    factory_width=80,
    no_timer="the ERS command line has no timer that undoes a change",
    facts=FactPatterns(
        command="show sys-info",
        model=re.compile(r"^\s*sysDescr:\s*(.+?)(?:\s{2,}|$)", re.MULTILINE),
        os_version=re.compile(r"\bSW:v?(\S+)|Software Version:\s*v?(\S+)"),
        serial_number=re.compile(r"Serial #:\s*(\S+)"),
        uptime=re.compile(r"sysUpTime:\s*(.+)$", re.MULTILINE),
    ),
)


class ErsDriver(cli_candidate.CandidateDriver):
    """Merges into an ERS.

    The device saves on its own: with autosave on (the factory setting) NVRAM follows the running
    configuration within about a minute, confirmed or not; ``no autosave enable`` stops that.
    ``confirm_commit()`` saves at once. Its startup configuration is binary, so ``get_config`` leaves
    ``startup`` empty. Answers beginning with ``%`` that are not known refusals are warnings about
    commands that were taken: see ``last_commit.warnings`` and verify by reading back. A new queue
    set or buffer mode is stored at once but works only after a reset of the switch.
    """

    dialect: ClassVar[Dialect] = ERS
