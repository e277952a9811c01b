"""Force10 FTOS over Netmiko's ``dell_force10``."""

from __future__ import annotations

import re
from typing import ClassVar

import cli_candidate
from cli_candidate.answers import SAYS_NO
from cli_candidate.dialect import Dialect, FactPatterns
from netmiko.dell import DellForce10SSH

FTOS = Dialect(
    platform="force10",
    vendor="Force10",
    device_type="dell_force10",
    connection=DellForce10SSH,
    save_command="write memory",
    # FTOS says "% Info:" of a mark that it took, and which queue it belongs to.
    refusal=re.compile(rf"^%(?!\s*(?:warning|info:))|{SAYS_NO}", re.IGNORECASE),
    volatile=(
        re.compile(r"Current Configuration", re.IGNORECASE),
        re.compile(r"! Last configuration change at"),
        re.compile(r"! Startup-config last updated at"),
    ),
    absent_is_off=(
        "class-map",
        "ip access-list",
        "mac access-list",
        "policy-map-input",
        "policy-map-output",
        "qos-policy-input",
        "qos-policy-output",
        "service-policy",
        "service-queue",
        "strict-priority",
        "wred-profile",
    ),
    no_timer="FTOS has no timer that undoes a change",
    facts=FactPatterns(
        command="show version",
        model=re.compile(r"^(?:System Type|Chassis Type):\s*(.+)$", re.MULTILINE | re.IGNORECASE),
        os_version=re.compile(r"(?:Software|OS) Version:\s*(\S+)", re.IGNORECASE),
        serial_number=re.compile(r"Serial Number\s*:\s*(\S+)", re.IGNORECASE),
        uptime=re.compile(r"uptime is\s+(.+)$", re.MULTILINE | re.IGNORECASE),
    ),
)


class Force10Driver(cli_candidate.CandidateDriver):
    """Merges into FTOS, which has neither a candidate, nor a timer, nor a checkpoint."""

    dialect: ClassVar[Dialect] = FTOS
