//! TCP headers under way, kept beside the packets so that those stay small.

/// RFC 2018 §3: ranges that fit into the 40 bytes of options; with timestamps one less.
pub const MAX_RANGES: usize = 4;

/// Segments [from, end) that a receiver holds beyond a hole.
pub type Range = (u64, u64);

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The flow's source: opens the connection.
    Client,
    Server,
}

impl End {
    pub fn other(self) -> Self {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// What a TCP packet carries. Sequence numbers count segments, from 0.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Among the run's connections, and which of its successive lives.
    pub connection: u32,
    pub life: u32,
    pub from: End,
    /// Opens the connection (the server's: with an acknowledgement).
    pub syn: bool,
    /// The data segment; None: no data.
    pub number: Option<u64>,
    /// The segment expected next.
    pub ack: u64,
    /// Timestamps: when it was sent, and of the segment it answers.
    pub sent_ps: u64,
    pub echo_ps: Option<u64>,
    pub ranges: [Range; MAX_RANGES],
    pub range_count: u8,
    /// RFC 3168: the receiver saw congestion; the sender has reduced its window.
    pub ece: bool,
    pub cwr: bool,
    pub ip_bytes: u32,
}

impl Segment {
    pub fn ranges(&self) -> &[Range] {
        &self.ranges[..self.range_count.into()]
    }
}

/// Place of a header.
pub type SegmentId = u32;

/// Headers of all TCP packets under way; in its stride it allocates nothing.
#[derive(Debug, Default)]
pub struct Segments {
    segments: Vec<Segment>,
    free: Vec<SegmentId>,
}

impl Segments {
    pub fn insert(&mut self, segment: Segment) -> SegmentId {
        if let Some(id) = self.free.pop() {
            self.segments[id as usize] = segment;
            id
        } else {
            self.segments.push(segment);
            (self.segments.len() - 1) as SegmentId
        }
    }

    pub fn remove(&mut self, id: SegmentId) -> Segment {
        self.free.push(id);
        self.segments[id as usize]
    }
}
