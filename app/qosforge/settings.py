"""Settings: what an installation may choose, from the environment (prefix ``QOSFORGE_``).

Credentials are not settings: ``app/qosforge/deploy`` asks for them when it opens a session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from qosforge.errors import InputError, InputErrors, Place, validator_message
from qosforge.resources import root
from qosforge.variables import PREFIX, names_a_device, other_variables

_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?")
_SUB_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_NESTED = "__"
DEVICE_SESSIONS = 320
"""Sessions with devices that are open at once: more than the 300 devices of the largest push that
``benchmarks/pushing.py`` measures, so each of those is logged in to once in a run.
"""


class StepLimits(BaseModel):
    """Limits of one step of a device session; ``None``: the default of ``docs/devices.md``."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    silence: float | None = Field(default=None, gt=0)
    """Seconds without a byte from the device."""

    seconds: float | None = Field(default=None, gt=0)
    """Seconds for the whole step."""

    bytes: int | None = Field(default=None, ge=1)
    """Bytes that the device may send in it."""


class DeviceLimits(BaseModel):
    """Limits of every step of a device session: logging in, reading a configuration, show commands and counters,
    entering a batch of lines, saving, logging out, and the time between two steps.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    login: StepLimits = StepLimits()
    read: StepLimits = StepLimits()
    show: StepLimits = StepLimits()
    batch: StepLimits = StepLimits()
    save: StepLimits = StepLimits()
    logout: StepLimits = StepLimits()
    idle: StepLimits = StepLimits()


class Settings(BaseSettings):
    """One installation's choices.

    Relative paths count from the working directory at the moment the settings are read. Empty variables
    count as unset. Unknown ``QOSFORGE_`` variables are left to whoever reads them: see
    `unknown_variables`.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=_NESTED,
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
    )

    var_dir: Path = Field(default=Path("var"), validate_default=True)
    """Everything that changes at run time: store, artifacts, engine, lab."""

    database_url: str = Field(default_factory=lambda read: f"sqlite:///{read['var_dir'] / 'runs.sqlite'}")
    """SQLAlchemy URL of the run store: a SQLite file (in ``var_dir`` unless told otherwise), or PostgreSQL, which
    several machines may share. A password is best kept in the file that ``PGPASSFILE`` names.
    """

    known_hosts_file: Path = Field(default_factory=lambda read: read["var_dir"] / "known_hosts")
    """Host keys of devices, as OpenSSH keeps them; `qosforge device trust` adds to it. Those that the user of the
    service has in ``~/.ssh/known_hosts`` count beside it."""

    ssh_config_file: Path = Field(default=Path("~/.ssh/config"), validate_default=True)
    """OpenSSH's configuration for devices and jump hosts."""

    credentials_file: Path = Field(default=Path("~/.config/qosforge/credentials.yaml"), validate_default=True)
    """Credentials by name, in a file that only its owner may read."""

    inventories_dir: Path = Field(default_factory=lambda _read: root() / "inventories")
    """Folder of the networks that the service knows: one inventory each, by name."""

    four_eyes: bool = False
    """Whether who had a hand in a change may not approve it; a network's own rules weigh more."""

    run_concurrency: int = Field(default=8, ge=1, le=64)
    """Runs that one process carries out at once."""

    runs_per_minute: int | None = Field(default=None, ge=1)
    """Runs begun in any minute by all processes together; ``None``: as many as there are."""

    compute_processes: int = Field(default_factory=lambda _read: os.cpu_count() or 1, ge=1, le=64)
    """Processes that compile for the service."""

    compute_megabytes: int = Field(default=2048, ge=64)
    """Memory that one computation (a compile, a prediction, a report) may take, beside what its process needs."""

    compute_seconds: int = Field(default=3600, ge=1)
    """Longest time for one computation of a run, and the processor time of any."""

    request_bytes: int = Field(default=1 << 20, ge=1 << 10)
    """Longest body of a request."""

    request_seconds: float = Field(default=30, gt=0)
    """Longest time for a request, event streams aside."""

    requests_at_once: int = Field(default=64, ge=1)
    """Requests at work at once; more are told to come again."""

    requests_per_minute: int = Field(default=6000, ge=1)
    """Requests of one token (or one address, without one) in a minute."""

    log_format: Literal["text", "json"] = "text"
    """How the service writes its log."""

    otlp_endpoint: str | None = None
    """URL of an OpenTelemetry collector (OTLP over HTTP); ``None``: no traces."""

    oidc_issuer: str | None = None
    """Issuer URL of the OpenID Connect provider that users may log in by; its secret is not a setting."""

    oidc_client_id: str | None = None
    """What qosforge is called there."""

    public_url: str | None = None
    """Where browsers reach the service; needed for a login by a provider, and where it is below a path of a host
    that a proxy shares out: ``https://host/qosforge/``.
    """

    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = ("127.0.0.1", "::1")
    """Addresses and networks of the proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` count, with commas
    between them.
    """

    webhook_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts that webhooks may go to, with commas between them: names, and networks in CIDR. A private address, or
    one of the loopback, is reached only where such a network is named. Empty: none.
    """

    batfish_host: str | None = None
    """Host of a running Batfish service; ``None``: Batfish does not check."""

    batfish_port: int = Field(default=9996, ge=1, le=65535)
    """Port of that service (9996 is the one its container publishes)."""

    batfish_seconds: float = Field(default=90, gt=0)
    """Longest time for an answer of Batfish; within a request, what is left of its time. A hundred routers take
    some 10 s and five hundred a minute."""

    batfish_at_once: int = Field(default=2, ge=1, le=16)
    """Questions that one process asks Batfish at once."""

    device_limits: DeviceLimits = DeviceLimits()
    """How long and how much each step of a device session may take: ``QOSFORGE_DEVICE_LIMITS__<STEP>__<LIMIT>``."""

    device_sessions: int = Field(default=DEVICE_SESSIONS, ge=1, le=10_000)
    """Sessions with devices that a process holds open at once, whatever its runs; each has two threads."""

    @field_validator("var_dir", "known_hosts_file", "ssh_config_file", "credentials_file")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        try:
            return value.expanduser().absolute()
        except RuntimeError as error:  # no such user
            raise ValueError(str(error)) from error

    @field_validator("public_url", "oidc_issuer", "otlp_endpoint")
    @classmethod
    def _urls(cls, value: str | None, about: ValidationInfo) -> str | None:
        if value is not None:
            parts = urlsplit(value)
            _ = parts.port  # a ValueError says what is wrong with it
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("no URL with a host: write https://host/")
            if parts.query or parts.fragment:
                raise ValueError("this URL has no place for a query or a fragment")
            if about.field_name == "public_url" and not _SUB_PATH.fullmatch(parts.path):
                raise ValueError("this path is not possible: write https://host/ or https://host/path/")
        return value

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        # Never a wildcard: whoever is trusted says which address a caller has.
        return tuple(str(ip_network(one.strip())) for one in value.split(",")) if isinstance(value, str) else value

    @field_validator("webhook_hosts", mode="before")
    @classmethod
    def _hosts(cls, value: object) -> object:
        return tuple(one.strip() for one in value.split(",") if one.strip()) if isinstance(value, str) else value

    @field_validator("webhook_hosts")
    @classmethod
    def _known_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            # The last label of a name is not all digits (RFC 3696, section 2).
            if not _HOST.fullmatch(one) or one.rpartition(".")[2].isdigit():
                ip_network(one)  # a ValueError says what is wrong with it
        return value

    @property
    def path_prefix(self) -> str:
        """The path of `public_url` without its last slash: what stands before every path within the service. Empty
        where the service has a host of its own.
        """
        return urlsplit(self.public_url or "").path.rstrip("/")

    @property
    def artifacts_dir(self) -> Path:
        """Root of the content-addressed artifacts."""
        return self.var_dir / "artifacts"

    def make_var_dir(self) -> Path:
        """Create ``var_dir`` (mode 0700: running configurations carry secrets) and return it.

        Raises:
            InputError: the directory cannot be created.
        """
        try:
            self.var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot create the run directory: {error.strerror}",
                Place(file=str(self.var_dir)),
                f"set {PREFIX}VAR_DIR to a directory that can be written",
            ) from error
        return self.var_dir


def load_settings() -> Settings:
    """Read the settings from the environment.

    Raises:
        InputErrors: one problem per variable that cannot be used.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise _unusable(
            (validator_message(problem["msg"]), problem["loc"])
            for problem in error.errors(include_url=False, include_input=False)
            if problem["type"] != "default_factory_not_called"  # for the others' sake: it is not wrong itself
        ) from error
    if "inventories_dir" in settings.model_fields_set and not settings.inventories_dir.is_dir():
        raise _unusable([(f"{settings.inventories_dir} is no folder", ("inventories_dir",))])
    return settings


def _unusable(problems: Iterable[tuple[str, tuple[int | str, ...]]]) -> InputErrors:
    errors = [
        InputError(message, Place(path=_variable(location)), "correct or unset the variable")
        for message, location in problems
    ]
    return InputErrors("the environment holds settings that cannot be used", errors=errors)


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Variables that look like ours and that nothing reads, with the name that is near to each, where one is."""
    known = {PREFIX + name.upper() for name in Settings.model_fields} | other_variables()
    nested = tuple(
        PREFIX + name.upper() + _NESTED
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    )
    ours = (name for name in sorted(environment) if name.startswith(PREFIX))
    return {
        name: next(iter(get_close_matches(name, known, n=1, cutoff=0.85)), None)
        for name in ours
        if name not in known and not names_a_device(name) and not name.startswith(nested)
    }


def _variable(location: tuple[int | str, ...]) -> str:
    return PREFIX + _NESTED.join(str(part) for part in location).upper()
