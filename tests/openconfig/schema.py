"""The published OpenConfig modules beside the checkout, and validation of documents against them."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from yangson import DataModel
from yangson.enumerations import ContentType, ValidationScope

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "yang"
OWN = Path(__file__).resolve().parent / "yang"
TYPE = "qosforge-test-interface-types:any-interface"


def _module(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    revision = re.search(r"^\s*revision\s+\"?([0-9-]{10})", text, re.MULTILINE)
    assert revision is not None, path
    entry = {"name": path.stem, "revision": revision[1]}
    belongs = re.match(r"\s*submodule", text) and re.search(r"belongs-to\s+\"?([\w-]+)", text)
    if belongs:
        return entry | {"belongs-to": belongs[1]}
    namespace = re.search(r"^\s*namespace\s+\"([^\"]+)\"", text, re.MULTILINE)
    assert namespace is not None, path
    return entry | {"namespace": namespace[1], "conformance-type": "implement"}


@cache
def model() -> DataModel:
    """All modules together, as a device that implements them would name them in its YANG library (RFC 7895)."""
    rows = [_module(path) for folder in (PUBLISHED, OWN) for path in sorted(folder.glob("*.yang"))]
    modules = [row for row in rows if "namespace" in row]
    for module in modules:
        parts = [r for r in rows if r.get("belongs-to") == module["name"]]
        if parts:
            module["submodule"] = [{"name": p["name"], "revision": p["revision"]} for p in parts]
    library = {"ietf-yang-library:modules-state": {"module-set-id": "published", "module": modules}}
    return DataModel(json.dumps(library), (str(PUBLISHED), str(OWN)))


def check(document: dict[str, Any]) -> None:
    """Validate a document on a device that has the interfaces it refers to: types, keys, references, conditions.

    Raises:
        YangsonException: it is not valid.
    """
    whole = copy.deepcopy(document)
    rows = document["openconfig-qos:qos"].get("interfaces", {}).get("interface", [])
    names = [row["interface-ref"]["config"]["interface"] for row in rows]
    interfaces = [{"name": name, "config": {"name": name, "type": TYPE}} for name in names]
    whole["openconfig-interfaces:interfaces"] = {"interface": interfaces}
    model().from_raw(whole).validate(ValidationScope.all, ContentType.config)
