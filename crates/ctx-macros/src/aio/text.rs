//! White space.

use crate::call::Value;
use crate::definition::Definition;
use crate::space::SpaceSet;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("newline", |_| "\n".into()).describe("A line feed.", "{{newline}}"),
        Definition::always("trim", |_| Value::Trim(SpaceSet::WhiteSpace))
            .describe("Nothing; removes the white space around its place.", "{{trim}}"),
    ]
}
