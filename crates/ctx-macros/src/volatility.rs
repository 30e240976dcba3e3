//! Which calls of a text may give something else in the next turn, also because of what was written into the
//! variables that they read.
//!
//! Variables live for one run, so a counter counts the same in each turn; a variable differs only where what was
//! written into it last does. What no run ever evaluates, as a branch of `{{if 0}}`, differs in none.

use std::collections::BTreeSet;

use ctx_types::{Span, space};

use crate::evaluate::is_true;
use crate::state::Scope;
use crate::template::{MacroUse, Template};
use crate::tree::{CallNode, Node, Operator, Target};

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
    /// The macros that show a text which differs.
    macros: BTreeSet<String>,
}

/// A call with the variable that it is about.
struct Use<'t> {
    call: MacroUse<'t>,
    variable: Option<(Scope, &'t str)>,
    /// It writes its value into the text, and not only into a variable.
    is_shown: bool,
    /// What it sets takes the place of what the variable held, in every run.
    replaces: bool,
}

impl VolatileVariables {
    /// Reports that a macro, by its name and not an alias, shows a text that differs from turn to turn, as the text of a
    /// card does that holds the time.
    pub fn add_macro(&mut self, name: &str) {
        self.macros.insert(name.to_owned());
    }

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
    /// Branches that are never taken count for nothing.
    /// To be asked for texts in the order in which they are expanded, with the same `variables`. A variable whose
    /// name is made by a macro is not followed. O(bytes of the text), for calls that are not nested.
    pub fn volatile_macros(&self, variables: &mut VolatileVariables) -> Vec<MacroUse<'_>> {
        let uses: Vec<Use<'_>> = self.uses();
        shown(&uses, variables)
    }

    fn uses(&self) -> Vec<Use<'_>> {
        let mut uses = Vec::new();
        self.collect(self.nodes(), true, &mut uses);
        uses
    }

    /// Adds the calls that some run evaluates; `is_sure` where every run does.
    fn collect<'t>(&'t self, nodes: &'t [Node], is_sure: bool, uses: &mut Vec<Use<'t>>) {
        for node in nodes {
            let Node::Call(call) = node else { continue };
            uses.extend(self.macro_use(call).map(|used| self.used(call, used, is_sure)));
            for (index, argument) in call.arguments.iter().enumerate() {
                match self.is_evaluated(call, index) {
                    Some(true) => self.collect(&argument.nodes, is_sure, uses),
                    Some(false) => {}
                    None => self.collect(&argument.nodes, false, uses),
                }
            }
        }
    }

    /// Returns whether the argument of a call is evaluated where the call is; none where that depends.
    fn is_evaluated(&self, call: &CallNode, index: usize) -> Option<bool> {
        match call.target {
            Target::If { negated, .. } if index > 0 => {
                let condition = match call.arguments.first()?.nodes.as_slice() {
                    [] => "",
                    [Node::Text(span)] => self.text().get(span.start..span.end)?,
                    _ => return None,
                };
                Some((is_true(condition) != negated) == (index == 1))
            }
            Target::Variable(access) if access.operator.may_skip_value() => None,
            _ => Some(true),
        }
    }

    fn used<'t>(&'t self, node: &CallNode, call: MacroUse<'t>, is_sure: bool) -> Use<'t> {
        let used = Use { call, variable: None, is_shown: true, replaces: false };
        match node.target {
            Target::Variable(access) => Use {
                variable: Some((access.scope, call.name)),
                is_shown: !matches!(access.operator, Operator::Set | Operator::Add | Operator::Subtract),
                replaces: is_sure && access.operator == Operator::Set,
                ..used
            },
            Target::Macro(definition) => {
                let Some(known) = self.registry().definition(definition) else { return used };
                let scope = known.variables;
                Use {
                    variable: scope.and_then(|scope| Some((scope, self.first_argument(node)?))),
                    is_shown: known.is_shown(),
                    replaces: is_sure && known.replaces,
                    ..used
                }
            }
            Target::If { .. } | Target::TooDeep => used,
        }
    }

    /// Returns the first argument of a call if no macro is in it.
    fn first_argument(&self, call: &CallNode) -> Option<&str> {
        let slice = |span: Span| self.text().get(span.start..span.end);
        let argument = match call.arguments.first() {
            Some(argument) => slice(argument.span)?,
            None => slice(call.span)?.split("::").nth(1)?.trim_end_matches("}}"),
        };
        let argument = space::trim(argument);
        (!argument.contains("{{")).then_some(argument)
    }
}

/// A call that is being read, and whether what it writes into its variable differs.
struct Open<'u, 't> {
    used: &'u Use<'t>,
    differs: bool,
}

impl Open<'_, '_> {
    fn close(self, variables: &mut VolatileVariables) {
        let Some((scope, name)) = self.used.variable.filter(|_| self.used.call.changes_state) else { return };
        if self.differs {
            variables.set(scope).insert(name.to_owned());
        } else if self.used.replaces {
            variables.set(scope).remove(name);
        }
    }
}

/// Goes through the calls of a text, in which those in arguments come after the call that has them. Records the
/// variables that they set.
fn shown<'t>(uses: &[Use<'t>], variables: &mut VolatileVariables) -> Vec<MacroUse<'t>> {
    let mut found = Vec::new();
    let mut open: Vec<Open<'_, 't>> = Vec::new();
    for used in uses {
        let Use { call, variable, is_shown, .. } = used;
        while let Some(outer) = open.pop_if(|outer| outer.used.call.span.end <= call.span.start) {
            outer.close(variables);
        }
        let reads = variable.is_some_and(|variable| *is_shown && variables.has(variable));
        if call.volatile || reads || variables.macros.contains(call.name) {
            for outer in &mut open {
                outer.differs = true;
            }
            if open.iter().all(|outer| outer.used.is_shown) {
                found.push(*call);
            }
        }
        if call.changes_state && variable.is_some() {
            open.push(Open { used, differs: false });
        }
    }
    while let Some(outer) = open.pop() {
        outer.close(variables);
    }
    found
}

#[cfg(test)]
mod tests {
    use ctx_types::Text;

    use super::*;
    use crate::dialect::Dialect;
    use crate::registry::Registry;

    /// Checks which calls are found in texts that are expanded one after the other.
    #[track_caller]
    fn check(dialect: Dialect, texts: &[&str], expected: &[&str]) {
        let (registry, mut variables) = (Registry::builtin(), VolatileVariables::default());
        let mut found = Vec::new();
        for text in texts {
            let template = Template::parse(&Text::from(*text), dialect, &registry);
            found.extend(template.volatile_macros(&mut variables).iter().map(|used| used.name.to_owned()));
        }
        assert_eq!(found, expected, "{texts:?}");
    }

    #[test]
    fn branches_that_are_never_taken_count_for_nothing() {
        let check = |text: &str, expected: &[&str]| check(Dialect::SillyTavern, &[text], expected);
        check("{{if 0}}{{time}}{{/if}}", &[]);
        check("{{if 1}}a{{else}}{{time}}{{/if}}{{if::off::{{date}}}}", &[]);
        check("{{if !1}}{{time}}{{else}}{{if 0}}{{date}}{{/if}}{{/if}}", &[]);
        check("{{if 1}}{{time}}{{else}}{{date}}{{/if}}", &["time"]);
        check("{{if description}}{{date}}{{/if}}", &["date"]);
        check("{{if 0}}{{setvar::a::{{time}}}}{{/if}}{{getvar::a}}", &[]);
    }

    #[test]
    fn what_is_written_last_into_a_variable_counts() {
        let stable = "{{setvar::a::x}}";
        let volatile = "{{setvar::a::{{time}}}}";
        for dialect in [Dialect::Aio, Dialect::SillyTavern] {
            check(dialect, &[volatile, stable, "{{getvar::a}}"], &[]);
            check(dialect, &[volatile, "{{getvar::a}}", stable, "{{getvar::a}}"], &["getvar"]);
            check(dialect, &[stable, volatile, "{{getvar::a}}"], &["getvar"]);
            check(dialect, &[volatile, "{{addvar::a::x}}", "{{getvar::a}}"], &["getvar"]);
            check(dialect, &[volatile, "{{setvar::b::{{getvar::a}}}}", stable, "{{getvar::b}}"], &["getvar"]);
            check(dialect, &[volatile, "{{setvar::a::{{getvar::a}}}}", "{{getvar::a}}"], &["getvar"]);
        }
        let check = |texts: &[&str], expected: &[&str]| check(Dialect::SillyTavern, texts, expected);
        check(&["{{.a = {{time}}}}{{.a = 1}}{{.a}}"], &[]);
        check(&["{{.a = {{time}}}}{{if description}}{{.a = 1}}{{/if}}{{.a}}"], &["a"]);
        check(&["{{.a = {{time}}}}{{.b ?? {{.a = 1}}}}{{.a}}"], &["a"]);
        check(&["{{.a = {{time}}}}{{deletevar::a}}{{.a}}"], &[]);
    }

    #[test]
    fn comments_show_nothing() {
        check(Dialect::SillyTavern, &["{{// {{time}} }}{{//}}{{date}}{{///}}"], &["date"]);
    }

    #[test]
    fn macros_that_show_other_texts_can_be_added() {
        let mut variables = VolatileVariables::default();
        variables.add_macro("charDescription");
        let text = Text::from("{{description}} {{personality}}");
        let template = Template::parse(&text, Dialect::SillyTavern, &Registry::builtin());
        let found = template.volatile_macros(&mut variables);
        assert_eq!(found.iter().map(|used| used.span.start).collect::<Vec<_>>(), [0]);
    }
}
