"""The source of a policy: its text and those of its included files, as a caller passes them; no file is opened."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from qosforge.errors import InputError, InputErrors, Place
from qosforge.intent.includes import LIBRARY, MAX_FILES, SHIPPED
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.intent.yaml_source import MAX_BYTES
from qosforge.resources import root
from qosforge.units import shortened

LONGEST_FILE = 400
"""Characters of what a text is called."""
MOST_PARAMETERS = 256
"""Parameters that may be set beside an intent."""

_FILE = re.compile(rf"(?:{SHIPPED}/)?[A-Za-z0-9_./-]+\.ya?ml")


@dataclass(frozen=True)
class PolicySource:
    """An intent's text, what it is called, the texts of what it includes by their names, and parameters' values.

    ``file`` and the names of ``included`` are as messages show them: ``policies/gold.yaml`` includes
    ``classes/x.yaml`` as ``policies/classes/x.yaml``. Shipped libraries need not be given.
    """

    text: str
    file: str = "policy.yaml"
    included: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> tuple[str, ...]:
        """The parameters as ``name=value``, in the order of their names: JSON is YAML."""
        return tuple(f"{name}={json.dumps(self.parameters[name])}" for name in sorted(self.parameters))

    def texts(self) -> Mapping[str, str]:
        """Every text that may be included: the shipped ones, and those handed over."""
        return {**shipped_texts(), **self.included}


def load_policy(source: PolicySource) -> LoadedIntent:
    """Check an intent that was handed over.

    Raises:
        InputError, InputErrors: as `parse_intent`; or a text is called what no file may be called, is too long, or
            is included by nothing.
    """
    problems = list(_misnamed(source))
    if problems:
        raise InputErrors("the policy cannot be read", errors=problems)
    loaded = parse_intent(source.text, source.file, source.settings(), source.texts())
    unused = sorted(source.included.keys() - loaded.included.keys())
    if unused:
        hint = f"leave it out, or call it as the policy includes it beside {source.file}"
        raise InputErrors(
            "not all that was given is included",
            errors=[InputError("nothing includes this file", Place(file=name), hint) for name in unused],
        )
    return loaded


@cache
def shipped_texts() -> Mapping[str, str]:
    """The texts of the shipped policies and libraries, by the names that includes know them by."""
    folder = root() / LIBRARY
    return {
        f"{SHIPPED}/{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.yaml"))
    }


def shipped_policies() -> dict[str, str]:
    """The texts of the shipped policies by their names."""
    prefix = f"{SHIPPED}/"
    files = {name.removeprefix(prefix): text for name, text in shipped_texts().items()}
    return {PurePosixPath(file).stem: text for file, text in files.items() if "/" not in file}


def _misnamed(source: PolicySource) -> list[InputError]:
    hint = "use letters, digits, '_', '-', '.' and '/' and end in .yaml"
    problems = [
        InputError(f"{shortened(name)} is no name of a file", hint=hint)
        for name in (source.file, *source.included)
        if len(name) > LONGEST_FILE or _FILE.fullmatch(name) is None
    ]
    if len(source.included) > MAX_FILES:
        problems.append(InputError(f"more than {MAX_FILES} files are included", hint="join some of them"))
    if sum(map(len, (source.text, *source.included.values()))) > MAX_BYTES:
        problems.append(InputError(f"the texts have more than {MAX_BYTES:,} bytes", hint="include less"))
    if len(source.parameters) > MOST_PARAMETERS:
        problems.append(InputError(f"more than {MOST_PARAMETERS} parameters are set", hint="set fewer"))
    return problems
