use std::collections::{BTreeSet, HashSet};

use ctx_compress::mask::Language;
use ctx_pipeline::{PipelineContext, PrepareInput, ProcessorError, ProcessorResult, TypedProcessor};
use ctx_types::internal::TextCache;
use ctx_types::session::{Change, NodeEdit, Session, SessionOp};
use ctx_types::{ConfigField, Content, Diagnostic, Message, Role, SourceKind, Text, Trust, count_of, phrase};
use serde_json::{Map, Value};

use crate::append_only::remove_sent_texts;
use crate::codes;
use crate::internal::ids;
use crate::rewrite::{Edit, rewrite};
use crate::transcription_processor::language;
use crate::variables::{References, UnknownReference, VariableDefinitions, Variables};

/// Output limit per request, in bytes.
const MAX_OUTPUT: usize = 8 << 20;

/// Further diagnostics are only counted: each one searches all variables for a similar name, and untrusted
/// cards may contain any number.
const MAX_UNKNOWN: usize = 16;

/// Messages between time limit checks.
const CHECK_EVERY: usize = 256;

const CONVERSATION: &str = "session";

const INPUT: &str = "input";

/// AIO Hub's metadata key for the values after a message.
const SNAPSHOT: &str = "sessionVariableSnapshot";

/// Runs the `<svar …>` tags of the conversation, then replaces `$[…]` in all texts except tool results.
///
/// All texts, including presets, show the values after the pending input. The session caches values: a turn
/// reads only new messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VariableProcessor;

/// Variables of an agent.
#[derive(Debug)]
pub(crate) struct CompiledVariables {
    snapshots: bool,
    /// `None` without variables.
    definitions: Option<VariableDefinitions>,
    language: Language,
    memory: TextCache,
}

impl TypedProcessor for VariableProcessor {
    type Prepared = CompiledVariables;

    describe!(
        350,
        ids::VARIABLE_PROCESSOR,
        "Session variables",
        "Runs `<svar>` tags and replaces `$[name]` with values"
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledVariables {
        // Off by default: an edit of an old message makes the next turn read the whole branch.
        let snapshots = ConfigField::boolean("snapshots", "Save values in the conversation", false)
            .with_description("Saves the values next to the message that changed them, as AIO Hub does");
        let config = input.agent.variable_config.as_ref();
        CompiledVariables {
            snapshots: input.settings.read(snapshots),
            definitions: config.and_then(|config| {
                VariableDefinitions::read(config, &mut |finding| input.cx.report(finding))
            }),
            language: language(input.agent),
            memory: TextCache::default(),
        }
    }

    async fn run(&self, compiled: &CompiledVariables, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let CompiledVariables { definitions: Some(definitions), language, memory, snapshots } = compiled
        else {
            return Ok(());
        };
        let mut variables = Variables::from_session(cx.inputs.session, definitions);
        if *snapshots && let Some(effect) = snapshot(cx.inputs.session, &variables, cx.draft.effects()) {
            cx.draft.effect(effect);
        }
        for finding in variables.findings() {
            cx.report(finding.in_document(CONVERSATION));
        }
        if let Some(input) = cx.inputs.turn.input.clone() {
            read_input(input, &mut variables, definitions, cx);
        }
        let references = References { definitions, variables: &variables, language: *language };
        let shown = show(&references, memory, cx)?;
        let count = variables.iter().count();
        cx.log(phrase!(
            "{variables}, shown in {messages}",
            variables = count_of!(count, "variable"),
            messages = count_of!(shown, "message")
        ));
        Ok(())
    }
}

fn read_input(
    input: Text,
    variables: &mut Variables,
    definitions: &VariableDefinitions,
    cx: &mut PipelineContext<'_>,
) {
    let before = variables.findings().len();
    variables.read(definitions, &Content::Text(input), Trust::User, &String::new);
    for mut finding in variables.findings().split_off(before) {
        finding.location.pointer = None;
        cx.report(finding.in_document(INPUT));
    }
}

fn show(
    references: &References<'_>,
    memory: &TextCache,
    cx: &mut PipelineContext<'_>,
) -> Result<usize, ProcessorError> {
    let mut showing =
        ReferenceExpander { references, left: MAX_OUTPUT, found: Vec::new(), unknown: BTreeSet::new() };
    let (mut shown, mut changed, mut indexes) = (0, Vec::new(), HashSet::new());
    for (index, message) in cx.draft.messages().iter().enumerate() {
        if index % CHECK_EVERY == 0 {
            cx.checkpoint()?;
        }
        if message.role == Role::Tool || !References::may_be_in(&message.text()) {
            continue;
        }
        indexes.insert(index);
        let mut message = message.clone();
        if showing.rewrite(&mut message, memory) {
            shown += 1;
            changed.push((index, message));
        }
    }
    if !changed.is_empty() {
        let messages = cx.draft.messages_mut();
        for (index, message) in changed {
            messages[index] = message;
        }
    }
    remove_sent_texts(cx, &indexes);
    let more = showing.unknown.len().saturating_sub(MAX_UNKNOWN);
    let more = (more > 0).then(|| Diagnostic::more(more, "this agent"));
    for finding in showing.found.into_iter().chain(more) {
        cx.report(finding);
    }
    Ok(shown)
}

struct ReferenceExpander<'a> {
    references: &'a References<'a>,
    left: usize,
    found: Vec<Diagnostic>,
    unknown: BTreeSet<(Option<String>, String)>,
}

impl ReferenceExpander<'_> {
    fn rewrite(&mut self, message: &mut Message, memory: &TextCache) -> bool {
        // Users and models may write any text in brackets. Only authors get diagnostics.
        let is_authored =
            !matches!(message.source.kind, SourceKind::History | SourceKind::Summary | SourceKind::Input);
        let pointer = message.source.index().map(|index| format!("/presetMessages/{index}/content"));
        let edits = |text: &str| self.edits(text, is_authored, pointer.as_deref());
        let is_changed = rewrite(message, edits);
        if is_changed {
            message.content = message.content.map_texts(|text| memory.share(text.clone()));
        }
        is_changed
    }

    fn edits(&mut self, text: &str, is_authored: bool, pointer: Option<&str>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for reference in self.references.find_all(text) {
            match reference {
                Ok(shown) => {
                    let Some(left) = self.left.checked_sub(shown.text.len()) else {
                        self.limit_reached();
                        break;
                    };
                    self.left = left;
                    edits.push(Edit { span: shown.span, text: shown.text, source: shown.source });
                }
                Err(unknown) if is_authored => self.report(unknown, pointer),
                Err(_) => {}
            }
        }
        edits
    }

    fn report(&mut self, unknown: UnknownReference<'_>, pointer: Option<&str>) {
        let is_new = self.unknown.insert((pointer.map(str::to_owned), unknown.path.to_owned()));
        if is_new && self.unknown.len() <= MAX_UNKNOWN {
            let mut finding = self.references.diagnostic(unknown);
            finding.location.pointer = pointer.map(str::to_owned);
            self.found.push(finding);
        }
    }

    fn limit_reached(&mut self) {
        let message = phrase!(
            "variables exceed {limit} bytes of output; the rest is left unchanged",
            limit = MAX_OUTPUT
        );
        let finding = Diagnostic::error(codes::VARIABLE_OUTPUT, message);
        if !self.found.contains(&finding) {
            self.found.push(finding);
        }
        self.left = 0;
    }
}

/// AIO Hub reads the values at the newest message that changed one.
fn snapshot(session: &Session, variables: &Variables, effects: &[SessionOp]) -> Option<SessionOp> {
    let id = variables.changed_by.clone()?;
    let values: Map<String, Value> =
        variables.iter().map(|(path, value)| (path.to_owned(), value.to_json())).collect();
    // Keeps metadata that an earlier processor sets on the message.
    let noted = effects.iter().rev().find_map(|effect| match effect {
        SessionOp::Edit { id: edited, edit } if *edited == id => match &edit.metadata {
            Change::Set(metadata) => Some(metadata.clone()),
            Change::Keep | Change::Clear => None,
        },
        _ => None,
    });
    let mut metadata = noted.or_else(|| session.node(&id)?.metadata.clone()).unwrap_or_default();
    let known = metadata.kept.get(SNAPSHOT).and_then(|snapshot| snapshot.get("values"));
    if known.and_then(Value::as_object) == Some(&values) {
        return None;
    }
    metadata.kept.set(SNAPSHOT, serde_json::json!({ "values": values }));
    let edit = Box::new(NodeEdit { metadata: Change::Set(metadata), ..NodeEdit::default() });
    Some(SessionOp::Edit { id, edit })
}
