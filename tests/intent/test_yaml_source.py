"""The bounds of reading: whatever a file holds, reading it is quick, small and ends in a clear message."""

import contextlib
import time
import tracemalloc
from pathlib import Path

import pytest

from qosforge.errors import InputError
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.intent.yaml_source import MAX_ALIASES, MAX_BYTES, MAX_DEPTH, MAX_NODES, parse_document
from tests.stopwatch import Stopwatch

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}, *{before}, *{before}]\n"
    for before, name in zip("abcdef", "bcdefg", strict=True)
)
"""24 aliases that expand to over fifty thousand values: within the bound on aliases, beyond that on values."""


def problem(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_intent(path)
    (found,) = caught.value.problems()
    assert isinstance(found, InputError)
    assert found.hint
    assert "Traceback" not in str(found)
    return found


@pytest.mark.parametrize(
    ("content", "says", "line"),
    [
        (b"", "is empty", 1),
        (b"# only\n# comments\n", "is empty", 1),
        (b"\n\n   \n", "is empty", 1),
        (b"---\n", "a mapping is expected", 2),
        (b"just words\n", "a mapping is expected", 1),
        (b"- a\n- b\n", "a mapping is expected", 1),
        (b"version: 1\n\x7fELF\x02\xff\xfe\x00", "is not UTF-8 text (byte 16)", 2),
        (b"\xff\xfeversion: 1", "is not UTF-8 text", 1),
        (b"version: 1\nintent: a\x00b\n", "character 0 is not allowed", 2),
        (b"version: 1\nintent: a\x1bb\n", "character 27 is not allowed", 2),
        (b'version: "\\U99999999"\n', "is not YAML", None),
    ],
)
def test_a_file_that_is_no_intent_is_told_with_its_place(
    tmp_path: Path, content: bytes, says: str, line: int | None
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_bytes(content)

    found = problem(path)

    assert says in found.message
    assert found.where.file == str(path)
    assert found.where.line == line


def test_a_missing_file_and_a_folder_are_told() -> None:
    here = Path(__file__).parent

    assert "No such file" in problem(here / "nowhere.yaml").message
    assert "directory" in problem(here).message
    assert "not a path" in problem(Path("a\0b")).message


def test_a_large_file_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as stream:
        stream.truncate(50_000_000)

    tracemalloc.start()
    found = problem(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert f"larger than {MAX_BYTES:,} bytes" in found.message
    assert peak < 4 * MAX_BYTES


def test_a_yaml_bomb_is_refused_quickly_and_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(LAUGHS, encoding="utf-8")

    tracemalloc.start()
    watch = Stopwatch()
    found = problem(path)
    took = watch.seconds
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "expands to more than" in found.message
    assert found.where.line is not None
    assert took < 5
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("a: " + "[" * 100_000, f"deeper than {MAX_DEPTH} levels", 1),
        ("".join(" " * i + "a:\n" for i in range(100)), f"deeper than {MAX_DEPTH} levels", 33),
        ("a: &x 1\n" + "".join(f"b{i}: *x\n" for i in range(MAX_ALIASES + 1)), "aliases", MAX_ALIASES + 2),
        ("a: &a [*a]\n", "deeper than", 1),
        ("- 1\n" * 60_000, "more than 50,000 values", 50_000),
        ("x" * (MAX_BYTES + 1), "larger than", None),
    ],
)
def test_bounds_hold_and_are_told(text: str, says: str, line: int | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_intent(text, "large.yaml")

    assert says in caught.value.message
    assert caught.value.where.line == line


@pytest.mark.parametrize(
    ("first", "most"),
    # Plain values are counted as they are read: what is beyond the bound takes no time. Others are counted before.
    [("1", 1.5), ('"\\x31"', 0.5)],
    ids=["plain", "with an escape"],
)
def test_too_many_values_are_refused_sooner_than_they_would_be_read(first: str, most: float) -> None:
    def took(values: int) -> float:
        text = f"a: [{first}, {', '.join(map(str, range(1000, 1000 + values)))}]"
        begun = time.process_time()
        with contextlib.suppress(InputError):
            parse_document(text, "a.yaml")
        return time.process_time() - begun

    assert min(took(2 * MAX_NODES) for _ in range(3)) < took(MAX_NODES - 4) * most


def test_as_many_aliases_as_allowed_are_read() -> None:
    document = parse_document("a: &x 1\n" + "".join(f"b{i}: *x\n" for i in range(MAX_ALIASES)), "a.yaml")

    assert document.data[f"b{MAX_ALIASES - 1}"] == 1


def test_an_anchor_may_be_used_again() -> None:
    assert parse_document("a: &x 1\nb: &x 2\nc: *x\n", "a.yaml").data["c"] == 2


def test_places_of_keys_values_and_missing_parts() -> None:
    document = parse_document("a:\n  - b:\n      c\n", "a.yaml")

    assert (document.place(("a", 0, "b")).line, document.place(("a", 0, "b")).column) == (3, 7)
    assert (document.key_place(("a", 0, "b")).line, document.key_place(("a", 0, "b")).column) == (2, 5)
    beyond = document.place(("a", 0, "missing"))
    assert (beyond.line, beyond.path) == (2, "a[0].missing")
