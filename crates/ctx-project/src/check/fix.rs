//! Fixing a document: the edits that its findings ask for, as far as nothing else changes with them.

use std::collections::{BTreeMap, BTreeSet};

use ctx_engine::ImportError;
use ctx_engine::codes::MOVING_TEXT;
use ctx_preset_import::{Document, Syntax};
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::Value;

use crate::drafts::Draft;
use crate::edits::{self, RequestedEdit};
use crate::files::split_mark;
use crate::locate::Places;

/// Looks for what is wrong with the bytes of a file.
pub type Look<'l> = &'l dyn Fn(&[u8]) -> Result<Vec<Diagnostic>, ImportError>;

/// What came of fixing a document.
#[derive(Debug, Default)]
pub struct FixedDocument {
    /// The document as it is now; none if nothing changed.
    pub bytes: Option<Vec<u8>>,
    /// The findings whose edits were made, in the order of making.
    pub fixed: Vec<Diagnostic>,
    /// The findings whose edits were not made, each with the reason.
    pub declined: Vec<(Diagnostic, Phrase)>,
}

/// How often edits of one document are tried, where all together are not possible.
const MAX_TRIES: usize = 200;

/// Makes all edits that the findings about a document ask for.
///
/// An edit is made if the document then holds what it held, but for the edit; if its finding is gone; and if no
/// other finding has come, but about what is read for the first time now. So what is edited twice is edited the
/// first time.
pub fn fix(bytes: &[u8], name: &str, look: Look<'_>) -> Result<FixedDocument, ImportError> {
    let mut document = FixedDocument::default();
    let mut declined = BTreeSet::new();
    let mut tries = 0;
    let mut now = bytes.to_vec();
    loop {
        let found = look(&now)?;
        let is_open = |finding: &&Diagnostic| {
            let is_here = finding.location.document.as_deref().is_none_or(|document| document == name);
            is_here && RequestedEdit::of(finding).is_some() && !declined.contains(&identity(finding))
        };
        let open: Vec<&Diagnostic> = found.iter().filter(is_open).collect();
        let Some(first) = open.first().copied() else {
            let guesses = found.iter().filter(|finding| is_guess(finding, name));
            document.declined.extend(guesses.map(|finding| (finding.clone(), guess())));
            break;
        };
        if tries >= MAX_TRIES {
            let reason = phrase!("too many edits");
            document.declined.extend(open.iter().map(|finding| ((*finding).clone(), reason.clone())));
            break;
        }
        let attempt = Attempt { bytes: &now, name, found: &found, look };
        let made = attempt.make_most(&open, &mut tries);
        match made {
            Ok((bytes, count)) => {
                document.fixed.extend(open.iter().take(count).map(|finding| (*finding).clone()));
                now = bytes;
                document.bytes = Some(now.clone());
            }
            Err(reason) => {
                declined.insert(identity(first));
                document.declined.push((first.clone(), reason));
            }
        }
    }
    Ok(document)
}

/// Why a finding that asks whether something was meant is left.
fn guess() -> Phrase {
    phrase!("the intent is unclear; fix it by hand")
}

/// Returns whether a finding asks whether something was meant, and knows no edit that is certain.
fn is_guess(finding: &Diagnostic, name: &str) -> bool {
    let is_here = finding.location.document.as_deref().is_none_or(|document| document == name);
    is_here && finding.fix.is_none() && finding.has_suggestion()
}

/// What tells a finding from others.
fn identity(finding: &Diagnostic) -> (u16, Option<String>, Option<ctx_types::Span>, String) {
    let location = &finding.location;
    (finding.code.number(), location.pointer.clone(), location.span, finding.message.to_string())
}

/// A document on which edits are tried.
struct Attempt<'a> {
    bytes: &'a [u8],
    name: &'a str,
    found: &'a [Diagnostic],
    look: Look<'a>,
}

impl Attempt<'_> {
    /// Makes all edits at once, or else half of them, and so on; returns how many were made, or why the first
    /// alone cannot be.
    fn make_most(&self, asking: &[&Diagnostic], tries: &mut usize) -> Result<(Vec<u8>, usize), Phrase> {
        let mut count = asking.len();
        loop {
            *tries += 1;
            match self.make(asking.get(..count).unwrap_or_default()) {
                Err(_) if count > 1 => count /= 2,
                made => return made.map(|bytes| (bytes, count)),
            }
        }
    }

    /// Makes edits all at once; else says why not.
    fn make(&self, asking: &[&Diagnostic]) -> Result<Vec<u8>, Phrase> {
        let mut asked: Vec<RequestedEdit<'_>> =
            asking.iter().filter_map(|finding| RequestedEdit::of(finding)).collect();
        // Of one text, the edits at its end come first, so that the places of the others stay.
        asked.reverse();
        let document = Document::read(self.bytes, self.name).map_err(|error| error.phrase())?;
        let bytes = self.edited(&asked, &document)?;
        let mut expected = document.value;
        for asked in &asked {
            asked.to_edit(&expected)?.apply(&mut expected).map_err(|error| error.phrase())?;
        }
        let is_as_expected = |value: &Value| *value == expected;
        let read = Document::read(&bytes, self.name).ok();
        if !read.is_some_and(|read| is_as_expected(&read.value) && read.syntax == document.syntax) {
            return Err(phrase!("the edit would change other parts of the file"));
        }
        self.compare(asking, &asked, &(self.look)(&bytes).map_err(|error| error.phrase())?)?;
        Ok(bytes)
    }

    fn edited(&self, asked: &[RequestedEdit<'_>], document: &Document) -> Result<Vec<u8>, Phrase> {
        let is_yaml = document.syntax == Syntax::Yaml;
        let (mark, rest) = split_mark(self.bytes);
        let text = std::str::from_utf8(rest).map_err(|_| phrase!("the file is not valid UTF-8"))?;
        let insertions = asked.iter().filter(|asked| asked.is_insertion());
        let insertions = insertions.map(|asked| asked.to_edit(&document.value));
        let insertions = insertions.collect::<Result<Vec<_>, _>>()?;
        let in_place = || asked.iter().filter(|asked| !asked.is_insertion());
        let pointers: Vec<String> = in_place().map(RequestedEdit::pointer).collect();
        let places = Places::find(text, pointers.iter().map(String::as_str));
        let replacements = in_place().map(|asked| asked.in_text(text, &places, is_yaml));
        let replacements = replacements.collect::<Result<Vec<_>, _>>()?;
        let mut edited = edits::replaced(text, replacements).ok_or_else(|| phrase!("two edits overlap"))?;
        if !insertions.is_empty() {
            let mut draft = Draft::open(self.name, edited.as_bytes()).map_err(|error| error.phrase())?;
            draft.edit_all(&insertions).map_err(|error| error.phrase())?;
            draft.text().clone_into(&mut edited);
        }
        Ok([mark, edited.as_bytes()].concat())
    }

    /// Returns whether the findings that asked are gone, and no other has come.
    fn compare(
        &self,
        asking: &[&Diagnostic],
        asked: &[RequestedEdit<'_>],
        after: &[Diagnostic],
    ) -> Result<(), Phrase> {
        let mut left: BTreeMap<_, isize> = BTreeMap::new();
        for finding in self.found {
            *left.entry(kind(finding)).or_default() += 1;
        }
        for finding in asking {
            *left.entry(kind(finding)).or_default() -= 1;
        }
        // Where not all are told, others move up.
        let is_cut = self.found.iter().any(|finding| finding.code == MORE_FINDINGS);
        let asking: BTreeSet<_> = asking.iter().map(|finding| kind(finding)).collect();
        let revealed: Vec<String> = asked.iter().filter_map(RequestedEdit::reveals).collect();
        // A cost diagnostic does not block other fixes.
        let is_mistake = |found: &&Diagnostic| found.code != MORE_FINDINGS && found.code != MOVING_TEXT;
        for finding in after.iter().filter(is_mistake) {
            let left = left.entry(kind(finding)).or_default();
            *left -= 1;
            if *left < 0 && !is_within(finding, &revealed) && (!is_cut || asking.contains(&kind(finding))) {
                return Err(phrase!(
                    "the fix would cause {code}: {message}",
                    code = finding.code.to_string(),
                    message = finding.message
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether a finding is about one of the values at these pointers, or about something in it.
fn is_within(finding: &Diagnostic, pointers: &[String]) -> bool {
    let place = finding.location.pointer.as_deref().unwrap_or_default();
    let rest = |pointer: &String| place.strip_prefix(pointer.as_str());
    pointers.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Code and place: an edit can change numbers in the messages of other findings.
fn kind(finding: &Diagnostic) -> (u16, Option<&str>) {
    (finding.code.number(), finding.location.pointer.as_deref())
}

#[cfg(test)]
mod tests;
