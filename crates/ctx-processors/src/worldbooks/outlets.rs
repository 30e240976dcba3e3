use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_macros::State;
use ctx_pipeline::Blackboard;
use ctx_types::internal::excerpt;
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Source, Text, phrase};
use ctx_worldbook::{BookSet, Scan, internal::Output};

use super::macro_expander::entry_source;

/// Active entries by outlet, on the blackboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outlets(BTreeMap<Arc<str>, Outlet>);

#[derive(Clone, Debug)]
struct Outlet {
    text: Text,
    entries: Vec<Source>,
}

impl Outlets {
    pub(crate) fn new(set: &BookSet, scan: &Scan, output: &Output) -> Self {
        let outlet = |list: &[usize]| {
            let active = list.iter().filter_map(|at| scan.activations.get(*at));
            let members = active.clone().filter_map(|active| set.members().get(active.member));
            let lines: Vec<&str> = active.map(|active| active.content.as_str()).collect();
            Outlet { text: Text::from(lines.join("\n")), entries: members.map(entry_source).collect() }
        };
        Self(output.outlets.iter().map(|(name, list)| (name.clone(), outlet(list))).collect())
    }

    pub(crate) fn texts(blackboard: &Blackboard) -> BTreeMap<Arc<str>, Text> {
        let outlets = blackboard.get::<Self>().map(|outlets| &outlets.0).into_iter().flatten();
        outlets.map(|(name, outlet)| (name.clone(), outlet.text.clone())).collect()
    }

    pub(crate) fn unused_decisions(&self, state: Option<&State>) -> impl Iterator<Item = Decision> {
        let is_asked = move |name: &str| state.is_some_and(|state| state.has_given_outlet(name));
        let unasked = self.0.iter().filter(move |(name, _)| !is_asked(name));
        unasked.flat_map(|(name, outlet)| {
            let reason = phrase!("no macro uses outlet `{name}`", name = excerpt(name));
            let entries = outlet.entries.iter();
            entries.map(move |entry| Decision::new(Outcome::Dropped, entry.clone(), reason.clone()))
        })
    }
}
