"""Which field of a policy's form a finding comes from."""

from __future__ import annotations

from collections.abc import Mapping

_SHARE = "treatment-bandwidth treatment-priority treatment"
_MATCH = "match mark"
_MARK = "mark match"

CLASS_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "share-out-of-tolerance",
            "share-out-of-range",
            "reserved-bandwidth-exceeded",
            "rate-share-unsupported",
            "bandwidth-differs",
            "bounded-priority-unsupported",
            "priority-needs-cap",
            "priority-cap-not-enforced",
            "priority-queues-exceeded",
            "strict-queue-held",
        ),
        _SHARE,
    ),
    **dict.fromkeys(
        (
            "dscp-unsupported",
            "dscp-rounded",
            "match-unsupported",
            "match-too-large",
            "match-ipv6-unsupported",
            "match-combination-unsupported",
            "class-empty",
            "class-denies-first",
            "recognition-unsupported",
            "acl-range-unsupported",
            "told-in-ipv4",
        ),
        _MATCH,
    ),
    **dict.fromkeys(
        (
            "cos-exhausted",
            "cos-shared",
            "cos-untagged",
            "mark-needed",
            "mark-shared",
            "mark-in-two-queues",
            "mark-needs-queue",
            "mark-never-arrives",
            "merged-marks-differ",
            "unmarked-class",
            "default-mark-unsupported",
        ),
        _MARK,
    ),
    **dict.fromkeys(("wred-unsupported", "wred-as-tail-drop", "too-many-wred-profiles"), "treatment-wred"),
    **dict.fromkeys(("police-unsupported", "police-per-match", "too-many-policers"), "treatment-police"),
    **dict.fromkeys(("shape-unsupported", "shape-burst-unsupported"), "treatment-shape"),
    "queue-limit-unsupported": "treatment-queue_limit",
    "fair-queue-unsupported": "treatment-fair_queue",
    "output-mark-unsupported": "treatment-mark",
    "objective-below-minimum": "objective",
}
"""By code, what of a class it is about: the ends of the ids of its fields, the likeliest first."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("queues-exceeded", "too-many-classes", "priority-queues-exceeded"), ("classes-head",)),
    **dict.fromkeys(("share-out-of-tolerance", "share-out-of-range"), ("f-tolerance",)),
    **dict.fromkeys(
        (
            "scope-empty",
            "scope-unknown-name",
            "scope-matches-nothing",
            "scopes-disagree",
            "policy-shared",
            "input-scope-missing",
            "trust-unsupported",
            "port-shape-unsupported",
            "tunnel-unsupported",
        ),
        ("where-head",),
    ),
    **dict.fromkeys(
        (
            "header-compression-unsupported",
            "fragment-size-approximate",
            "fragmentation-needs-multilink",
            "one-sided-efficiency",
        ),
        ("links-head",),
    ),
    **dict.fromkeys(("verify-unknown-station", "verify-no-path", "verify-no-traffic"), ("verify-head",)),
}
"""By code, the parts of the form beside those of a class, by their ids."""


def class_field(code: str) -> str:
    """What of a class a finding of this code is about; nothing where that is the class as a whole."""
    return CLASS_FIELDS.get(code, "")


def is_of_policy(code: str) -> bool:
    """Whether a finding of this code is about something that the form of a policy has."""
    return code in CLASS_FIELDS or code in SECTIONS


def sections(code: str) -> tuple[str, ...]:
    """The parts of the form that a finding of this code is about, beside its classes."""
    return SECTIONS.get(code, ())
