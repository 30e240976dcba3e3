//! A custom anchor: its entry has a place in the preset, and other entries can attach to it.

use ctx_anchors::AnchorDefinition;

pub(crate) fn anchor() -> AnchorDefinition {
    AnchorDefinition {
        id: "motto".into(),
        name: "Motto".into(),
        description: "What the agent says of itself".into(),
        is_system: false,
        has_template: true,
        default_template: Some("Onward!".into()),
    }
}
