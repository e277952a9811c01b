"""The policy of a request: a stored one by name and version, or a text in the request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    Tag,
    WithJsonSchema,
)

from qosforge.intent.loader import LoadedIntent
from qosforge.intent.parameters import Scalar
from qosforge.intent.policy_source import LONGEST_FILE, PolicySource, load_policy
from qosforge.policy_library.library import Policies
from qosforge.policy_library.versions import LATEST, PolicyVersion

_REQUEST = ConfigDict(extra="forbid")


def _require_scalars(value: Any) -> Any:
    # Looked at before anything walks through it: JSON nests deeper than a process can follow.
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, Scalar) for entry in entries):
        raise ValueError("this is no value of a parameter: give text, a number, true or false, or a list of these")
    return value


_SCALAR = {"type": ["string", "number", "boolean"]}

ParameterValue = Annotated[
    Any,
    AfterValidator(_require_scalars),
    WithJsonSchema({"anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}]}),
]
Parameters = dict[str, ParameterValue]


class NamedPolicy(BaseModel):
    """A stored policy, the latest version unless one is given, with values for its parameters."""

    model_config = _REQUEST

    name: str = Field(min_length=1, max_length=128, examples=["campus-collaboration"])
    version: StrictInt | Literal["latest"] = Field(default=LATEST, examples=[3])
    parameters: Parameters = Field(default_factory=dict)


class InlinePolicy(BaseModel):
    """A policy as text: ``included`` has what it includes by name, ``file`` is what messages call it."""

    model_config = _REQUEST

    text: str
    included: dict[str, str] = Field(default_factory=dict)
    parameters: Parameters = Field(default_factory=dict)
    file: str = Field(default="policy.yaml", max_length=LONGEST_FILE, examples=["policies/campus.yaml"])


def _kind(choice: object) -> str:
    """The model of a choice by its keys, so that an error is reported for one model and not for both."""
    inline = isinstance(choice, InlinePolicy) or (isinstance(choice, dict) and "text" in choice)
    return (InlinePolicy if inline else NamedPolicy).__name__


PolicyChoice = Annotated[
    Annotated[NamedPolicy, Tag("NamedPolicy")] | Annotated[InlinePolicy, Tag("InlinePolicy")], Discriminator(_kind)
]


def load_run_policy(policies: Policies, choice: PolicyChoice) -> tuple[LoadedIntent, PolicyVersion | None]:
    """The policy of a new run and its stored version; ``None``: it is a text.

    Raises:
        PolicyUnknown: there is no such policy, or not this version.
        InputError, InputErrors: it is no valid intent.
    """
    if isinstance(choice, NamedPolicy):
        stored = policies.get(choice.name, choice.version)
        return load_policy(stored.written(choice.parameters)), stored.about
    return load_policy(policy_source(policies, choice)), None


def policy_source(policies: Policies, choice: PolicyChoice) -> PolicySource:
    """The texts and parameters of a request's policy, unchecked.

    Raises:
        PolicyUnknown: there is no such policy, or not this version.
    """
    if isinstance(choice, NamedPolicy):
        return policies.get(choice.name, choice.version).written(choice.parameters)
    return PolicySource(choice.text, choice.file, choice.included, choice.parameters)
