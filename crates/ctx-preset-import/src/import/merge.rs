//! Who wins where files say the same: the first of a kind, an agent, the file that is nearer to the form that is made.

pub(super) mod rows;

use ctx_types::{Diagnostic, Persist as _, Reader, UserProfile, phrase};
use serde_json::Value;

use super::gathered::Gathered;
use crate::codes;
use crate::format::Format;
use crate::report::{FieldReport, FileReport};

/// Files of which the first counts, while all are kept.
pub(super) const ONCE: [Format; 5] = [
    Format::InstructTemplate,
    Format::ContextTemplate,
    Format::TextPreset,
    Format::MasterExport,
    Format::RisuPreset,
];

/// The file that says what the preset is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Winner {
    ChatPreset,
    RisuPreset,
}

const ANOTHER_PERSON: &str = "set by another file";
const STANDS: &str = "a complete agent is imported too";

/// The files that would make another agent, while they are kept beside one.
const OF_AGENTS: [Format; 6] = [
    Format::Personas,
    Format::Settings,
    Format::ContextTemplate,
    Format::TextPreset,
    Format::MasterExport,
    Format::RisuPreset,
];

impl Gathered {
    /// Makes the profile of the persona, unless a profile was given.
    pub(super) fn choose_person(&mut self) {
        if let Some(persona) = &self.persona
            && self.made.profile.is_none()
        {
            let profile = Value::Object(persona.profile());
            self.made.profile = Some(UserProfile::read(profile, &mut Reader::new()));
        } else if self.persona.is_some() {
            let personas = [Some(Format::Personas), Some(Format::Settings)];
            self.supersede(ANOTHER_PERSON, |file, row| {
                personas.contains(&file) && rows::leads_to(row, "/profile")
            });
        }
    }

    /// Refuses what would make another agent than the one that was given.
    pub(super) fn refuse_others(&mut self) {
        let others = [self.card.take(), self.preset.take(), self.settings.take(), self.system_prompt.take()];
        for given in others.into_iter().flatten() {
            let Some(report) = self.made.report.files.get_mut(given.report) else { continue };
            // Who chats is no matter of the agent.
            rows::refuse_where(report, STANDS, |row| !rows::leads_to(row, "/profile"));
            let message = phrase!("this file is ignored: a complete agent is imported too");
            let found = Diagnostic::warning(codes::ANOTHER_OF_KIND, message)
                .with_help(phrase!("import it separately"));
            report.diagnostics.push(found.in_document(report.path.as_str()));
        }
    }

    /// Marks as kept what files say of an agent beside the one that was given.
    pub(super) fn supersede_beside_agent(&mut self) {
        self.supersede(STANDS, |file, row| {
            let is_of_agent = file.is_some_and(|file| OF_AGENTS.contains(&file));
            is_of_agent
                && ["/presetMessages", "/parameters", "/modelId"].iter().any(|at| rows::leads_to(row, at))
        });
    }

    /// Marks as kept what files say that would make another preset than the one that wins.
    pub(super) fn supersede_presets(&mut self, winner: Winner) {
        let mut formats = vec![Format::ContextTemplate, Format::TextPreset, Format::MasterExport];
        let note = match winner {
            Winner::RisuPreset => "set by the imported RisuAI preset",
            Winner::ChatPreset => {
                formats.push(Format::RisuPreset);
                "set by the imported chat completion preset"
            }
        };
        self.supersede(note, |file, row| {
            let is_meant = file.is_some_and(|file| formats.contains(&file));
            is_meant && !rows::leads_to(row, "/template")
        });
    }

    /// Marks as kept the parts of a master export for which a file by itself was given.
    pub(super) fn supersede_parts(&mut self) {
        let parts = [
            ("/instruct", Format::InstructTemplate),
            ("/context", Format::ContextTemplate),
            ("/preset", Format::TextPreset),
        ];
        let is_given = |format: Format| self.templates.contains_key(format.id());
        let given: Vec<&str> =
            parts.iter().filter(|(_, format)| is_given(*format)).map(|(at, _)| *at).collect();
        self.supersede("set by a separately imported file", |file, row| {
            let below =
                |part: &&str| row.pointer.strip_prefix(*part).is_some_and(|rest| rest.starts_with('/'));
            file == Some(Format::MasterExport) && given.iter().any(below)
        });
    }

    /// Marks fields of files as kept, by the formats of the files.
    fn supersede(&mut self, note: &'static str, is_meant: impl Fn(Option<Format>, FieldReport<'_>) -> bool) {
        for (report, kept_at) in self.made.report.files.iter_mut().zip(&self.kept_at) {
            let format = report.format;
            rows::supersede(report, kept_at, note, |row| is_meant(format, row));
        }
    }
}

/// The fields of settings that tell of the person who chats: their beginnings.
const PERSON: [&str; 4] = ["/username", "/user_avatar", "/power_user/persona", "/power_user/default_persona"];

/// Marks as kept what settings say of a persona, where another file says who chats.
pub(super) fn supersede_persona(report: &mut FileReport, kept_at: &str) {
    rows::supersede(report, kept_at, ANOTHER_PERSON, |row| {
        PERSON.iter().any(|start| row.pointer.starts_with(start))
    });
}
