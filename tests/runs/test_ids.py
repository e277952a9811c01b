from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from qosforge.runs.record.ids import UuidV7, new_run_id


def test_an_id_has_the_fields_of_rfc_9562() -> None:
    made = UuidV7(clock=lambda: 0x017F22E279B0)()  # the moment of the example in RFC 9562, appendix A.6
    assert str(made).startswith("017f22e2-79b0-7")
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


def test_the_time_of_an_id_is_now() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_run_id())
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_grow_within_one_millisecond_and_when_the_counter_is_full() -> None:
    source = UuidV7(clock=lambda: 1_000)
    made = [source() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert made[-1].int >> 80 > 1_000, "a full counter borrows the next millisecond"


def test_ids_grow_when_the_clock_steps_back() -> None:
    moments = iter([5_000, 4_000, 3_000, 5_001])
    source = UuidV7(clock=lambda: next(moments))
    made = [source() for _ in range(4)]
    assert made == sorted(made)


def test_text_forms_sort_like_the_ids() -> None:
    made = [new_run_id() for _ in range(500)]
    assert made == sorted(made)


def test_threads_never_get_the_same_id() -> None:
    source = UuidV7(clock=lambda: 1)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: source(), range(4_000)))
    assert len(set(made)) == 4_000
