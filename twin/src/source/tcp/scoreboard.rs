//! What a sender knows of the segments it has sent and not yet seen acknowledged, and of which
//! it holds lost (RFC 6675).

use std::collections::VecDeque;

use super::segment::Range;

/// RFC 6675 §2: segments above a hole that make it a loss.
const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Debug, Clone, Copy)]
struct Sent {
    at_ps: u64,
    /// Sent more than once: its acknowledgement times nothing (Karn).
    repeated: bool,
    sacked: bool,
    lost: bool,
    /// Repeated since it was held lost.
    resent: bool,
}

impl Sent {
    /// Copies held to be in the network (RFC 6675 §4, SetPipe).
    fn in_pipe(self) -> u64 {
        if self.sacked {
            return 0;
        }
        u64::from(!self.lost) + u64::from(self.resent)
    }
}

/// Segments from the first unacknowledged one on.
#[derive(Debug, Default)]
pub struct Scoreboard {
    first: u64,
    sent: VecDeque<Sent>,
    pipe: u64,
    sacked: u64,
    /// One past the highest selectively acknowledged segment.
    sack_end: u64,
    /// Every hole below it is marked lost.
    lost_end: u64,
    /// No hole below it waits to be resent.
    hole: u64,
    /// As last reported: already marked.
    known: [Range; Self::BLOCKS],
}

/// What an acknowledgement covered.
#[derive(Debug, PartialEq, Eq)]
pub struct Covered {
    pub segments: u64,
    /// When the last one was sent; None: one of them was repeated.
    pub sent_ps: Option<u64>,
}

impl Scoreboard {
    const BLOCKS: usize = super::segment::MAX_RANGES;

    pub fn reset(&mut self) {
        self.sent.clear();
        let sent = std::mem::take(&mut self.sent);
        *self = Self {
            sent,
            ..Self::default()
        };
    }

    pub fn first(&self) -> u64 {
        self.first
    }

    /// One past the highest segment ever sent.
    pub fn highest(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    pub fn outstanding(&self) -> u64 {
        self.sent.len() as u64
    }

    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    pub fn is_sacked(&self, segment: u64) -> bool {
        let place = segment.checked_sub(self.first);
        place.is_some_and(|p| self.sent.get(p as usize).is_some_and(|s| s.sacked))
    }

    /// Notes a transmission of an outstanding segment or the next one; true if it repeats one.
    pub fn transmit(&mut self, segment: u64, now_ps: u64) -> bool {
        let place = segment.saturating_sub(self.first) as usize;
        let Some(sent) = self.sent.get_mut(place) else {
            self.sent.push_back(Sent {
                at_ps: now_ps,
                repeated: false,
                sacked: false,
                lost: false,
                resent: false,
            });
            self.pipe += 1;
            return false;
        };
        self.pipe -= sent.in_pipe();
        sent.at_ps = now_ps;
        sent.repeated = true;
        sent.resent = true;
        self.pipe += sent.in_pipe();
        true
    }

    /// Everything before `ack` (at most `highest`) is acknowledged.
    pub fn advance(&mut self, ack: u64) -> Covered {
        let segments = ack - self.first;
        let mut sent_ps = None;
        let mut repeated = false;
        for sent in self.sent.drain(..segments as usize) {
            self.pipe -= sent.in_pipe();
            self.sacked -= u64::from(sent.sacked);
            repeated |= sent.repeated;
            sent_ps = Some(sent.at_ps);
        }
        self.first = ack;
        self.sack_end = self.sack_end.max(ack);
        self.lost_end = self.lost_end.max(ack);
        self.hole = self.hole.max(ack);
        Covered {
            segments,
            sent_ps: sent_ps.filter(|_| !repeated),
        }
    }

    /// Marks what the receiver reports beyond a hole, and then what that makes lost.
    pub fn sack(&mut self, ranges: &[Range]) {
        for (from, end) in ranges.iter().copied() {
            // A report grows from acknowledgement to acknowledgement: only its ends are new.
            let known = (self.known.iter()).find(|k| k.0 < k.1 && from <= k.0 && k.1 <= end);
            match known.copied() {
                Some((known_from, known_end)) => {
                    self.mark_sacked(from, known_from);
                    self.mark_sacked(known_end, end);
                }
                None => self.mark_sacked(from, end),
            }
        }
        self.known = Default::default();
        self.known[..ranges.len()].copy_from_slice(ranges);
        self.mark_lost();
    }

    fn mark_sacked(&mut self, from: u64, end: u64) {
        let end = end.min(self.highest());
        for segment in from.max(self.first)..end {
            let sent = &mut self.sent[(segment - self.first) as usize];
            if !sent.sacked {
                self.pipe -= sent.in_pipe();
                sent.sacked = true;
                self.sacked += 1;
            }
        }
        self.sack_end = self.sack_end.max(end);
    }

    /// Lost is what has three selectively acknowledged segments above it (RFC 6675, IsLost).
    fn mark_lost(&mut self) {
        if self.sacked < DUPLICATE_THRESHOLD.into() {
            return;
        }
        let mut above = 0;
        let mut edge = self.sack_end;
        while above < DUPLICATE_THRESHOLD && edge > self.lost_end {
            edge -= 1;
            above += u32::from(self.is_sacked(edge));
        }
        if above < DUPLICATE_THRESHOLD {
            return;
        }
        for segment in self.lost_end..edge {
            self.lose(segment);
        }
        self.lost_end = edge;
    }

    fn lose(&mut self, segment: u64) {
        let sent = &mut self.sent[(segment - self.first) as usize];
        self.pipe -= sent.in_pipe();
        sent.lost = true;
        self.pipe += sent.in_pipe();
    }

    /// The first outstanding segment is taken for lost: three duplicates say so.
    pub fn lose_first(&mut self) {
        if !self.sent.is_empty() && !self.is_sacked(self.first) {
            self.lose(self.first);
        }
    }

    pub fn first_is_lost(&self) -> bool {
        self.sent.front().is_some_and(|s| s.lost && !s.sacked)
    }

    /// The timer ran out: all that is outstanding is lost, and the receiver may have dropped
    /// what it reported (RFC 2018 §8).
    pub fn lose_all(&mut self) {
        for sent in &mut self.sent {
            sent.sacked = false;
            sent.lost = true;
            sent.resent = false;
        }
        self.pipe = 0;
        self.sacked = 0;
        self.sack_end = self.first;
        self.lost_end = self.highest();
        self.hole = self.first;
        self.known = Default::default();
    }

    /// The first segment that is lost and not resent (RFC 6675, NextSeg rule 1).
    pub fn next_hole(&mut self) -> Option<u64> {
        while self.hole < self.lost_end {
            let sent = self.sent[(self.hole - self.first) as usize];
            if sent.lost && !sent.resent && !sent.sacked {
                return Some(self.hole);
            }
            self.hole += 1;
        }
        None
    }

    /// The first hole below a reported segment that is not known to be lost (rule 3).
    pub fn next_gap(&self) -> Option<u64> {
        (self.lost_end..self.sack_end).find(|segment| {
            let sent = self.sent[(segment - self.first) as usize];
            !sent.sacked && !sent.resent
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for segment in 0..segments {
            board.transmit(segment, segment);
        }
        board
    }

    #[test]
    fn three_reported_segments_above_make_a_loss() {
        let mut board = flight(10);
        board.sack(&[(4, 6)]);
        assert_eq!((board.pipe(), board.next_hole()), (8, None));
        board.sack(&[(4, 7)]);
        // 0 to 3 are lost, 4 to 6 there, 7 to 9 under way.
        assert_eq!((board.pipe(), board.next_hole()), (3, Some(0)));
        assert!(board.first_is_lost());
        for hole in 0..4 {
            assert_eq!(board.next_hole(), Some(hole));
            board.transmit(hole, 20);
        }
        assert_eq!((board.pipe(), board.next_hole()), (7, None));
        assert_eq!(board.advance(7).sent_ps, None);
        assert_eq!((board.pipe(), board.first()), (3, 7));
        assert_eq!(
            board.advance(10),
            Covered {
                segments: 3,
                sent_ps: Some(9)
            }
        );
        assert_eq!((board.pipe(), board.outstanding()), (0, 0));
    }

    #[test]
    fn scattered_reports_count_together() {
        let mut board = flight(10);
        board.sack(&[(9, 10), (5, 6), (2, 3)]);
        // Above 0 and 1 there are three, above 3 and 4 only two.
        assert_eq!(board.pipe(), 10 - 3 - 2);
        assert_eq!(board.next_gap(), Some(3));
        board.sack(&[(7, 8), (9, 10), (5, 6), (2, 3)]);
        assert_eq!(board.pipe(), 10 - 4 - 4);
    }

    #[test]
    fn a_timeout_forgets_reports() {
        let mut board = flight(6);
        board.sack(&[(2, 5)]);
        board.lose_all();
        assert_eq!(board.pipe(), 0);
        let mut resent = Vec::new();
        while let Some(hole) = board.next_hole() {
            board.transmit(hole, 9);
            resent.push(hole);
        }
        assert_eq!(resent, [0, 1, 2, 3, 4, 5]);
        assert_eq!(board.pipe(), 6);
        board.sack(&[(3, 6)]);
        assert_eq!(board.pipe(), 3);
    }
}
