"""Whatever text comes in, what comes out is an intent or the error tree."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent

from .test_loader import EXAMPLE

SETTINGS = settings(max_examples=80, deadline=None, derandomize=True, database=None)

TOKENS = sorted(
    {
        *EXAMPLE.replace("{", " { ").replace("}", " } ").replace(",", " , ").replace(":", " : ").split(),
        *(
            "~",
            ".inf",
            "-.inf",
            ".nan",
            "2024-01-01",
            "2024-01-01T00:00:00Z",
            "0o777",
            "1_000",
            "1e999",
            "-1",
            "0",
            "true",
        ),
        *(
            "!!int",
            "!!float",
            "!!bool",
            "!!null",
            "!!binary",
            "!!timestamp",
            "!!set",
            "!!omap",
            "!!python/name:os",
            "!x",
        ),
        *("&a", "*a", "<<", "|", ">", "'", '"', "#", "---", "...", "%YAML 1.1\n---", "? ", "- ", "\t", "\\"),
        *(
            "\x00",
            "\x1b",
            "\x85",
            "\u2028",
            "\ufeff",
            "\udc80",
            "\U0001f600",
            '"\\ud800"',
            '"\\UFFFFFFFF"',
            "9" * 5000,
        ),
    }
)


def read(text: str) -> LoadedIntent | None:
    try:
        return parse_intent(text, "fuzz.yaml")
    except InputError as error:
        problems = error.problems()
    assert problems
    for problem in problems:
        assert problem.message
        assert problem.where.file == "fuzz.yaml"
        assert len(str(problem)) < 2000
    return None


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """The example with some spans replaced by tokens that mean something to YAML or to the language."""
    text = EXAMPLE
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from(TOKENS)) + text[end:]
    return text


@st.composite
def swapped(draw: st.DrawFn) -> str:
    """The example with values replaced: YAML stays valid more often, so that the language is reached."""
    words = EXAMPLE.split(" ")
    for _ in range(draw(st.integers(1, 3))):
        words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(TOKENS))
    return " ".join(words)


@SETTINGS
@given(mutated())
def test_a_mutated_intent_is_read_or_refused(text: str) -> None:
    read(text)


@SETTINGS
@given(swapped())
def test_an_intent_with_swapped_values_is_read_or_refused(text: str) -> None:
    read(text)


@SETTINGS
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert read(text) is None


@SETTINGS
@given(st.text(alphabet=string.punctuation + " \n\tab0", max_size=60))
def test_any_punctuation_is_read_or_refused(text: str) -> None:
    assert read(text) is None


@settings(SETTINGS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "random.yaml"
    path.write_bytes(content)

    with pytest.raises(InputError):
        load_intent(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def with_foreign_value(draw: st.DrawFn) -> str:
    """The example with one value of its tree replaced by any other, as YAML's JSON subset."""
    data = json.loads(
        parse_intent(EXAMPLE, "example.yaml").intent.model_dump_json(by_alias=True, exclude_none=True)
    )
    at = data
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or draw(st.booleans()):
            break
        at = at[key]
    at[key] = draw(JSON)
    return json.dumps(data)


@SETTINGS
@given(with_foreign_value())
def test_a_value_of_any_type_anywhere_is_read_or_refused(text: str) -> None:
    read(text)
