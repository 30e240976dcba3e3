use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::DepthPoints;
use ctx_types::internal::SourcedText;
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::Session;
use ctx_types::{
    Injection, Order, Persist as _, Placement, PresetMessage, Reader, Role, Side, Source, SourceKind, Text,
    Trust, phrase,
};
use serde_json::Value;

use crate::gap_lanes::{Lanes, lane};
use crate::injection_text::{push_expansion, push_lines, push_separator, take_injections_at};
use crate::macro_values::{AgentMacros, MacroContext, MacroParts};
use crate::settings::ROLES;
use crate::window::InstructingInput;

/// Inserts the conversation's author's note every n user messages, in one message with the worldbook entries
/// around it.
///
/// The note is `authorNote` in the conversation header: a preset entry with `interval`. Missing fields come
/// from the settings, which can also add the user profile. If the note is not due, the worldbook entries
/// around it are dropped too, as in `SillyTavern`. If it is empty, they are still sent.
#[derive(Clone, Debug)]
pub(crate) struct AuthorNote(pub(crate) MacroParts);

const KEY: &str = "authorNote";
const ANCHOR: &str = "author_note";

#[derive(Debug)]
pub(crate) struct CompiledAuthorNote {
    macros: AgentMacros,
    settings: NoteSettings,
    lanes: Lanes,
}

settings! {
    /// The settings `anchor…` and `…_anchor` are for a note next to a prompt that has a depth itself.
    pub(crate) NoteSettings {
        interval: u64 = ConfigField::integer("interval", "Insertion frequency (user messages)", 1)
            .between(0.0, 1_000_000.0)
            .with_description("1: every turn; 0: never"),
        depth: u64 = ConfigField::integer("depth", "Depth", 4).between(0.0, 1_000_000.0),
        role: Role = ConfigField::select("role", "Message role", ROLES),
        profile: ProfilePosition =
            ConfigField::select("persona", "User profile position", ProfilePosition::OPTIONS),
        anchor_depth: i64 = ConfigField::integer("anchorDepth", "Depth of the prompt next to the note", -1)
            .between(-1.0, 1_000_000.0)
            .with_description("-1: the note stays at its anchor"),
        anchor_order: f64 = ConfigField::number("anchorOrder", "Order of the prompt next to the note", 100),
        below_anchor: i64 = lane("belowAnchorLane", "Tie-breaker offset below the prompt next to the note"),
        above_anchor: i64 = lane("aboveAnchorLane", "Tie-breaker offset above the prompt next to the note"),
    }
}

choices! {
    ProfilePosition {
        None = ("none", "Not with the note"),
        Top = ("top", "Above the note"),
        Bottom = ("bottom", "Below the note"),
    }
}

impl TypedProcessor for AuthorNote {
    type Prepared = CompiledAuthorNote;

    describe!(
        290,
        "author-note",
        "Author's note",
        "Inserts the conversation's author's note at its interval, with the entries around it",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledAuthorNote {
        CompiledAuthorNote {
            macros: AgentMacros::new(input.agent, &self.0, &mut |_| ()),
            settings: NoteSettings::read(&mut input.settings),
            lanes: Lanes::read(&mut input.settings),
        }
    }

    async fn run(&self, compiled: &CompiledAuthorNote, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let note = Note::new(cx.inputs.session, &compiled.settings);
        let around = take_injections_at(cx.draft, ANCHOR);
        if !note.is_due(count_user_messages(cx)) {
            let reason = phrase!("the author's note is not due");
            let decisions = around.into_iter();
            let decisions =
                decisions.map(|one| Decision::new(Outcome::NotActivated, one.source, reason.clone()));
            cx.draft.decide_all(decisions);
            return Ok(());
        }
        let (env, mut state) = compiled.macros.start(cx);
        let text = compiled.compose(&note, around, MacroContext { env: &env, state: &mut state });
        cx.draft.set_macros(state);
        if !text.text.trim().is_empty() {
            let lane = compiled.lanes.of(note.role) + note.lane_shift;
            cx.draft.inject(note.injection(text, lane));
        }
        Ok(())
    }
}

struct Note {
    text: Text,
    interval: u64,
    role: Role,
    placement: Placement,
    lane_shift: i64,
}

impl Note {
    fn new(session: &Session, settings: &NoteSettings) -> Self {
        let stored = session.header.kept.get(KEY);
        let entry = PresetMessage::read(stored.cloned().unwrap_or_default(), &mut Reader::new());
        let interval = stored.and_then(|stored| stored.get("interval")).and_then(Value::as_u64);
        let at = |depth, order| Placement::Depth { points: DepthPoints::single(depth), order };
        let (placement, lane_shift) = match Placement::read(&entry).0 {
            Placement::InOrder => (at(settings.depth, Order::DEFAULT), 0),
            Placement::Anchor { target, .. } if settings.anchor_depth >= 0 => {
                let is_below = &*target == ANCHOR;
                let shift = if is_below { settings.below_anchor } else { settings.above_anchor };
                (at(settings.anchor_depth.unsigned_abs(), Order(settings.anchor_order)), shift)
            }
            placement => (placement, 0),
        };
        Self {
            text: entry.content.map(|content| Text::from(&*content.text())).unwrap_or_default(),
            interval: interval.unwrap_or(settings.interval),
            role: entry.role.unwrap_or(settings.role),
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

    fn injection(&self, text: SourcedText, lane: i64) -> Injection {
        let injection = Injection::plugin(text.text, self.placement.clone(), source());
        Injection { lane, role: self.role, written: text.segments, ..injection }
    }
}

fn source() -> Source {
    Source::new(SourceKind::Preset, Trust::Preset).with_id(ANCHOR)
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
    fn compose(&self, note: &Note, around: Vec<Injection>, macros: MacroContext<'_>) -> SourcedText {
        let MacroContext { env, state } = macros;
        let expansion = self.macros.parse(&note.text).expand(env, state, &source());
        let mut middle = SourcedText::default();
        push_expansion(&mut middle, &expansion, &source());
        let profile = || {
            let mut text = SourcedText::default();
            let origin = Source::new(SourceKind::Macro, Trust::User).with_id("persona");
            text.push(env.persona.as_deref().unwrap_or_default(), origin, Vec::new());
            text
        };
        let is_above =
            |one: &Injection| matches!(one.placement, Placement::Anchor { side: Side::Before, .. });
        let (above, below): (Vec<_>, Vec<_>) = around.into_iter().partition(is_above);
        let lines = |injections: &[Injection]| {
            let mut text = SourcedText::default();
            push_lines(&mut text, injections);
            text
        };
        let mut parts = vec![lines(&above)];
        parts.extend((self.settings.profile == ProfilePosition::Top).then(profile));
        parts.push(middle);
        parts.extend((self.settings.profile == ProfilePosition::Bottom).then(profile));
        parts.push(lines(&below));
        join(&parts)
    }
}

/// Joins parts with line breaks. Empty parts at the ends are dropped; those in between leave an empty line,
/// as in `SillyTavern`.
fn join(parts: &[SourcedText]) -> SourcedText {
    let is_filled = |part: &SourcedText| !part.text.is_empty();
    let first = parts.iter().position(is_filled).unwrap_or(parts.len());
    let end = parts.iter().rposition(is_filled).map_or(first, |last| last + 1);
    let mut joined = SourcedText::default();
    for (index, part) in parts[first..end].iter().enumerate() {
        if index > 0 {
            push_separator(&mut joined, "\n");
        }
        joined.copy(&part.text, &part.segments, 0);
    }
    joined
}
