//! What may be changed about a case before it is run, to find out what its outcome depends on.

use std::sync::Arc;

use ctx_engine::Engine;
use ctx_tokens::{ModelTable, internal::MAX_TOKENS};
use ctx_types::Agent;
use ctx_types::session::Session;

use crate::cases::Case;

/// A model that nothing is known of, with a window that is never reached.
const AS_IF_UNKNOWN: &str = r#"[{
    "pattern": "^", "encoding": "o200k_base", "media": "unknown", "contextWindow": 1000000000, "maxOutput": 123456,
    "capabilities": {"vision": true, "audio": false, "video": false, "documents": false, "tools": true,
        "prefill": true, "midSystem": true},
    "overheads": {"perMessage": 3, "perName": 1, "perReply": 3, "perTool": 8, "withTools": 0}
}]"#;

/// What is changed; by default nothing.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// Added to the seed.
    pub(crate) seed: u64,
    /// The id of the conversation.
    pub(crate) conversation: Option<String>,
    /// By how many milliseconds the turn is later.
    pub(crate) later: i64,
    /// Another way to count: rows of a model table, for which each case names a model.
    pub(crate) counting: Option<&'static str>,
    /// Nothing limits the context.
    pub(crate) is_unlimited: bool,
    /// Nothing is known of a model that the table has.
    pub(crate) forgets_models: bool,
    /// This processor is off.
    pub(crate) without: Option<&'static str>,
}

impl Change {
    pub(crate) fn apply(&self, case: &mut Case, agent: &Agent, engine: &mut Engine) {
        case.seed = case.seed.wrapping_add(self.seed);
        case.at = case.at.take().map(|at| self.postponed(&at));
        let name = case.model.clone().or_else(|| agent.model_id.as_deref().map(str::to_owned));
        if let Some(rows) = self.counting {
            case.model = Some(name.clone().unwrap_or_else(|| "any".to_owned()));
            engine.models = Arc::new(ModelTable::builtin().with_override(rows).0);
        }
        let is_known = name.is_some_and(|name| ModelTable::builtin().lookup(&name).1.is_none());
        if self.forgets_models && is_known {
            engine.models = Arc::new(ModelTable::builtin().with_override(AS_IF_UNKNOWN).0);
        }
        let is_sane = case.context_tokens.is_none_or(|tokens| (0..=i64::from(MAX_TOKENS)).contains(&tokens));
        if self.is_unlimited && is_sane {
            (case.context_tokens, case.reserve) = (Some(i64::from(MAX_TOKENS)), Some(0));
        }
        if let Some(without) = self.without {
            case.enable.retain(|id| id != without);
            case.disable.push(without.to_owned());
        }
    }

    pub(crate) fn apply_to_conversation(&self, session: &mut Session) {
        if let Some(id) = &self.conversation {
            session.header.id = Some(id.as_str().into());
        }
    }

    fn postponed(&self, at: &str) -> String {
        let later = jiff::SignedDuration::from_millis(self.later);
        match at.parse::<jiff::Timestamp>() {
            Ok(time) => (time + later).to_string(),
            Err(_) => at.to_owned(),
        }
    }
}
