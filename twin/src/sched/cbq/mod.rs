//! Class-based queuing: `cbq` (Floyd and Jacobson 1995) and the decoupled `dcbq` and `dcbqe`
//! (Risso 2001).

mod classes;
mod classic;
mod decoupled;
mod estimator;
mod ring;
#[cfg(test)]
mod tests;
mod visits;

use classes::Classes;
use classic::Cbq;
pub use classic::CbqSpec;
use decoupled::Decoupled;
pub use decoupled::DecoupledSpec;
use ring::Ring;
use visits::{Counted, Uncounted, Visits};

use crate::error::ScenarioError;
use crate::sched::{Context, Gateable};

/// `cbq`, which counts its visits of classes only if that is asked for.
pub fn cbq(spec: &CbqSpec, context: Context) -> Result<Box<dyn Gateable>, ScenarioError> {
    Ok(if spec.count_visits {
        Box::new(Cbq::<Counted>::new(spec, context)?)
    } else {
        Box::new(Cbq::<Uncounted>::new(spec, context)?)
    })
}

/// `dcbq`, and `dcbqe`, which is `efficient`: when nobody may send, the first backlogged
/// unbounded class does, uncounted.
pub fn decoupled(
    spec: &DecoupledSpec,
    efficient: bool,
    context: Context,
) -> Result<Box<dyn Gateable>, ScenarioError> {
    Ok(if spec.count_visits {
        Box::new(Decoupled::<Counted>::new(spec, efficient, context)?)
    } else {
        Box::new(Decoupled::<Uncounted>::new(spec, efficient, context)?)
    })
}

/// One ring of leaves per priority, first served first.
fn by_priority<V: Visits>(classes: &Classes<V>, packet_bytes: u32, forgets: bool) -> Vec<Ring> {
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
