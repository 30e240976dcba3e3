//! Which calls of a text may give something else in the next turn, also because of what was written into the
//! variables that they read.
//!
//! Variables live for one run, so a counter counts the same in each turn; a variable differs only where what was
//! written into it does.

use std::collections::BTreeSet;

use ctx_types::Span;

use crate::definition::Definition;
use crate::op::{Op, Operator};
use crate::space;
use crate::state::Scope;
use crate::template::{MacroUse, Template};

/// The variables into which the texts of a run wrote what may differ from turn to turn.
///
/// ```
/// use ctx_macros::{Dialect, Registry, Template, VolatileVariables};
/// use ctx_types::Text;
///
/// let parse = |text: &str| Template::parse(&Text::from(text), Dialect::Aio, &Registry::builtin());
/// let mut variables = VolatileVariables::default();
/// assert!(parse("{{setvar::now::{{time}}}}{{setvar::mood::calm}}").volatile_macros(&mut variables).is_empty());
/// let text = parse("{{getvar::mood}} {{getvar::now}}");
/// let found = text.volatile_macros(&mut variables);
/// assert_eq!(found.iter().map(|used| used.span.start).collect::<Vec<_>>(), [17]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct VolatileVariables {
    locals: BTreeSet<String>,
    globals: BTreeSet<String>,
}

/// A call with the variable that it is about.
struct Use<'t> {
    call: MacroUse<'t>,
    variable: Option<(Scope, &'t str)>,
    /// It writes its value into the text, and not only into a variable.
    is_shown: bool,
}

impl VolatileVariables {
    fn set(&mut self, scope: Scope) -> &mut BTreeSet<String> {
        match scope {
            Scope::Local => &mut self.locals,
            Scope::Global => &mut self.globals,
        }
    }

    fn has(&self, (scope, name): (Scope, &str)) -> bool {
        match scope {
            Scope::Local => self.locals.contains(name),
            Scope::Global => self.globals.contains(name),
        }
    }
}

impl Template {
    /// Returns the calls that write something else into the text from turn to turn, in the order of their opening
    /// braces, and takes note of the variables that are set to such values.
    ///
    /// To be asked for texts in the order in which they are expanded, with the same `variables`. A variable whose
    /// name is made by a macro is not followed. O(bytes of the text), for calls that are not nested.
    pub fn volatile_macros(&self, variables: &mut VolatileVariables) -> Vec<MacroUse<'_>> {
        let uses: Vec<Use<'_>> = self.uses();
        if self.dialect().is_in_passes() {
            // There, a variable is read after all of the text was searched for what sets it.
            shown(&uses, variables);
        }
        shown(&uses, variables)
    }

    fn uses(&self) -> Vec<Use<'_>> {
        let calls = self.ops().iter().enumerate().filter(|(_, op)| is_call(op));
        let used = calls.zip(self.macros()).map(|((at, op), call)| self.used(at, op, call));
        used.collect()
    }

    fn used<'t>(&'t self, at: usize, op: &Op, call: MacroUse<'t>) -> Use<'t> {
        match *op {
            Op::Variable { access, .. } => {
                let is_shown = !matches!(access.operator, Operator::Set | Operator::Add | Operator::Subtract);
                Use { variable: Some((access.scope, call.name)), call, is_shown }
            }
            Op::Call { definition, span, .. } => {
                let known = self.registry().definition(definition);
                let scope = known.and_then(|known| known.variables);
                let variable = scope.and_then(|scope| Some((scope, self.first_argument(at, span)?)));
                Use { variable, call, is_shown: known.is_none_or(Definition::is_shown) }
            }
            _ => Use { variable: None, call, is_shown: true },
        }
    }

    /// Returns the first argument of the call at an op if no macro is in it.
    fn first_argument(&self, at: usize, call: Span) -> Option<&str> {
        let slice = |span: Span| self.text().get(span.start..span.end);
        let argument = match self.ops().get(at + 1) {
            Some(Op::Arg { span, .. }) => slice(*span)?,
            _ => slice(call)?.split("::").nth(1)?.trim_end_matches("}}"),
        };
        let argument = space::trim(argument);
        (!argument.contains("{{")).then_some(argument)
    }
}

/// The calls that [`Template::macros`] lists.
const fn is_call(op: &Op) -> bool {
    matches!(op, Op::Call { .. } | Op::If { .. } | Op::Variable { .. })
}

/// Goes through the calls of a text, in whose order those in arguments come behind the call that has them.
fn shown<'t>(uses: &[Use<'t>], variables: &mut VolatileVariables) -> Vec<MacroUse<'t>> {
    let mut found = Vec::new();
    let mut open: Vec<&Use<'t>> = Vec::new();
    for used in uses {
        let Use { call, variable, is_shown } = used;
        while open.last().is_some_and(|outer| outer.call.span.end <= call.span.start) {
            open.pop();
        }
        let reads = variable.is_some_and(|variable| *is_shown && variables.has(variable));
        if call.volatile || reads {
            for (scope, name) in open.iter().filter_map(|outer| outer.variable) {
                variables.set(scope).insert(name.to_owned());
            }
            if open.iter().all(|outer| outer.is_shown) {
                found.push(*call);
            }
        }
        if call.changes_state && variable.is_some() {
            open.push(used);
        }
    }
    found
}
