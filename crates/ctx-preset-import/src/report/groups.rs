//! Fields of one file that are told together.

use std::collections::HashMap;

use super::{FieldReport, FieldStatus, FileReport};

/// Fields of one file whose pointers differ in numbers alone, and of which the same became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldGroup<'a> {
    /// The pointer, with `*` in the place of numbers.
    pub pattern: String,
    /// What became of them.
    pub status: FieldStatus,
    /// How they differ there, or why they are not there.
    pub note: Option<&'static str>,
    /// How many there are.
    pub count: usize,
    /// Whether each holds nothing.
    pub are_empty: bool,
    /// Whether what is sent is the same, of those that are approximated.
    pub are_alike: bool,
    /// The first of them.
    pub example: FieldReport<'a>,
}

impl FileReport {
    /// Groups the fields, in the order of the first of each group. O(fields).
    pub fn groups(&self) -> Vec<FieldGroup<'_>> {
        let mut groups: Vec<FieldGroup<'_>> = Vec::new();
        let mut known = HashMap::new();
        for field in self.fields.iter() {
            let key = (pattern(field.pointer), field.status, field.note);
            let index = *known.entry(key).or_insert(groups.len());
            match groups.get_mut(index) {
                Some(group) => {
                    group.count += 1;
                    group.are_empty &= field.is_empty;
                    group.are_alike &= field.is_alike;
                }
                None => groups.push(FieldGroup {
                    pattern: pattern(field.pointer),
                    status: field.status,
                    note: field.note,
                    count: 1,
                    are_empty: field.is_empty,
                    are_alike: field.is_alike,
                    example: field,
                }),
            }
        }
        groups
    }
}

/// Writes `*` in the place of each step that is a number.
fn pattern(pointer: &str) -> String {
    let is_number = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = pointer.split('/').map(|step| if is_number(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use crate::{ImportOptions, SourceFile, import};

    #[test]
    fn fields_are_grouped_by_their_places_and_what_became_of_them() {
        let book = br#"{ "entries": {
            "0": { "uid": 0, "key": ["a"], "content": "A", "automationId": "" },
            "1": { "uid": 1, "key": ["b"], "content": "B", "automationId": "" },
            "2": { "uid": 2, "key": [], "content": "C", "automationId": "x", "other": null }
        } }"#;
        let made = import(&[SourceFile { name: "book.json", bytes: book }], &ImportOptions::default());
        let groups = made.report.files[0].groups();
        let told: Vec<String> = groups
            .iter()
            .map(|group| format!("{} {} x{} {}", group.pattern, group.status, group.count, group.are_empty))
            .collect();
        assert_eq!(
            told,
            [
                "/entries/*/uid mapped x3 false",
                "/entries/*/key/* mapped x2 false",
                "/entries/*/content mapped x3 false",
                "/entries/*/automationId kept x3 false",
                "/entries/*/key mapped x1 true",
                "/entries/*/other kept x1 true",
            ]
        );
    }
}
