//! The order of events, beside a plain sort, and how the calendar fits them.

use super::*;
use crate::rng::Stream;

#[test]
fn ties_keep_their_order() {
    let mut queue = EventQueue::default();
    queue.push(5, Event::Sent(9));
    queue.push(5, Event::Source(1));
    queue.push(4, Event::Wake(3));
    assert_eq!(queue.pop(), Some((4, Event::Wake(3))));
    assert_eq!(queue.pop(), Some((5, Event::Sent(9))));
    assert_eq!(queue.pop(), Some((5, Event::Source(1))));
    assert_eq!(queue.pop(), None);
}

/// Against a list sorted by time and order of scheduling, over many scales of time.
#[test]
fn agrees_with_a_sorted_list() {
    let mut stream = Stream::new(1, "events");
    let mut queue = EventQueue::default();
    let mut list: Vec<(u64, u64, Event)> = Vec::new();
    let mut now = 0u64;
    for number in 0..60_000u64 {
        // Grows to some hundred events and shrinks again, several times.
        let growing = number / 5_000 % 2 == 0;
        if list.is_empty() || stream.up_to(99) < if growing { 55 } else { 45 } {
            let scale = number / 7_000 * 5 % 37;
            let at = now + stream.up_to(20 << scale) / 16 * 16;
            let event = Event::Source(number as u32);
            queue.push(at, event);
            let place = list.partition_point(|entry| entry.0 <= at);
            list.insert(place, (at, number, event));
        } else {
            let (at, _, event) = list.remove(0);
            now = at;
            assert_eq!(queue.pop(), Some((at, event)));
        }
    }
    while let Some(popped) = queue.pop() {
        let (at, _, event) = list.remove(0);
        assert_eq!(popped, (at, event));
    }
    assert!(list.is_empty());
}

#[test]
fn the_end_of_time_is_a_time() {
    let mut queue = EventQueue::default();
    queue.push(u64::MAX, Event::Source(1));
    queue.push(0, Event::Source(0));
    queue.push(u64::MAX, Event::Source(2));
    let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
    let expected = [
        (0, Event::Source(0)),
        (u64::MAX, Event::Source(1)),
        (u64::MAX, Event::Source(2)),
    ];
    assert_eq!(popped, expected);
}

/// Whatever the number of events under way and their spacing, days hold few of them.
#[test]
fn days_come_to_fit() {
    for (pending, gap) in [(4, 1 << 10), (4_000, 1 << 30), (500, 3), (4_000, 1 << 50)] {
        let mut stream = Stream::new(7, "days");
        let mut queue = EventQueue::default();
        for flow in 0..pending {
            queue.push(stream.up_to(gap), Event::Source(flow));
        }
        for _ in 0..200_000 {
            let (at, event) = queue.pop().unwrap();
            queue.push(at + gap / 2 + stream.up_to(gap), event);
        }
        let (passed, far) = (queue.fit.passed, queue.fit.far);
        assert!(passed + far <= queue.fit.pushed / 2 + 1, "{pending} {gap}");
    }
}

/// From a few to many and back, with equal times on both sides of either change.
#[test]
fn order_outlives_the_change_between_ring_and_calendar() {
    let mut stream = Stream::new(5, "events");
    let mut queue = EventQueue::default();
    let mut sorted: Vec<(u64, u32)> = Vec::new();
    let (mut now, mut number, mut changes) = (0, 0, 0);
    for round in 0..40 {
        let wanted = if round % 2 == 0 { 3 } else { 200 };
        for _ in 0..6_000 {
            let many = queue.many;
            if sorted.len() <= wanted {
                let at = now + stream.up_to(20) * 100_000;
                queue.push(at, Event::Source(number));
                sorted.insert(sorted.partition_point(|(t, _)| *t <= at), (at, number));
                number += 1;
            }
            if sorted.len() > wanted {
                let (at, expected) = sorted.remove(0);
                assert_eq!(queue.pop(), Some((at, Event::Source(expected))));
                now = at;
            }
            changes += u32::from(queue.many != many);
        }
    }
    assert!(changes >= 20, "{changes} changes");
}
