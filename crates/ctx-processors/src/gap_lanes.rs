//! Tie-breakers by role, for applications that sort injections of a slot by role.

use ctx_pipeline::{Config, ConfigField};
use ctx_types::Role;

const SYSTEM: &str = "systemLane";
const USER: &str = "userLane";
const ASSISTANT: &str = "assistantLane";

pub(crate) fn lane_fields() -> [ConfigField; 3] {
    let lane = |key, label| ConfigField::integer(key, label, 0).between(-1_000_000.0, 1_000_000.0);
    [
        lane(SYSTEM, "Tie-breaker for system messages")
            .with_description("lower values come first among equal order"),
        lane(USER, "Tie-breaker for user messages"),
        lane(ASSISTANT, "Tie-breaker for assistant messages"),
    ]
}

pub(crate) fn lane(config: &Config, role: Role) -> i64 {
    let key = match role {
        Role::User => USER,
        Role::Assistant => ASSISTANT,
        _ => SYSTEM,
    };
    config.integer(key)
}
