//! The values that a run is given.

use std::sync::Arc;

use ctx_types::{Text, Trust};

/// Everything that macros may read: names, texts, the time and the seed.
///
/// Texts are inserted as they are. A host that wants the macros inside a description expanded expands it
/// first and puts the result here.
///
/// ```
/// use ctx_macros::Env;
/// use ctx_types::Text;
///
/// let env = Env { user: Some(Text::from("Mei")), at_millis: Some(0), ..Env::default() };
/// assert_eq!(env.zone, None);
/// ```
#[derive(Clone, Debug)]
pub struct Env {
    /// The name of the user; none or empty is `User`.
    pub user: Option<Text>,
    /// The name of the agent; none or empty is `Assistant`.
    pub char: Option<Text>,
    /// What the user's profile says.
    pub persona: Option<Text>,
    /// The description of the agent.
    pub description: Option<Text>,
    /// The personality of the agent.
    pub personality: Option<Text>,
    /// The scenario that the agent plays in.
    pub scenario: Option<Text>,
    /// How far the agent's texts may be trusted; [`Trust::Import`] for an agent that came from elsewhere.
    pub agent_trust: Trust,
    /// The time of the turn, in milliseconds since the Unix epoch; without it macros of time stay as written.
    pub at_millis: Option<i64>,
    /// The IANA name of the time zone; none is UTC.
    pub zone: Option<Arc<str>>,
    /// The seed of every random draw.
    pub seed: u64,
}

impl Default for Env {
    fn default() -> Self {
        Self {
            user: None,
            char: None,
            persona: None,
            description: None,
            personality: None,
            scenario: None,
            agent_trust: Trust::Preset,
            at_millis: None,
            zone: None,
            seed: 0,
        }
    }
}
