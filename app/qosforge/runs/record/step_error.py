"""The error of a step, as stages and results of steps record it."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from qosforge.errors import QosforgeError
from qosforge.runs.record.earlier_words import in_present_words


class StepError(BaseModel):
    """What went wrong, and the way on; ``device`` is empty where no single one is meant.

    The record has what else is known of the place, too: see `QosforgeError.document`.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    message: str
    hint: str = ""
    device: str = ""

    @model_validator(mode="before")
    @classmethod
    def _in_present_words(cls, document: Any) -> Any:
        return in_present_words(document)

    @field_validator("hint", "device", mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:
        return "" if value is None else value

    @classmethod
    def of(cls, error: QosforgeError, device: str | None = None) -> Self:
        """An error; of this ``device``, where it is known better."""
        found = error.document()
        return cls.model_validate(found if device is None else {**found, "device": device})

    @property
    def settles(self) -> str:
        """The run that has to be settled before this can go well; empty where none has."""
        return str((self.model_extra or {}).get("settle_first", ""))

    @property
    def answer(self) -> str:
        """What the device itself said as it refused lines; empty where that is not recorded."""
        return str((self.model_extra or {}).get("answer", ""))

    @property
    def refused(self) -> str:
        """What the device refused: the change, or the lines that roll it back; empty as for `answer`."""
        return str((self.model_extra or {}).get("refused", ""))

    @property
    def told(self) -> str:
        """What is wrong, with its device."""
        return f"{self.device}: {self.message}"

    def document(self) -> dict[str, Any]:
        """The error as plain JSON."""
        return self.model_dump(mode="json")

    def __str__(self) -> str:
        """It in words: its device, what is wrong, the hint."""
        where = f"{self.device}: " if self.device else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message}{hint}"
