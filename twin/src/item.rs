//! A packet as a port and its queues see it.

use crate::admission::ProfileIndex;
use crate::packet::PacketId;

/// A packet as a port sees it.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub packet: PacketId,
    /// Frame bytes at this port.
    pub bytes: u32,
    /// IP bytes after header compression.
    pub carried: u32,
    /// Arrivals at this port in order.
    pub order: u64,
    /// Time of arrival here.
    pub entered_ps: u64,
    pub queue: u16,
    /// Flow-based fair queueing's conversation.
    pub conversation: u16,
    pub precedence: u8,
    pub profile: ProfileIndex,
}
