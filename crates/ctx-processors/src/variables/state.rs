use std::sync::Arc;

use ctx_types::internal::{excerpt, pointer_step};
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Content, ContentPart, Diagnostic, Phrase, Role, Source, Trust, phrase};
use indexmap::IndexMap;

use crate::codes;
use crate::variables::definitions::{MAX_VALUE, VariableDefinitions};
use crate::variables::tag::{Change, Op, tags};
use crate::variables::value::VariableValue;

/// Includes defined variables.
const MAX_VARIABLES: usize = 2_000;

const MAX_BYTES: usize = 1 << 20;

/// Further diagnostics are only counted.
const MAX_FINDINGS: usize = 16;

/// Session variables at a point of the conversation. A clone is O(1).
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    state: Arc<State>,
    /// Newest message that changed a value.
    pub(crate) changed_by: Option<NodeId>,
}

#[derive(Clone, Debug, PartialEq)]
struct State {
    values: IndexMap<Arc<str>, StoredValue>,
    bytes: usize,
    findings: Vec<Diagnostic>,
    left_out: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct StoredValue {
    value: VariableValue,
    /// Approximate size in bytes.
    size: usize,
    /// Lowest trust of all contributors.
    trust: Trust,
}

impl StoredValue {
    fn new(value: VariableValue, trust: Trust) -> Self {
        Self { size: value.size(), value, trust }
    }
}

impl Variables {
    /// Returns the initial values.
    pub fn initial(definitions: &VariableDefinitions) -> Self {
        let held = |value: &VariableValue| StoredValue::new(value.clone(), Trust::Preset);
        let values: IndexMap<_, _> =
            definitions.iter().map(|one| (one.path.clone(), held(&one.initial))).collect();
        let bytes = values.iter().map(|(path, held)| path.len() + held.size).sum();
        let state = State { values, bytes, findings: Vec::new(), left_out: 0 };
        Self { state: Arc::new(state), changed_by: None }
    }

    /// Returns the values at the end of the active branch.
    ///
    /// Reads messages of users, agents, and instructions, even if a summary hides them. Ignores disabled
    /// messages, tool results, and summaries. The session caches results: a later call costs O(new messages).
    pub fn from_session(session: &Session, definitions: &VariableDefinitions) -> Self {
        let start = || Self::initial(definitions);
        let step = |variables: &mut Self, id: &NodeId, node: &Node| variables.fold(definitions, id, node);
        Self::clone(&session.fold_path(definitions.fingerprint, start, step))
    }

    /// Returns the value of a variable.
    pub fn get(&self, path: &str) -> Option<&VariableValue> {
        self.state.values.get(path).map(|held| &held.value)
    }

    /// Returns names and values: defined variables first, then others in the order of their first change.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &VariableValue)> {
        self.state.values.iter().map(|(path, held)| (&**path, &held.value))
    }

    /// Splits a path into a variable and a path inside its JSON value.
    ///
    /// Uses the longest existing name that is a prefix of the path, if its value has parts. Otherwise, the
    /// path is a name.
    pub(crate) fn split_path<'p>(&self, path: &'p str) -> (&'p str, Option<&'p str>) {
        let mut names = std::iter::successors(Some(path), |name| Some(name.rsplit_once('.')?.0));
        let found = names.find_map(|name| Some((name, self.get(name)?)));
        match found {
            Some((name, value)) if name.len() < path.len() && value.has_parts() => {
                (name, path.get(name.len() + 1..))
            }
            _ => (path, None),
        }
    }

    pub(crate) fn trust(&self, path: &str) -> Option<Trust> {
        self.state.values.get(path).map(|held| held.trust)
    }

    /// Returns diagnostics for invalid tags, in message order.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let State { findings, left_out, .. } = &*self.state;
        let more =
            (*left_out > 0).then(|| Diagnostic::more(*left_out, phrase!("variables of this conversation")));
        findings.iter().cloned().chain(more).collect()
    }

    fn fold(&mut self, definitions: &VariableDefinitions, id: &NodeId, node: &Node) {
        let role = node.role.unwrap_or_default();
        if !node.is_enabled() || node.is_summary() || role == Role::Tool {
            return;
        }
        let Some(content) = &node.content else { return };
        let source = Source::history(id.clone(), role);
        let pointer = || format!("/nodes/{}/content", pointer_step(id));
        if self.read(definitions, content, source.trust, &pointer) {
            self.changed_by = Some(id.clone());
        }
    }

    /// Runs the tags of a message, and returns whether a value changed. O(text).
    pub(crate) fn read(
        &mut self,
        definitions: &VariableDefinitions,
        content: &Content,
        trust: Trust,
        pointer: &dyn Fn() -> String,
    ) -> bool {
        match content {
            Content::Text(text) => self.read_text(definitions, text, trust, pointer),
            Content::Parts(parts) => {
                let mut changed = false;
                for (index, part) in parts.iter().enumerate() {
                    if let ContentPart::Text(text) = part {
                        let pointer = || format!("{}/{index}/text", pointer());
                        changed |= self.read_text(definitions, text, trust, &pointer);
                    }
                }
                changed
            }
        }
    }

    fn read_text(
        &mut self,
        definitions: &VariableDefinitions,
        text: &str,
        trust: Trust,
        pointer: &dyn Fn() -> String,
    ) -> bool {
        let mut changed = false;
        for tag in tags(text) {
            match tag.change.and_then(|change| self.apply(definitions, &change, trust)) {
                Ok(is_change) => changed |= is_change,
                Err(problem) => self.find(|| {
                    Diagnostic::warning(codes::VARIABLE_CHANGE, problem)
                        .at_pointer(pointer())
                        .at_span(tag.span)
                }),
            }
        }
        changed
    }

    fn apply(
        &mut self,
        definitions: &VariableDefinitions,
        change: &Change<'_>,
        trust: Trust,
    ) -> Result<bool, Phrase> {
        let path = match self.split_path(&change.path) {
            (name, Some(inner)) => return self.apply_inside(name, inner, change, trust),
            (path, None) => path,
        };
        let old = self.state.values.get(path);
        let mut value = outcome(change, old.map(|held| &held.value))?;
        if let Some(definition) = definitions.get(path) {
            value = definition.clamp(value);
        }
        let trust = match (change.op, old) {
            (Op::Set, _) | (_, None) => trust,
            (_, Some(held)) => held.trust.max(trust),
        };
        let held = StoredValue::new(value, trust);
        if old == Some(&held) {
            return Ok(false);
        }
        let is_change = old.map(|old| &old.value) != Some(&held.value);
        self.put(path, held)?;
        Ok(is_change)
    }

    fn apply_inside(
        &mut self,
        name: &str,
        inner: &str,
        change: &Change<'_>,
        trust: Trust,
    ) -> Result<bool, Phrase> {
        let Some(held) = self.state.values.get(name) else { return Ok(false) };
        let old = held.value.json_at(inner);
        let counted = old.filter(|old| !old.is_array() && !old.is_object()).map(VariableValue::from_json);
        let new = outcome(change, counted.as_ref())?.to_json();
        let trust = held.trust.max(trust);
        if old == Some(&new) && trust == held.trust {
            return Ok(false);
        }
        let added = new.to_string().len() + old.map_or(inner.len() + "\"\":,".len(), |_| 0);
        let size = (held.size + added).saturating_sub(old.map_or(0, |old| old.to_string().len()));
        let bytes = self.check_size(name, size)?;
        let state = Arc::make_mut(&mut self.state);
        let Some(held) = state.values.get_mut(name) else { return Ok(false) };
        if !held.value.set_at(inner, new) {
            return Err(phrase!(
                "the variable `{name}` has no field `{inner}`",
                inner = excerpt(inner),
                name
            ));
        }
        (held.size, held.trust, state.bytes) = (size, trust, bytes);
        Ok(true)
    }

    fn put(&mut self, path: &str, held: StoredValue) -> Result<(), Phrase> {
        let bytes = self.check_size(path, held.size)?;
        let state = Arc::make_mut(&mut self.state);
        state.bytes = bytes;
        state.values.insert(Arc::from(path), held);
        Ok(())
    }

    /// Fails if a limit is exceeded.
    fn check_size(&self, path: &str, size: usize) -> Result<usize, Phrase> {
        let old = self.state.values.get(path).map(|old| path.len() + old.size);
        let bytes = self.state.bytes - old.unwrap_or(0) + path.len() + size;
        if size > MAX_VALUE {
            return Err(phrase!(
                "the new value of `{path}` exceeds {limit} bytes; it is not set",
                path,
                limit = MAX_VALUE
            ));
        }
        if bytes > MAX_BYTES || (old.is_none() && self.state.values.len() >= MAX_VARIABLES) {
            return Err(phrase!("too many or too large variables; `{path}` is not set", path));
        }
        Ok(bytes)
    }

    fn find(&mut self, finding: impl FnOnce() -> Diagnostic) {
        let state = Arc::make_mut(&mut self.state);
        if state.findings.len() < MAX_FINDINGS {
            state.findings.push(finding());
        } else {
            state.left_out += 1;
        }
    }
}

/// Returns the new value, before bounds.
///
/// In arithmetic, an old value that is not a number is 0. An operand that is not a number and an infinite
/// result are errors.
fn outcome(change: &Change<'_>, old: Option<&VariableValue>) -> Result<VariableValue, Phrase> {
    let operand = VariableValue::parse(&change.value);
    if change.op == Op::Set {
        return Ok(operand);
    }
    let path = &change.path;
    let Some(operand) = operand.as_number() else {
        let value = excerpt(&change.value);
        return Err(phrase!("`<svar>` changes `{path}` by `{value}`, which is not a number", path, value));
    };
    let old = old.and_then(VariableValue::as_number).unwrap_or(0.0);
    let new = match change.op {
        Op::Set => operand,
        Op::Add => old + operand,
        Op::Subtract => old - operand,
        Op::Multiply => old * operand,
        Op::Divide => old / operand,
    };
    if new.is_finite() {
        Ok(VariableValue::Number(new))
    } else if operand == 0.0 {
        Err(phrase!("`<svar>` divides `{path}` by zero", path))
    } else {
        Err(phrase!("`<svar>` makes `{path}` overflow", path))
    }
}

#[cfg(test)]
mod tests {
    use ctx_compress::mask::Language;
    use serde_json::json;

    use super::*;

    /// Writes values as `name=value`.
    #[track_caller]
    fn check(texts: &[&str], expected: &str, findings: &[&str]) {
        let config = json!({ "enabled": true, "definitions": [
            { "key": "hp", "initialValue": 10, "min": 0, "max": 20 },
            { "key": "mood", "initialValue": "calm" },
        ] });
        let definitions = VariableDefinitions::read(&config, &mut |_| ()).unwrap();
        let nodes = texts.iter().enumerate();
        let nodes = nodes.map(|(n, text)| Node::new(Role::Assistant, *text).with_id(format!("n{n}")));
        let variables = Variables::from_session(&Session::linear("s", nodes).0, &definitions);
        let shown: Vec<_> =
            variables.iter().map(|(path, value)| format!("{path}={}", value.to_text())).collect();
        assert_eq!(shown.join(" "), expected);
        let found: Vec<_> = variables.findings().iter().map(ToString::to_string).collect();
        assert_eq!(found, findings);
    }

    #[test]
    fn clamps_numbers() {
        check(&["<svar name=hp op=- value=99>"], "hp=0 mood=calm", &[]);
        check(&["<svar name=hp value=99><svar name=hp op=- value=1>"], "hp=19 mood=calm", &[]);
        check(&["<svar name=hp value=dead>"], "hp=dead mood=calm", &[]);
    }

    #[test]
    fn creates_undeclared_variables() {
        check(&["<svar name=金币 op=+ value=5>"], "hp=10 mood=calm 金币=5", &[]);
        check(&["<svar name=bag value='[\"rope\"]'>"], "hp=10 mood=calm bag=[\"rope\"]", &[]);
        check(&["<svar name=mood op=+ value=1>"], "hp=10 mood=1", &[]);
    }

    #[test]
    fn changes_values_at_json_paths() {
        let bag = "<svar name=bag value='{\"n\":1,\"items\":[{\"name\":\"rope\"}]}'>";
        let check = |change: &str, expected: &str, findings: &[&str]| {
            check(&[&format!("{bag}{change}")], &format!("hp=10 mood=calm {expected}"), findings);
        };
        check("<svar name=bag.n op=+ value=2>", "bag={\"n\":3,\"items\":[{\"name\":\"rope\"}]}", &[]);
        check("<svar name=bag.items[0].name value=axe>", "bag={\"n\":1,\"items\":[{\"name\":\"axe\"}]}", &[]);
        check("<svar name=bag.items.1 value=7>", "bag={\"n\":1,\"items\":[{\"name\":\"rope\"},7]}", &[]);
        check(
            "<svar name=bag.items[0].worn value=yes>",
            "bag={\"n\":1,\"items\":[{\"name\":\"rope\",\"worn\":\"yes\"}]}",
            &[],
        );
        check("<svar name=bag value=1><svar name=bag.n value=2>", "bag=1 bag.n=2", &[]);
        let kept = "bag={\"n\":1,\"items\":[{\"name\":\"rope\"}]}";
        for place in ["items.2", "items.x", "n.x", "nothing.x"] {
            let end = bag.len() + place.len() + "<svar name=bag. value=1>".len();
            let at = bag.len();
            let finding = format!(
                "warning[CTX0761]: the variable `bag` has no field `{place}` (at /nodes/n0/content bytes {at}..{end})"
            );
            check(&format!("<svar name=bag.{place} value=1>"), kept, &[&finding]);
        }
    }

    #[test]
    fn resolves_path_equally_for_display_and_change() {
        let shown = |texts: &str, path: &str| {
            let definitions = VariableDefinitions::default();
            let mut variables = Variables::initial(&definitions);
            variables.read(&definitions, &Content::Text(texts.into()), Trust::User, &String::new);
            let references = crate::variables::References {
                definitions: &definitions,
                variables: &variables,
                language: Language::English,
            };
            let text = format!("$[{path}]");
            let found: Vec<_> = references.find_all(&text).collect();
            found.into_iter().next().unwrap().unwrap().text
        };
        for before in [
            "",
            "<svar name=a value=1>",
            "<svar name=a value='{\"b\":[{\"c\":0}]}'>",
            "<svar name=a.b value=[5]>",
        ] {
            for path in ["a", "a.b", "a.b.0", "a.b[0]"] {
                let change = format!("{before}<svar name='{path}' value=new>");
                assert_eq!(shown(&change, path), "new", "{change}");
            }
        }
    }

    #[test]
    fn reports_overflow() {
        let vast = "<svar name=x value=1e300><svar name=x op=* value=1e300>";
        check(
            &[vast],
            "hp=10 mood=calm x=1e+300",
            &["warning[CTX0761]: `<svar>` makes `x` overflow (at /nodes/n0/content bytes 25..55)"],
        );
    }

    #[test]
    fn derives_trust_from_all_contributing_sources() {
        let definitions = VariableDefinitions::default();
        let mut variables = Variables::initial(&definitions);
        let mut read = |text: &str, trust| {
            variables.read(&definitions, &Content::Text(text.into()), trust, &|| String::new());
            variables.trust("a").unwrap()
        };
        assert_eq!(read("<svar name=a value=1>", Trust::User), Trust::User);
        assert_eq!(read("<svar name=a op=+ value=1>", Trust::Model), Trust::Model);
        assert_eq!(read("<svar name=a op=+ value=1>", Trust::User), Trust::Model);
        assert_eq!(read("<svar name=a value=1>", Trust::User), Trust::User);
    }

    #[test]
    fn limits_names_and_bytes() {
        let definitions = VariableDefinitions::default();
        let mut variables = Variables::initial(&definitions);
        let long = "x".repeat(MAX_VALUE + 1);
        let mut read =
            |text: &str| variables.read(&definitions, &Content::Text(text.into()), Trust::User, &String::new);
        assert!(!read(&format!("<svar name=a value={long}>")));
        let full = format!("<svar name=NAME value={}>", &long[1..]);
        let many: String = (0..40).map(|n| full.replace("NAME", &n.to_string())).collect();
        assert!(read(&many));
        let more: Vec<String> = (0..3_000).map(|n| format!("<svar name=n{n} value=1>")).collect();
        read(&more.concat());
        let state = &variables.state;
        assert!(state.bytes <= MAX_BYTES && state.values.len() <= MAX_VARIABLES);
        assert_eq!(state.findings.len(), MAX_FINDINGS);
        assert!(state.left_out > 900);
    }
}
