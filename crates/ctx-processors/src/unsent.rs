//! What was brought in and is sent nowhere.

use ctx_pipeline::{Blackboard, Draft};
use ctx_types::{Decision, Outcome, phrase};

use crate::worldbooks::Outlets;

/// Describes what is not sent of that which stages brought in: what no stage has placed, and entries of worldbooks whose
/// outlet no macro asked for.
///
/// For the end of a run, whatever its stages were. O(injections).
pub fn unsent(draft: &Draft, blackboard: &Blackboard) -> Vec<Decision> {
    let injections = draft.injections().iter();
    let unplaced = injections.map(|injection| {
        Decision::new(Outcome::Dropped, injection.source.clone(), phrase!("no processor placed it"))
    });
    let outlets = blackboard.get::<Outlets>().into_iter();
    unplaced.chain(outlets.flat_map(|outlets| outlets.unasked(draft.macros()))).collect()
}
