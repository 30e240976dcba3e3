use std::sync::Arc;

use serde_json::Value;

use crate::attachment::Attachment;
use crate::content::Content;
use crate::message::Role;
use crate::persist::data_type;
use crate::placement::InjectionStrategy;
#[cfg(feature = "schema")]
use crate::placement::Side;
use crate::regex_config::RegexConfig;
use crate::text::Text;
#[cfg(feature = "schema")]
use crate::turn::GenerationKind;
use crate::words;

data_type! {
    /// An agent: a character, a preset of messages to send, and settings.
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
        /// Agent id in its application.
        id: Option<Arc<str>> => "id",
        /// Name that `{{char}}` inserts.
        name: Option<Arc<str>> => "name",
        /// Display name, if different from `name`.
        display_name: Option<Arc<str>> => "displayName",
        /// Description for users. `{{description}}` inserts it if the character has no description.
        description: Option<Text> => "description",
        /// Version of the agent, inserted by `{{agentVersion}}`.
        agent_version: Option<Arc<str>> => "agentVersion",
        /// Character that the model plays.
        character: Option<Character> => "character",
        /// Preset: entries and anchors in order.
        preset_messages: Vec<PresetMessage> => "presetMessages",
        /// Groups that enable or disable several entries together.
        preset_groups: Vec<PresetGroup> => "presetGroups",
        /// Possible first messages of a conversation.
        greetings: Vec<Greeting> => "greetings",
        /// Sampler parameters, context size, and processor settings.
        parameters: Option<Value> => "parameters",
        /// Regex rules of the agent.
        regex_config: Option<RegexConfig> => "regexConfig",
        /// Session variable definitions.
        variable_config: Option<Value> => "variableConfig",
        /// Virtual clock, in addition to the real one.
        virtual_time_config: Option<Value> => "virtualTimeConfig",
        /// Files of the agent.
        assets: Option<Value> => "assets",
        /// Worldbooks of the agent, by id or name.
        worldbook_ids: Vec<Arc<str>> => "worldbookIds",
        /// Worldbook scan settings of the agent, such as `{disableRecursion, defaultScanDepth}`.
        worldbook_settings: Option<Value> => "worldbookSettings",
        /// Model that the agent was made for.
        model_id: Option<Arc<str>> => "modelId",
        /// Macro syntax: `aio` (default) or `sillytavern`.
        dialect: Option<Arc<str>> => "dialect",
        /// Treatment of the history if the preset has no `chat_history` entry: `append` (default) puts it
        /// after all entries, `omit` does not send it.
        history_when_unplaced: Option<Arc<str>> => "historyWhenUnplaced" [one_of UnplacedHistory::WORDS],
        /// Prefix mode: whether text of earlier requests may change: `moving` (default), `append-only`, or
        /// `auto` (`append-only` for models whose cache makes it cheaper).
        prefix: Option<Arc<str>> => "prefix" [one_of PrefixMode::WORDS],
    }
}

impl Agent {
    /// Returns the prefix mode. Default: `moving`.
    pub fn prefix_mode(&self) -> PrefixMode {
        self.prefix.as_deref().and_then(PrefixMode::parse).unwrap_or_default()
    }

    /// Returns where an unplaced history goes. Default: `append`.
    pub fn unplaced_history(&self) -> UnplacedHistory {
        match self.history_when_unplaced.as_deref() {
            Some(word) if word == UnplacedHistory::Omit.as_str() => UnplacedHistory::Omit,
            _ => UnplacedHistory::Append,
        }
    }
}

words! {
    /// Whether text of earlier requests of a conversation may change.
    ///
    /// Providers cache requests by prefix, and some bind the reasoning of replies to everything before it.
    #[derive(Default)]
    pub enum PrefixMode: [as_str, parse, ALL, WORDS] {
        /// Each request places all texts again, relative to its newest message.
        #[default]
        Moving = "moving",
        /// Each request repeats the previous one and appends to it. Texts stay where they were inserted.
        AppendOnly = "append-only",
        /// `AppendOnly` for models whose provider charges little for a repeated prefix, or binds reasoning to it;
        /// `Moving` for others.
        Auto = "auto",
    }
}

words! {
    /// Treatment of a history without a `chat_history` entry.
    #[derive(Default)]
    pub enum UnplacedHistory: [as_str, WORDS] {
        /// Placed after all preset entries.
        #[default]
        Append = "append",
        /// Not sent.
        Omit = "omit",
    }
}

data_type! {
    /// The character that the model plays, with the fields of character cards.
    pub struct Character {
        /// Description of the character, inserted by `{{description}}`.
        description: Option<Text> => "description",
        /// Personality of the character, inserted by `{{personality}}`.
        personality: Option<Text> => "personality",
        /// Current situation in the story, inserted by `{{scenario}}`.
        scenario: Option<Text> => "scenario",
        /// Example dialogues in the format of character cards.
        examples: Option<Text> => "examples",
        /// System prompt of the character card.
        system_prompt: Option<Text> => "systemPrompt",
        /// Instructions after the history.
        post_history: Option<Text> => "postHistory",
        /// Text inserted at a depth of the conversation: `{prompt, depth, role}`.
        depth_prompt: Option<Value> => "depthPrompt",
        /// Notes of the character card's creator for users.
        creator_notes: Option<Text> => "creatorNotes",
        /// Version of the character card.
        version: Option<Arc<str>> => "version",
        /// Name that `{{char}}` inserts instead of the agent's name.
        nickname: Option<Arc<str>> => "nickname",
    }
}

data_type! {
    /// A preset entry: a message or an anchor.
    ///
    /// An entry without a `type`, or with type `message`, is a normal message. Any other type is an anchor.
    /// An entry of type `placeholder` is a custom anchor whose name is its `id`.
    pub struct PresetMessage {
        /// Entry id. For a `placeholder`: the name of the custom anchor.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Message role. Default: `user`.
        role: Option<Role> => "role",
        /// Message text. Macros are expanded.
        content: Option<Content> => "content",
        /// Entry type: `message` (default) or an anchor type.
        kind: Option<Arc<str>> => "type",
        /// Whether the entry is enabled. Default: `true`.
        is_enabled: Option<bool> => "isEnabled",
        /// Id of the entry's group in `presetGroups`.
        group_id: Option<Arc<str>> => "groupId",
        /// Placement as an object: a depth, several depths, or an anchor.
        injection_strategy: Option<InjectionStrategy> => "injectionStrategy",
        /// Position in the history: -1 after the last message, -2 one message earlier, 0 before the first
        /// message, 3 after the third.
        insertion_point: Option<i64> => "insertionPoint",
        /// Side of the anchor in `anchorTarget`: `before` or `after` (default).
        anchor_point: Option<Arc<str>> => "anchorPoint" [one_of Side::WORDS],
        /// Anchor to place the entry at: the `type` of an anchor, or the `id` of a `placeholder`.
        anchor_target: Option<Arc<str>> => "anchorTarget",
        /// Order among messages at the same place, ascending. Default: 100.
        order: Option<f64> => "order",
        /// Models that receive the entry.
        model_match: Option<ModelMatch> => "modelMatch",
        /// Generation kinds that include the entry, such as `continue`. If empty, all kinds.
        triggers: Vec<Arc<str>> => "triggers" [such_as GenerationKind::WORDS],
        /// Agent files sent with the message.
        preset_attachments: Vec<StoredAttachment> => "presetAttachments",
        /// Files sent with the message.
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

data_type! {
    /// An attachment of a message or preset entry: a reference to a file.
    pub struct StoredAttachment {
        /// File id.
        id: Option<Arc<str>> => "id",
        /// Id of the agent's file in `assets`, for a preset.
        asset_id: Option<Arc<str>> => "assetId",
        /// File name.
        name: Option<Arc<str>> => "name",
        /// Media type, such as `image/png`.
        mime_type: Option<Arc<str>> => "mimeType",
        /// Path of the file, as defined by the application.
        path: Option<Arc<str>> => "path",
    }
}

impl StoredAttachment {
    /// Converts to the attachment of a message.
    pub(crate) fn to_attachment(&self) -> Attachment {
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

data_type! {
    /// A group of preset entries, enabled or disabled together.
    pub struct PresetGroup {
        /// Group id, used in `groupId` of entries.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Purpose of the group.
        description: Option<Text> => "description",
        /// `checkbox`: each entry can be enabled separately. `radio`: only one entry is enabled at a time.
        selection_mode: Option<Arc<str>> => "selectionMode" [such_as ["checkbox", "radio"]],
        /// Whether the entries of the group can be sent. Default: `true`.
        enabled: Option<bool> => "enabled",
    }
}

data_type! {
    /// A possible first message of a conversation.
    pub struct Greeting {
        /// Greeting id.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Message text. Macros are expanded once, at the start of the conversation.
        content: Option<Content> => "content",
        /// Message role. Default: `assistant`.
        role: Option<Role> => "role",
    }
}

data_type! {
    /// A condition on the model and the connection profile of a preset entry.
    pub struct ModelMatch {
        /// Whether the condition applies. Default: `false`.
        enabled: Option<bool> => "enabled",
        /// `any` (default): one of the two lists must match. `all`: both must match.
        mode: Option<Arc<str>> => "mode" [such_as ["any", "all"]],
        /// Whether a match excludes the entry instead. Default: `false`.
        exclude: Option<bool> => "exclude",
        /// JavaScript regular expressions for the model's name or id; case-insensitive.
        patterns: Vec<Arc<str>> => "patterns",
        /// JavaScript regular expressions for the connection profile's name; case-insensitive.
        profile_patterns: Vec<Arc<str>> => "profilePatterns",
        /// Whether `patterns` also apply to the profile's name. Default: `false`.
        match_profile_name: Option<bool> => "matchProfileName",
    }
}

data_type! {
    /// A user profile (persona): a description of the user.
    pub struct UserProfile {
        /// Profile id in its application.
        id: Option<Arc<str>> => "id",
        /// Name that `{{user}}` inserts.
        name: Option<Arc<str>> => "name",
        /// Display name, if different from `name`.
        display_name: Option<Arc<str>> => "displayName",
        /// Description of the user, inserted by `{{persona}}`.
        content: Option<Text> => "content",
        /// Regex rules of the profile.
        regex_config: Option<RegexConfig> => "regexConfig",
        /// Worldbooks of the profile, by id or name.
        worldbook_ids: Vec<Arc<str>> => "worldbookIds",
    }
}
