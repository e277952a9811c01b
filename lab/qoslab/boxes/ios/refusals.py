"""What IOS says when it refuses a QoS line. Texts whose wording no public source confirms are marked."""

from __future__ import annotations

# Confirmed by a published session or command reference.
TWO_MARKS = "Two layer 3 markings (dscp and precedence) are not allowed"
SUBINTERFACE = "CBWFQ : Not supported on subinterfaces"
HIERARCHY = "CBWFQ : Hierarchy supported only if shaping is configured in this class"
MIXED_UNITS_HQF = (
    "Mixed bandwidth types are not supported. Pls configure bandwidth command either in kbps, percent,"
    " remaining percent or remaining ratio but not mixed"
)
QUEUE_LIMIT_ALONE = "queue-limit not allowed without bandwidth shape or priority command"
# "When Is CEF Required for Quality of Service" (Cisco tech note 4800) has the words from a switch.
CEF_FIRST = "CEF switching is required for 'set' command"

# Unconfirmed wording.
LEVELS_MIXED = "% priority and priority level are not supported in one policy-map"
LEVEL_TAKEN = "% this priority level is used by another class of the policy-map"
MIXED_UNITS = "All classes with bandwidth should have consistent units"
OUTPUT_ONLY = "CBWFQ : Can be enabled as an output feature only"
WRED_ALONE = "random-detect not allowed without bandwidth or shape command"
UNITS_DIFFER = "% queue-limit and random-detect thresholds of a class must be in the same unit"
WRED_MIXED = "% Must configure either precedence or dscp based random-detect, not both"
WRED_OFF = "% random-detect must be configured first"
SHAPE_FIRST = "% shape must be configured first"
SHAPE_STEP = "% shape rate must be a multiple of 8000"
DEPTH = "% Policy maps cannot be nested any deeper"
IMPOSITION = "% set mpls experimental imposition is supported only in input policies"  # wording unconfirmed
SET_COS = "% set cos is supported only in output policies of 802.1Q or ISL interfaces"
COMPRESSION_OUTPUT = "% compression can be enabled as an output feature only"
PERCENTAGE = "% police: the rate calculated from the percentage is out of range"
SMALL_PIR = "% pir must be greater than or equal to cir"
RATE_STEP = "% Rate must be a multiple of 8000"
SMALL_EXTENDED_BURST = "% Extended burst size cannot be less than the normal burst size"
RESERVABLE_IGNORED = "Reservable bandwidth is being reduced: this command is deprecated"
FRAME_RELAY_FIRST = "% Must set encapsulation to FRAME-RELAY before using FR subcommands"
CISCO_FORMAT_ONLY = "% RTP header compression needs the cisco encapsulation"
POLICY_PRESENT = "% Must remove the output service policy first"
FRTS_OR_FRAGMENT = "% frame-relay fragment end-to-end and frame-relay traffic-shaping exclude each other"
SUM_OVER_100 = "Sum total of class bandwidths exceeds 100 percent"
SUM_OVER_99 = "Sum total of class bandwidths exceeds 99 percent"


def unknown_class(name: str) -> str:
    """A policy names a class that is not there (unconfirmed)."""
    return f"% class map {name} not configured"


def unknown_policy(name: str) -> str:
    """An interface or class names a policy that is not there (unconfirmed)."""
    return f"% policy map {name} not configured"


def class_in_use(name: str) -> str:
    """A class-map that a policy uses cannot go (unconfirmed)."""
    return f"% Class-map {name} is being used"


def policy_in_use(name: str) -> str:
    """An attached policy cannot go (unconfirmed)."""
    return f"%PolicyMap {name} is being used"


def already_attached(name: str) -> str:
    """One policy per direction (unconfirmed)."""
    return f"Policy map {name} is already attached"


def deconfigure(old: str, new: str) -> str:
    """Two actions exclude each other in a class (unconfirmed)."""
    return f"Must deconfigure {old} in this class before configuring {new}"


def in_the_way(old: str) -> str:
    """Class-based queueing wants an interface with its default queueing (unconfirmed)."""
    return f"Must deconfigure {old} in this interface before configuring CBWFQ"


def no_room(interface: str, name: str, wanted: str, free: str) -> str:
    """The 75 % rule; published for kb/s, unconfirmed for percent."""
    return f"I/f {interface} class {name} requested bandwidth {wanted}, available only {free}"


def small_burst(least: int) -> str:
    """The normal burst of a rate limit has a floor (unconfirmed wording)."""
    return f"% Normal burst size must be at least {least} bytes for this rate"
