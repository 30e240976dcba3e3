use std::collections::BTreeSet;

use ctx_types::internal::{Argument, Divider, NearestName, excerpt, nearest, pointer_step};
use ctx_types::{Diagnostic, Fix, Phrase, phrase};

use super::merge::Winner;
use super::{ProcessorSetting, SettingOrigin};
use crate::codes;
use crate::registry::ProcessorRegistry;
use crate::spelling::canonical_id;

pub(super) struct Findings {
    diagnostics: Vec<Diagnostic>,
    suppressed: usize,
    comparisons_left: usize,
}

const MAX_NAMED: usize = 5;

const MAX_FINDINGS: usize = 1_000;

/// Each comparison costs microseconds.
const MAX_COMPARISONS: usize = 20_000;

impl Default for Findings {
    fn default() -> Self {
        Self { diagnostics: Vec::new(), suppressed: 0, comparisons_left: MAX_COMPARISONS }
    }
}

impl Findings {
    pub(super) fn push(&mut self, diagnostic: Diagnostic, setting: &ProcessorSetting, key: Option<&str>) {
        if self.diagnostics.len() == MAX_FINDINGS {
            self.suppressed += 1;
            return;
        }
        self.diagnostics.push(match (&setting.place, key) {
            (None, _) => diagnostic,
            (Some(place), None) => diagnostic.at_pointer(&*place.entry),
            (Some(place), Some(key)) => {
                let key = pointer_step(key);
                diagnostic.at_pointer(format!("{}/{key}", place.config))
            }
        });
    }

    /// A switch for one run replaces a whole entry, including settings that are easily missed.
    pub(super) fn report_overruled(&mut self, id: &str, winner: Winner<'_>, next: Winner<'_>) {
        let ProcessorSetting { enabled, priority, config, .. } = winner.setting;
        let says_nothing_else = priority.is_none() && config.is_empty();
        let is_switch =
            winner.origin == SettingOrigin::CommandLine && *enabled == Some(true) && says_nothing_else;
        let priority = next.setting.priority.map(|_| "priority");
        let set = priority.into_iter().chain(next.setting.config.keys().map(String::as_str));
        let set: Vec<_> = set.take(MAX_NAMED + 1).map(excerpt).collect();
        if !is_switch || set.is_empty() {
            return;
        }
        let keys = Argument::names(set.iter().take(MAX_NAMED), Divider::Comma);
        let keys = if set.get(MAX_NAMED).is_some() {
            phrase!("{keys} and more", keys)
        } else {
            phrase!("{keys}", keys)
        };
        let message = phrase!(
            "enabling `{id}` ({origin}) replaces its whole entry ({replaced}), including {keys}",
            id,
            origin = Phrase::from(winner.origin.name()),
            replaced = Phrase::from(next.origin.name()),
            keys
        );
        let help = phrase!("to keep those settings, set `enabled` in that entry instead");
        self.push(Diagnostic::info(codes::SETTINGS_OVERRULED, message).with_help(help), next.setting, None);
    }

    pub(super) fn unknown_processor(&mut self, registry: &ProcessorRegistry, winner: Winner<'_>) {
        let message = phrase!(
            "unknown processor `{setting}` (set by {origin})",
            setting = excerpt(&winner.setting.id),
            origin = Phrase::from(winner.origin.name())
        );
        let unknown = Diagnostic::warning(codes::UNKNOWN_PROCESSOR, message);
        let known = registry.descriptors().map(|descriptor| &*descriptor.id);
        let spelled = winner.setting.id.trim();
        let id = canonical_id(spelled);
        // The suggestion keeps a prefix of the id.
        let prefix = spelled.strip_suffix(id).unwrap_or_default();
        let near = self.near(id, known).map(|near| (format!("{prefix}{}", near.name), near.is_certain));
        let near = near.as_ref().map(|(name, is_certain)| NearestName { name, is_certain: *is_certain });
        let fix = |known: &str| Fix::value(known).below("/id");
        let help = || phrase!("list all processors with `ctx processors list`");
        let unknown = unknown.with_guess_or(near, fix, help);
        self.push(unknown, winner.setting, None);
    }

    pub(super) fn unknown_setting(
        &mut self,
        message: Phrase,
        setting: &ProcessorSetting,
        key: &str,
        fields: &BTreeSet<&str>,
    ) {
        let unknown = Diagnostic::warning(codes::UNKNOWN_SETTING, message).about_key();
        let help = || {
            if fields.is_empty() {
                return phrase!("remove the key; this processor has no settings");
            }
            phrase!("use one of these settings: {fields}", fields = Argument::names(fields, Divider::Comma))
        };
        let unknown = unknown.with_guess_or(self.near(key, fields.iter().copied()), Fix::key, help);
        self.push(unknown, setting, Some(key));
    }

    fn near<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> Option<NearestName<'n>> {
        let left = &mut self.comparisons_left;
        let known = known.take_while(|_| {
            let may_compare = *left > 0;
            *left = left.saturating_sub(1);
            may_compare
        });
        nearest(name, known)
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if self.suppressed > 0 {
            self.diagnostics.push(Diagnostic::more(self.suppressed, "settings of processors"));
        }
        self.diagnostics
    }
}
