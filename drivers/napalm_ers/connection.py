"""Netmiko's ERS session without its waits for silence."""

from __future__ import annotations

from netmiko.extreme import ExtremeErsSSH


class ErsConnection(ExtremeErsSSH):
    """``extreme_ers`` whose mode check ends at the prompt; the original waits two seconds for silence."""

    def check_config_mode(self, check_string: str = ")#", pattern: str = "[>#]", force_regex: bool = False) -> bool:
        """Whether the prompt is one of configuration mode."""
        return bool(super().check_config_mode(check_string=check_string, pattern=pattern, force_regex=force_regex))

    def menu_login(self) -> None:
        """By telnet the device asks what it asks over SSH: Ctrl-Y, and a user name where it has users."""
        self.special_login_handler()
