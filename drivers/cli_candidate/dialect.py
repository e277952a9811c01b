"""The differences between the platforms of this distribution, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netmiko import BaseConnection


@dataclass(frozen=True, slots=True)
class FactPatterns:
    """Where ``get_facts`` finds its values: one command and a pattern (group 1) per field."""

    command: str
    model: re.Pattern[str]
    os_version: re.Pattern[str]
    serial_number: re.Pattern[str]
    uptime: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One platform's command line.

    Attributes:
        platform: the name NAPALM knows the driver by.
        vendor: for ``get_facts``.
        device_type: Netmiko's name of the platform.
        connection: the Netmiko class that logs in.
        save_command: writes running to startup.
        show_running: prints the running configuration.
        show_running_full: the same with defaults; None where the device cannot.
        show_startup: prints the startup configuration; None where it cannot be read as text.
        refusal: a line of an answer that means "not taken" (searched line by line).
        warning: a line that means "taken, but": looked at after ``refusal``.
        volatile: lines of a configuration that change without a change (whole lines).
        cosmetic: lines that a device writes by itself when it saves, which configure nothing: no difference between
            running and startup (whole lines).
        ordered: lines that are entries of a list, whose order counts; entries of one list have the same context and
            the same groups of the pattern.
        absent_is_off: commands whose absence from the running configuration means that ``no``
            has nothing to remove. Everything else may be on by default and not printed.
        block_open: a line that opens a mode without indenting what follows (up to ``exit``);
            None where indentation alone shows the mode.
        setup: EXEC commands sent after login, which set the width; a refusal is tolerated.
        wrap_width: columns at which the device breaks output lines once ``setup`` has been sent; None
            where it never does.
        factory_width: the same where it refused ``setup``.
        no_timer: why ``revert_in`` cannot be honoured; None where it can.
        saved: what the answer to ``save_command`` must contain to count as saved.
        facts: where the facts come from.
    """

    platform: str
    vendor: str
    device_type: str
    connection: type[BaseConnection]
    save_command: str
    refusal: re.Pattern[str]
    facts: FactPatterns
    show_running: str = "show running-config"
    show_running_full: str | None = None
    show_startup: str | None = "show startup-config"
    warning: re.Pattern[str] = re.compile(r"^%\s*warning", re.IGNORECASE)
    volatile: tuple[re.Pattern[str], ...] = ()
    cosmetic: tuple[re.Pattern[str], ...] = ()
    ordered: tuple[re.Pattern[str], ...] = ()
    absent_is_off: tuple[str, ...] = ()
    block_open: re.Pattern[str] | None = None
    setup: tuple[str, ...] = ()
    wrap_width: int | None = None
    factory_width: int | None = None
    no_timer: str | None = None
    saved: re.Pattern[str] | None = None
