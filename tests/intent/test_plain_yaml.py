"""Both readers of YAML agree: what the fast one takes, the other one reads alike, with the same places."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.intent.plain_yaml import CParser, _scalar, read_plain
from qosforge.intent.yaml_bounds import Most
from qosforge.intent.yaml_source import MAX_ALIASES, MAX_DEPTH, MAX_NODES, _parsed, parse_document
from qosforge.resources import root

FILES = sorted(path for folder in ("policies", "inventories") for path in (root() / folder).rglob("*.yaml"))
SHORT = (
    "a: b\nc: {d: e, f: [g, 'h']}\n",
    "- a\n- {b: c}\n-\n  - 1\n",
    "a:\n  b: 'x'\n  c: \"y\"   # z\n",
    "x: 1.5\ny: 0o7\nz: 2001-01-01\nn: null\nt: yes\n",
    "a: b c\n  d e\n",
)
MOST = Most(MAX_DEPTH, MAX_ALIASES, MAX_NODES)
_MOST_BYTES_EACH = 8
"""What a value that was read may leave behind: nothing that names it fits in there."""
CHARACTERS = "\n :-,[]{}'\"#aé~.019_+eExo=<–%$&|>?"


def agree(text: str) -> bool:
    """Whether the fast reader took a text; then the other one has to say the same."""
    fast = read_plain(text, MOST)
    if fast is None:
        return False
    other = _parsed(text, "x")
    # Not only equal: 1, 1.0 and true are told apart.
    assert repr((other.data, other.marks, other.keys)) == repr(fast)
    return True


def test_libyaml_is_there() -> None:
    assert CParser is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_shipped_files(path: Path) -> None:
    agree(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_largest_policy_is_of_the_plain_kind(end: str) -> None:
    text = (root() / "policies" / "classes" / "rfc4594-12.yaml").read_text(encoding="utf-8")
    assert agree(text.replace("\n", end))


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(SHORT),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.text(CHARACTERS, max_size=4)), max_size=4),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
def test_texts_with_faults(text: str, faults: list[tuple[int, int, str]], end: str) -> None:
    for at, gone, put in faults:
        text = text[:at] + put + text[at + gone :]
    agree(text.replace("\n", end))


@pytest.mark.parametrize(
    "text",
    [
        "a: &x b\nc: *x\n",
        "!!python/object:os.system {}\n",
        "%YAML 1.1\n---\na: yes\n",
        "a: |\n  b\n",
        "a: b\n--- c\n",
    ],
)
def test_what_is_of_another_kind_is_left(text: str) -> None:
    assert not agree(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 200_000, "[a, " * 40 + "]" * 40])
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(InputError, match=r"deeper|not YAML"):
        parse_document(text, "deep")


@pytest.mark.parametrize("value", ["{}", "word{}", "long {:0200}", "1.{}", "[1, {}]"])
def test_what_was_read_before_takes_no_memory(value: str) -> None:
    """A process reads texts as long as it lives."""

    def read(start: int, count: int) -> None:
        text = "\n".join(f"- {value.format(n)}" for n in range(start, start + count)) + "\n"
        assert read_plain(text, MOST) is not None

    remembered = _scalar.cache_parameters()["maxsize"]
    assert remembered is not None
    _scalar.cache_clear()  # when its table is next enlarged would depend on what the process read before
    read(0, remembered)
    gc.collect()
    gc.freeze()  # what the process has by now need not be looked through each time
    tracemalloc.start()
    try:
        # From here on what is remembered is traced, too, and new values take the place of older ones.
        read(100_000, remembered)
        gc.collect()
        once, _ = tracemalloc.get_traced_memory()
        read(200_000, 4000)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert kept < once + 4000 * _MOST_BYTES_EACH
