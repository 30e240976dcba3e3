//! Plug-ins in an engine: when they run, what becomes of what they write, and how the budget is kept.

mod case;
mod compression;
mod faults;
mod life;
mod order;
mod recall;
mod recount;
mod report;
mod totals;
mod variables;
mod windows;
