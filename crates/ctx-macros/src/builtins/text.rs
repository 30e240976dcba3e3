//! White space.

use crate::call::Value;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("newline", |_| "\n".into()).describe("A line feed.", "{{newline}}"),
        Definition::always("trim", |call| Value::Trim(call.dialect().trimmed_by_trim())).describe(
            "Nothing; removes the white space around its place (only line breaks in SillyTavern's dialect).",
            "{{trim}}",
        ),
    ]
}
