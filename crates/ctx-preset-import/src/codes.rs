//! Diagnostic codes of this crate: 600 to 699.

use ctx_types::Code;

/// A document is larger than its limit.
pub const TOO_LARGE: Code = Code::new(600, "document too large");
/// A document holds bytes that are not text.
pub const NOT_TEXT: Code = Code::new(601, "not a text file");
/// A document is not valid JSON.
pub const JSON_SYNTAX: Code = Code::new(602, "invalid JSON");
/// A document is not valid YAML.
pub const YAML_SYNTAX: Code = Code::new(603, "invalid YAML");
/// A document is nested more deeply than its limit.
pub const TOO_DEEP: Code = Code::new(604, "nested too deeply");
/// A document has more values than its limit.
pub const TOO_MANY_NODES: Code = Code::new(605, "too many values");
/// A document holds nothing.
pub const EMPTY: Code = Code::new(606, "empty file");
/// A document is not what was asked for.
pub const UNKNOWN_SHAPE: Code = Code::new(607, "unknown file type");
/// An archive or a picture cannot be unpacked.
pub const CONTAINER: Code = Code::new(608, "cannot unpack file");

/// A key stands twice in one object; the last one counts.
pub const DUPLICATE_KEY: Code = Code::new(610, "duplicate key");
/// A number cannot be represented as it is written.
pub const NUMBER: Code = Code::new(611, "number out of range");
/// A YAML tag is not known; the value is read without it.
pub const UNKNOWN_TAG: Code = Code::new(612, "unknown YAML tag");
/// A key is no text; it is read as one.
pub const KEY_TYPE: Code = Code::new(613, "key is not a string");
/// A document looks like JSON, is not, and was read as YAML.
pub const READ_AS_YAML: Code = Code::new(614, "JSON file read as YAML");
/// Half of a surrogate pair stands alone and was replaced.
pub const LONE_SURROGATE: Code = Code::new(615, "lone surrogate");
/// A YAML merge key does not name objects.
pub const MERGE_KEY: Code = Code::new(616, "invalid merge key");
/// A line of a JSON Lines document is no object; it is kept as it is.
pub const BAD_LINE: Code = Code::new(617, "invalid line in JSON Lines");

/// A file holds several agents, of which one is read.
pub const SEVERAL_AGENTS: Code = Code::new(620, "several agents in one file");
/// A group of alternatives has several entries switched on.
pub const SEVERAL_ALTERNATIVES: Code = Code::new(621, "several alternatives enabled");

/// A message's role is missing or not known; it is treated as the user's.
pub const UNKNOWN_ROLE: Code = Code::new(631, "unknown role in a conversation");
/// A message's id is no text, or an empty one; it gets another.
pub const MESSAGE_ID: Code = Code::new(632, "invalid message id");
/// A tool call is not of a form that can be read.
pub const TOOL_CALL: Code = Code::new(633, "invalid tool call");
/// A call without an id got one, so that its result can be paired with it.
pub const CALL_ID: Code = Code::new(634, "tool call id added");
/// Messages that their application hides from the model are kept and switched off.
pub const HIDDEN_MESSAGES: Code = Code::new(635, "hidden messages disabled");
/// The two halves of a session's file disagree; the half with the messages counts.
pub const SESSION_HALVES: Code = Code::new(636, "conflicting session index");
/// A form that holds one path has no place for other branches of a conversation.
pub const BRANCHES_LEFT_OUT: Code = Code::new(637, "branches not exported");
/// A form has no place for what stands beside the messages of a conversation.
pub const FILE_LEFT_OUT: Code = Code::new(638, "session data not exported");
/// A form has no place for a part of the messages.
pub const CONTENT_LEFT_OUT: Code = Code::new(639, "message data not exported");

/// A file is nothing that can be imported.
pub const UNKNOWN_FILE: Code = Code::new(622, "unknown file in an import");
/// Of several files of a kind only the first is used.
pub const ANOTHER_OF_KIND: Code = Code::new(623, "second file of the same type");

/// A picture ends before its end.
pub const CUT_PICTURE: Code = Code::new(624, "truncated image");

/// A picture holds a document that is not read, since another one counts or since it is none.
pub const ANOTHER_TEXT: Code = Code::new(626, "several documents in an image");

/// An order of prompts names one twice; the first place counts.
pub const PROMPT_TWICE: Code = Code::new(627, "prompt listed twice");

/// Nothing in a file has an effect; it is kept as it is.
pub const NO_EFFECT: Code = Code::new(625, "file without effect");

/// An agent says what no chat-completion preset can say.
pub const PRESET_CANNOT_SAY: Code = Code::new(628, "not supported by SillyTavern presets");

/// What a file is was guessed by something that other files may have too.
pub const GUESSED_FORMAT: Code = Code::new(629, "guessed file type");
/// A text was taken for a user profile without any fields.
pub const PLAIN_PROFILE: Code = Code::new(640, "plain text user profile");

/// A prompt order has no effect, or the wanted one is missing.
pub const OTHER_ORDER: Code = Code::new(641, "prompt order of another character");
/// A custom prompt is not one that `SillyTavern` sends.
pub const PROMPT_NOT_SENT: Code = Code::new(642, "prompt not sent");

/// An entry of a worldbook repeats the text of another one, which is not supported.
pub const LINKED_ENTRY: Code = Code::new(643, "linked entry disabled");
/// A chat has media, files or tool calls that are not sent.
pub const CHAT_DATA: Code = Code::new(644, "chat data not sent");
/// A content part has a type that no API has.
pub const UNKNOWN_PART: Code = Code::new(645, "unknown content part");

/// Messages have fields that no API is known to have.
pub const UNSENT_FIELDS: Code = Code::new(646, "message fields not sent");

/// A custom parameters object got its present form.
pub const MIGRATED_PARAMETERS: Code = Code::new(650, "migrated parameters");
/// The fixed text of an old template anchor became its default template.
pub const MIGRATED_TEMPLATE: Code = Code::new(651, "migrated template");
/// An injection strategy without a type got the one that its fields say.
pub const MIGRATED_STRATEGY: Code = Code::new(652, "migrated injection strategy");
/// Greetings that stood among the preset's entries moved to the greetings.
pub const MIGRATED_GREETINGS: Code = Code::new(653, "migrated greetings");
/// Formatter rules of AIO Hub became settings of processors.
pub const MIGRATED_RULES: Code = Code::new(654, "migrated formatter rules");
/// The two halves of a session became one.
pub const MIGRATED_HALVES: Code = Code::new(655, "migrated session file");

/// A field of a regex script has a value that means nothing.
pub const SCRIPT_VALUE: Code = Code::new(660, "invalid value in a regex script");
/// A regex script changes what does not exist here.
pub const SCRIPT_PLACEMENT: Code = Code::new(661, "unsupported placement of a regex script");
