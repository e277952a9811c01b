"""Texts of YAML as people write them: every style, with remarks, blank lines and quotes of all kinds."""

from __future__ import annotations

from random import Random
from typing import Any

SCALARS: tuple[tuple[str, Any], ...] = (
    ("50 ms", "50 ms"),
    ("16384-32767", "16384-32767"),
    ("'it''s'", "it's"),
    ('"${robin}"', "${robin}"),
    ('"a: b # no remark"', "a: b # no remark"),
    ("7", 7),
    ("0.5", 0.5),
    ("true", True),
    ("ef", "ef"),
    ("2001:db8::/32", "2001:db8::/32"),
    ("µs – ü", "µs – ü"),
    ("~", None),
    ("null", None),
    ('"yes"', "yes"),
)
NAMES = ("voice", "match", "any", "dscp", "rate", "x-1", "deep", "q_2")


class Writer:
    """One text with the data it says; every remark has a number of its own."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.remarks = 0
        self.step = self.random.choice((2, 2, 2, 4))
        self.dash = self.random.choice((0, 2, 2))
        self.spaced = self.random.random() < 0.3
        self.lines: list[str] = []

    def document(self) -> tuple[str, dict[str, Any]]:
        """A text whose root is a mapping, and its data."""
        if self.random.random() < 0.1:
            self.lines.append("--- " + self._remark())
        data = self._mapping(0, 0)
        if self.random.random() < 0.1:
            self.lines.append(self._remark())
        return "\n".join(self.lines) + ("\n" if self.random.random() < 0.9 else ""), data

    def _chance(self, part: float) -> bool:
        return self.random.random() < part

    def _remark(self) -> str:
        self.remarks += 1
        return f"# remark {self.remarks}: - {{not, data}}"

    def _above(self, column: int, first: bool) -> None:
        if not first and self._chance(0.8 if self.spaced else 0.05):
            self.lines.append("")
        if self._chance(0.05):
            self.lines += [" " * column + self._remark(), ""]
        if self._chance(0.15):
            self.lines.append(" " * column + self._remark())

    def _trailing(self) -> str:
        return "   " + self._remark() if self._chance(0.15) else ""

    def _mapping(self, column: int, depth: int, lead: str | None = None) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for at, name in enumerate(self.random.sample(NAMES, self.random.randint(1, 4))):
            if at or lead is None:
                self._above(column, not at)
            key = (" " * column if at or lead is None else lead) + self._key(name)
            data[name] = self._value(key + ":", column, depth, inside_list=False)
        if self._chance(0.05):
            self.lines.append(" " * (column + 2) + self._remark())
        return data

    def _key(self, name: str) -> str:
        return f'"{name}"' if self._chance(0.05) else name

    def _list(self, column: int, depth: int) -> list[Any]:
        data = []
        for at in range(self.random.randint(1, 4)):
            self._above(column, not at)
            data.append(self._value(" " * column + "-", column, depth, inside_list=True))
        return data

    def _value(self, lead: str, column: int, depth: int, inside_list: bool) -> Any:
        kind = self.random.choice(
            ("scalar", "scalar", "flow", "mapping", "list") if depth < 4 else ("scalar", "flow")
        )
        if kind == "mapping" and inside_list:
            return self._mapping(column + 2, depth + 1, lead + " ")
        if kind == "mapping":
            self.lines.append(lead + self._trailing())
            return self._mapping(column + self.step, depth + 1)
        if kind == "list" and not inside_list:
            self.lines.append(lead + self._trailing())
            return self._list(column + self.dash, depth + 1)
        if kind == "flow" and self._chance(0.15):
            return self._flow_over_lines(lead, column + 2)
        if kind == "flow":
            text, value = self._flow(0)
            self.lines.append(f"{lead} {text}{self._trailing()}")
            return value
        if self._chance(0.1):
            self.lines.append(lead + self._trailing())
            return None
        if self._chance(0.05):
            self.lines += [f"{lead} |-", " " * (column + 3) + "# no remark", " " * (column + 3) + "text"]
            return "# no remark\ntext"
        text, value = self.random.choice(SCALARS) if self._chance(0.98) else ("😀", "😀")
        self.lines.append(f"{lead} {text}{self._trailing()}")
        return value

    def _flow(self, depth: int) -> tuple[str, Any]:
        pad = self.random.choice(("", "", " "))
        parts = [
            self._flow(depth + 1) if depth < 3 and self._chance(0.3) else self.random.choice(SCALARS[:10])
            for _ in range(self.random.randint(0, 3))
        ]
        if self._chance(0.5):
            return f"[{pad}{', '.join(text for text, _ in parts)}{pad}]", [value for _, value in parts]
        names = self.random.sample(NAMES, len(parts))
        pairs = ", ".join(f"{name}: {text}" for name, (text, _) in zip(names, parts, strict=True))
        return f"{{{pad}{pairs}{pad}}}", {name: value for name, (_, value) in zip(names, parts, strict=True)}

    def _flow_over_lines(self, lead: str, column: int) -> list[Any]:
        parts = [self._flow(2) for _ in range(self.random.randint(0, 3))]
        self.lines.append(f"{lead} [{self._trailing()}")
        for at, (text, _) in enumerate(parts):
            if self._chance(0.2):
                self.lines.append(" " * column + self._remark())
            comma = "," if at < len(parts) - 1 or self._chance(0.3) else ""
            self.lines.append(" " * column + text + comma + self._trailing())
        self.lines.append(" " * column + "]" + self._trailing())
        return [value for _, value in parts]
