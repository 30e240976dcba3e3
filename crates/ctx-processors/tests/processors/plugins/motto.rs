//! An anchor: an entry of this type has a place in the preset, where others can go.

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
