//! Diagnostic codes of this crate: 500 to 599.

use ctx_types::Code;

/// A request has no messages.
pub const NO_MESSAGES: Code = Code::new(500, "no messages");
/// A request names no model.
pub const NO_MODEL: Code = Code::new(501, "no model");
/// A parameter has the name of something that the request sets itself.
pub const RESERVED_PARAMETER: Code = Code::new(502, "reserved parameter");
/// The dialect has no such parameter, or writes it otherwise.
pub const PARAMETER_NOT_SENT: Code = Code::new(503, "parameter not sent");
/// The dialect demands a parameter that nobody set, and a default is sent.
pub const PARAMETER_ADDED: Code = Code::new(504, "required parameter added");
/// A text says what the template of a text completion means as a border of turns.
pub const BORDER_IN_TEXT: Code = Code::new(505, "turn marker in a text");
/// A template of text completions has a field that means nothing, or a value of the wrong type.
pub const TEMPLATE: Code = Code::new(506, "invalid completion template");
/// The parameter is taken by older models of the provider alone.
pub const OLD_PARAMETER: Code = Code::new(507, "parameter of older models");
/// A parameter is sent under another name, or with another value.
pub const PARAMETER_CHANGED: Code = Code::new(508, "parameter changed");
/// A placeholder is sent for reasoning that a model requires and that is missing.
pub const REASONING_ADDED: Code = Code::new(509, "reasoning placeholder added");
/// The name of a speaker cannot be sent.
pub const NAME_NOT_SENT: Code = Code::new(510, "name not sent");
/// The dialect has no mark for an answer that is to be continued, or the answer is not the last message.
pub const CONTINUATION: Code = Code::new(511, "continuation not supported");
/// Reasoning state has no place in the dialect.
pub const REASONING_NOT_SENT: Code = Code::new(512, "reasoning not sent");
/// An attachment is still a reference, so there are no bytes to send.
pub const ATTACHMENT_NOT_SENT: Code = Code::new(513, "attachment not sent");
/// The provider accepts a content part of this type in another role only, or nowhere.
pub const PART_NOT_ACCEPTED: Code = Code::new(514, "content part not accepted");
/// Tool calls, or the id of one, stand on a message of a role that has none.
pub const CALLS_NOT_SENT: Code = Code::new(515, "tool calls not sent");
/// A message has another place or role in this dialect than it has in the context.
pub const MESSAGE_MOVED: Code = Code::new(516, "message moved");
/// The provider takes no messages without words, so one is not sent.
pub const BLANK_NOT_SENT: Code = Code::new(517, "empty message not sent");
/// The arguments of a tool call are no JSON object.
pub const ARGUMENTS: Code = Code::new(518, "invalid tool arguments");
/// A cache mark stands elsewhere than it was put, or lasts shorter, or is not written.
pub const CACHE_MARK: Code = Code::new(519, "cache marker changed");
/// A tool call or a tool result has no id.
pub const NO_CALL_ID: Code = Code::new(520, "missing tool call id");
/// A tool result answers no call before it.
pub const ORPHAN_RESULT: Code = Code::new(521, "tool result without a call");
/// A tool call has no result.
pub const UNANSWERED_CALL: Code = Code::new(522, "tool call without a result");
/// Two tool calls have the same id.
pub const DUPLICATE_CALL: Code = Code::new(523, "duplicate tool call id");
/// Two tool results answer the same call.
pub const DUPLICATE_RESULT: Code = Code::new(524, "duplicate tool result");
/// Another message stands between a tool call and its result.
pub const SEPARATED_RESULT: Code = Code::new(525, "separated tool result");
/// A tool call id is sent as another one.
pub const CALL_ID_CHANGED: Code = Code::new(526, "tool call id changed");
/// The failure of a tool is sent as text.
pub const ERROR_AS_TEXT: Code = Code::new(527, "tool error sent as text");
/// A block has fields that only another dialect has.
pub const BLOCK_FIELDS: Code = Code::new(528, "fields of a block not sent");
/// A request body, or a message in it, has another shape than its dialect.
pub const SHAPE: Code = Code::new(530, "invalid request structure");
/// The messages stand in an order of roles that the provider does not take, or not gladly.
pub const ROLE_ORDER: Code = Code::new(531, "invalid order of roles");
/// A message has nothing that could be sent.
pub const EMPTY_CONTENT: Code = Code::new(532, "empty content");
/// Something is larger, longer or more often there than the dialect allows.
pub const DIALECT_LIMIT: Code = Code::new(533, "limit of the API dialect");
/// A tool definition cannot be used.
pub const TOOL_DEFINITION: Code = Code::new(534, "invalid tool definition");
/// The thinking of a request, or a setting of it, is not what the provider accepts.
pub const THINKING: Code = Code::new(535, "invalid thinking");
/// A request has a parameter that its model rejects.
pub const REJECTED_PARAMETER: Code = Code::new(536, "rejected parameter");
/// An answer of a model was odd and has been repaired.
pub const REPLY_REPAIRED: Code = Code::new(540, "response repaired");
