"""Parameters: a value given once is what every reference to it says, in its own type."""

from __future__ import annotations

import pytest

from qosforge.errors import InputError
from qosforge.findings import Severity
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.intent.parameters import LONGEST_TEXT, MOST_VALUES

INTENT = """\
version: 1
intent: site
parameters:
  voice_percent: 33
  wan_tag: wan
  apps: [http, ftp]
  slow: 768
  wish: true
classes:
  - name: voice
    description: at most ${voice_percent} of a hundred
    match: {any: [{dscp: ef}]}
    treatment: {priority: {percent: "${voice_percent}"}}
  - name: web
    match: {any: [{application: "${apps}"}]}
    treatment: {bandwidth: {remaining_percent: 60}, wred: {prefer: "${wish}"}}
link_efficiency:
  - {when: {rate_below: "${slow} kb/s"}, header_compression: rtp}
apply:
  - {role: edge, interfaces: "${wan_tag}", direction: output}
"""


def read(*replacements: tuple[str, str], parameters: tuple[str, ...] = ()) -> LoadedIntent:
    text = INTENT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return parse_intent(text, "site.yaml", parameters)


def problems(*replacements: tuple[str, str], parameters: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(*replacements, parameters=parameters)
    return [str(problem) for problem in caught.value.problems()]


def test_a_reference_has_the_value_and_its_type() -> None:
    loaded = read()

    voice, web = loaded.intent.classes
    assert voice.treatment.priority is not None
    assert voice.treatment.priority.percent == 33
    assert voice.description == "at most 33 of a hundred"
    assert web.match is not None
    assert web.match.any[0].application == ("http", "ftp")
    assert web.treatment.wred is not None
    assert web.treatment.wred.prefer is True
    assert loaded.intent.link_efficiency[0].when.rate_below == 768_000
    assert loaded.intent.apply[0].interfaces == ("wan",)
    assert loaded.findings == ()


def test_values_set_beside_the_intent_win() -> None:
    loaded = read(parameters=("voice_percent=40", "wan_tag=uplink", "apps=[sip]", "wish=false"))

    voice, web = loaded.intent.classes
    assert voice.treatment.priority is not None
    assert voice.treatment.priority.percent == 40
    assert web.match is not None
    assert web.match.any[0].application == ("sip",)
    assert web.treatment.wred is not None
    assert web.treatment.wred.prefer is False
    assert loaded.intent.apply[0].interfaces == ("uplink",)
    assert loaded.version != read().version


def test_a_value_may_be_left_to_the_command_line() -> None:
    without = ("  wan_tag: wan\n", "")

    assert read(without, parameters=("wan_tag=wan",)).version == read().version
    (problem,) = problems(without)
    assert problem.startswith("site.yaml:19:30, apply[0].interfaces: unknown parameter 'wan_tag'")
    assert "--set wan_tag=VALUE" in problem


def test_a_parameter_that_nothing_uses_is_a_warning() -> None:
    (finding,) = read(("  slow: 768\n", "  slow: 768\n  slo: 1\n")).findings

    assert (finding.code, finding.severity) == ("parameter-unused", Severity.WARNING)
    assert (finding.file, finding.line) == ("site.yaml", 8)
    assert "'slo'" in finding.message


CASES = {
    "a slip": (('${voice_percent}"', '${voice_percnt}"'), "site.yaml:13:37", "'voice_percnt'", "'voice_percent'?"),
    "no name": (("${wish}", "${}"), "site.yaml:16:68", "is no reference", "${name}"),
    "a name that is none": (("${wish}", "${a b}"), "site.yaml:16:68", "is no reference", "${name}"),
    "an open brace": (("${wish}", "${wish"), "site.yaml:16:68", "is no reference", "${name}"),
    "braces in braces": (("${wish}", "${${wish}}"), "site.yaml:16:68", "is no reference", "${name}"),
    "a list in a text": (("hundred", "${apps}"), "site.yaml:11:18", "'apps' is a list", "whole value"),
    "a wrong type": (
        ("voice_percent: 33", "voice_percent: third"),
        "site.yaml:13:37",
        "'third' is not a whole number",
        "${voice_percent} is 'third' from site.yaml:4:18",
    ),
    "out of range": (
        ("voice_percent: 33", "voice_percent: 330"),
        "site.yaml:13:37",
        "330 is not possible here",
        "${voice_percent} is 330 from site.yaml:4:18",
    ),
    "a part of a quantity": (
        ("slow: 768", "slow: much"),
        "site.yaml:18:25",
        "'much kb/s' is not a rate",
        "${slow} is 'much' from site.yaml:7:9",
    ),
    "an unknown application": (
        ("[http, ftp]", "[http, ftpp]"),
        "site.yaml:15:33",
        "unknown application 'ftpp'",
        "${apps} is ['http', 'ftpp'] from site.yaml:6:9",
    ),
    "no value": (("wan_tag: wan", "wan_tag:"), "site.yaml:6:3", "None is no value of a parameter", "give text"),
    "a mapping": (("wan_tag: wan", "wan_tag: {a: b}"), "site.yaml:5:12", "is no value of a parameter", "give text"),
    "an empty list": (("[http, ftp]", "[]"), "site.yaml:6:9", "[] is no value", "give text"),
    "a date": (
        ("wan_tag: wan", "wan_tag: 2024-01-01"),
        "site.yaml:5:12",
        "is no value of a parameter",
        "give text",
    ),
    "an empty text": (("wan_tag: wan", 'wan_tag: ""'), "site.yaml:5:12", "'' is empty", f"1 to {LONGEST_TEXT}"),
    "a long text": (
        ("wan_tag: wan", "wan_tag: " + "w" * 201),
        "site.yaml:5:12",
        "too long",
        f"1 to {LONGEST_TEXT}",
    ),
    "a long list": (("[http, ftp]", str([1] * 65)), "site.yaml:6:9", "65 values", f"at most {MOST_VALUES}"),
    "a reference": (
        ("wan_tag: wan", "wan_tag: ${slow}"),
        "site.yaml:5:12",
        "refers to a parameter",
        "value itself",
    ),
    "a bad name": (("wan_tag: wan", "wan_tag: wan\n  a b: 1"), "site.yaml:6:8", "'a b' is not a name", "letters"),
    "bare in braces": (('"${wish}"', "${wish}"), "site.yaml:16:69", "is not YAML", 'in quotes: "${name}"'),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_told_once_with_its_place_value_and_hint(case: str) -> None:
    change, place, says, hint = CASES[case]

    (problem,) = problems(change)

    assert problem.startswith(place), problem
    assert says in problem
    assert hint in problem


def test_all_mistakes_are_told_at_once() -> None:
    found = problems(
        ("voice_percent: 33", "voice_percent: []"),
        ("${slow}", "${slower}"),
        ("${wish}", "${wish"),
        ("dscp: ef", "dscp: 99"),
        parameters=("nobody=1", "apps=[", "oops", "slow=1", "slow=2", "wan_tag={a: b}"),
    )

    assert [problem.partition(" (")[0] for problem in found] == [
        "site.yaml:4:18, parameters.voice_percent: [] is no value of a parameter",
        "site.yaml:12:26, classes[0].match.any[0].dscp: DSCP 99 is out of range",
        "site.yaml:16:68, classes[1].treatment.wred.prefer: '${wish' is no reference to a parameter",
        "site.yaml:18:25, link_efficiency[0].when.rate_below: unknown parameter 'slower'",
        "--set apps: '[' cannot be read as a value",
        "--set oops: 'oops' sets no parameter",
        "--set slow: parameter 'slow' is set twice",
        "--set wan_tag: {'a':'b'} is no value of a parameter",
        "--set nobody: the intent has no parameter 'nobody'",
    ]


@pytest.mark.parametrize(
    "value", ["wan\nno service-policy", "wan; reload", "wan${", "wan\x1b", "w" * 5000, "wan tag"]
)
def test_a_value_is_checked_like_one_that_stands_there(value: str) -> None:
    assert problems(parameters=(f"wan_tag={value}",))


def test_an_intent_without_parameters_says_so() -> None:
    text = (
        "version: 1\nintent: a\nclasses: [{name: default}]\napply: [{role: edge, interfaces: a, direction: input}]"
    )
    with pytest.raises(InputError) as caught:
        parse_intent(text, "a.yaml", ["a=1"])

    (problem,) = caught.value.problems()
    assert problem.hint == "the intent has no parameters"


def test_parameters_cannot_grow_a_text_without_bound() -> None:
    parameters = "parameters: {p: " + "x" * LONGEST_TEXT + "}\n"
    many = "".join("  - {name: a, description: '" + "${p}" * 100 + "'}\n" for _ in range(100))

    with pytest.raises(InputError, match="parameters come to more than"):
        parse_intent(f"version: 1\nintent: a\n{parameters}classes:\n{many}apply: []\n", "a.yaml")
