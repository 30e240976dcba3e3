//! A compiled agent: assembles contexts.

use ctx_anchors::{Entry, Preset, RenderRequest, Rendered, Target, assemble};
use ctx_macros::{Dialect, Env, Limits, State, Template};
use ctx_types::{
    Agent, Content, ContentPart, Diagnostic, Message, Report, Session, StageReport, Text, TurnInput,
    UserProfile, Window,
};

use crate::codes;
use crate::context::Context;
use crate::engine::{Compile, Engine};
use crate::load::load;
use crate::switches::{INJECTION_ASSEMBLER, SESSION_LOADER, Switches};

/// An agent that was compiled once and assembles any number of contexts. `Send + Sync`; cheap to share
/// behind an `Arc`.
#[derive(Clone, Debug)]
pub struct CompiledAgent {
    preset: Preset,
    /// For each entry, a template for each of its content parts; none for a part that is no text.
    templates: Vec<Vec<Option<Template>>>,
    env: Env,
    switches: Switches,
    diagnostics: Vec<Diagnostic>,
}

impl CompiledAgent {
    pub(crate) fn new(engine: &Engine, agent: &Agent, with: &Compile) -> Self {
        let (preset, mut diagnostics) = Preset::compile(agent, &engine.anchors);
        let dialect = dialect(agent, &mut diagnostics);
        let mut templates = Vec::with_capacity(preset.entries().len());
        for entry in preset.entries() {
            let mut compile = |part: usize, text: &Text| {
                let template = Template::parse(text, dialect, &engine.macros);
                if entry.has_own_content() && entry.off_reason().is_none() {
                    let pointer = text_pointer(entry, part);
                    let found = template.diagnostics().iter().cloned();
                    diagnostics.extend(found.map(|diagnostic| diagnostic.at_pointer(pointer.clone())));
                }
                template
            };
            templates.push(match &entry.content {
                Content::Text(text) => vec![Some(compile(0, text))],
                Content::Parts(parts) => {
                    let parts = parts.iter().enumerate();
                    parts.map(|(index, part)| part_text(part).map(|text| compile(index, text))).collect()
                }
            });
        }
        diagnostics.extend(with.switches.check());
        let env = macro_values(agent, with.profile.as_ref());
        Self { preset, templates, env, switches: with.switches.clone(), diagnostics }
    }

    /// Returns everything that is wrong with the agent, whatever the conversation.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the compiled preset.
    pub fn preset(&self) -> &Preset {
        &self.preset
    }

    /// Assembles the context of one turn.
    ///
    /// Equal sessions and turns give equal contexts. O(messages of the path + size of the preset).
    pub fn assemble(&self, session: &Session, turn: &TurnInput) -> Context {
        let mut report = Report { diagnostics: self.diagnostics.clone(), ..Report::default() };
        let history = self.load(session, turn, &mut report);
        let messages = self.inject(history, turn, &mut report);
        if messages.is_empty() {
            let nothing = Diagnostic::warning(codes::NOTHING_TO_ANSWER, "there is no message to send");
            report
                .diagnostics
                .push(nothing.with_help("give a conversation, an input, or a preset with messages"));
        }
        Context { messages, report, effects: Vec::new() }
    }

    fn load(&self, session: &Session, turn: &TurnInput, report: &mut Report) -> Vec<Message> {
        if !self.switches.runs(SESSION_LOADER) {
            return Vec::new();
        }
        let history = load(session, turn, &mut report.decisions);
        report.stages.push(stage(SESSION_LOADER, 0, history.len()));
        history
    }

    fn inject(&self, history: Vec<Message>, turn: &TurnInput, report: &mut Report) -> Vec<Message> {
        if !self.switches.runs(INJECTION_ASSEMBLER) {
            return history;
        }
        let before = history.len();
        let env =
            Env { at_millis: turn.at_millis, zone: turn.zone.clone(), seed: turn.seed, ..self.env.clone() };
        let mut state = State::new(Limits::default());
        let target = Target { model: turn.model.as_deref(), profile: turn.profile.as_deref() };
        let mut render = |request: RenderRequest<'_>| self.render(request, &env, &mut state, report);
        let assembled = assemble(&self.preset, Window::whole(history), Vec::new(), target, &mut render);
        report.decisions.extend(assembled.decisions);
        report.stages.push(stage(INJECTION_ASSEMBLER, before, assembled.messages.len()));
        assembled.messages
    }

    fn render(
        &self,
        request: RenderRequest<'_>,
        env: &Env,
        state: &mut State,
        report: &mut Report,
    ) -> Rendered {
        let templates = self.templates.get(request.entry.index);
        let template = templates.and_then(|parts| parts.get(request.part)).and_then(Option::as_ref);
        let Some(template) = template.filter(|template| !template.is_plain()) else {
            return Rendered::unchanged(request.text);
        };
        let expansion = template.expand(env, state, &request.entry.source);
        let pointer = text_pointer(request.entry, request.part);
        let written = expansion.segments();
        let found = expansion.diagnostics.into_iter();
        report.diagnostics.extend(found.map(|diagnostic| diagnostic.at_pointer(pointer.clone())));
        Rendered { text: expansion.text, written }
    }
}

fn part_text(part: &ContentPart) -> Option<&Text> {
    match part {
        ContentPart::Text(text) => Some(text),
        ContentPart::Other(_) => None,
    }
}

/// The place of one text of an entry in the agent's unified form.
fn text_pointer(entry: &Entry, part: usize) -> String {
    match &entry.content {
        Content::Text(_) => format!("/presetMessages/{}/content", entry.index),
        Content::Parts(_) => format!("/presetMessages/{}/content/{part}/text", entry.index),
    }
}

/// Reads the dialect that the agent names; one that is not known, or not yet, is reported.
fn dialect(agent: &Agent, diagnostics: &mut Vec<Diagnostic>) -> Dialect {
    let Some(name) = agent.dialect.as_deref() else { return Dialect::default() };
    if let Some(dialect) = Dialect::from_name(name) {
        return dialect;
    }
    let (used, problem) = match name {
        "aio-phased" => (Dialect::Aio, "this version has no macro dialect"),
        "sillytavern-legacy" => (Dialect::SillyTavern, "this version has no macro dialect"),
        _ => (Dialect::default(), "no macro dialect"),
    };
    let message = format!("{problem} `{name}`; `{}` is used", used.as_str());
    let unknown = Diagnostic::warning(codes::UNKNOWN_DIALECT, message).at_pointer("/dialect");
    diagnostics.push(unknown.with_help("use `aio` or `sillytavern`"));
    used
}

/// The values of macros that come from files.
fn macro_values(agent: &Agent, profile: Option<&UserProfile>) -> Env {
    let text = |name: &std::sync::Arc<str>| Text::from(&**name);
    let character = agent.character.as_ref();
    let nickname = character.and_then(|character| character.nickname.as_ref());
    Env {
        user: profile.and_then(|profile| profile.name.as_ref()).map(text),
        char: nickname.or(agent.name.as_ref()).map(text),
        persona: profile.and_then(|profile| profile.content.clone()),
        description: character
            .and_then(|character| character.description.clone())
            .or_else(|| agent.description.clone()),
        personality: character.and_then(|character| character.personality.clone()),
        scenario: character.and_then(|character| character.scenario.clone()),
        ..Env::default()
    }
}

fn stage(id: &str, before: usize, after: usize) -> StageReport {
    StageReport {
        id: id.to_owned(),
        messages_before: before,
        messages_after: after,
        ..StageReport::default()
    }
}
