use std::sync::Arc;

use ctx_macros::Template;
use ctx_pipeline::{
    ConfigField, PipelineContext, PrepareContext, PrepareInput, ProcessorError, ProcessorResult,
    TypedProcessor,
};
use ctx_types::internal::SourcedText;
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::LogLine;
use ctx_types::{
    Message, Persist as _, Reader, RegexConfig, Role, Source, SourceKind, Text, Trust, count_of, phrase,
};
use serde_json::{Value, json};

use crate::macro_values::{AgentMacros, MacroParts};
use crate::regex_rules::{RewrittenText, RuleLimits, RuleRun, RuleSet, RuleSource, Stage, Subject, Target};

/// Edits messages with the regex rules of the settings, the agent, and the user profile.
///
/// Rules match the role and the depth of a message in the conversation, without the preset. The pending input
/// is treated as stored: rules for stored texts change it too. Messages that become blank are dropped by
/// default.
#[derive(Clone, Debug)]
pub(crate) struct RegexProcessor(pub(crate) MacroParts);

/// Rules of a run for texts that are not messages, on the blackboard.
#[derive(Clone)]
pub struct ActiveRules {
    compiled: Arc<CompiledRules>,
    /// Steps left; all texts of a context share them.
    pub(crate) steps_left: u64,
}

impl ActiveRules {
    /// Returns the rules.
    pub fn rules(&self) -> &RuleSet {
        &self.compiled.rules
    }

    pub(crate) fn limits(&self) -> RuleLimits {
        self.compiled.limits
    }
}

ctx_types::opaque!(ActiveRules);

#[derive(Debug)]
pub(crate) struct CompiledRules {
    rules: RuleSet,
    macros: AgentMacros,
    limits: RuleLimits,
    sends_white_space: bool,
}

const PRESETS: &str = "presets";
settings! {
    pub(crate) RegexSettings {
        presets: Value = ConfigField::list(PRESETS, "Rules")
            .with_description("presets in the format of an agent's `regexConfig`"),
        steps: u64 = ConfigField::integer("steps", "Step limit", RuleLimits::default().steps)
            .between(0.0, 1e12)
            .with_description("for all rules in one context; 1,000,000 steps take about 10 ms"),
        sends_white_space: bool = ConfigField::select("whiteSpace", "Blank messages", &[
            ("leave_out", "Skip"),
            ("send", "Send; skip only empty messages, whose depth counts"),
        ]),
    }
}

/// Messages between time limit checks.
const CHECK_EVERY: usize = 16;

impl TypedProcessor for RegexProcessor {
    type Prepared = Arc<CompiledRules>;

    describe!(
        200,
        "regex-processor",
        "Regex processor",
        "Edits messages with regex rules, by role and depth",
        per_message
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> Arc<CompiledRules> {
        let PrepareInput { settings, agent, cx } = input;
        let settings = RegexSettings::read(settings);
        let own = read_rules(&settings.presets, cx);
        let profile = cx.profile().and_then(|profile| profile.regex_config.clone());
        let sources = [
            (Some(&own), "", Some("settings of `regex-processor`"), Trust::Preset),
            (agent.regex_config.as_ref(), "/regexConfig", None, Trust::Preset),
            (profile.as_ref(), "/regexConfig", Some("profile"), Trust::User),
        ];
        let sources = sources.into_iter().filter_map(|(config, place, document, trust)| {
            Some(RuleSource { config: config?, place, document, trust })
        });
        let sources: Vec<RuleSource<'_>> = sources.collect();
        // The assembler reports these errors.
        let macros = AgentMacros::new(agent, &self.0, &mut |_| ());
        let (rules, findings) = RuleSet::compile(&sources, macros.dialect, &macros.registry);
        for finding in findings {
            cx.report(finding);
        }
        let limits = RuleLimits { steps: settings.steps, ..RuleLimits::default() };
        Arc::new(CompiledRules { rules, macros, limits, sends_white_space: settings.sends_white_space })
    }

    async fn run(&self, compiled: &Arc<CompiledRules>, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        if compiled.rules.rules().is_empty() {
            return Ok(());
        }
        let (env, mut state) = compiled.macros.start(cx);
        let mut found = Vec::new();
        let mut expand = |template: &Template, source: &Source| {
            let expansion = template.expand(&env, &mut state, source);
            found.extend(expansion.diagnostics.iter().cloned());
            expansion
        };
        let run = RuleRun::new(&compiled.rules, compiled.limits, &mut expand);
        let Changes { run, changed, counts, .. } = Changes::new(cx, &compiled.rules, run)?;
        let steps_left = run.steps_left();
        let findings = run.finish();
        cx.blackboard.insert(ActiveRules { compiled: compiled.clone(), steps_left });
        cx.draft.set_macros(state);
        found.into_iter().chain(findings).for_each(|finding| cx.report(finding));
        log(cx, &compiled.rules, &counts, changed.len());
        commit(cx, changed, compiled.sends_white_space);
        Ok(())
    }
}

fn read_rules(presets: &Value, cx: &mut PrepareContext) -> RegexConfig {
    let mut reader = Reader::new();
    let settings = RegexConfig::read(json!({ PRESETS: presets }), &mut reader);
    for finding in reader.finish() {
        cx.report(finding.in_document("settings of `regex-processor`"));
    }
    settings
}

struct Changes<'a> {
    rules: &'a RuleSet,
    run: RuleRun<'a>,
    /// Changed messages by position.
    changed: Vec<(usize, Message)>,
    /// Changed messages per rule.
    counts: Vec<usize>,
}

impl<'a> Changes<'a> {
    fn new(cx: &PipelineContext<'_>, rules: &'a RuleSet, run: RuleRun<'a>) -> Result<Self, ProcessorError> {
        let mut changes = Self { rules, run, changed: Vec::new(), counts: vec![0; rules.rules().len()] };
        let messages = cx.draft.messages();
        for (index, message) in messages.iter().enumerate() {
            if index % CHECK_EVERY == 0 {
                cx.checkpoint()?;
            }
            changes.look_at(index, message, messages.len() - 1 - index);
        }
        Ok(changes)
    }

    fn look_at(&mut self, index: usize, message: &Message, depth: usize) {
        let mut changed: Option<Message> = None;
        // The pending input is treated as stored.
        let is_input = message.source.kind == SourceKind::Input;
        let stages = [Stage::Store, Stage::Request];
        for stage in stages.into_iter().filter(|stage| is_input || *stage == Stage::Request) {
            let target = Target::Message(message.role);
            let current = changed.as_ref().unwrap_or(message);
            let after = self.change(current, Subject { stage, target, depth: Some(depth) });
            changed = after.or(changed);
        }
        self.changed.extend(changed.map(|message| (index, message)));
    }

    fn change(&mut self, message: &Message, subject: Subject) -> Option<Message> {
        let rewritten: Vec<RewrittenText> =
            message.content.texts().map(|text| self.apply(text, subject)).collect();
        if !rewritten.iter().any(RewrittenText::is_changed) {
            return None;
        }
        let segments = message.segments();
        let (mut new, mut place) = (SourcedText::default(), 0);
        let mut rewritten = rewritten.into_iter();
        let content = message.content.map_texts(|text| {
            let after = rewritten.next().expect("one result per text");
            let mut before = SourcedText::default();
            before.copy(text, &segments, place);
            new.copy(&after.text, &after.segments(self.rules, &before.segments), 0);
            place += text.len();
            after.text
        });
        let mut changed = message.clone();
        changed.content = content;
        changed.written = new.segments;
        Some(changed)
    }

    fn apply(&mut self, text: &Text, subject: Subject) -> RewrittenText {
        let rewritten = self.run.apply(text, subject);
        for rule in rewritten.changed_by() {
            self.counts[rule] += 1;
        }
        rewritten
    }
}

/// Replaces the changed messages. A blank one is dropped, unless it is the newest.
///
/// With `whiteSpace: send`, white space is sent, and an empty message becomes silent: it keeps its depth and
/// is scanned, as in `SillyTavern`.
fn commit(cx: &mut PipelineContext<'_>, changed: Vec<(usize, Message)>, sends_white_space: bool) {
    if changed.is_empty() {
        return;
    }
    let mut messages = cx.draft.take_messages();
    let newest = messages.len().saturating_sub(1);
    let mut emptied = Vec::new();
    for (index, mut message) in changed {
        let is_blank = message.is_blank() && message.role != Role::Tool;
        if sends_white_space {
            if is_blank && !message.is_continuation_prefix && message.text().is_empty() {
                message.is_silent = true;
            }
        } else if is_blank && index != newest {
            emptied.push(index);
        }
        messages[index] = message;
    }
    for index in emptied.into_iter().rev() {
        let message = messages.remove(index);
        cx.draft.decide(Decision::new(
            Outcome::Dropped,
            message.source.clone(),
            phrase!("empty after the regex rules"),
        ));
    }
    cx.draft.set_messages(messages);
}

fn log(cx: &mut PipelineContext<'_>, rules: &RuleSet, counts: &[usize], changed: usize) {
    if changed == 0 {
        return cx.log(phrase!("no rule changed a message"));
    }
    let used = rules.rules().iter().zip(counts).filter(|(_, count)| **count > 0);
    let used: Vec<Value> =
        used.map(|(rule, count)| json!({ "rule": rule.title(), "messages": count })).collect();
    let line = phrase!(
        "{rules} changed {messages}",
        rules = count_of!(used.len(), "rule"),
        messages = count_of!(changed, "message")
    );
    cx.log(LogLine::info(line).with_details(Value::Array(used)));
}
