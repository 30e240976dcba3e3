//! A compiled text.

use std::sync::{Arc, OnceLock};

use ctx_types::{Diagnostic, Source, Span, Text};

use crate::definition::Definition;
use crate::dialect::Dialect;
use crate::env::Env;
use crate::expansion::Expansion;
use crate::registry::Registry;
use crate::state::State;
use crate::tree::{self, CallNode, Node, Target};
use crate::{escape, evaluate, parse, string_hash};

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
    compiled: Arc<Compiled>,
    registry: Registry,
}

#[derive(Debug)]
struct Compiled {
    nodes: Vec<Node>,
    diagnostics: Vec<Diagnostic>,
    /// The result has to be looked at for escapes.
    has_escapes: bool,
    /// SillyTavern's hash of the text, made when it is asked for first.
    hash: OnceLock<u64>,
}

/// A call that a template makes when it is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroUse<'t> {
    /// The name of the macro, not an alias; of `{{.name}}` and its like the name of the variable.
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
        let (nodes, diagnostics) = parse::parse(text, dialect, registry);
        let has_escapes = dialect.syntax().unescapes_at_the_end && escape::is_in(text);
        let compiled = Compiled { nodes, diagnostics, has_escapes, hash: OnceLock::new() };
        Self { text: text.clone(), dialect, compiled: Arc::new(compiled), registry: registry.clone() }
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
        &self.compiled.diagnostics
    }

    /// Returns whether every expansion is the very text, shared and not copied.
    pub fn is_plain(&self) -> bool {
        match *self.compiled.nodes {
            [] => self.text.is_empty(),
            [Node::Text(span)] => span.len() == self.text.len() && !self.compiled.has_escapes,
            _ => false,
        }
    }

    /// Returns the calls in the order of their opening braces, the ones in arguments too.
    pub fn macros(&self) -> impl Iterator<Item = MacroUse<'_>> {
        let mut calls = Vec::new();
        tree::list_calls(self.nodes(), &mut calls);
        calls.into_iter().filter_map(|call| self.macro_use(call))
    }

    pub(crate) fn macro_use(&self, call: &CallNode) -> Option<MacroUse<'_>> {
        let span = call.span;
        match call.target {
            Target::Macro(definition) | Target::If { definition, .. } => {
                let Definition { name, volatile, changes_state, .. } =
                    self.registry.definition(definition)?;
                Some(MacroUse { name, span, volatile: *volatile, changes_state: *changes_state })
            }
            Target::Variable(access) => {
                let name = self.text.get(access.name.start..access.name.end)?;
                let changes_state = access.operator.changes_state();
                Some(MacroUse { name, span, volatile: false, changes_state })
            }
            Target::TooDeep => None,
        }
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

    /// Returns how many bytes an expansion usually has, with some to spare.
    pub(crate) fn usual_len(&self) -> usize {
        self.text.len() + self.text.len() / 8
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.compiled.nodes
    }

    pub(crate) const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn has_escapes(&self) -> bool {
        self.compiled.has_escapes
    }

    /// Returns SillyTavern's hash of the text.
    pub(crate) fn hash(&self) -> u64 {
        *self.compiled.hash.get_or_init(|| string_hash::of(&self.text))
    }
}
