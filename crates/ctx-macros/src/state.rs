//! What a run carries from text to text: variables, and what is left of its limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_types::{Diagnostic, Phrase, Text, Trust, phrase};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::call::Failure;
use crate::known_texts::KnownTexts;
use crate::{codes, number};

/// How much one run may do; reaching a limit leaves the rest of a text as it is written, or of variables the one
/// call that would need more.
///
/// ```
/// use ctx_macros::Limits;
///
/// let limits = Limits { steps: 1_000, ..Limits::default() };
/// assert_eq!(limits.depth, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls of macros; 100,000 by default.
    pub steps: u64,
    /// Calls inside calls, 64 by default; more than [`Limits::MAX_DEPTH`] counts as that.
    pub depth: usize,
    /// Bytes that macros write, into texts, arguments and variables; 8 MiB by default. Bytes copied from a
    /// template are not counted, they are bounded by its length.
    pub output_bytes: usize,
    /// Variables, local and global; 4,096 by default.
    pub variables: usize,
    /// Bytes in all variables, names and values; 8 MiB by default.
    pub variable_bytes: usize,
}

impl Limits {
    /// The deepest nesting that can be asked for, so that the evaluator fits a small stack.
    pub const MAX_DEPTH: usize = 128;
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100_000, depth: 64, output_bytes: 8 << 20, variables: 4096, variable_bytes: 8 << 20 }
    }
}

/// The state of one run: its variables and what it may still do.
///
/// Texts that are expanded with the same state see each other's variables, in the order of expansion. A
/// clone is a run that may be tried and thrown away.
///
/// ```
/// use ctx_macros::{Limits, Scope, State};
/// use ctx_types::{Text, Trust};
///
/// let mut state = State::new(Limits::default());
/// state.set_variable(Scope::Local, "hp", Text::from("12"), Trust::User).unwrap();
/// assert_eq!(state.variable(Scope::Local, "hp").map(Text::as_str), Some("12"));
/// assert_eq!(state.variable(Scope::Global, "hp"), None);
/// ```
#[derive(Clone, Debug)]
pub struct State {
    limits: Limits,
    steps_left: u64,
    output_left: usize,
    locals: BTreeMap<Arc<str>, Variable>,
    globals: BTreeMap<Arc<str>, Variable>,
    variable_bytes: usize,
    /// How many random numbers each text has drawn, by the key of its source.
    draws: BTreeMap<u64, u64>,
    zone: Option<(Arc<str>, TimeZone)>,
    known_texts: KnownTexts,
    /// The outlets whose texts were asked for.
    given_outlets: BTreeSet<Arc<str>>,
}

/// Which of the two sets of variables is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of the conversation.
    #[default]
    Local,
    /// Those of the whole application.
    Global,
}

#[derive(Clone, Debug)]
struct Variable {
    value: Text,
    kind: Kind,
    trust: Trust,
}

/// What is known of a variable's value besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// It is the result of counting.
    Number,
    /// It is a JSON list, written as this crate writes lists.
    List,
}

impl State {
    /// Creates the state of a run that has done nothing yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps_left: limits.steps,
            output_left: limits.output_bytes,
            locals: BTreeMap::new(),
            globals: BTreeMap::new(),
            variable_bytes: 0,
            draws: BTreeMap::new(),
            zone: None,
            known_texts: KnownTexts::default(),
            given_outlets: BTreeSet::new(),
        }
    }

    /// Returns the value of a variable.
    pub fn variable(&self, scope: Scope, name: &str) -> Option<&Text> {
        self.set(scope).get(name).map(|variable| &variable.value)
    }

    /// Returns how far the value of a variable may be trusted.
    pub fn variable_trust(&self, scope: Scope, name: &str) -> Option<Trust> {
        self.set(scope).get(name).map(|variable| variable.trust)
    }

    /// Returns the names and values of all variables, sorted by name.
    pub fn variables(&self, scope: Scope) -> impl Iterator<Item = (&str, &Text)> {
        self.set(scope).iter().map(|(name, variable)| (&**name, &variable.value))
    }

    /// Returns the variables as JSON, sorted by name: what was counted is a number, the rest is text.
    pub fn variables_json(&self, scope: Scope) -> Map<String, Value> {
        let json = |variable: &Variable| match variable.kind {
            Kind::Number => number::json(&variable.value),
            Kind::Text | Kind::List => Value::from(variable.value.as_str()),
        };
        self.set(scope).iter().map(|(name, variable)| (name.to_string(), json(variable))).collect()
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// The run has as many variables, or bytes in them, as it may; then nothing is changed.
    pub fn set_variable(
        &mut self,
        scope: Scope,
        name: &str,
        value: Text,
        trust: Trust,
    ) -> Result<(), Failure> {
        self.put(scope, name, Variable { value, kind: Kind::Text, trust })
    }

    /// Sets a variable to the result of counting, written as JavaScript writes numbers.
    ///
    /// # Errors
    /// As with [`State::set_variable`].
    pub fn set_number(&mut self, scope: Scope, name: &str, value: f64, trust: Trust) -> Result<(), Failure> {
        let value = Text::from(number::write(value));
        self.put(scope, name, Variable { value, kind: Kind::Number, trust })
    }

    /// Sets a variable to a JSON list without white space between its elements.
    pub(crate) fn set_list(
        &mut self,
        scope: Scope,
        name: &str,
        value: Text,
        trust: Trust,
    ) -> Result<(), Failure> {
        self.put(scope, name, Variable { value, kind: Kind::List, trust })
    }

    /// Returns whether a variable was set to a list by [`State::set_list`].
    pub(crate) fn is_list(&self, scope: Scope, name: &str) -> bool {
        self.set(scope).get(name).is_some_and(|variable| variable.kind == Kind::List)
    }

    /// Removes a variable and tells whether it was set.
    pub fn remove_variable(&mut self, scope: Scope, name: &str) -> bool {
        let removed = self.set_mut(scope).remove(name);
        self.variable_bytes -= removed.as_ref().map_or(0, |variable| name.len() + variable.value.len());
        removed.is_some()
    }

    fn put(&mut self, scope: Scope, name: &str, variable: Variable) -> Result<(), Failure> {
        let old = self.set(scope).get(name).map(|old| name.len() + old.value.len());
        let bytes = self.variable_bytes - old.unwrap_or(0) + name.len() + variable.value.len();
        if bytes > self.limits.variable_bytes {
            let limit = self.limits.variable_bytes;
            return Err(no_room(phrase!("variables exceed {limit} bytes", limit)));
        }
        if old.is_none() && self.locals.len() + self.globals.len() >= self.limits.variables {
            let limit = self.limits.variables;
            return Err(no_room(phrase!("more than {limit} variables", limit)));
        }
        self.variable_bytes = bytes;
        match self.set_mut(scope).get_mut(name) {
            Some(known) => *known = variable,
            None => {
                self.set_mut(scope).insert(Arc::from(name), variable);
            }
        }
        Ok(())
    }

    const fn set(&self, scope: Scope) -> &BTreeMap<Arc<str>, Variable> {
        match scope {
            Scope::Local => &self.locals,
            Scope::Global => &self.globals,
        }
    }

    const fn set_mut(&mut self, scope: Scope) -> &mut BTreeMap<Arc<str>, Variable> {
        match scope {
            Scope::Local => &mut self.locals,
            Scope::Global => &mut self.globals,
        }
    }

    /// Returns the number of the next draw of a text, from 0, by the key of its source.
    pub(crate) fn next_draw(&mut self, source: u64) -> u64 {
        let next = self.draws.entry(source).or_insert(0);
        *next += 1;
        *next - 1
    }

    /// Returns how many more calls the run may make.
    pub const fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Returns how many more bytes macros may write.
    pub const fn output_left(&self) -> usize {
        self.output_left
    }

    /// Takes one call at this depth (1 is a call in the text itself) from what is left.
    #[inline]
    pub(crate) fn take_step(&mut self, depth: usize) -> Result<(), Box<Diagnostic>> {
        let deepest = self.limits.depth.min(Limits::MAX_DEPTH);
        if depth > deepest {
            let message = phrase!("macros are nested deeper than {deepest} levels", deepest);
            return Err(Box::new(Diagnostic::error(codes::DEPTH_LIMIT, message)));
        }
        self.take_steps(1)
    }

    /// Takes work that is worth a number of calls from what is left.
    #[inline]
    pub(crate) fn take_steps(&mut self, steps: u64) -> Result<(), Box<Diagnostic>> {
        let Some(left) = self.steps_left.checked_sub(steps) else {
            let message = phrase!("more than {steps} macro calls in one run", steps = self.limits.steps);
            return Err(Box::new(Diagnostic::error(codes::STEP_LIMIT, message)));
        };
        self.steps_left = left;
        Ok(())
    }

    /// Fails if macros may not write that many bytes any more.
    #[inline]
    pub(crate) fn check_output(&self, bytes: usize) -> Result<(), Box<Diagnostic>> {
        if bytes <= self.output_left {
            return Ok(());
        }
        let message =
            phrase!("macros write more than {bytes} bytes in one run", bytes = self.limits.output_bytes);
        Err(Box::new(Diagnostic::error(codes::OUTPUT_LIMIT, message)))
    }

    /// Takes bytes that a macro writes from what is left.
    #[inline]
    pub(crate) fn take_output(&mut self, bytes: usize) -> Result<(), Box<Diagnostic>> {
        self.check_output(bytes)?;
        self.output_left -= bytes;
        Ok(())
    }

    /// Returns whether a macro gave the text of an outlet.
    pub fn has_given_outlet(&self, name: &str) -> bool {
        self.given_outlets.contains(name)
    }

    pub(crate) fn give_outlet(&mut self, name: &Arc<str>) {
        self.given_outlets.insert(name.clone());
    }

    /// Returns what this run made of texts.
    pub(crate) const fn known_texts(&mut self) -> &mut KnownTexts {
        &mut self.known_texts
    }

    /// Returns the time zone that this run found for a name before.
    pub(crate) fn known_zone(&self, name: &str) -> Option<TimeZone> {
        let (known, zone) = self.zone.as_ref()?;
        (**known == *name).then(|| zone.clone())
    }

    pub(crate) fn remember_zone(&mut self, name: Arc<str>, zone: TimeZone) {
        self.zone = Some((name, zone));
    }
}

/// The failure of one call: others may need no room, or less.
fn no_room(message: Phrase) -> Failure {
    Failure::error(codes::VARIABLE_LIMIT, message)
}
