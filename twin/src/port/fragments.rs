//! Packets on the line: whole, or in fragments of the link that others may go between.

use super::{Port, Unit};
use crate::framing::carried;
use crate::ip::fragment_sizes;
use crate::item::Item;
use crate::line::LineBytes;
use crate::packet::PacketId;
use crate::sched::{Discipline, Scheduler};

/// A packet partly sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fragmenting {
    packet: PacketId,
    remaining: u32,
    /// Its multilink class; only higher ones go between its fragments.
    pub(super) class: u8,
    first: bool,
}

impl Port {
    /// Frame bytes of a packet here, all its fragments' headers included.
    fn frame_bytes(&self, carried: u32, queue: usize) -> u32 {
        match self.fragments(carried, queue) {
            0 => {
                let (added, least) = self.whole;
                (carried + added).max(least)
            }
            n => {
                let framing = self.line.framing;
                let first = framing.fragment_bytes(0, true);
                carried + first + (n - 1) * framing.fragment_bytes(0, false)
            }
        }
    }

    /// A packet of so many IP bytes before compression on the line, all its IP fragments
    /// together if the port cuts it.
    pub fn bytes(&self, ip_bytes: u32, saved_header: u32, queue: u16) -> LineBytes {
        if ip_bytes > self.line.ip_mtu {
            let parts = fragment_sizes(ip_bytes, self.line.ip_mtu);
            let parts = parts.map(|part| self.bytes(part, 0, queue));
            let none = LineBytes {
                ip: ip_bytes,
                ..LineBytes::default()
            };
            return parts.fold(none, |sum, part| LineBytes {
                ip: sum.ip,
                carried: sum.carried + part.carried,
                frame: sum.frame + part.frame,
                wire: sum.wire + part.wire,
            });
        }
        let carried = carried(ip_bytes, saved_header);
        let frame = self.frame_bytes(carried, queue.into());
        LineBytes {
            ip: ip_bytes,
            carried,
            frame,
            wire: self.line.framing.wire_bytes(frame),
        }
    }

    /// Line time of a packet of `ip` bytes, all its fragments and the gaps between them included.
    pub fn line_time_ps(&self, ip: u32, saved_header: u32, queue: u16) -> u64 {
        let carried = carried(ip, saved_header);
        let line = &self.line;
        let time = |frame| self.clock.serialisation_ps(line.framing.wire_bytes(frame));
        match (self.fragments(carried, queue.into()), line.fragment) {
            (n, Some(size)) if n > 0 => {
                let part = |i| size.min(carried - i * size);
                let frame = |i| line.framing.fragment_bytes(part(i), i == 0);
                let gaps = line.extra_gap_ps.saturating_mul((n - 1).into());
                (0..n).fold(gaps, |sum: u64, i| sum.saturating_add(time(frame(i))))
            }
            _ => time(self.frame_bytes(carried, queue.into())),
        }
    }

    /// How many fragments; 0: sent whole.
    #[inline]
    fn fragments(&self, carried: u32, queue: usize) -> u32 {
        match self.line.fragment {
            Some(size) if carried > size && (self.line.multiclass || !self.is_priority(queue)) => {
                carried.div_ceil(size)
            }
            _ => 0,
        }
    }

    /// Classes above share this one, and so a sequence that nothing interrupts.
    pub(super) fn highest_class(&self) -> u8 {
        self.line.framing.classes() - 1
    }

    /// What may go between the fragments of a packet of `class`.
    pub(super) fn take_between(&mut self, class: u8, now_ps: u64) -> Option<Item> {
        match &mut self.discipline {
            Discipline::Classes(scheduler) => {
                let queue = scheduler.pick_above(class, &self.queues, now_ps)?;
                self.queues[queue].pop(now_ps)
            }
            Discipline::Fair(fair) => fair.take_between(self.line.fragment?, now_ps),
        }
    }

    /// The whole of a packet, or its first fragment.
    #[inline(always)]
    pub(super) fn begin(&mut self, item: &Item) -> Unit {
        let whole = Unit {
            packet: item.packet,
            carried: item.carried,
            frame_bytes: item.bytes,
            wire_bytes: self.line.framing.wire_bytes(item.bytes),
            first: true,
            last: true,
        };
        if self.line.fragment.is_none() || self.fragments(item.carried, item.queue.into()) == 0 {
            return whole;
        }
        self.begin_to_cut(item).unwrap_or(whole)
    }

    #[cold]
    fn begin_to_cut(&mut self, item: &Item) -> Option<Unit> {
        let class = match &mut self.discipline {
            Discipline::Classes(scheduler) => scheduler.class(item.queue.into()),
            Discipline::Fair(fair) => {
                fair.fragments_begin(item);
                0
            }
        };
        self.fragmenting.push(Fragmenting {
            packet: item.packet,
            remaining: item.carried,
            class: class.min(self.highest_class()),
            first: true,
        });
        self.cut()
    }

    /// The next fragment of the packet cut last.
    pub(super) fn cut(&mut self) -> Option<Unit> {
        let partial = self.fragmenting.last_mut()?;
        let size = (self.line.fragment).map_or(partial.remaining, |f| f.min(partial.remaining));
        let first = partial.first;
        let frame = self.line.framing.fragment_bytes(size, first);
        partial.remaining -= size;
        partial.first = false;
        let unit = Unit {
            packet: partial.packet,
            carried: size,
            frame_bytes: frame,
            wire_bytes: self.line.framing.wire_bytes(frame),
            first,
            last: partial.remaining == 0,
        };
        if unit.last {
            self.fragmenting.pop();
            if let Discipline::Fair(fair) = &mut self.discipline {
                fair.fragments_sent();
            }
        }
        Some(unit)
    }
}
