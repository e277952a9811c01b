"""NAPALM's own driver ``ios``, within limits."""

from __future__ import annotations

import re
from typing import Any

from napalm.base.exceptions import ConnectionException
from napalm.ios.ios import IOSDriver
from netmiko.exceptions import NetmikoTimeoutException
from netmiko.ssh_dispatcher import CLASS_MAPPER

from cli_candidate.answers import require_nothing_more
from cli_candidate.bounded import BoundedDriver
from cli_candidate.connection import GuardedConnection, guarded


class BoundedIosDriver(BoundedDriver, IOSDriver):
    """``ios`` as NAPALM has it, over SSH, with limits for each step in place of Netmiko's own clocks.

    Its file copies and its rollback are steps, too. ``optional_args`` are those of ``ios``, and the two of
    :class:`BoundedDriver`; ``read_timeout_override`` is a limit of silence.
    """

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: dict[str, Any] | None = None,
    ) -> None:
        """Keep the parameters; nothing is contacted before ``open()``.

        Raises:
            NotImplementedError: another transport than SSH.
        """
        arguments = self._take_guard(optional_args or {})
        if arguments.get("transport", "ssh") != "ssh":
            raise NotImplementedError(f"transport {arguments['transport']!r}: within limits there is SSH only")
        super().__init__(hostname, username, password, timeout, arguments)

    def _netmiko_open(
        self, device_type: str, netmiko_optional_args: dict[str, Any] | None = None
    ) -> GuardedConnection:
        try:
            connection = guarded(CLASS_MAPPER[device_type])(
                device_type=device_type,
                host=self.hostname,
                username=self.username,
                password=self.password,
                timeout=self.timeout,
                guard=self.guard,
                **(netmiko_optional_args or {}),
            )
        except NetmikoTimeoutException as error:
            self.guard.close()
            raise ConnectionException(f"cannot open a session to {self.hostname}") from error
        except BaseException:
            self.guard.close()
            raise
        self._netmiko_device = connection
        if not self.force_no_enable:
            connection.enable()
        return connection

    def get_config(self, *arguments: Any, **parameters: Any) -> dict[str, str]:
        """As ``ios`` has it; what goes on after something that looks like the prompt is not taken for whole.

        Raises:
            CommandErrorException: where the configuration ends cannot be told.
        """
        configs: dict[str, str] = super().get_config(*arguments, **parameters)
        device = self.device
        prompt = device.base_prompt
        device.write_channel(device.RETURN)
        text = device.read_until_pattern(rf"{re.escape(prompt)}[^\s#>]*[#>]") + device.clear_buffer()
        require_nothing_more("\n".join(line for line in text.split("\n") if not line.startswith(prompt)))
        return configs

    def _netmiko_close(self) -> None:
        super()._netmiko_close()
        self.guard.close()
