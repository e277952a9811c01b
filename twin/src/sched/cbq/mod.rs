//! Class-based queuing: `cbq` (Floyd and Jacobson 1995) and the decoupled `dcbq` and `dcbqe`
//! (Risso 2001).

mod classes;
mod classic;
mod decoupled;
mod estimator;
mod ring;
#[cfg(test)]
mod tests;

pub use classic::Cbq;
pub use decoupled::Decoupled;

use classes::Classes;
use ring::Ring;

/// One ring of leaves per priority, first served first.
fn by_priority(classes: &Classes, packet_bytes: u32, forgets: bool) -> Vec<Ring> {
    let mut priorities: Vec<_> = classes
        .leaves
        .iter()
        .map(|l| classes.all[*l].priority)
        .collect();
    priorities.sort_unstable();
    priorities.dedup();
    let ring = |priority: u8| {
        let leaves = classes.leaves.iter().copied();
        let members: Vec<_> = leaves
            .filter(|l| classes.all[*l].priority == priority)
            .map(|l| (l, classes.all[l].share))
            .collect();
        Ring::new(&members, packet_bytes, forgets)
    };
    priorities.into_iter().map(ring).collect()
}
