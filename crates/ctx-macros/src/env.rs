use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ctx_types::ports::{SystemInfo, ToolCatalog};
use ctx_types::{Text, Trust};

use crate::assets::AgentAssets;
use crate::string_hash;
use crate::virtual_time::VirtualTime;

/// Values that macros may read: names, texts, time, seed, and interfaces of the host.
///
/// Texts are inserted unchanged. In SillyTavern's syntax, macros in card texts (description, personality,
/// scenario, persona, and all of [`Env::card`]) are expanded on insertion, as in SillyTavern. Inside them,
/// macros for card texts are empty, which prevents recursion.
///
/// ```
/// use ctx_macros::Env;
/// use ctx_types::Text;
///
/// let env = Env { user: Some(Text::from("Mei")), at_millis: Some(0), ..Env::default() };
/// assert_eq!(env.zone, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Name of the user; `User` if missing or empty.
    pub user: Option<Text>,
    /// Name of the agent; `Assistant` if missing or empty.
    pub char: Option<Text>,
    /// Agents of a group; empty for a single agent, which is `char`.
    pub group: Vec<GroupMember>,
    /// Text of the user profile.
    pub persona: Option<Text>,
    /// Description of the agent.
    pub description: Option<Text>,
    /// Personality of the agent.
    pub personality: Option<Text>,
    /// Scenario of the agent.
    pub scenario: Option<Text>,
    /// Other texts of the agent's character card.
    pub card: CardTexts,
    /// Model and connection.
    pub model: ModelValues,
    /// Conversation values for macros.
    pub conversation: Conversation,
    /// Pending input of the user.
    pub input: Option<Text>,
    /// Type of generation: `normal`, `continue`, `impersonate`, `quiet`, or a name chosen by the host.
    pub generation: Option<Arc<str>>,
    /// Text replaced by the expanded one. `{{original}}` inserts it once per text.
    pub original: Option<Text>,
    /// Texts of worldbook entries for `{{outlet::name}}`, by name.
    pub outlets: BTreeMap<Arc<str>, Text>,
    /// Texts of the host by macro name: `systemPrompt`, `chatStart`, `instructUserPrefix`, `summary`,
    /// `authorsNote`, and so on.
    pub texts: BTreeMap<Arc<str>, Text>,
    /// Files of the agent.
    pub assets: AgentAssets,
    /// Names of the host's enabled extensions.
    pub extensions: Vec<Arc<str>>,
    /// Whether the host has a small screen.
    pub is_mobile: bool,
    /// Time of the turn, in milliseconds since the Unix epoch. If missing, time macros are left unchanged.
    pub at_millis: Option<i64>,
    /// Virtual clock of the agent, used instead of the real time.
    pub virtual_time: Option<VirtualTime>,
    /// IANA name of the time zone; UTC if missing.
    pub zone: Option<Arc<str>>,
    /// Language of the user as a BCP 47 tag such as `zh-CN`; `en-US` if missing.
    pub locale: Option<Arc<str>>,
    /// Seed of random values.
    pub seed: u64,
    /// Interfaces of the host.
    pub ports: MacroPorts,
}

/// An agent of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Name.
    pub name: Text,
    /// Whether the agent is muted.
    pub is_muted: bool,
}

/// Texts of a character card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardTexts {
    /// First greeting.
    pub first_message: Option<Text>,
    /// Alternative greetings.
    pub greetings: Vec<Text>,
    /// Example dialogues, separated by `<START>`.
    pub examples: Option<Text>,
    /// System prompt of the card.
    pub system_prompt: Option<Text>,
    /// Text for the position after the history.
    pub post_history: Option<Text>,
    /// Note that the card inserts at a depth.
    pub depth_prompt: Option<Text>,
    /// Notes of the author for users.
    pub creator_notes: Option<Text>,
    /// Version of the card.
    pub version: Option<Text>,
    /// Agent's own text for AIO Hub's `{{visual_guideline}}`.
    pub visual_guideline: Option<Text>,
}

/// Model and connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelValues {
    /// Model id.
    pub id: Option<Text>,
    /// Display name of the model.
    pub name: Option<Text>,
    /// Provider of the model.
    pub provider: Option<Text>,
    /// Id of the connection profile.
    pub profile_id: Option<Text>,
    /// Name of the connection profile.
    pub profile_name: Option<Text>,
    /// Context window in tokens: request and response.
    pub context_tokens: Option<u64>,
    /// Tokens reserved for the response.
    pub response_tokens: Option<u64>,
}

/// Conversation values for macros. Message indexes start at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Session id, which seeds `pick`.
    pub id: Option<Arc<str>>,
    /// SillyTavern's numeric id of the chat. If missing, derived from `id`.
    pub id_hash: Option<u64>,
    /// Extra seed that makes SillyTavern's `pick` choose again everywhere.
    pub pick_again: Option<Arc<str>>,
    /// Number of messages.
    pub length: usize,
    /// Newest message.
    pub last: Option<SpokenText>,
    /// Newest message of the user.
    pub last_user: Option<SpokenText>,
    /// Newest message of the agent.
    pub last_agent: Option<SpokenText>,
    /// Time of the user's last message before the newest message, in milliseconds since the Unix epoch.
    pub user_idle_since: Option<i64>,
    /// Index of the oldest message in the last request.
    pub first_included: Option<usize>,
    /// Index of the oldest displayed message.
    pub first_displayed: Option<usize>,
    /// Number of versions of the newest message, if it has several.
    pub swipes: Option<usize>,
    /// Displayed version, from 1.
    pub current_swipe: Option<usize>,
}

/// Text of a message, with its trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenText {
    /// Text.
    pub text: Text,
    /// Trust of the author.
    pub trust: Trust,
}

/// Optional interfaces of the host.
#[derive(Clone, Default)]
pub struct MacroPorts {
    /// Facts about the machine.
    pub system: Option<Arc<dyn SystemInfo>>,
    /// Tools that the model may call.
    pub tools: Option<Arc<dyn ToolCatalog>>,
}

impl Env {
    pub(crate) fn user_name(&self) -> Text {
        self.user.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| "User".into())
    }

    pub(crate) fn agent_name(&self) -> Text {
        self.char.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| "Assistant".into())
    }
}

impl Conversation {
    pub(crate) fn number(&self) -> u64 {
        self.id_hash.or_else(|| self.id.as_deref().map(string_hash::hash_text)).unwrap_or(0)
    }
}

impl fmt::Debug for MacroPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MacroPorts")
            .field("system", &self.system.is_some())
            .field("tools", &self.tools.is_some())
            .finish()
    }
}
