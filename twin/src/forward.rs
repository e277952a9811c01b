//! A node's forwarding engine: one packet at a time, and a latency that varies.

use crate::rng::Stream;

/// What every packet that a node forwards passes between ingress and egress.
#[derive(Debug)]
pub struct Forwarder {
    /// Time of one packet; the node's ports share the engine.
    pub per_packet_ps: u64,
    /// Packets that may wait for the engine.
    queue_packets: u64,
    /// Largest random latency, drawn uniformly from 0.
    jitter_ps: u64,
    stream: Stream,
    /// The engine is busy until then.
    free_ps: u64,
}

impl Forwarder {
    pub fn new(per_packet_ps: u64, queue_packets: u64, jitter_ps: u64, stream: Stream) -> Self {
        Self {
            per_packet_ps,
            queue_packets,
            jitter_ps,
            stream,
            free_ps: 0,
        }
    }

    /// When a packet that is here at `now_ps` comes to its egress; None if too many wait.
    /// `earlier_ps`: when the one before it on the same input does; it is not overtaken.
    pub fn accept(&mut self, now_ps: u64, earlier_ps: &mut u64) -> Option<u64> {
        if self.per_packet_ps > 0 {
            let backlog = self.free_ps.saturating_sub(now_ps);
            // All take the same time, so the backlog tells how many they are, the one in the
            // engine included.
            if backlog.div_ceil(self.per_packet_ps) > self.queue_packets {
                return None;
            }
            self.free_ps = (self.free_ps.max(now_ps)).saturating_add(self.per_packet_ps);
        }
        let done = now_ps.max(self.free_ps);
        let late = match self.jitter_ps {
            0 => 0,
            most => self.stream.up_to(most),
        };
        *earlier_ps = done.saturating_add(late).max(*earlier_ps);
        Some(*earlier_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarder(per_packet: u64, queue: u64, jitter: u64) -> Forwarder {
        Forwarder::new(per_packet, queue, jitter, Stream::new(1, "node r"))
    }

    #[test]
    fn one_packet_at_a_time() {
        let mut engine = forwarder(10, 2, 0);
        let mut inputs = [0, 0];
        assert_eq!(engine.accept(5, &mut inputs[0]), Some(15));
        assert_eq!(engine.accept(6, &mut inputs[1]), Some(25));
        assert_eq!(engine.accept(7, &mut inputs[0]), Some(35));
        // One in the engine, two wait; at 15 the first is gone.
        assert_eq!(engine.accept(14, &mut inputs[0]), None);
        assert_eq!(engine.accept(15, &mut inputs[0]), Some(45));
        assert_eq!(engine.accept(100, &mut inputs[0]), Some(110));
    }

    #[test]
    fn random_latency_keeps_the_order_of_an_input() {
        let mut engine = forwarder(0, 0, 1000);
        let mut input = 0;
        let mut last = 0;
        let mut total = 0;
        for packet in 0..10_000u64 {
            let now = packet * 10_000;
            let at = engine.accept(now, &mut input).unwrap();
            assert!((now..=now + 1000).contains(&at));
            total += at - now;
            let close = engine.accept(now + 1, &mut input).unwrap();
            assert!(close >= at && at >= last);
            last = close;
        }
        assert!((480..520).contains(&(total / 10_000)));
    }
}
