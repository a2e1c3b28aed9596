//! Decides how work is spread: what each site has cost, what wake-ups cost, and what joins and
//! loops make of that. Nothing here acts: it is told the state, and returns what to do.
#![forbid(unsafe_code)]

pub(crate) mod glance;
pub(crate) mod join_pace;
pub(crate) mod join_trial;
pub(crate) mod loop_pace;
mod profit;
pub(crate) mod site_costs;
pub(crate) mod start;
pub(crate) mod wakes;
pub(crate) mod whole;
