//! What is kept of every measured packet of a flow.

use crate::histogram::Histogram;
use crate::moments::Moments;

/// Time sent and delay; the delay of a lost packet is `LOST`.
pub type Sample = (u64, i64);
pub const LOST: i64 = -1;

/// Bytes of packets as they travelled on one link.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayerBytes {
    pub ip: u64,
    pub frame: u64,
    pub wire: u64,
}

impl LayerBytes {
    pub fn add(&mut self, ip: u32, frame: u32, wire: u32) {
        self.ip += u64::from(ip);
        self.frame += u64::from(frame);
        self.wire += u64::from(wire);
    }
}

/// The record of one flow.
#[derive(Debug, Default)]
pub struct Meter {
    pub sent: u64,
    pub delivered: u64,
    pub lost: u64,
    /// IP bytes of measured packets delivered.
    pub bytes_delivered: u64,
    /// Sent inside the measured window, as on the first link.
    pub offered: LayerBytes,
    /// Received inside the measured window, whenever sent.
    pub window: LayerBytes,
    pub reordered: u64,
    pub delay: Moments,
    pub gaps: Moments,
    pub histogram: Histogram,
    pub samples: Option<Vec<Sample>>,
    /// One packet in this many is sampled.
    every: u64,
    last_delivery: Option<u64>,
    highest: Option<u64>,
}

impl Meter {
    /// `every`: sample one packet in so many, beginning with the first; 0 samples none.
    pub fn new(every: u64) -> Self {
        Self {
            samples: (every > 0).then(Vec::new),
            every,
            ..Self::default()
        }
    }

    /// Counts a measured packet and returns its number.
    pub fn sent(&mut self, now_ps: u64) -> u64 {
        let number = self.sent;
        self.sent += 1;
        if let Some(samples) = &mut self.samples
            && number.is_multiple_of(self.every)
        {
            samples.push((now_ps, LOST));
        }
        number
    }

    /// A measured packet arrived at `now_ps` with this delay.
    pub fn delivered(&mut self, number: u64, delay: u64, now_ps: u64, ip_bytes: u32) {
        self.delivered += 1;
        self.bytes_delivered += u64::from(ip_bytes);
        self.delay.add(delay);
        self.histogram.add(delay);
        if let Some(last) = self.last_delivery.replace(now_ps) {
            self.gaps.add(now_ps - last);
        }
        // RFC 4737: reordered if a later one has been seen.
        match self.highest {
            Some(highest) if number < highest => self.reordered += 1,
            _ => self.highest = Some(number),
        }
        if let Some(samples) = &mut self.samples
            && number.is_multiple_of(self.every)
            && let Some(sample) = samples.get_mut((number / self.every) as usize)
        {
            sample.1 = i64::try_from(delay).unwrap_or(i64::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_packets_are_reordered_and_lost_ones_stay_marked() {
        let mut meter = Meter::new(1);
        for at in 0..4 {
            meter.sent(at);
        }
        for number in [0, 3, 1] {
            meter.delivered(number, 10 - number, 10, 100);
        }
        assert_eq!(meter.reordered, 1);
        let expected = vec![(0, 10), (1, 9), (2, LOST), (3, 7)];
        assert_eq!(meter.samples, Some(expected));
    }

    #[test]
    fn one_packet_in_so_many_is_sampled() {
        let mut meter = Meter::new(3);
        for at in 0..7 {
            meter.sent(at);
        }
        for number in [0, 2, 3] {
            meter.delivered(number, 10 - number, 10, 100);
        }
        assert_eq!(meter.samples, Some(vec![(0, 10), (3, 7), (6, LOST)]));
        assert_eq!((meter.sent, meter.delivered), (7, 3));
    }
}

/// IP bytes of the smallest and the largest packet sent.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub smallest: u32,
    pub largest: u32,
}

impl Sizes {
    /// Before the first packet.
    pub const NONE: Self = Self {
        smallest: u32::MAX,
        largest: 0,
    };

    pub fn add(&mut self, ip_bytes: u32) {
        if ip_bytes < self.smallest {
            self.smallest = ip_bytes;
        }
        if ip_bytes > self.largest {
            self.largest = ip_bytes;
        }
    }
}
