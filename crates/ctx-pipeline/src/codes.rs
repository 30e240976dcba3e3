//! Diagnostic codes of this crate: 450 to 499.

use ctx_types::Code;

/// A setting has a value that it cannot have.
pub const SETTING_TYPE: Code = Code::new(450, "bad setting value");
/// A processor has no setting of this name.
pub const UNKNOWN_SETTING: Code = Code::new(451, "unknown setting");
/// Settings name a processor that is not registered.
pub const UNKNOWN_PROCESSOR: Code = Code::new(452, "unknown processor");
/// A processor failed; its changes were taken back.
pub const PROCESSOR_FAILED: Code = Code::new(453, "processor failed");
/// A processor separated, lost or doubled members of a group; its changes were taken back.
pub const GROUP_BROKEN: Code = Code::new(454, "group broken");
/// A processor took longer than it may; its changes were taken back.
pub const PROCESSOR_TIMED_OUT: Code = Code::new(455, "processor timed out");
