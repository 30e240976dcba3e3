//! Runs: order, failures, limits, cancellation, groups, and what is taken back.

mod blackboard;
mod case;
mod failure;
mod group;
mod group_property;
mod log;
mod prepare;
mod ranges;
mod stop;
mod trace;
