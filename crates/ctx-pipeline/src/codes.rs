//! Diagnostic codes of this crate: 450 to 499.

use ctx_types::Code;

/// A setting has an invalid value.
pub const SETTING_TYPE: Code = Code::new(450, "invalid setting");
/// A processor has no setting of this name.
pub const UNKNOWN_SETTING: Code = Code::new(451, "unknown setting");
/// Settings name a processor that is not registered.
pub const UNKNOWN_PROCESSOR: Code = Code::new(452, "unknown processor");
/// A processor failed; its changes were undone.
pub const PROCESSOR_FAILED: Code = Code::new(453, "processor failed");
/// A processor separated, removed or duplicated members of a message group; its changes were undone.
pub const GROUP_BROKEN: Code = Code::new(454, "broken message group");
/// A processor exceeded its time limit; its changes were undone.
pub const PROCESSOR_TIMED_OUT: Code = Code::new(455, "processor timed out");
/// A list of settings names a processor twice.
pub const DUPLICATE_SETTING: Code = Code::new(456, "processor configured twice");
/// A list of settings is too long.
pub const TOO_MANY_SETTINGS: Code = Code::new(457, "too many settings");
/// A time limit is set, but the host provides no clock.
pub const NO_DEADLINE: Code = Code::new(458, "time limit without a clock");
/// A command-line switch replaces a file's settings of the processor.
pub const SETTINGS_OVERRULED: Code = Code::new(460, "settings overridden");
