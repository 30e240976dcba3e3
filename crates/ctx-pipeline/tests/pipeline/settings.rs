mod case;
mod findings;
mod limits;
mod merge;
mod old;
mod order;
mod registry;
mod values;
