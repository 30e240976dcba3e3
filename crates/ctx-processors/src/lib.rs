//! The built-in processors, one file each.
//!
//! Layer 3: adapters of the lower crates to the pipeline. Pure; no I/O.
#![warn(clippy::disallowed_methods)]

mod convert_system_to_user;
mod ensure_alternating_roles;
mod join;
mod merge_consecutive_roles;
mod merge_injections;
mod merge_system_to_head;

use ctx_pipeline::ConfigField;

pub use convert_system_to_user::ConvertSystemToUser;
pub use ensure_alternating_roles::EnsureAlternatingRoles;
pub use merge_consecutive_roles::MergeConsecutiveRoles;
pub use merge_injections::MergeInjections;
pub use merge_system_to_head::MergeSystemToHead;

/// What stands between joined texts; AIO Hub's own default, so that its presets read the same.
fn separator_field() -> ConfigField {
    ConfigField::text("separator", "Between two texts", "\n\n---\n\n")
}
