//! What a run carries from text to text: variables, and what is left of its limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::{Diagnostic, Text, Trust};
use jiff::tz::TimeZone;

use crate::call::Failure;
use crate::codes;

/// How much one run may do; reaching a limit leaves the rest of a text as it is written.
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
    /// Variables; 4,096 by default.
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
/// use ctx_macros::{Limits, State};
/// use ctx_types::{Text, Trust};
///
/// let mut state = State::new(Limits::default());
/// state.set_variable("hp", Text::from("12"), Trust::User).unwrap();
/// assert_eq!(state.variable("hp").map(Text::as_str), Some("12"));
/// ```
#[derive(Clone, Debug)]
pub struct State {
    limits: Limits,
    steps_left: u64,
    output_left: usize,
    variables: BTreeMap<Arc<str>, Variable>,
    variable_bytes: usize,
    zone: Option<(Arc<str>, TimeZone)>,
}

#[derive(Clone, Debug)]
struct Variable {
    value: Text,
    trust: Trust,
}

impl State {
    /// Creates the state of a run that has done nothing yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps_left: limits.steps,
            output_left: limits.output_bytes,
            variables: BTreeMap::new(),
            variable_bytes: 0,
            zone: None,
        }
    }

    /// Returns the value of a variable.
    pub fn variable(&self, name: &str) -> Option<&Text> {
        self.variables.get(name).map(|variable| &variable.value)
    }

    /// Returns how far the value of a variable may be trusted.
    pub fn variable_trust(&self, name: &str) -> Option<Trust> {
        self.variables.get(name).map(|variable| variable.trust)
    }

    /// Returns the names and values of all variables, sorted by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.variables.iter().map(|(name, variable)| (&**name, &variable.value))
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// The run has as many variables, or bytes in them, as it may; then nothing is changed.
    pub fn set_variable(&mut self, name: &str, value: Text, trust: Trust) -> Result<(), Failure> {
        let old = self.variables.get(name).map(|variable| name.len() + variable.value.len());
        let bytes = self.variable_bytes - old.unwrap_or(0) + name.len() + value.len();
        if bytes > self.limits.variable_bytes {
            let limit = self.limits.variable_bytes;
            return Err(limit_reached(format!("variables would hold more than {limit} bytes")));
        }
        if old.is_none() && self.variables.len() >= self.limits.variables {
            let limit = self.limits.variables;
            return Err(limit_reached(format!("there would be more than {limit} variables")));
        }
        self.variable_bytes = bytes;
        let variable = Variable { value, trust };
        match self.variables.get_mut(name) {
            Some(known) => *known = variable,
            None => {
                self.variables.insert(Arc::from(name), variable);
            }
        }
        Ok(())
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
    pub(crate) fn take_step(&mut self, depth: usize) -> Result<(), Box<Diagnostic>> {
        let deepest = self.limits.depth.min(Limits::MAX_DEPTH);
        if depth > deepest {
            let message = format!("macros are nested more than {deepest} deep");
            return Err(Box::new(Diagnostic::error(codes::DEPTH_LIMIT, message)));
        }
        let Some(left) = self.steps_left.checked_sub(1) else {
            let message = format!("more than {} macro calls in one run", self.limits.steps);
            return Err(Box::new(Diagnostic::error(codes::STEP_LIMIT, message)));
        };
        self.steps_left = left;
        Ok(())
    }

    /// Takes bytes that a macro writes from what is left.
    pub(crate) fn take_output(&mut self, bytes: usize) -> Result<(), Box<Diagnostic>> {
        let Some(left) = self.output_left.checked_sub(bytes) else {
            let message = format!("macros of one run write more than {} bytes", self.limits.output_bytes);
            return Err(Box::new(Diagnostic::error(codes::OUTPUT_LIMIT, message)));
        };
        self.output_left = left;
        Ok(())
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

fn limit_reached(message: String) -> Failure {
    Failure::limit(Box::new(Diagnostic::error(codes::VARIABLE_LIMIT, message)))
}
