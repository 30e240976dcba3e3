use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_types::{Phrase, Text, Trust, phrase};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::call::Failure;
use crate::derived_texts::DerivedTexts;
use crate::{codes, number};

/// Limits of a run.
///
/// If a limit is reached, the rest of the text is left unchanged. The variable limits affect only the call
/// that exceeds them.
///
/// ```
/// use ctx_macros::Limits;
///
/// let limits = Limits { steps: 1_000, ..Limits::default() };
/// assert_eq!(limits.depth, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Macro calls [default: 100,000].
    pub steps: u64,
    /// Nesting depth of calls [default: 64], at most [`Limits::MAX_DEPTH`].
    pub depth: usize,
    /// Bytes written by macros to texts, arguments, and variables [default: 8 MiB]. Excludes bytes copied
    /// from a template.
    pub output_bytes: usize,
    /// Local and global variables [default: 4,096].
    pub variables: usize,
    /// Bytes in names and values of all variables [default: 8 MiB].
    pub variable_bytes: usize,
}

impl Limits {
    /// Maximum nesting depth, chosen for a small stack.
    pub const MAX_DEPTH: usize = 128;
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100_000, depth: 64, output_bytes: 8 << 20, variables: 4096, variable_bytes: 8 << 20 }
    }
}

/// State of a run: variables and remaining limits.
///
/// Texts expanded with the same state share variables, in expansion order. Clone it for a trial run.
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
    /// By scope.
    variables: [BTreeMap<Arc<str>, Variable>; 2],
    variable_bytes: usize,
    /// Count per source key.
    draws: BTreeMap<u64, u64>,
    zone: Option<(Arc<str>, TimeZone)>,
    derived_texts: DerivedTexts,
    given_outlets: BTreeSet<Arc<str>>,
}

/// Set of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Variables of the conversation.
    #[default]
    Local,
    /// Variables of the application.
    Global,
}

#[derive(Clone, Debug)]
struct Variable {
    value: Text,
    /// Result of arithmetic.
    is_number: bool,
    trust: Trust,
}

impl State {
    /// Creates the state of a new run.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps_left: limits.steps,
            output_left: limits.output_bytes,
            variables: Default::default(),
            variable_bytes: 0,
            draws: BTreeMap::new(),
            zone: None,
            derived_texts: DerivedTexts::default(),
            given_outlets: BTreeSet::new(),
        }
    }

    /// Returns the value of a variable.
    pub fn variable(&self, scope: Scope, name: &str) -> Option<&Text> {
        self.set(scope).get(name).map(|variable| &variable.value)
    }

    pub(crate) fn variable_trust(&self, scope: Scope, name: &str) -> Option<Trust> {
        self.set(scope).get(name).map(|variable| variable.trust)
    }

    /// Returns all variables, sorted by name.
    pub fn variables(&self, scope: Scope) -> impl Iterator<Item = (&str, &Text)> {
        self.set(scope).iter().map(|(name, variable)| (&**name, &variable.value))
    }

    /// Returns the variables as JSON, sorted by name. Results of arithmetic are numbers; other values are
    /// strings.
    pub fn variables_json(&self, scope: Scope) -> Map<String, Value> {
        let json = |variable: &Variable| {
            let Variable { value, is_number, .. } = variable;
            if *is_number { number::json(value) } else { Value::from(value.as_str()) }
        };
        self.set(scope).iter().map(|(name, variable)| (name.to_string(), json(variable))).collect()
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// The limit of variables or of their bytes is reached. The variable is unchanged.
    pub fn set_variable(
        &mut self,
        scope: Scope,
        name: &str,
        value: Text,
        trust: Trust,
    ) -> Result<(), Failure> {
        self.put(scope, name, Variable { value, is_number: false, trust })
    }

    /// Sets a variable to a number, formatted as in JavaScript.
    ///
    /// # Errors
    /// As for [`State::set_variable`].
    pub fn set_number(&mut self, scope: Scope, name: &str, value: f64, trust: Trust) -> Result<(), Failure> {
        let value = Text::from(number::write(value));
        self.put(scope, name, Variable { value, is_number: true, trust })
    }

    pub(crate) fn remove_variable(&mut self, scope: Scope, name: &str) {
        let removed = self.variables[scope as usize].remove(name);
        self.variable_bytes -= removed.as_ref().map_or(0, |variable| name.len() + variable.value.len());
    }

    fn put(&mut self, scope: Scope, name: &str, variable: Variable) -> Result<(), Failure> {
        let old = self.set(scope).get(name).map(|old| name.len() + old.value.len());
        let bytes = self.variable_bytes - old.unwrap_or(0) + name.len() + variable.value.len();
        if bytes > self.limits.variable_bytes {
            let limit = self.limits.variable_bytes;
            return Err(no_room(phrase!("variables exceed {limit} bytes", limit)));
        }
        if old.is_none() && self.variables.iter().map(BTreeMap::len).sum::<usize>() >= self.limits.variables {
            let limit = self.limits.variables;
            return Err(no_room(phrase!("more than {limit} variables", limit)));
        }
        self.variable_bytes = bytes;
        self.variables[scope as usize].insert(Arc::from(name), variable);
        Ok(())
    }

    const fn set(&self, scope: Scope) -> &BTreeMap<Arc<str>, Variable> {
        &self.variables[scope as usize]
    }

    pub(crate) fn next_draw(&mut self, source: u64) -> u64 {
        let next = self.draws.entry(source).or_insert(0);
        *next += 1;
        *next - 1
    }

    /// Returns the remaining macro calls.
    pub const fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Returns the remaining bytes that macros may write.
    pub const fn output_left(&self) -> usize {
        self.output_left
    }

    /// A call that is not nested has depth 1.
    #[inline]
    pub(crate) fn take_step(&mut self, depth: usize) -> Result<(), Failure> {
        let deepest = self.limits.depth.min(Limits::MAX_DEPTH);
        if depth > deepest {
            let message = phrase!("macros are nested deeper than {deepest} levels", deepest);
            return Err(Failure::limit(codes::DEPTH_LIMIT, message));
        }
        self.take_steps(1)
    }

    #[inline]
    pub(crate) fn take_steps(&mut self, steps: u64) -> Result<(), Failure> {
        let Some(left) = self.steps_left.checked_sub(steps) else {
            let message = phrase!("more than {steps} macro calls in one run", steps = self.limits.steps);
            return Err(Failure::limit(codes::STEP_LIMIT, message));
        };
        self.steps_left = left;
        Ok(())
    }

    #[inline]
    pub(crate) fn check_output(&self, bytes: usize) -> Result<(), Failure> {
        if bytes <= self.output_left {
            return Ok(());
        }
        let message =
            phrase!("macros write more than {bytes} bytes in one run", bytes = self.limits.output_bytes);
        Err(Failure::limit(codes::OUTPUT_LIMIT, message))
    }

    #[inline]
    pub(crate) fn take_output(&mut self, bytes: usize) -> Result<(), Failure> {
        self.check_output(bytes)?;
        self.output_left -= bytes;
        Ok(())
    }

    /// Returns whether a macro inserted the text of an outlet.
    pub fn has_given_outlet(&self, name: &str) -> bool {
        self.given_outlets.contains(name)
    }

    pub(crate) fn give_outlet(&mut self, name: &Arc<str>) {
        self.given_outlets.insert(name.clone());
    }

    pub(crate) const fn derived_texts(&mut self) -> &mut DerivedTexts {
        &mut self.derived_texts
    }

    pub(crate) fn known_zone(&self, name: &str) -> Option<TimeZone> {
        let (known, zone) = self.zone.as_ref()?;
        (**known == *name).then(|| zone.clone())
    }

    pub(crate) fn remember_zone(&mut self, name: Arc<str>, zone: TimeZone) {
        self.zone = Some((name, zone));
    }
}

/// Fails one call only; others may need less.
fn no_room(message: Phrase) -> Failure {
    Failure::error(codes::VARIABLE_LIMIT, message)
}
