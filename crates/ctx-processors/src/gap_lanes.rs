//! Tie-breakers by role, for applications that sort injections of a slot by role.

use ctx_pipeline::ConfigField;
use ctx_types::Role;

pub(crate) fn lane(key: &str, label: &str) -> ConfigField {
    ConfigField::integer(key, label, 0).between(-1_000_000.0, 1_000_000.0)
}

settings! {
    pub(crate) Lanes {
        system: i64 = lane("systemLane", "Tie-breaker for system messages")
            .with_description("lower values come first among equal order"),
        user: i64 = lane("userLane", "Tie-breaker for user messages"),
        assistant: i64 = lane("assistantLane", "Tie-breaker for assistant messages"),
    }
}

impl Lanes {
    pub(crate) const fn of(&self, role: Role) -> i64 {
        match role {
            Role::User => self.user,
            Role::Assistant => self.assistant,
            _ => self.system,
        }
    }
}
