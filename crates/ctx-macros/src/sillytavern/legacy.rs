//! SillyTavern's older engine: a fixed order of passes over the whole text.

use std::collections::HashMap;

use ctx_types::{Source, Span};

use crate::call::Value;
use crate::definition::Definition;
use crate::dialect::Dialect;
use crate::env::Env;
use crate::expansion::{Expansion, Output, Writer};
use crate::passes::PassCall;
use crate::run::{Run, Stop};
use crate::sillytavern::legacy_names::{self, Names};
use crate::sillytavern::legacy_shape::{Search, Shape, Spacing};
use crate::state::State;
use crate::template::Template;

/// A pass: what is searched for, and the macro that gives the value.
struct Pass {
    name: &'static str,
    shape: Shape,
    macro_name: &'static str,
    /// What `Names` knows it by.
    key: Option<u64>,
    /// It gives a text of the card or the profile, which no such text can hold.
    is_of_card: bool,
}

const fn pass(name: &'static str, shape: Shape, macro_name: &'static str) -> Pass {
    Pass { name, shape, macro_name, key: legacy_names::key(name, shape), is_of_card: false }
}

const fn bare(name: &'static str) -> Pass {
    pass(name, Shape::Bare, name)
}

const fn card(name: &'static str) -> Pass {
    Pass { is_of_card: true, ..bare(name) }
}

/// What a pass searches for and calls.
#[derive(Clone, Copy)]
struct Sought<'n> {
    name: &'n str,
    shape: Shape,
    definition: usize,
}

/// The passes before the macros of a host.
const BEFORE_HOSTS: &[Pass] = &[
    pass("USER", Shape::Angled, "user"),
    pass("BOT", Shape::Angled, "char"),
    pass("CHAR", Shape::Angled, "char"),
    pass("CHARIFNOTGROUP", Shape::Angled, "group"),
    pass("GROUP", Shape::Angled, "group"),
    pass("roll", Shape::Spaced(Spacing::Colon), "roll"),
    bare("instructStoryStringPrefix"),
    bare("instructStoryStringSuffix"),
    bare("instructUserPrefix"),
    bare("instructInput"),
    bare("instructUserSuffix"),
    bare("instructAssistantPrefix"),
    bare("instructOutput"),
    bare("instructAssistantSuffix"),
    bare("instructSeparator"),
    bare("instructSystemPrefix"),
    bare("instructSystemSuffix"),
    bare("instructFirstAssistantPrefix"),
    bare("instructFirstOutputPrefix"),
    bare("instructLastAssistantPrefix"),
    bare("instructLastOutputPrefix"),
    bare("instructFirstUserPrefix"),
    bare("instructFirstInput"),
    bare("instructLastUserPrefix"),
    bare("instructLastInput"),
    bare("instructStop"),
    bare("instructUserFiller"),
    bare("instructSystemInstructionPrefix"),
    bare("defaultSystemPrompt"),
    bare("instructSystem"),
    bare("instructSystemPrompt"),
    bare("systemPrompt"),
    bare("chatSeparator"),
    bare("chatStart"),
    bare("reasoningPrefix"),
    bare("reasoningSuffix"),
    bare("reasoningSeparator"),
    pass("setvar", Shape::TwoOrEmpty, "setvar"),
    pass("addvar", Shape::Two, "addvar"),
    pass("incvar", Shape::One, "incvar"),
    pass("decvar", Shape::One, "decvar"),
    pass("getvar", Shape::One, "getvar"),
    pass("setglobalvar", Shape::TwoOrEmpty, "setglobalvar"),
    pass("addglobalvar", Shape::Two, "addglobalvar"),
    pass("incglobalvar", Shape::One, "incglobalvar"),
    pass("decglobalvar", Shape::One, "decglobalvar"),
    pass("getglobalvar", Shape::One, "getglobalvar"),
    bare("newline"),
    bare("trim"),
    bare("noop"),
    bare("input"),
    // User and agent come behind the texts of the card, so that they are replaced in them.
    card("original"),
    card("charPrompt"),
    card("charInstruction"),
    card("charJailbreak"),
    card("description"),
    card("personality"),
    card("scenario"),
    card("persona"),
    card("mesExamples"),
    card("mesExamplesRaw"),
    card("charVersion"),
    card("char_version"),
    card("charDepthPrompt"),
    card("creatorNotes"),
    bare("user"),
    bare("char"),
    bare("group"),
    bare("charIfNotGroup"),
    bare("groupNotMuted"),
    bare("notChar"),
    bare("model"),
    bare("lastChatMessage"),
    bare("isMobile"),
    bare("lastGenerationType"),
    bare("summary"),
    bare("authorsNote"),
    bare("charAuthorsNote"),
    bare("defaultAuthorsNote"),
];

/// The passes behind the macros of a host.
const AFTER_HOSTS: &[Pass] = &[
    bare("maxPrompt"),
    bare("maxPromptTokens"),
    bare("maxContext"),
    bare("maxContextTokens"),
    bare("maxResponse"),
    bare("maxResponseTokens"),
    bare("lastMessage"),
    bare("lastMessageId"),
    bare("lastUserMessage"),
    bare("lastCharMessage"),
    bare("firstIncludedMessageId"),
    bare("firstDisplayedMessageId"),
    bare("lastSwipeId"),
    bare("currentSwipeId"),
    bare("allChatRange"),
    pass("reverse", Shape::Rest, "reverse"),
    pass("//", Shape::Anything, "//"),
    bare("time"),
    bare("date"),
    bare("weekday"),
    bare("isotime"),
    bare("isodate"),
    pass("datetimeformat", Shape::Spaced(Spacing::Spaces), "datetimeformat"),
    bare("idle_duration"),
    pass("time_UTC", Shape::Offset, "time"),
    pass("outlet", Shape::Named, "outlet"),
    pass("timeDiff", Shape::Pair, "timeDiff"),
    pass("banned", Shape::Quoted, "banned"),
    pass("random", Shape::List, "random"),
    pass("pick", Shape::List, "pick"),
];

/// Reports for each call in a text whether this engine has a pass that finds it, as far as the text itself shows.
pub(crate) struct Shapes {
    /// By the keys of the names.
    passes: HashMap<u64, usize>,
    /// For each pass that was asked for.
    searches: HashMap<usize, Search<'static>>,
}

/// A call that a pass finds.
pub(crate) struct LegacyCall {
    pub(crate) macro_name: &'static str,
    pub(crate) end: usize,
    /// Which pass finds it, counted from the first.
    pub(crate) order: usize,
}

/// When the macros of a host are called, among the run.
pub(crate) const HOSTS_OWN: usize = BEFORE_HOSTS.len();

fn passes() -> impl Iterator<Item = &'static Pass> {
    BEFORE_HOSTS.iter().chain(AFTER_HOSTS)
}

impl Shapes {
    pub(crate) fn new() -> Self {
        let keyed = passes().enumerate().filter(|(_, pass)| pass.shape != Shape::Angled);
        let passes = keyed.map(|(order, pass)| (pass.key.unwrap_or_default(), order)).collect();
        Self { passes, searches: HashMap::new() }
    }

    /// Returns the call whose braces open at `start`; to be asked for places that only grow. All of them together
    /// read a byte a few times.
    pub(crate) fn call_at(&mut self, text: &str, start: usize) -> Option<LegacyCall> {
        let name = text.as_bytes().get(start + 2..)?;
        // A comment has no name that has a key.
        let key = if name.starts_with(b"//") { 0 } else { legacy_names::key_of(name)? };
        let order = *self.passes.get(&key)?;
        let pass = passes().nth(order)?;
        let search = self.searches.entry(order).or_insert_with(|| Search::new(pass.name, pass.shape));
        let found = search.at_braces(text, start)?;
        Some(LegacyCall { macro_name: pass.macro_name, end: found.range.end, order })
    }
}

/// Returns how a call of a macro is written here.
pub(crate) fn written_like(known: &Definition, has_arguments: bool) -> String {
    let is_bare = |name: &&str| passes().any(|pass| pass.name == *name && pass.shape == Shape::Bare);
    let bare = known.names().map(|name| &**name).find(is_bare);
    match &*known.name {
        "time" if has_arguments => "{{time_UTC+3}}".to_owned(),
        "roll" => "{{roll 2d6+3}}".to_owned(),
        "reverse" => "{{reverse:abc}}".to_owned(),
        "datetimeformat" => "{{datetimeformat DD.MM.YYYY HH:mm}}".to_owned(),
        name if bare.is_some() || known.example.is_empty() => format!("{{{{{}}}}}", bare.unwrap_or(name)),
        _ => known.example.clone(),
    }
}

/// Evaluates a template that has something to evaluate.
pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut run = Run::new(template, env, state, origin);
    let mut output = Output::of_template(template.text());
    let stopped = run.legacy(&mut output).err();
    run.finish(output, stopped, origin)
}

impl Run<'_> {
    fn legacy(&mut self, output: &mut Output) -> Result<(), Stop> {
        let mut names = Names::default();
        for pass in BEFORE_HOSTS {
            self.legacy_pass(pass, &mut names, output)?;
        }
        self.hosts_own(&mut names, output)?;
        for pass in AFTER_HOSTS {
            self.legacy_pass(pass, &mut names, output)?;
        }
        Ok(())
    }

    fn legacy_pass(&mut self, pass: &Pass, names: &mut Names, output: &mut Output) -> Result<(), Stop> {
        let is_absent = match pass.name {
            "original" => self.env.original.is_none(),
            "lastChatMessage" => !self.env.texts.contains_key("lastChatMessage"),
            _ => false,
        };
        if is_absent || !names.may_hold(pass.key, output) || self.is_card && pass.is_of_card {
            return Ok(());
        }
        let found = self.template.registry().find(pass.macro_name, Dialect::SillyTavernLegacy);
        match found {
            Some(definition) => {
                let sought = Sought { name: pass.name, shape: pass.shape, definition };
                self.replace(sought, names, output)
            }
            None => Ok(()),
        }
    }

    /// The macros that a host has registered, which have no arguments here.
    fn hosts_own(&mut self, names: &mut Names, output: &mut Output) -> Result<(), Stop> {
        let registry = self.template.registry();
        let is_own = |known: &Definition| {
            let is_here = known.dialects.contains(Dialect::SillyTavernLegacy);
            is_here && !known.is_builtin && known.arity.min == 0
        };
        for (definition, known) in registry.iter().enumerate().filter(|(_, known)| is_own(known)) {
            for name in known.names() {
                if names.may_hold(legacy_names::key(name, Shape::Bare), output) {
                    let sought = Sought { name, shape: Shape::Bare, definition };
                    self.replace(sought, names, output)?;
                }
            }
        }
        Ok(())
    }

    fn replace(
        &mut self,
        Sought { name, shape, definition }: Sought<'_>,
        names: &mut Names,
        output: &mut Output,
    ) -> Result<(), Stop> {
        let mut search = Search::new(name, shape);
        if search.next(output.text(), 0).is_none() {
            return Ok(());
        }
        let mut search = Search::new(name, shape);
        let write = |run: &mut Self, before: &Output, found: &PassCall<'_>| {
            let Some((value, trust)) = run.call(definition, before, found)? else {
                return Ok(None);
            };
            let (value, trust) = match value {
                Value::Template(text) => {
                    let span = Span::new(found.range.start, found.range.end);
                    let (text, trust) = run.card_text(&text, trust, span, |mut run| {
                        let mut output = Output::of_template(run.template.text());
                        run.legacy(&mut output)?;
                        Ok((output, run.findings))
                    })?;
                    (Value::Text(text), trust)
                }
                value => (value, trust),
            };
            names.note(before.text(), found.range.start, &value);
            Ok(Some((value, Writer::of_macro(definition, trust))))
        };
        self.pass(output, |text, at| search.next(text, at), write)
    }
}
