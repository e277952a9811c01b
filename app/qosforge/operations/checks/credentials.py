"""Checks that the Vault and the keyring named in the credentials file give the secrets it refers to."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.deploy.credentials_file import read_credentials_file
from qosforge.deploy.secret_reader import SecretReader
from qosforge.deploy.secret_source import FromKeyring, FromVault
from qosforge.errors import InputError, Place
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState

_KINDS: tuple[tuple[str, type[FromVault | FromKeyring]], ...] = (("vault", FromVault), ("keyring", FromKeyring))


def check_sources(context: CheckContext) -> Iterator[CheckResult]:
    """Every value of a Vault or the keyring can be read; none is shown.

    Raises:
        InputError: the file cannot be read.
    """
    file = context.settings.credentials_file
    entries = read_credentials_file(file)
    reader = SecretReader(context.environment)
    for name, kind in _KINDS:
        sources = {
            f"{entry_name}.{key}": source
            for entry_name, entry in entries.items()
            for key, source in entry.sources().items()
            if isinstance(source, kind)
        }
        failures: dict[tuple[str, str], list[str]] = {}
        for path, source in sources.items():
            try:
                reader.read(source, Place(path=path))
            except InputError as error:
                # A wrong variable is one problem, whoever needs it.
                failures.setdefault((error.message, error.hint), []).append(error.where.path or str(error.where))
        for (message, hint), places in failures.items():
            told = f"{', '.join(dict.fromkeys(places))}: {message}"
            yield CheckResult(name, CheckState.FAILED, told, hint)
        if not sources:
            yield CheckResult(name, CheckState.GOOD, f"not named in {file}")
        elif not failures:
            yield CheckResult(
                name, CheckState.GOOD, f"answers, with every value that {file} names: {', '.join(sources)}"
            )
