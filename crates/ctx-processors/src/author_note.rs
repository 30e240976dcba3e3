use async_trait::async_trait;
use ctx_macros::{Dialect, MacroPorts, Registry as MacroRegistry, Template};
use ctx_pipeline::{
    Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData,
    ProcessorError,
};
use ctx_types::{
    Agent, Decision, DepthPoints, Injection, Order, Outcome, Persist as _, Placement, PresetMessage, Rank,
    Reader, Role, Session, Side, Source, SourceKind, Text, Trust, phrase,
};
use serde_json::Value;

use crate::gap_lanes::{lane, lane_fields};
use crate::injection_text::InjectionText;
use crate::macro_values::{MacroContext, MacroValues, macro_dialect};
use crate::window::InstructingInput;
use crate::worldbooks::Outlets;

/// Inserts the conversation's author's note every n user messages, in one message with the worldbook entries
/// around it.
///
/// The note is `authorNote` in the conversation header: a preset entry with `interval`. Missing fields come
/// from the settings, which can also add the user profile. If the note is not due, the worldbook entries
/// around it are dropped too, as in `SillyTavern`. If it is empty, they are still sent.
#[derive(Clone, Debug)]
pub struct AuthorNote {
    macros: MacroRegistry,
    ports: MacroPorts,
}

impl AuthorNote {
    /// Creates the processor with macros and macro ports.
    pub fn new(macros: MacroRegistry, ports: MacroPorts) -> Self {
        Self { macros, ports }
    }
}

const KEY: &str = "authorNote";
const ANCHOR: &str = "author_note";

const PERSONA: [(&str, &str); 3] =
    [("none", "Not with the note"), ("top", "Above the note"), ("bottom", "Below the note")];
const ROLES: [(&str, &str); 3] = [("system", "System"), ("user", "User"), ("assistant", "Assistant")];

struct CompiledAuthorNote {
    values: MacroValues,
    dialect: Dialect,
    macros: MacroRegistry,
}

#[async_trait]
impl ContextProcessor for AuthorNote {
    fn descriptor(&self) -> Descriptor {
        let mut config_fields = vec![
            ConfigField::integer("interval", "Insertion frequency (user messages)", 1)
                .between(0.0, 1_000_000.0)
                .with_description("1: every turn; 0: never"),
            ConfigField::integer("depth", "Depth", 4).between(0.0, 1_000_000.0),
            ConfigField::select("role", "Message role", &ROLES),
            ConfigField::select("persona", "User profile position", &PERSONA),
        ];
        config_fields.extend(anchor_fields());
        config_fields.extend(lane_fields());
        Descriptor::new(
            "author-note",
            "Author's note",
            "Inserts the conversation's author's note at its interval, with the entries around it",
        )
        .with(|descriptor| {
            descriptor.priority = 290;
            descriptor.default_enabled = false;
            descriptor.config_fields = config_fields;
        })
    }

    fn prepare(&self, agent: &Agent, _config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        let (dialect, _) = macro_dialect(agent);
        let values = MacroValues::from_agent(agent, self.ports.clone(), &mut |_| {});
        let values = values.with_card_templates(dialect, &self.macros);
        PreparedData::new(CompiledAuthorNote { values, dialect, macros: self.macros.clone() })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(compiled) = cx.prepared.get::<CompiledAuthorNote>() else {
            return Err(ProcessorError::failed("the note was not prepared"));
        };
        let note = NoteSettings::read(cx.inputs.session, cx.config);
        let (around, others): (Vec<_>, Vec<_>) = cx.draft.take_injections().into_iter().partition(is_around);
        for injection in others {
            cx.draft.inject(injection);
        }
        if !note.is_due(count_user_messages(cx)) {
            let reason = phrase!("the author's note is not due");
            let decisions = around.into_iter();
            let decisions =
                decisions.map(|one| Decision::new(Outcome::NotActivated, one.source, reason.clone()));
            cx.draft.decide_all(decisions);
            return Ok(());
        }
        let mut state = cx.draft.macros_mut().clone();
        let mut env = compiled.values.run_env(cx, &mut state.clone());
        env.outlets = Outlets::texts(cx.blackboard);
        let macros = MacroContext { env: &env, state: &mut state };
        let text = compiled.compose(&note, around, macros, cx.config.text("persona"));
        cx.draft.set_macros(state);
        if !text.is_blank() {
            let lane = lane(cx.config, note.role) + note.lane_shift;
            cx.draft.inject(note.injection(text, lane));
        }
        Ok(())
    }
}

struct NoteSettings {
    text: Text,
    interval: u64,
    role: Role,
    placement: Placement,
    lane_shift: i64,
}

/// Settings for a note next to a prompt that has a depth itself.
fn anchor_fields() -> [ConfigField; 4] {
    let shift = |key, label| ConfigField::integer(key, label, 0).between(-1_000_000.0, 1_000_000.0);
    [
        ConfigField::integer(ANCHOR_DEPTH, "Depth of the prompt next to the note", -1)
            .between(-1.0, 1_000_000.0)
            .with_description("-1: the note stays at its anchor"),
        ConfigField::number(ANCHOR_ORDER, "Order of that prompt", 100),
        shift(BELOW, "Tie-breaker offset below that prompt"),
        shift(ABOVE, "Tie-breaker offset above that prompt"),
    ]
}

const ANCHOR_DEPTH: &str = "anchorDepth";
const ANCHOR_ORDER: &str = "anchorOrder";
const BELOW: &str = "belowAnchorLane";
const ABOVE: &str = "aboveAnchorLane";

impl NoteSettings {
    fn read(session: &Session, config: &Config) -> Self {
        let stored = session.header.kept.get(KEY);
        let entry = PresetMessage::read(stored.cloned().unwrap_or_default(), &mut Reader::new());
        let interval = stored.and_then(|stored| stored.get("interval")).and_then(Value::as_u64);
        let at = |depth, order| Placement::Depth {
            points: DepthPoints::single(config.count(depth) as u64),
            order,
        };
        let (placement, lane_shift) = match Placement::read(&entry).0 {
            Placement::InOrder => (at("depth", Order::DEFAULT), 0),
            Placement::Anchor { target, .. } if config.integer(ANCHOR_DEPTH) >= 0 => {
                let shift = if &*target == ANCHOR { BELOW } else { ABOVE };
                (at(ANCHOR_DEPTH, Order(config.number(ANCHOR_ORDER))), config.integer(shift))
            }
            placement => (placement, 0),
        };
        Self {
            text: entry.content.map(|content| Text::from(&*content.text())).unwrap_or_default(),
            interval: interval.unwrap_or(config.count("interval") as u64),
            role: entry.role.or_else(|| Role::parse(config.text("role"))).unwrap_or(Role::System),
            placement,
            lane_shift,
        }
    }

    fn is_due(&self, said: u64) -> bool {
        match self.interval {
            0 => false,
            1 => true,
            interval => said > 0 && said.is_multiple_of(interval),
        }
    }

    fn injection(&self, text: InjectionText, lane: i64) -> Injection {
        let (text, written) = text.finish();
        Injection {
            rank: Rank::Plugin,
            lane,
            placement: self.placement.clone(),
            role: self.role,
            text,
            written,
            source: source(),
            name: None,
            attachments: Vec::new(),
        }
    }
}

fn source() -> Source {
    Source::new(SourceKind::Preset, Trust::Preset).with_id(ANCHOR)
}

fn is_around(injection: &Injection) -> bool {
    matches!(&injection.placement, Placement::Anchor { target, .. } if &**target == ANCHOR)
}

/// Counts user messages and the pending input. O(new messages).
fn count_user_messages(cx: &PipelineContext<'_>) -> u64 {
    #[derive(Clone, Default)]
    struct Questions(u64);
    let questions = cx.inputs.session.fold_path(0, Questions::default, |questions, _, node| {
        questions.0 += u64::from(node.role == Some(Role::User) && !node.is_summary());
    });
    let is_said = cx.blackboard.get::<InstructingInput>().is_none();
    let is_pending = cx.inputs.turn.input.as_ref().is_some_and(|input| is_said && !input.trim().is_empty());
    questions.0 + u64::from(is_pending)
}

impl CompiledAuthorNote {
    fn compose(
        &self,
        note: &NoteSettings,
        around: Vec<Injection>,
        macros: MacroContext<'_>,
        persona: &str,
    ) -> InjectionText {
        let MacroContext { env, state } = macros;
        let expansion = Template::parse(&note.text, self.dialect, &self.macros).expand(env, state, &source());
        let mut middle = InjectionText::default();
        middle.push_expansion(&expansion, &source());
        let profile = || {
            let mut text = InjectionText::default();
            let origin = Source::new(SourceKind::Macro, Trust::User).with_id("persona");
            text.push(env.persona.as_deref().unwrap_or_default(), &origin);
            text
        };
        let is_above =
            |one: &Injection| matches!(one.placement, Placement::Anchor { side: Side::Before, .. });
        let (above, below): (Vec<_>, Vec<_>) = around.into_iter().partition(is_above);
        let lines = |injections: Vec<Injection>| {
            let mut text = InjectionText::default();
            text.push_lines(injections);
            text
        };
        let mut parts = vec![lines(above)];
        parts.extend((persona == "top").then(profile));
        parts.push(middle);
        parts.extend((persona == "bottom").then(profile));
        parts.push(lines(below));
        join(parts)
    }
}

/// Joins parts with line breaks. Empty parts at the ends are dropped; those in between leave an empty line,
/// as in `SillyTavern`.
fn join(parts: Vec<InjectionText>) -> InjectionText {
    let first = parts.iter().position(|part| !part.is_empty());
    let last = parts.iter().rposition(|part| !part.is_empty());
    let (Some(first), Some(last)) = (first, last) else { return InjectionText::default() };
    let mut joined = InjectionText::default();
    for (index, part) in parts.into_iter().enumerate().take(last + 1).skip(first) {
        if index > first {
            joined.push_separator("\n");
        }
        joined.append(part);
    }
    joined
}
