//! A compiled text.

use std::sync::Arc;

use ctx_types::{Diagnostic, Source, Span, Text};

use crate::definition::Definition;
use crate::dialect::Dialect;
use crate::env::Env;
use crate::evaluate;
use crate::expansion::Expansion;
use crate::op::Op;
use crate::parse;
use crate::registry::Registry;
use crate::state::State;

/// A text whose macro calls are found, checked and bound to their definitions.
///
/// Compiling is linear in the text; expanding looks no name up. Clones share everything.
///
/// ```
/// use ctx_macros::{Dialect, Registry, Template};
/// use ctx_types::Text;
///
/// let text = Text::from("It is {{time}}, {{user}}.");
/// let template = Template::parse(&text, Dialect::Aio, &Registry::builtin());
/// let volatile: Vec<&str> = template.macros().filter(|used| used.volatile).map(|used| used.name).collect();
/// assert_eq!(volatile, ["time"]);
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    text: Text,
    dialect: Dialect,
    ops: Arc<[Op]>,
    definitions: Arc<Vec<Definition>>,
    diagnostics: Arc<[Diagnostic]>,
}

/// A call that a template makes when it is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroUse<'t> {
    /// The name of the macro, not an alias.
    pub name: &'t str,
    /// The call in the text, with its braces.
    pub span: Span,
    /// Whether its value can differ from turn to turn.
    pub volatile: bool,
    /// Whether it changes what later calls give.
    pub changes_state: bool,
}

impl Template {
    /// Compiles a text with the macros of a registry.
    pub fn parse(text: &Text, dialect: Dialect, registry: &Registry) -> Self {
        let (ops, diagnostics) = parse::parse(text, dialect, registry);
        Self {
            text: text.clone(),
            dialect,
            ops: ops.into(),
            definitions: registry.share(),
            diagnostics: diagnostics.into(),
        }
    }

    /// Returns the text that was compiled.
    pub const fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the dialect that it was compiled with.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns what was found when it was compiled: unknown macros, wrong numbers of arguments, calls that
    /// are not closed. Expanding does not repeat them.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Tells whether every expansion is the very text, shared and not copied.
    pub fn is_plain(&self) -> bool {
        match *self.ops {
            [] => self.text.is_empty(),
            [Op::Text { span, .. }] => span.len() == self.text.len(),
            _ => false,
        }
    }

    /// Returns the calls in the order of their opening braces, the ones in arguments too.
    pub fn macros(&self) -> impl Iterator<Item = MacroUse<'_>> {
        self.ops.iter().filter_map(|op| {
            let Op::Call { definition, span, .. } = *op else {
                return None;
            };
            let Definition { name, volatile, changes_state, .. } = self.definitions.get(definition)?;
            Some(MacroUse { name, span, volatile: *volatile, changes_state: *changes_state })
        })
    }

    /// Evaluates the calls from left to right.
    ///
    /// `origin` is the source of the text itself. The result has the findings of this evaluation only, see
    /// [`Template::diagnostics`] for the rest. Equal arguments and an equal state give equal results.
    pub fn expand(&self, env: &Env, state: &mut State, origin: &Source) -> Expansion {
        if self.is_plain() {
            return Expansion::plain(self.text.clone());
        }
        evaluate::evaluate(self, env, state, origin)
    }

    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    pub(crate) const fn definitions(&self) -> &Arc<Vec<Definition>> {
        &self.definitions
    }
}
