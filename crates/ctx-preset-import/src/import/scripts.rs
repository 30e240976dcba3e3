//! The lists of regex rules that files bring, in the order in which they run.

use ctx_types::{Diagnostic, RegexPreset};

use super::gathered::{Gathered, SourceObject};
use crate::formats::sillytavern::regex_scripts::{LIST, TakenScripts};
use crate::imported::{Moved, relocate};
use crate::report::Change;

/// Scripts that become a list of rules.
pub(super) struct Scripts {
    name: String,
    /// The number of the report of their file.
    report: usize,
    pub(super) rules: RegexPreset,
    /// Where they stand in their file, and what was found; none if they are all that it holds, and that is told.
    inside: Option<(String, Vec<Diagnostic>)>,
}

pub(super) fn named(mut rules: RegexPreset, name: &str, number: usize) -> RegexPreset {
    rules.name = Some(name.into());
    #[expect(clippy::cast_precision_loss, reason = "there are few lists")]
    let order = number as f64;
    rules.order = Some(order);
    rules
}

impl Scripts {
    /// Scripts that were taken out of another file.
    pub(super) fn inside(given: &SourceObject, name: &str, taken: TakenScripts) -> Self {
        let TakenScripts { at, rules, found } = taken;
        let rules = RegexPreset { rules, ..RegexPreset::default() };
        let inside = Some((format!("{}{at}", given.at), found));
        Self { name: name.to_owned(), report: given.report, rules, inside }
    }
}

impl Gathered {
    /// Returns the lists of scripts in the order in which they run: those of settings, of files, of the preset, of
    /// the card; each with a name and the number of the report of its file.
    pub(super) fn lists(
        &mut self,
        global: Option<Scripts>,
        of_preset: Option<Scripts>,
        of_card: Option<Scripts>,
    ) -> Vec<Scripts> {
        let files = std::mem::take(&mut self.scripts).into_iter();
        let files = files.map(|(name, report, rules)| Scripts { name, report, rules, inside: None });
        let all = global.into_iter().chain(files).chain(of_preset).chain(of_card);
        all.filter(|scripts| !scripts.rules.rules.is_empty()).collect()
    }

    /// Gives a list its number, and puts what is found in the scripts of a card, a preset or settings to the findings
    /// of their file.
    pub(super) fn rules(&mut self, scripts: Scripts, number: usize) -> RegexPreset {
        let at = scripts.inside.as_ref().map_or("", |(at, _)| at);
        self.number(scripts.report, at, number);
        if let Some((at, mut found)) = scripts.inside
            && let Some(report) = self.made.report.files.get_mut(scripts.report)
        {
            relocate(&mut found, &[Moved { ours: "", theirs: &at }]);
            let path = report.path.clone();
            report.diagnostics.extend(found.into_iter().map(|finding| finding.in_document(path.as_str())));
            report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
        named(scripts.rules, &scripts.name, number)
    }

    /// Gives a list of scripts that stands at a place its number in the rows of its file.
    pub(super) fn number(&mut self, report: usize, at: &str, number: usize) {
        let Some(report) = self.made.report.files.get_mut(report) else { return };
        report.fields.change(|row| {
            let rest = row.to.filter(|_| row.pointer.starts_with(at))?.strip_prefix(LIST)?;
            let to = Some(format!("/regexConfig/presets/{number}{rest}"));
            Some(Change { status: row.status, to, note: row.note })
        });
    }
}
