use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_macros::{Env, Template};
use ctx_pipeline::{Inputs, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::internal::TextCache;
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{LogLine, Session};
use ctx_types::{Agent, Injection, Phrase, Role, Segment, Source, Text, phrase};
use ctx_worldbook::{
    BookSet, Ports, Scan, ScanInput, ScanSources, SeededDraws, Source as ScanSource, TimedState,
    internal::{Cause, Destination, KeyHit, KeyPlace, Reason},
};
use serde_json::json;

use crate::codes;
use crate::internal::ids;
use crate::macro_values::{AgentMacros, MacroContext, MacroParts};
use crate::regex_processor::ActiveRules;
use crate::regex_rules::{RuleRun, Stage, Subject, Target};
use crate::worldbooks::{
    AnchorFormat, BookCache, CompiledBooks, MacroExpander, Outlets, Selection, Transcript, WorldbookOptions,
    describe_inactive, effect, entry_decisions, entry_source, injection, message_name, stored_state,
};

/// Activates worldbook entries and adds them as injections, which the assembler places.
///
/// Worldbooks come from the settings, the agent, the user profile, and the conversation. Timed effects are
/// stored with the newest message, as an effect that the host commits. Leaves [`WorldbookScan`] on the
/// blackboard, and the texts of outlets for `{{outlet::name}}`.
#[derive(Clone, Debug)]
pub(crate) struct WorldbookProcessor(pub(crate) MacroParts);

/// Scan of a run, on the blackboard.
#[derive(Clone, Debug)]
pub struct WorldbookScan {
    /// The searched worldbooks.
    pub set: Arc<BookSet>,
    /// Result of each entry.
    pub scan: Arc<Scan>,
    /// Sources of the searched messages, oldest first.
    pub messages: Arc<[Source]>,
    /// Their texts, in the same order.
    pub texts: Arc<[Text]>,
}

/// A key of an entry in a message, which can be older than the searched ones.
#[derive(Clone, Debug, PartialEq)]
pub struct NewestHit {
    /// The key and its place.
    pub hit: KeyHit,
    /// Name of the message in reports.
    pub message: Phrase,
}

impl WorldbookScan {
    /// Returns the newest message with a key of each entry, at any scan depth.
    ///
    /// For explanations, in a processor that runs before messages change.
    pub fn newest_hits(&self, cx: &PipelineContext<'_>) -> Vec<Option<NewestHit>> {
        newest_hits(&self.set, cx)
    }

    /// Explains why an entry is not active, with its newest match if known.
    pub fn describe_inactive(&self, entry: usize, reason: &Reason, newest: Option<&NewestHit>) -> Phrase {
        describe_inactive(&self.set, entry, reason, newest, &self.messages)
    }

    /// Returns the ids of the active entries that are active in every turn.
    pub fn constant_entries(&self) -> BTreeSet<Arc<str>> {
        let active = self.scan.activations.iter().filter(|activation| activation.cause == Cause::Constant);
        let members = active.filter_map(|activation| self.set.members().get(activation.member));
        members.filter(|member| member.entry.probability.is_none()).map(|member| member.id.clone()).collect()
    }

    /// Names a message for reports; 0 is the newest.
    pub fn message(&self, newest: usize) -> Phrase {
        message_name(&self.messages, newest)
    }
}

/// Worldbooks and settings of an agent.
#[derive(Debug)]
pub(crate) struct CompiledWorldbooks {
    book_cache: BookCache,
    macros: AgentMacros,
    options: WorldbookOptions,
    /// For character filters.
    names: Vec<Arc<str>>,
    tags: Option<Vec<Arc<str>>>,
    memory: TextCache,
    anchor_format: Option<AnchorFormat>,
}

const CONVERSATION: &str = "session";

impl TypedProcessor for WorldbookProcessor {
    type Prepared = CompiledWorldbooks;

    describe!(
        280,
        ids::WORLDBOOK_PROCESSOR,
        "Worldbook processor",
        "Activates worldbook entries that the conversation mentions"
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledWorldbooks {
        let options = WorldbookOptions::read(input);
        let PrepareInput { agent, cx, .. } = input;
        let selection = Selection::new(agent, &options.own.books, cx);
        let macros = AgentMacros::new(agent, &self.0, &mut |_| ());
        let book_cache =
            BookCache::new(selection, options.scan.clone(), macros.dialect, self.0.registry.clone());
        for finding in &book_cache.agent_books().findings {
            cx.report(finding.clone());
        }
        CompiledWorldbooks {
            book_cache,
            anchor_format: AnchorFormat::compile(&options.own.anchor_format, &macros),
            macros,
            options,
            names: names(agent),
            tags: tags(agent),
            memory: TextCache::default(),
        }
    }

    async fn run(&self, compiled: &CompiledWorldbooks, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let (books, is_own) = compiled.book_cache.for_session(cx.inputs.session);
        if is_own {
            report_new(cx, compiled.book_cache.agent_books(), &books);
        }
        if books.set.members().is_empty() {
            return Ok(());
        }
        let (env, mut state) = compiled.macros.start(cx);
        let names = books.set.settings().include_names.then_some(&env);
        let transcript = Transcript::new(cx, books.set.depth(), names);
        let mut scan = compiled.scan(cx, &books, &transcript, MacroContext { env: &env, state: &mut state });
        cx.checkpoint()?;
        // Needed only to explain inactive entries.
        let newest = if cx.inputs.turn.preview { newest_hits(&books.set, cx) } else { Vec::new() };
        let decisions = entry_decisions(&books.set, &scan, &transcript, &newest);
        cx.draft.decide_all(decisions);
        apply_rules(cx, &books, &mut scan, MacroContext { env: &env, state: &mut state });
        let macros = MacroContext { env: &env, state: &mut state };
        inject_entries(cx, &books.set, &scan, compiled, macros);
        cx.draft.set_macros(state);
        log(cx, &books.set, &scan);
        cx.blackboard.insert(WorldbookScan {
            set: books.set.clone(),
            scan: Arc::new(scan),
            messages: transcript.sources.into(),
            texts: transcript.messages.into_iter().map(|message| message.text).collect(),
        });
        Ok(())
    }
}

impl CompiledWorldbooks {
    fn scan(
        &self,
        cx: &mut PipelineContext<'_>,
        books: &CompiledBooks,
        transcript: &Transcript,
        macros: MacroContext<'_>,
    ) -> Scan {
        let MacroContext { env, state } = macros;
        let session = cx.inputs.session;
        let stored = books.set.is_timed().then(|| stored_state(session)).flatten();
        let (timed, found) = stored.as_deref().map(TimedState::read).unwrap_or_default();
        for finding in found {
            cx.report(finding.in_document(CONVERSATION));
        }
        let parse = |text: &Text| self.macros.parse(text);
        let mut expand =
            MacroExpander { books, env, state, parse: &parse, memory: &self.memory, findings: Vec::new() };
        let mut draws = SeededDraws::new(cx.inputs.turn.seed);
        let ports = Ports { draws: &mut draws, expand: &mut expand, counter: Some(cx.inputs.counter) };
        let input = self.input(&cx.inputs, &books.set, transcript, &timed);
        let scan = books.set.scan(&ScanInput { sources: &sources(env), ..input }, ports);
        let findings = std::mem::take(&mut expand.findings);
        for finding in findings.into_iter().chain(scan.diagnostics.iter().cloned()) {
            cx.report(finding);
        }
        if books.set.is_timed()
            && let Some(effect) = effect(session, stored.as_deref(), &scan.state)
        {
            cx.draft.effect(effect);
        }
        scan
    }

    fn input<'a>(
        &'a self,
        inputs: &Inputs<'a>,
        set: &BookSet,
        transcript: &'a Transcript,
        state: &'a TimedState,
    ) -> ScanInput<'a> {
        let Inputs { session, turn, budget, agent, .. } = *inputs;
        // The entry budget is a share of the context window without the response reserve, as in SillyTavern.
        let max_context = budget.window().map(|window| window.saturating_sub(budget.reserve()).into());
        ScanInput {
            messages: &transcript.messages,
            length: Some(transcript.length),
            answers: answers(session, set),
            trigger: turn.kind.as_str(),
            names: &self.names,
            tags: self.tags.as_deref(),
            state,
            max_context,
            greeting: greeting(session, agent),
            ..ScanInput::default()
        }
    }
}

fn newest_hits(set: &BookSet, cx: &PipelineContext<'_>) -> Vec<Option<NewestHit>> {
    let mut transcript = Transcript::new(cx, set.limits().messages, None);
    transcript.remove_inserted();
    let named = |hit: KeyHit| {
        let KeyPlace::Message(newest) = hit.place else { return None };
        Some(NewestHit { message: transcript.name(newest), hit })
    };
    set.newest_hits(&transcript.messages).into_iter().map(|hit| hit.and_then(named)).collect()
}

/// Diagnostics of other worldbooks were reported when the agent was compiled.
fn report_new(cx: &mut PipelineContext<'_>, own: &CompiledBooks, books: &CompiledBooks) {
    let new = books.findings.iter().filter(|finding| !own.findings.contains(finding));
    let place = |finding: &ctx_types::Diagnostic| {
        if finding.code == codes::MISSING_WORLDBOOK {
            finding.clone().in_document(CONVERSATION)
        } else {
            finding.clone()
        }
    };
    let new: Vec<_> = new.map(place).collect();
    for finding in new {
        cx.report(finding);
    }
}

/// Rules see the texts after macro expansion.
fn apply_rules(
    cx: &mut PipelineContext<'_>,
    books: &CompiledBooks,
    scan: &mut Scan,
    macros: MacroContext<'_>,
) {
    let MacroContext { env, state } = macros;
    let Some(active) = cx.blackboard.get::<ActiveRules>().cloned() else { return };
    let rules = active.rules();
    let mut expand = |template: &Template, source: &Source| template.expand(env, state, source);
    let mut run = RuleRun::new(rules, active.limits(), &mut expand).with_steps(active.steps_left);
    for activation in &mut scan.activations {
        let Some(member) = books.set.members().get(activation.member) else { continue };
        let depth = match member.entry.destination {
            Destination::Depth(depth) => Some(usize::try_from(depth).unwrap_or(usize::MAX)),
            _ => None,
        };
        let subject = Subject { stage: Stage::Request, target: Target::Worldbook, depth };
        let after = run.apply(&activation.content, subject);
        if after.is_changed() {
            let whole = || vec![Segment::full(activation.content.len(), entry_source(member))];
            let before = if activation.written.is_empty() { whole() } else { activation.written.clone() };
            activation.written = after.segments(rules, &before);
            activation.content = after.text;
        }
    }
    for finding in run.finish() {
        cx.report(finding);
    }
}

fn inject_entries(
    cx: &mut PipelineContext<'_>,
    set: &BookSet,
    scan: &Scan,
    compiled: &CompiledWorldbooks,
    macros: MacroContext<'_>,
) {
    let MacroContext { env, state } = macros;
    let output = set.output(scan);
    for (at, why) in &output.unplaced {
        let member = scan.activations.get(*at).and_then(|activation| set.members().get(activation.member));
        let Some(member) = member else { continue };
        cx.draft.decide(Decision::new(Outcome::Dropped, entry_source(member), why.phrase()));
    }
    let injected = |at: &usize| {
        let activation = scan.activations.get(*at)?;
        let member = set.members().get(activation.member)?;
        let injection = injection(member, activation.content.clone(), activation.written.clone())?;
        Some(compiled.options.at_gap(injection))
    };
    let mut injections: Vec<Injection> = output.in_order.iter().filter_map(injected).collect();
    if let Some(format) = &compiled.anchor_format {
        injections = format.gather(injections, env, state);
    }
    for injection in injections {
        cx.draft.inject(injection);
    }
    cx.blackboard.insert(Outlets::new(set, scan, &output));
}

fn log(cx: &mut PipelineContext<'_>, set: &BookSet, scan: &Scan) {
    let (active, all) = (scan.activations.len(), set.members().len());
    let line = phrase!(
        "active entries: {active} of {all}, passes: {passes}",
        active,
        all,
        passes = scan.passes.len()
    );
    let passes: Vec<&str> = scan.passes.iter().map(|pass| pass.as_str()).collect();
    cx.log(LogLine::info(line).with_details(json!({ "passes": passes, "budgetTokens": scan.budget })));
}

fn sources(env: &Env) -> ScanSources {
    ScanSources::default()
        .with(ScanSource::Persona, env.persona.clone())
        .with(ScanSource::Description, env.description.clone())
        .with(ScanSource::Personality, env.personality.clone())
        .with(ScanSource::DepthPrompt, env.card.depth_prompt.clone())
        .with(ScanSource::Scenario, env.scenario.clone())
        .with(ScanSource::CreatorNotes, env.card.creator_notes.clone())
}

fn names(agent: &Agent) -> Vec<Arc<str>> {
    let nickname = agent.character.as_ref().and_then(|character| character.nickname.clone());
    [agent.name.clone(), agent.display_name.clone(), nickname, agent.id.clone()]
        .into_iter()
        .flatten()
        .collect()
}

fn tags(agent: &Agent) -> Option<Vec<Arc<str>>> {
    let tags = agent.kept.get("tags")?.as_array()?;
    Some(tags.iter().filter_map(serde_json::Value::as_str).map(Arc::from).collect())
}

/// Counts replies, if an entry needs it. O(new messages).
fn answers(session: &Session, set: &BookSet) -> u64 {
    #[derive(Clone, Default)]
    struct Answers(u64);
    if !set.counts_answers() {
        return 0;
    }
    let said = session.fold_path(0, Answers::default, |answers, _, node| {
        let is_said = node.role == Some(Role::Assistant) && node.is_enabled() && !node.is_summary();
        answers.0 += u64::from(is_said);
    });
    said.0
}

fn greeting(session: &Session, agent: &Agent) -> Option<u64> {
    let (_, first) = session.sent_node(0)?;
    let content = first.content.as_ref().filter(|_| first.role == Some(Role::Assistant))?;
    let place = agent.greetings.iter().position(|greeting| greeting.content.as_ref() == Some(content))?;
    u64::try_from(place).ok()
}
