//! The schema of a scheduler: what `super::read` takes apart by its `kind`.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::cbq::{CbqSpec, DecoupledSpec};
use super::cbwfq::CbwfqSpec;
use super::drr::DrrSpec;
use super::fair::FairSpec;
use super::htb::HtbSpec;
use super::srr::SrrSpec;
use super::tiered::{FifoSpec, StrictSpec, StrictWrrSpec};
use super::tree::TreeSpec;
use super::wrr::WrrSpec;
use crate::scenario::ShapeSpec;

/// A scheduler.
#[derive(JsonSchema)]
#[schemars(rename = "SchedulerSpec", tag = "kind", rename_all = "snake_case")]
#[allow(dead_code)]
pub enum SchedulerSchema {
    Fifo(Shaped<FifoSpec>),
    Strict(Shaped<StrictSpec>),
    Wrr(Shaped<WrrSpec>),
    Drr(Shaped<DrrSpec>),
    StrictWrr(Shaped<StrictWrrSpec>),
    Srr(Shaped<SrrSpec>),
    Wfq(FairSpec),
    Cbwfq(Shaped<CbwfqSpec>),
    Cbq(Shaped<CbqSpec>),
    Dcbq(Shaped<DecoupledSpec>),
    Dcbqe(Shaped<DecoupledSpec>),
    Htb(Shaped<HtbSpec>),
    Tree(Shaped<TreeSpec>),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct Shaped<Spec> {
    #[schemars(flatten)]
    spec: Spec,
    /// Shapers of queues, by the queue's number.
    shapes: Option<BTreeMap<String, ShapeSpec>>,
}
