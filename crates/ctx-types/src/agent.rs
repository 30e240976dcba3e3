use std::sync::Arc;

use serde_json::Value;

use crate::attachment::Attachment;
use crate::content::Content;
use crate::message::Role;
use crate::persist::noun;
use crate::placement::InjectionStrategy;
#[cfg(feature = "schema")]
use crate::placement::Side;
use crate::regex_config::RegexConfig;
use crate::text::Text;
#[cfg(feature = "schema")]
use crate::turn::GenerationKind;

noun! {
    /// An agent: who the model is, and the preset that says what it is sent, in which order.
    ///
    /// ```
    /// use ctx_types::{Agent, Persist, Reader};
    ///
    /// let file = serde_json::json!({ "name": "Ada", "presetMessages": [{ "role": "system" }], "x": null });
    /// let mut reader = Reader::new();
    /// let agent = Agent::read(file.clone(), &mut reader);
    /// assert_eq!(agent.name.as_deref(), Some("Ada"));
    /// assert_eq!(agent.write(), file);
    /// ```
    pub struct Agent {
        /// The id of the agent in its application.
        id: Option<Arc<str>> => "id",
        /// The name that `{{char}}` gives.
        name: Option<Arc<str>> => "name",
        /// The name shown to people, where it differs.
        display_name: Option<Arc<str>> => "displayName",
        /// What the agent is, for people; `{{description}}` where there is no character description.
        description: Option<Text> => "description",
        /// The version of the agent's content, for `{{agentVersion}}`.
        agent_version: Option<Arc<str>> => "agentVersion",
        /// The character that the model plays.
        character: Option<Character> => "character",
        /// The preset: entries and anchors in order.
        preset_messages: Vec<PresetMessage> => "presetMessages",
        /// Groups by which several entries are switched together.
        preset_groups: Vec<PresetGroup> => "presetGroups",
        /// Messages with which a conversation may begin.
        greetings: Vec<Greeting> => "greetings",
        /// Settings: samplers, the size of the context, and how processors are set.
        parameters: Option<Value> => "parameters",
        /// Regex rules that come with the agent.
        regex_config: Option<RegexConfig> => "regexConfig",
        /// Definitions of session variables.
        variable_config: Option<Value> => "variableConfig",
        /// A clock that runs beside the real one.
        virtual_time_config: Option<Value> => "virtualTimeConfig",
        /// Files that belong to the agent.
        assets: Option<Value> => "assets",
        /// The worldbooks that the agent uses.
        worldbook_ids: Vec<Arc<str>> => "worldbookIds",
        /// How worldbooks are searched for this agent, such as `{disableRecursion, defaultScanDepth}`.
        worldbook_settings: Option<Value> => "worldbookSettings",
        /// The model that the agent was made for, if it names one.
        model_id: Option<Arc<str>> => "modelId",
        /// The macro dialect: `aio` (default) or `sillytavern`.
        dialect: Option<Arc<str>> => "dialect",
        /// What becomes of the history where no `chat_history` entry says its place: `append` or `omit`.
        history_when_unplaced: Option<Arc<str>> => "historyWhenUnplaced" [one_of UnplacedHistory::WORDS],
    }
}

impl Agent {
    /// Returns where an unplaced history goes. Default: `append`.
    pub fn unplaced_history(&self) -> UnplacedHistory {
        match self.history_when_unplaced.as_deref() {
            Some(word) if word == UnplacedHistory::Omit.as_str() => UnplacedHistory::Omit,
            _ => UnplacedHistory::Append,
        }
    }

    /// Returns a preset group by id.
    pub fn preset_group(&self, id: &str) -> Option<&PresetGroup> {
        self.preset_groups.iter().find(|group| group.id.as_deref() == Some(id))
    }
}

/// Treatment of a history without a `chat_history` entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnplacedHistory {
    /// Placed after all preset entries.
    #[default]
    Append,
    /// Not sent.
    Omit,
}

impl UnplacedHistory {
    /// The values in files.
    pub const WORDS: [&'static str; 2] = [Self::Append.as_str(), Self::Omit.as_str()];

    /// Returns the value in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Omit => "omit",
        }
    }
}

noun! {
    /// The character that the model plays, as character cards describe it.
    pub struct Character {
        /// Who the character is; `{{description}}`.
        description: Option<Text> => "description",
        /// How the character is; `{{personality}}`.
        personality: Option<Text> => "personality",
        /// Where the story stands; `{{scenario}}`.
        scenario: Option<Text> => "scenario",
        /// Example dialogues in the card's own notation.
        examples: Option<Text> => "examples",
        /// The card's system prompt.
        system_prompt: Option<Text> => "systemPrompt",
        /// Instructions that follow the history.
        post_history: Option<Text> => "postHistory",
        /// A note at a depth of the conversation: `{prompt, depth, role}`.
        depth_prompt: Option<Value> => "depthPrompt",
        /// Notes of the card's creator, for people.
        creator_notes: Option<Text> => "creatorNotes",
        /// The version of the card.
        version: Option<Arc<str>> => "version",
        /// The name that `{{char}}` gives instead of the agent's.
        nickname: Option<Arc<str>> => "nickname",
    }
}

noun! {
    /// One entry of a preset: a message, or an anchor at which other things stand.
    ///
    /// An entry whose `type` is absent or `message` is an ordinary message. Any other type makes it an
    /// anchor: a registered one by its type, an ad-hoc one of type `placeholder` by its id.
    pub struct PresetMessage {
        /// The id; of a `placeholder`, the name of the anchor that it declares.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// Who speaks it; `user` where the file says nothing.
        role: Option<Role> => "role",
        /// The text, in which macros are expanded.
        content: Option<Content> => "content",
        /// What the entry is: a message (absent or `message`) or an anchor.
        kind: Option<Arc<str>> => "type",
        /// Whether the entry takes part; absent means yes.
        is_enabled: Option<bool> => "isEnabled",
        /// The group that it belongs to.
        group_id: Option<Arc<str>> => "groupId",
        /// Where it goes, in the longer spelling: a depth, several depths, or an anchor.
        injection_strategy: Option<InjectionStrategy> => "injectionStrategy",
        /// Where it goes in the settled part of the conversation: -1 after all of it, -2 one message earlier, 0 before
        /// the oldest message, 3 after the third.
        insertion_point: Option<i64> => "insertionPoint",
        /// On which side of its anchor it goes: `before` or `after` (default).
        anchor_point: Option<Arc<str>> => "anchorPoint" [one_of Side::WORDS],
        /// The anchor at which it goes: the `type` of an anchor, or the `id` of a `placeholder`.
        anchor_target: Option<Arc<str>> => "anchorTarget",
        /// The rank among others at the same place, ascending; 100 if absent.
        order: Option<f64> => "order",
        /// For which models it is meant.
        model_match: Option<ModelMatch> => "modelMatch",
        /// For which kinds of generation it is meant, by their names such as `continue`; for all if empty.
        triggers: Vec<Arc<str>> => "triggers" [such_as GenerationKind::WORDS],
        /// Files of the agent that travel with it.
        preset_attachments: Vec<StoredAttachment> => "presetAttachments",
        /// Files that travel with it.
        attachments: Vec<StoredAttachment> => "attachments",
    }
}

impl PresetMessage {
    /// Returns whether the entry is enabled and well-formed. Its group or model match may still disable it.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.unwrap_or(true) && !self.kept.is_malformed()
    }

    /// Returns the declared anchor: the type, or the id of a `placeholder`.
    pub fn anchor_id(&self) -> Option<&str> {
        match self.kind.as_deref() {
            None | Some("message") => None,
            Some("placeholder") => self.id.as_deref(),
            Some(kind) => Some(kind),
        }
    }

    /// Returns whether the entry is an anchor.
    pub fn is_anchor(&self) -> bool {
        !matches!(self.kind.as_deref(), None | Some("message"))
    }

    /// Returns the entry's attachments, without malformed ones.
    pub fn all_attachments(&self) -> Vec<Attachment> {
        let stored = self.preset_attachments.iter().chain(&self.attachments);
        let sound = stored.filter(|stored| !stored.kept.is_malformed());
        sound.map(StoredAttachment::to_attachment).collect()
    }
}

noun! {
    /// A reference to a file, as messages of conversations and presets store it.
    pub struct StoredAttachment {
        /// The id of the file.
        id: Option<Arc<str>> => "id",
        /// The id of the agent's asset, in a preset.
        asset_id: Option<Arc<str>> => "assetId",
        /// The file name.
        name: Option<Arc<str>> => "name",
        /// The media type.
        mime_type: Option<Arc<str>> => "mimeType",
        /// Where the bytes are, in the host's terms.
        path: Option<Arc<str>> => "path",
    }
}

impl StoredAttachment {
    /// Converts to the attachment of a message.
    pub fn to_attachment(&self) -> Attachment {
        Attachment {
            id: self.id.clone().or_else(|| self.asset_id.clone()).unwrap_or_default(),
            name: self.name.clone().unwrap_or_default(),
            mime_type: self.mime_type.clone(),
            path: self.path.clone(),
            kept: Arc::new(crate::persist::Persist::write(self)),
            loaded: None,
        }
    }
}

noun! {
    /// A group of preset entries that are switched together.
    pub struct PresetGroup {
        /// The id by which entries name it.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// What it is for.
        description: Option<Text> => "description",
        /// Whether each of its entries is switched by itself (`checkbox`), or one is on at a time (`radio`).
        selection_mode: Option<Arc<str>> => "selectionMode" [such_as ["checkbox", "radio"]],
        /// Whether its entries take part; absent means yes.
        enabled: Option<bool> => "enabled",
    }
}

noun! {
    /// A message with which a conversation may begin.
    pub struct Greeting {
        /// The id.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// The text, in which macros are expanded once when the conversation begins.
        content: Option<Content> => "content",
        /// Who speaks it; `assistant` where the file says nothing.
        role: Option<Role> => "role",
    }
}

noun! {
    /// For which models and profiles a preset entry is meant.
    pub struct ModelMatch {
        /// Whether the rule takes part at all; absent means no.
        enabled: Option<bool> => "enabled",
        /// Whether one list must match (`any`, default) or both (`all`).
        mode: Option<Arc<str>> => "mode" [such_as ["any", "all"]],
        /// Whether a match excludes the entry instead.
        exclude: Option<bool> => "exclude",
        /// Regular expressions (JavaScript, case-insensitive) on the model's name or id.
        patterns: Vec<Arc<str>> => "patterns",
        /// Regular expressions on the connection profile's name.
        profile_patterns: Vec<Arc<str>> => "profilePatterns",
        /// Whether `patterns` are tried on the profile's name too.
        match_profile_name: Option<bool> => "matchProfileName",
    }
}

noun! {
    /// The person who chats.
    pub struct UserProfile {
        /// The id of the profile in its application.
        id: Option<Arc<str>> => "id",
        /// The name that `{{user}}` gives.
        name: Option<Arc<str>> => "name",
        /// The name shown to people, where it differs.
        display_name: Option<Arc<str>> => "displayName",
        /// What `{{persona}}` gives.
        content: Option<Text> => "content",
        /// Regex rules of this person.
        regex_config: Option<RegexConfig> => "regexConfig",
        /// The worldbooks that this person uses.
        worldbook_ids: Vec<Arc<str>> => "worldbookIds",
    }
}
