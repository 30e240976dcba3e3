//! Diagnostic codes of this crate: 450 to 499.

use ctx_types::Code;

/// A setting has a value that it cannot have.
pub const SETTING_TYPE: Code = Code::new(450, "invalid setting");
/// A processor has no setting of this name.
pub const UNKNOWN_SETTING: Code = Code::new(451, "unknown setting");
/// Settings name a processor that is not registered.
pub const UNKNOWN_PROCESSOR: Code = Code::new(452, "unknown processor");
/// A processor failed; its changes were taken back.
pub const PROCESSOR_FAILED: Code = Code::new(453, "processor failed");
/// A processor separated, lost or doubled members of a group; its changes were taken back.
pub const GROUP_BROKEN: Code = Code::new(454, "broken message group");
/// A processor took longer than it may; its changes were taken back.
pub const PROCESSOR_TIMED_OUT: Code = Code::new(455, "processor timed out");
/// One list of settings names a processor twice.
pub const DUPLICATE_SETTING: Code = Code::new(456, "processor configured twice");
/// A list of settings is longer than is read.
pub const TOO_MANY_SETTINGS: Code = Code::new(457, "too many settings");
/// A time limit is set, and nothing in the host can tell the time.
pub const NO_DEADLINE: Code = Code::new(458, "time limit without a clock");
/// A switch of the command line stands in place of settings that a file has for the processor.
pub const SETTINGS_OVERRULED: Code = Code::new(460, "settings overridden");
