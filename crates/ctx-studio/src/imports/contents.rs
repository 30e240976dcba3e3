//! Contents of imported files: prompts, greetings, worldbook entries.

use ctx_preset_import::{Format, Import};
use ctx_types::PresetMessage;

use crate::api_imports::{ContentKind, ImportedContent};

/// Describes the contents of an imported file.
pub(super) fn describe(made: &Import) -> Vec<ImportedContent> {
    let mut contents = Vec::new();
    let mut add = |kind: ContentKind, name: Option<&str>, [count, disabled]: [usize; 2]| {
        if count > 0 {
            contents.push(ImportedContent { kind, name: name.map(str::to_owned), count, disabled });
        }
    };
    let is_card = made.report.files.iter().any(|file| file.format.is_some_and(Format::is_card));
    if let Some(agent) = &made.agent {
        let name = agent.name.as_deref();
        if is_card {
            add(ContentKind::Character, name, [1, 0]);
        } else {
            // An import adds anchors without a name.
            let is_own = |entry: &&PresetMessage| entry.name.is_some() || entry.kind.is_none();
            let prompts: Vec<&PresetMessage> = agent.preset_messages.iter().filter(is_own).collect();
            let off = prompts.iter().filter(|entry| entry.is_enabled == Some(false)).count();
            add(ContentKind::Prompts, None, [prompts.len(), off]);
        }
        add(ContentKind::Greetings, None, [agent.greetings.len(), 0]);
    }
    for book in &made.worldbooks {
        let entries = &book.book.entries;
        let off = entries.iter().filter(|(_, entry)| entry.disable.is_some_and(|flag| flag.0)).count();
        add(ContentKind::Entries, Some(&book.name), [entries.len(), off]);
    }
    let presets = made.agent.iter().filter_map(|agent| agent.regex_config.as_ref());
    let presets = presets.flat_map(|config| &config.presets);
    let scripts = presets.flat_map(|preset| preset.rules.iter().map(move |rule| (preset, rule)));
    let (mut count, mut off) = (0, 0);
    for (preset, rule) in scripts {
        count += 1;
        off += usize::from(preset.enabled == Some(false) || rule.enabled == Some(false));
    }
    add(ContentKind::Scripts, None, [count, off]);
    for chat in &made.conversations {
        add(ContentKind::Messages, Some(&chat.name), [chat.session.nodes().count().saturating_sub(1), 0]);
    }
    if let Some(profile) = &made.profile {
        add(ContentKind::Profile, profile.name.as_deref(), [1, 0]);
    }
    add(ContentKind::Template, None, [usize::from(made.template.is_some()), 0]);
    add(ContentKind::Files, None, [made.assets.len(), 0]);
    contents
}
