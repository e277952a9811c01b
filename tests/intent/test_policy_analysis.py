"""What a form is told of a policy's text, right or wrong."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.intent.fragments import fragment_size, written_fragment
from qosforge.intent.policy_analysis import PolicyAnalysis, PolicyProblem, analyse_policy
from qosforge.intent.policy_source import PolicySource, shipped_policies
from tests.properties.budget import tried

LIBRARY = """\
classes:
  - name: video
    match: {any: [{dscp: [af41]}]}
    treatment: {bandwidth: {remaining_percent: "${video_share}"}}
  - name: data
    match: {any: [{dscp: [af21]}]}
"""
POLICY = """\
version: 1
intent: campus
include: [library.yaml]
parameters: {video_share: 40, voice_share: 30}
classes:
  - name: voice
    match: {any: [{dscp: [ef]}]}
    treatment: {priority: {percent: "${voice_share}"}}
  - name: data
    match: {any: [{dscp: [af22]}]}
    treatment:
      bandwidth: {remaining_percent: 50}
      children:
        - name: mail
          match: {any: [{dscp: [af22]}]}
          treatment: {bandwidth: {percent: 60}}
        - {name: default, treatment: {bandwidth: {percent: 50}}}
apply:
  - {interfaces: wan, direction: output}
"""


def read(text: str = POLICY, library: str = LIBRARY) -> PolicyAnalysis:
    return analyse_policy(PolicySource(text, included={"library.yaml": library}))


def only(analysis: PolicyAnalysis) -> PolicyProblem:
    (problem,) = analysis.problems
    return problem


@pytest.mark.parametrize("name", sorted(shipped_policies()))
def test_shipped_policies(name: str) -> None:
    analysis = analyse_policy(PolicySource(shipped_policies()[name]))

    assert not analysis.problems
    assert analysis.loaded is not None
    assert analysis.merged is not None
    assert len(analysis.merged["classes"]) == len(analysis.loaded.intent.classes)


def test_where_the_parts_of_a_policy_stand() -> None:
    analysis = read(POLICY.replace("percent: 50}}}", "percent: 40}}}"))

    assert not analysis.problems
    assert analysis.data["parameters"] == {"video_share": 40, "voice_share": 30}
    assert [entry["name"] for entry in analysis.merged["classes"]] == ["video", "data", "voice"]
    assert analysis.merged["classes"][2]["treatment"] == {"priority": {"percent": 30}}
    assert analysis.origin(("classes", 0, "match")) == ("library.yaml", None)
    assert analysis.origin(("classes", 1, "match")) == ("policy.yaml", ("classes", 1, "match"))
    assert analysis.origin(("classes", 2)) == ("policy.yaml", ("classes", 0))
    assert analysis.origin(("apply", 0, "direction")) == ("policy.yaml", ("apply", 0, "direction"))


def test_sums_of_every_level_also_where_they_are_too_many() -> None:
    analysis = read()

    outer, inner = analysis.share_totals
    assert (outer.path, outer.requested.priority_percent, outer.requested.remaining_percent) == (
        ("classes",),
        30,
        90,
    )
    assert (outer.left, outer.remaining_left, outer.wrong) == (70, 10, ())
    assert inner.path == ("classes", 1, "treatment", "children")
    assert (inner.requested.bandwidth_percent, inner.left) == (110, -10)
    problem = only(analysis)
    assert problem.path == (*inner.path, 1, "treatment", "bandwidth", "percent")
    assert "the classes take 110 % of the class that they divide" in problem.message


def test_sums_leave_out_what_is_wrong() -> None:
    outer, _ = read(POLICY.replace('"${voice_share}"', "many")).share_totals

    assert (outer.requested.priority_percent, outer.requested.remaining_percent, outer.wrong) == (0, 90, (2,))


@pytest.mark.parametrize(
    ("written", "instead", "path"),
    [
        ("dscp: [ef]", "dscp: [eff]", ("classes", 0, "match", "any", 0, "dscp", 0)),
        ("dscp: [ef]", "dcsp: [ef]", ("classes", 0, "match", "any", 0, "dcsp")),
        ("- name: voice", "- nam: voice", ("classes", 0, "nam")),
        ("- name: voice\n    match", "- name: default\n    match", ("classes", 0)),
        ("direction: output", "direction: out", ("apply", 0, "direction")),
        ("wan, direction: output", "wan", ("apply", 0)),
        ("apply:\n  - {interfaces: wan, direction: output}\n", "", ()),
        ("version: 1", "version: 2", ("version",)),
        ('"${voice_share}"', '"${voice}"', ("classes", 0, "treatment", "priority", "percent")),
        ("voice_share: 30", "voice_share: 300", ("classes", 0, "treatment", "priority", "percent")),
        ("[library.yaml]", "[library.yaml, other.yaml]", ("include", 1)),
        ("- name: voice", "- name: mail", ("classes", 1, "treatment", "children", 0, "name")),
    ],
)
def test_problems_stand_at_their_paths(written: str, instead: str, path: tuple[str | int, ...]) -> None:
    sound = POLICY.replace("percent: 50}}}", "percent: 40}}}")

    analysis = read(sound.replace(written, instead))

    assert analysis.loaded is None
    assert path in [problem.path for problem in analysis.problems]
    assert all(problem.file == "policy.yaml" and problem.line and problem.message for problem in analysis.problems)
    assert analysis.data is not None
    assert analysis.merged is not None


def test_a_problem_of_a_library_has_no_path_in_the_policy() -> None:
    problem = only(read(POLICY.replace("percent: 50}}}", "percent: 40}}}"), LIBRARY.replace("af41", "af4x")))

    assert (problem.path, problem.file, problem.line) == (None, "library.yaml", 3)


@pytest.mark.parametrize("text", ["", "a: [", "a: 1\n---\nb: 1", "a: 1\na: 2", "\x00", "&a [*a]", "!x 1"])
def test_what_is_no_yaml_says_its_line(text: str) -> None:
    analysis = analyse_policy(PolicySource(text))

    assert (analysis.data, analysis.loaded, analysis.merged, analysis.share_totals) == (None, None, None, ())
    assert only(analysis).line is not None
    assert analysis.origin(("classes", 0)) == ("policy.yaml", None)


def test_names_that_no_file_may_have() -> None:
    analysis = analyse_policy(PolicySource(POLICY, file="../x", included={"library.yaml": LIBRARY}))

    assert only(analysis).path is None
    assert analysis.data is not None


@tried(1)
@given(st.sampled_from(sorted(shipped_policies())), st.integers(0, 10**9), st.text(max_size=3))
def test_no_text_is_too_wrong(name: str, seed: int, fault: str) -> None:
    random = Random(seed)
    text = shipped_policies()[name]
    at = random.randrange(len(text))
    text = (
        text[:at] + random.choice([fault, "- ", ": ", "{", "5", "[a, {b: c}]"]) + text[at + random.randint(0, 9) :]
    )

    analysis = analyse_policy(PolicySource(text))

    assert (analysis.loaded is None) == bool(analysis.problems)
    assert analysis.share_totals or not (isinstance(analysis.merged, dict) and analysis.merged.get("classes"))


@pytest.mark.parametrize(
    ("rate", "written", "size", "formula"),
    [
        (512_000, {"blocking_delay": "16 ms"}, 1024, ("512 kb/s × 16 ms / 8 = 1,024 bytes",)),
        (
            56_000,
            {"packetisation": "20 ms"},
            112,
            ("0.8 × 20 ms = 16 ms", "56 kb/s × 16 ms / 8 = 112 bytes"),
        ),
        (
            64_000,
            {"blocking_delay": "9.7 ms"},
            77,
            ("64 kb/s × 9.7 ms / 8 = 77.6 bytes", "rounded down: 77 bytes"),
        ),
        (64_000, {"size": "80 B"}, 80, ()),
    ],
)
def test_fragments_are_never_rounded_up(
    rate: int, written: dict[str, str], size: int, formula: tuple[str, ...]
) -> None:
    fragment = written_fragment(written)
    assert fragment is not None

    found = fragment_size(rate, fragment)

    assert (found.bytes, found.formula) == (size, formula)
    assert found.takes == pytest.approx(size * 8 / rate)


def test_a_wrong_fragment_is_none() -> None:
    assert written_fragment({"size": 80}) is None
    assert written_fragment("16 ms") is None
