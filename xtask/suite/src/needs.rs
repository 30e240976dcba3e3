//! What a case needs of an implementation, found out by running it with something changed.

use anyhow::Result;
use serde_json::Value;

use crate::case_files::CaseFiles;
use crate::change::Change;
use crate::outcome::outcome_with;

/// All that a case may need, in the order in which it is listed.
pub const NEEDS: [&str; 9] =
    ["tokens", "models", "draws", "dates", "macros", "rules", "worldbooks", "variables", "files"];

/// The processors without which a case that needs them comes out differently.
const PROCESSORS: [(&str, &str); 3] = [
    ("rules", "regex-processor"),
    ("worldbooks", "worldbook-processor"),
    ("variables", "variable-processor"),
];

/// The processor that leaves out words of its own choice.
const COMPRESSOR: &str = "request-compressor";

/// Counts as ever, for a model that is named in any case.
const COUNTS: &str = r#"[{"pattern": "^", "name": "any"}]"#;

/// Counts far less, and far more.
const COUNTS_OTHERWISE: [&str; 2] = [
    r#"[{"pattern": "^", "name": "any", "encoding": "estimate",
        "overheads": {"perMessage": 0, "perName": 0, "perReply": 0}}]"#,
    r#"[{"pattern": "^", "name": "any", "overheads": {"perMessage": 7, "perName": 9, "perReply": 13}}]"#,
];

/// Where none of these words is in a file, nothing is drawn.
const DRAWING: [&str; 5] = ["random", "pick", "roll", "probability", "group"];

/// How many other seeds are tried, and conversations.
const TRIES: u64 = 8;

/// 400 days, 7 hours and 13 minutes.
const LATER: i64 = 34_585_980_000;

/// Lists what a case needs; `expected` is what comes out of it, and `contents` are its options and files.
///
/// Errors: as [`outcome`](crate::outcome).
pub(crate) fn needs(files: &CaseFiles, expected: &Value, contents: &[Vec<u8>]) -> Result<Vec<&'static str>> {
    let case = Needing { files, expected, texts: contents.iter().map(|content| text_of(content)).collect() };
    let mut found = case.processors()?;
    let mut add = |need: &'static str, is_needed: bool| found.extend(is_needed.then_some(need));
    add("tokens", case.counts()?);
    add("models", case.changes(&Change { forgets_models: true, ..Change::default() })?);
    add("draws", case.draws()?);
    add("dates", case.changes(&Change { later: LATER, ..Change::default() })?);
    add("macros", case.holds("{{"));
    add("files", files.folder.join("assets").is_dir());
    Ok(NEEDS.into_iter().filter(|need| found.contains(need)).collect())
}

/// Returns whether a case comes out as it does because messages were compressed.
///
/// Errors: as [`outcome`](crate::outcome).
pub(crate) fn is_compressed(files: &CaseFiles) -> Result<bool> {
    let expected = &outcome_with(files, &Change::default())?;
    let case = Needing { files, expected, texts: Vec::new() };
    case.changes(&Change { without: Some(COMPRESSOR), ..Change::default() })
}

fn text_of(content: &[u8]) -> String {
    String::from_utf8_lossy(content).to_ascii_lowercase()
}

struct Needing<'a> {
    files: &'a CaseFiles,
    expected: &'a Value,
    texts: Vec<String>,
}

impl Needing<'_> {
    fn holds(&self, word: &str) -> bool {
        self.texts.iter().any(|text| text.contains(word))
    }

    fn changes(&self, change: &Change) -> Result<bool> {
        Ok(without_findings(outcome_with(self.files, change)?) != without_findings(self.expected.clone()))
    }

    fn processors(&self) -> Result<Vec<&'static str>> {
        let mut found = Vec::new();
        for (need, processor) in PROCESSORS {
            if self.changes(&Change { without: Some(processor), ..Change::default() })? {
                found.push(need);
            }
        }
        Ok(found)
    }

    /// Returns whether it matters how tokens are counted, or that they are.
    fn counts(&self) -> Result<bool> {
        let counted = |rows| outcome_with(self.files, &Change { counting: Some(rows), ..Change::default() });
        let as_ever = counted(COUNTS)?;
        for rows in COUNTS_OTHERWISE {
            if counted(rows)? != as_ever {
                return Ok(true);
            }
        }
        // A budget that makes no sense is refused before anything is counted.
        let is_refused = self.expected.get("error").is_some_and(|error| error == "budget");
        Ok(!is_refused && self.changes(&Change { is_unlimited: true, ..Change::default() })?)
    }

    fn draws(&self) -> Result<bool> {
        if !DRAWING.iter().any(|word| self.holds(word)) {
            return Ok(false);
        }
        for number in 1..=TRIES {
            let conversation = Some(format!("another {number}"));
            let seeded = Change { seed: number, ..Change::default() };
            if self.changes(&seeded)? || self.changes(&Change { conversation, ..Change::default() })? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn without_findings(mut outcome: Value) -> Value {
    if let Some(outcome) = outcome.as_object_mut() {
        outcome.remove("findings");
    }
    outcome
}
