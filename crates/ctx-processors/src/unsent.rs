use ctx_pipeline::{Blackboard, Draft};
use ctx_types::phrase;
use ctx_types::report::{Decision, Outcome};

use crate::worldbooks::Outlets;

/// Returns decisions about injections that no processor placed, and worldbook entries whose outlet no macro
/// uses.
///
/// Call it at the end of a run. O(injections).
pub fn unsent(draft: &Draft, blackboard: &Blackboard) -> Vec<Decision> {
    let injections = draft.injections().iter();
    let unplaced = injections.map(|injection| {
        Decision::new(Outcome::Dropped, injection.source.clone(), phrase!("no processor placed it"))
    });
    let outlets = blackboard.get::<Outlets>().into_iter();
    unplaced.chain(outlets.flat_map(|outlets| outlets.unused_decisions(draft.macros()))).collect()
}
