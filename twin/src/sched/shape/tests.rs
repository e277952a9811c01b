use super::*;
use crate::sched::testing::{Line, context};
use crate::sched::{Discipline, read};

fn scheduler(spec: &str, queues: usize, shape: Option<ShapeSpec>) -> Box<dyn Scheduler> {
    let bucket = shape.map(|s| Bucket::new(&s, "shape").unwrap());
    let value = serde_json::from_str(spec).unwrap();
    match read(&value, bucket, context(queues)).unwrap() {
        Discipline::Classes(scheduler) => Box::new(scheduler),
        Discipline::Fair(_) => panic!("class queues expected"),
    }
}

#[test]
fn a_shaped_port_keeps_its_rate_and_its_order() {
    let shape = ShapeSpec {
        rate_bps: 250_000,
        burst_bytes: 3000,
        whole_frames: false,
    };
    let mut strict = scheduler(r#"{"kind": "strict", "order": [0, 1]}"#, 2, Some(shape));
    let mut line = Line::new(&[1000, 1000]);
    let bits = line.run(&mut *strict, 100.0);
    // A quarter of the line, the burst and one frame more.
    assert!((bits[0] - 25_000_000.0).abs() <= 32_000.0, "{bits:?}");
    assert_eq!(bits[1], 0.0);
}

#[test]
fn others_share_what_a_shaped_queue_leaves() {
    for kind in [
        r#""kind": "wrr", "weights": [8, 1, 1]"#,
        r#""kind": "drr", "quantum_bytes": [8000, 1000, 1000]"#,
        r#""kind": "cbwfq", "weights": [8, 1, 1]"#,
        r#""kind": "srr", "weights": [8, 1, 1]"#,
        r#""kind": "strict_wrr", "strict": [0], "weights": [null, 1, 1], "mode": "bytes""#,
    ] {
        let shapes = r#""shapes": {"0": {"rate_bps": 100000, "burst_bytes": 1000}}"#;
        let mut shaped = scheduler(&format!("{{{kind}, {shapes}}}"), 3, None);
        let bits = Line::new(&[1000, 1000, 1000]).run(&mut *shaped, 100.0);
        for (queue, expected) in [10e6, 45e6, 45e6].into_iter().enumerate() {
            assert!((bits[queue] - expected).abs() < 50e3, "{kind}: {bits:?}");
        }
    }
}

#[test]
fn shares_of_the_link_are_shares_of_a_shaped_port() {
    let shape = ShapeSpec {
        rate_bps: 500_000,
        burst_bytes: 1500,
        whole_frames: false,
    };
    let spec = r#"{"kind": "dcbq", "classes": [
        {"name": "a", "share": 0.2, "borrow": false, "queue": 0},
        {"name": "b", "share": 0.8, "queue": 1}]}"#;
    let mut dcbq = scheduler(spec, 2, Some(shape));
    let bits = Line::new(&[500, 500]).run(&mut *dcbq, 100.0);
    assert!((bits[0] / 10e6 - 1.0).abs() < 0.02, "{bits:?}");
    assert!((bits[1] / 40e6 - 1.0).abs() < 0.02, "{bits:?}");
}

#[test]
fn whole_frames_wait_for_all_their_tokens() {
    let spec = ShapeSpec {
        rate_bps: 8_000_000,
        burst_bytes: 1500,
        whole_frames: true,
    };
    let mut bucket = Bucket::new(&spec, "p").unwrap();
    bucket.charge(1000, 0);
    // 500 bytes are left, and a byte comes every microsecond.
    assert_eq!(bucket.ready_for(500, 0), 0);
    assert_eq!(bucket.ready_for(800, 0), 300_000_000);
    assert_eq!(bucket.ready_for(9000, 0), 1_000_000_000);
    let shape = ShapeSpec {
        rate_bps: 250_000,
        burst_bytes: 1500,
        whole_frames: true,
    };
    let mut fifo = scheduler(r#"{"kind": "fifo"}"#, 1, Some(shape));
    let bits = Line::new(&[1000]).run(&mut *fifo, 100.0);
    // A quarter of the line and the burst, and no frame more.
    assert!(
        bits[0] <= 25_012_000.0 && bits[0] >= 25_000_000.0,
        "{bits:?}"
    );
}

#[test]
fn a_shaped_queue_of_whole_frames_keeps_its_rate() {
    let spec = r#"{"kind": "drr", "quantum_bytes": [1500, 1500],
        "shapes": {"0": {"rate_bps": 100000, "burst_bytes": 1500, "whole_frames": true}}}"#;
    let bits = Line::new(&[1000, 1000]).run(&mut *scheduler(spec, 2, None), 100.0);
    assert!((bits[0] - 10e6).abs() <= 16e3, "{bits:?}");
    assert!((bits[1] - 90e6).abs() <= 24e3, "{bits:?}");
}

#[test]
fn a_shaped_queue_alone_leaves_the_line_idle() {
    let spec = r#"{"kind": "wrr", "weights": [1, 1],
        "shapes": {"1": {"rate_bps": 300000, "burst_bytes": 1}}}"#;
    let bits = Line::new(&[0, 500]).run(&mut *scheduler(spec, 2, None), 10.0);
    assert!((bits[1] - 3e6).abs() < 8e3, "{bits:?}");
}

#[test]
fn extremes_do_not_overflow() {
    let spec = ShapeSpec {
        rate_bps: u64::MAX,
        burst_bytes: u64::MAX,
        whole_frames: false,
    };
    let mut bucket = Bucket::new(&spec, "p").unwrap();
    bucket.charge(u32::MAX, 0);
    assert_eq!(bucket.ready_at(u64::MAX), u64::MAX);
}
