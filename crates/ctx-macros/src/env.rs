//! The values that a run is given.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ctx_types::ports::{SystemInfo, ToolCatalog};
use ctx_types::{Text, Trust};

use crate::assets::AgentAssets;
use crate::string_hash;
use crate::virtual_time::VirtualTime;

/// Everything that macros may read: names, texts, the time, the seed, and what a host lends.
///
/// A text is inserted as it is, except that SillyTavern's dialects expand the macros of a card's texts
/// (description, personality, scenario, persona and all of [`Env::card`]) when they are read, as SillyTavern
/// does; inside them the macros of the card give nothing, so that no text can hold itself.
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
    /// The agents of a group; empty where there is one agent, who is `char`.
    pub group: Vec<GroupMember>,
    /// What the user's profile says.
    pub persona: Option<Text>,
    /// The description of the agent.
    pub description: Option<Text>,
    /// The personality of the agent.
    pub personality: Option<Text>,
    /// The scenario that the agent plays in.
    pub scenario: Option<Text>,
    /// The other texts of the agent's card.
    pub card: CardTexts,
    /// How far the agent's texts may be trusted; [`Trust::Import`] for an agent that came from elsewhere.
    pub agent_trust: Trust,
    /// The model that is asked, and the connection to it.
    pub model: ModelValues,
    /// The conversation, as far as macros show it.
    pub conversation: Conversation,
    /// What the user is about to send.
    pub input: Option<Text>,
    /// What is generated: `normal`, `continue`, `impersonate`, `quiet`, or what a host calls it.
    pub generation: Option<Arc<str>>,
    /// The text that the expanded one takes the place of; `{{original}}` gives it once in each text.
    pub original: Option<Text>,
    /// Texts of worldbook entries for `{{outlet::name}}`, by name.
    pub outlets: BTreeMap<Arc<str>, Text>,
    /// Texts of the host by the name of the macro that gives them: `systemPrompt`, `chatStart`,
    /// `instructUserPrefix`, `summary`, `authorsNote` and so on.
    pub texts: BTreeMap<Arc<str>, Text>,
    /// The files of the agent.
    pub assets: AgentAssets,
    /// The names of the host's extensions that are switched on.
    pub extensions: Vec<Arc<str>>,
    /// Whether the host is a small screen.
    pub is_mobile: bool,
    /// The time of the turn, in milliseconds since the Unix epoch; without it macros of time stay as written.
    pub at_millis: Option<i64>,
    /// A clock of the agent's own, which macros of time follow in place of the real one.
    pub virtual_time: Option<VirtualTime>,
    /// The IANA name of the time zone; none is UTC.
    pub zone: Option<Arc<str>>,
    /// The language of the user as a BCP 47 tag such as `zh-CN`; none is `en-US`.
    pub locale: Option<Arc<str>>,
    /// The seed of every random draw.
    pub seed: u64,
    /// What a host lends.
    pub ports: MacroPorts,
}

/// An agent of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Its name.
    pub name: Text,
    /// Whether it does not speak now.
    pub is_muted: bool,
}

/// Texts of an agent's card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardTexts {
    /// The first greeting.
    pub first_message: Option<Text>,
    /// The other greetings.
    pub greetings: Vec<Text>,
    /// Examples of dialogue, divided by `<START>`.
    pub examples: Option<Text>,
    /// The system prompt that the card wants.
    pub system_prompt: Option<Text>,
    /// What the card wants after the history.
    pub post_history: Option<Text>,
    /// The note that the card wants at a depth.
    pub depth_prompt: Option<Text>,
    /// What its author tells people.
    pub creator_notes: Option<Text>,
    /// The version of the card.
    pub version: Option<Text>,
    /// What AIO Hub's `{{visual_guideline}}` gives, where the agent has its own.
    pub visual_guideline: Option<Text>,
}

/// The model that is asked, and the connection to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelValues {
    /// The id of the model.
    pub id: Option<Text>,
    /// The name of the model that people see.
    pub name: Option<Text>,
    /// Who runs it.
    pub provider: Option<Text>,
    /// The id of the connection profile.
    pub profile_id: Option<Text>,
    /// The name of the connection profile.
    pub profile_name: Option<Text>,
    /// How many tokens a request and its answer may have.
    pub context_tokens: Option<u64>,
    /// How many of them are kept for the answer.
    pub response_tokens: Option<u64>,
}

/// What macros show of the conversation; messages count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The id of the session; with it `pick` differs from session to session.
    pub id: Option<Arc<str>>,
    /// The number by which SillyTavern knows the chat; without it, it is made from the id.
    pub id_hash: Option<u64>,
    /// What somebody said to have `pick` of SillyTavern choose again everywhere.
    pub pick_again: Option<Arc<str>>,
    /// How many messages there are.
    pub length: usize,
    /// The newest message.
    pub last: Option<SpokenText>,
    /// The newest message of the user.
    pub last_user: Option<SpokenText>,
    /// The newest message of the agent.
    pub last_agent: Option<SpokenText>,
    /// When the user last said something before the newest message, in milliseconds since the Unix epoch.
    pub user_idle_since: Option<i64>,
    /// The oldest message that the last request held.
    pub first_included: Option<usize>,
    /// The oldest message on the screen.
    pub first_displayed: Option<usize>,
    /// How many versions the newest message has, where it has several.
    pub swipes: Option<usize>,
    /// Which of them is shown, from 1.
    pub current_swipe: Option<usize>,
}

/// The text of a message, and how far it may be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenText {
    /// The text.
    pub text: Text,
    /// Whose words they are.
    pub trust: Trust,
}

/// What a host lends to macros; each is optional.
#[derive(Clone, Default)]
pub struct MacroPorts {
    /// Facts about the machine.
    pub system: Option<Arc<dyn SystemInfo>>,
    /// The tools that the model may call.
    pub tools: Option<Arc<dyn ToolCatalog>>,
}

impl Conversation {
    /// Returns the number by which SillyTavern knows the chat; 0 where nothing is known of it.
    pub(crate) fn number(&self) -> u64 {
        self.id_hash.or_else(|| self.id.as_deref().map(string_hash::of)).unwrap_or(0)
    }
}

impl Default for Env {
    fn default() -> Self {
        Self {
            user: None,
            char: None,
            group: Vec::new(),
            persona: None,
            description: None,
            personality: None,
            scenario: None,
            card: CardTexts::default(),
            agent_trust: Trust::Preset,
            model: ModelValues::default(),
            conversation: Conversation::default(),
            input: None,
            generation: None,
            original: None,
            outlets: BTreeMap::new(),
            texts: BTreeMap::new(),
            assets: AgentAssets::default(),
            extensions: Vec::new(),
            is_mobile: false,
            at_millis: None,
            virtual_time: None,
            zone: None,
            locale: None,
            seed: 0,
            ports: MacroPorts::default(),
        }
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
