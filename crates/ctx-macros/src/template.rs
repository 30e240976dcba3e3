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

/// Text with parsed, checked, and resolved macro calls.
///
/// Compilation is linear in the text. Expansion does no name lookups. Clones share everything.
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
    compiled: Arc<CompiledTemplate>,
    registry: Registry,
}

#[derive(Debug)]
struct CompiledTemplate {
    nodes: Vec<Node>,
    diagnostics: Vec<Diagnostic>,
    has_escapes: bool,
    hash: OnceLock<u64>,
}

/// Macro call in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroUse<'t> {
    /// Main name of the macro; for a shorthand such as `{{.name}}`, name of the variable.
    pub name: &'t str,
    /// Span of the call, including braces.
    pub span: Span,
    /// Whether the value can change between turns.
    pub volatile: bool,
}

impl Template {
    /// Compiles a text with the macros of a registry.
    pub fn parse(text: &Text, dialect: Dialect, registry: &Registry) -> Self {
        let (nodes, diagnostics) = parse::parse(text, dialect, registry);
        let has_escapes = dialect.is_sillytavern() && escape::is_in(text);
        let compiled = CompiledTemplate { nodes, diagnostics, has_escapes, hash: OnceLock::new() };
        Self { text: text.clone(), dialect, compiled: Arc::new(compiled), registry: registry.clone() }
    }

    /// Returns the source text.
    pub const fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the macro syntax.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the diagnostics of the compilation, such as unknown macros, wrong numbers of arguments, and
    /// unclosed calls. Expansion does not repeat them.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.compiled.diagnostics
    }

    /// Returns whether every expansion equals the source text, which is then shared.
    pub fn is_plain(&self) -> bool {
        match *self.compiled.nodes {
            [] => self.text.is_empty(),
            [Node::Text(span)] => span.len() == self.text.len() && !self.compiled.has_escapes,
            _ => false,
        }
    }

    /// Returns all calls, including nested ones, in the order of their opening braces.
    pub fn macros(&self) -> impl Iterator<Item = MacroUse<'_>> {
        let mut calls = Vec::new();
        tree::list_calls(self.nodes(), &mut calls);
        calls.into_iter().filter_map(|call| self.macro_use(call))
    }

    pub(crate) fn macro_use(&self, call: &CallNode) -> Option<MacroUse<'_>> {
        let span = call.span;
        match call.target {
            Target::Macro(definition) | Target::If { definition, .. } => {
                let Definition { name, volatile, .. } = self.registry.definition(definition);
                Some(MacroUse { name, span, volatile: *volatile })
            }
            Target::Variable(access) => {
                let name = &self.text[access.name.start..access.name.end];
                Some(MacroUse { name, span, volatile: false })
            }
            Target::TooDeep => None,
        }
    }

    /// Evaluates the calls from left to right.
    ///
    /// `origin` is the source of the text. The result contains only diagnostics of the evaluation; see
    /// [`Template::diagnostics`] for the others. Deterministic for equal arguments and state.
    pub fn expand(&self, env: &Env, state: &mut State, origin: &Source) -> Expansion {
        if self.is_plain() {
            return Expansion::plain(self.text.clone());
        }
        evaluate::evaluate(self, env, state, origin)
    }

    /// In bytes, with a reserve.
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

    /// SillyTavern's hash.
    pub(crate) fn hash(&self) -> u64 {
        *self.compiled.hash.get_or_init(|| string_hash::hash_text(&self.text))
    }
}
