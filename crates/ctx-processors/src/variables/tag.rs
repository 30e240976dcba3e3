//! Tags such as `<svar name="hp" op="-" value="5"/>` in messages.

use std::borrow::Cow;

use ctx_types::{Phrase, Span, phrase};
use memchr::memchr_iter;

/// In any case.
const OPENING: &[u8] = b"<svar";

/// Name for all variables.
pub(crate) const ALL: &str = "svars";

/// In bytes.
pub(crate) const MAX_PATH: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tag<'t> {
    pub(crate) span: Span,
    pub(crate) change: Result<Change<'t>, Phrase>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change<'t> {
    pub(crate) path: Cow<'t, str>,
    pub(crate) op: Op,
    pub(crate) value: Cow<'t, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Set,
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// O(text): a tag ends before the next one starts.
pub(crate) fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut starts = starts(text).peekable();
    std::iter::from_fn(move || {
        loop {
            let start = starts.next()?;
            let limit = starts.peek().copied().unwrap_or(text.len());
            if let Some(tag) = read(text, start, limit) {
                return Some(tag);
            }
        }
    })
}

fn starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr_iter(b'<', bytes).filter(|start| {
        let opening = bytes.get(*start..*start + OPENING.len());
        let next = bytes.get(*start + OPENING.len());
        opening.is_some_and(|opening| opening.eq_ignore_ascii_case(OPENING))
            && next.is_some_and(|next| next.is_ascii_whitespace() || matches!(next, b'/' | b'>'))
    })
}

fn read(text: &str, start: usize, limit: usize) -> Option<Tag<'_>> {
    let mut rest = text.get(start + OPENING.len()..limit)?;
    let mut fields = Fields::default();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>').or_else(|| rest.strip_prefix("/>")) {
            return Some(Tag { span: Span::new(start, limit - after.len()), change: fields.finish() });
        }
        let (name, value, after) = attribute(rest)?;
        fields.add(name, value);
        rest = after;
    }
}

/// Splits `name="value"`, `name=value`, or `name` from the rest.
///
/// A bare value ends at white space or `>`. The slash of `/>` is excluded, unless it is the whole value.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |c: char| !c.is_whitespace() && !matches!(c, '=' | '>' | '/' | '<' | '"' | '\'');
    let end = text.find(|c| !is_name(c)).filter(|end| *end > 0)?;
    let (name, rest) = text.split_at(end);
    let Some(value) = rest.trim_start().strip_prefix('=').map(str::trim_start) else {
        return Some((name, "", rest));
    };
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, after) = quoted.split_once(quote)?;
            return Some((name, value, after));
        }
    }
    let end = value.find(|c: char| c.is_whitespace() || c == '>')?;
    let (bare, after) = value.split_at(end);
    match bare.strip_suffix('/').filter(|bare| !bare.is_empty() && after.starts_with('>')) {
        Some(bare) => Some((name, bare, after)),
        None => Some((name, bare, after)),
    }
}

/// The first attribute of each name is used.
#[derive(Default)]
struct Fields<'t> {
    name: Option<&'t str>,
    path: Option<&'t str>,
    op: Option<&'t str>,
    value: Option<&'t str>,
}

impl<'t> Fields<'t> {
    fn add(&mut self, name: &str, value: &'t str) {
        let field = match name.to_ascii_lowercase().as_str() {
            "name" => &mut self.name,
            "path" => &mut self.path,
            "op" => &mut self.op,
            "value" => &mut self.value,
            _ => return,
        };
        field.get_or_insert(value);
    }

    fn finish(self) -> Result<Change<'t>, Phrase> {
        let path = self.name.or(self.path).map(unescape).unwrap_or_default();
        let path = match path {
            Cow::Borrowed(path) => Cow::Borrowed(path.trim()),
            Cow::Owned(path) => Cow::Owned(path.trim().to_owned()),
        };
        if path.is_empty() {
            return Err(phrase!("`<svar>` has no variable name"));
        }
        if path_len(&path) != path.len() || path.len() > MAX_PATH {
            let path = ctx_types::internal::excerpt(&path);
            return Err(phrase!("`<svar>` has the invalid variable name `{path}`", path));
        }
        let path = canonical(path);
        if is_reserved(&path) {
            return Err(phrase!("`<svar>` has the reserved name `{path}`, which means all variables", path));
        }
        let op = match self.op.map(unescape).as_deref().map(str::trim) {
            None | Some("" | "=" | "set") => Op::Set,
            Some("+" | "add") => Op::Add,
            Some("-" | "sub") => Op::Subtract,
            Some("*" | "mul") => Op::Multiply,
            Some("/" | "div") => Op::Divide,
            Some(other) => {
                let other = ctx_types::internal::excerpt(other);
                return Err(phrase!(
                    "`<svar>` for `{path}` has the unknown operation `{other}`",
                    path,
                    other
                ));
            }
        };
        match self.value {
            Some(value) => Ok(Change { path, op, value: unescape(value) }),
            None => Err(phrase!("`<svar>` for `{path}` has no value", path)),
        }
    }
}

/// Checks for a name that `$[…]` can contain.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_PATH && text.chars().all(is_path_char)
}

/// Length of the path at the start of a text, in which `[0]` is the same as `.0`. Stops after `MAX_PATH`
/// bytes.
pub(crate) fn path_len(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()).filter(|_| at <= MAX_PATH) {
        at += match index_len(text.get(at..).unwrap_or_default()) {
            Some(length) if at > 0 => length,
            _ if is_path_char(c) => c.len_utf8(),
            _ => break,
        };
    }
    at
}

fn index_len(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('[')?.bytes().take(MAX_PATH).take_while(u8::is_ascii_digit).count();
    let is_index = digits > 0 && text.as_bytes().get(digits + 1) == Some(&b']');
    is_index.then_some(digits + 2)
}

/// Writes `items[0].name` as `items.0.name`.
pub(crate) fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    if path.contains('[') { Cow::Owned(path.replace('[', ".").replace(']', "")) } else { path }
}

/// Checks for a name of all variables, in any list form, even an unknown one.
pub(crate) fn is_reserved(path: &str) -> bool {
    path.strip_prefix(ALL).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

pub(crate) fn is_path_char(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(c, '[' | ']' | '{' | '}' | '$' | '<' | '>' | '"' | '\'')
}

/// Replaces the 5 named references of XML, and `&#39;`.
fn unescape(text: &str) -> Cow<'_, str> {
    const NAMED: [(&str, char); 6] =
        [("&quot;", '"'), ("&apos;", '\''), ("&#39;", '\''), ("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')];
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let reference = rest.get(before.len()..).unwrap_or_default();
        let named = NAMED.iter().find_map(|(name, c)| Some((*c, reference.strip_prefix(name)?)));
        let (c, after) = named.unwrap_or(('&', after));
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = tags(text)
            .map(|tag| match tag.change {
                Ok(Change { path, op, value }) => format!("{path} {op:?} {value}"),
                Err(problem) => problem.to_string(),
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn accepts_quoted_and_unquoted_attributes() {
        check("<svar name=hp op=- value=5>", &["hp Subtract 5"]);
        check("<svar name=\"hp\" op='+' value=\"5\"/>", &["hp Add 5"]);
        check("<svar\n  path = 'hp'\n  value = 5\n/>", &["hp Set 5"]);
        check("<SVAR Name=hp VALUE=5/>", &["hp Set 5"]);
        check("<svar value=2 op=/ name=hp/>", &["hp Divide 2"]);
        check("<svar value=2 name=hp op=/>", &["hp Divide 2"]);
    }

    #[test]
    fn accepts_any_text_in_quotes() {
        check("<svar name='mood' value='a > b, \"c\" d'/>", &["mood Set a > b, \"c\" d"]);
        check(r#"<svar name="bag" value='{"a": 1}'/>"#, &["bag Set {\"a\": 1}"]);
        check("<svar name=s value=\"&quot;x&quot; &amp;lt; &nope; &\"/>", &["s Set \"x\" &lt; &nope; &"]);
        check("<svar name=\"角色.生命\" value=\"九十\"/>", &["角色.生命 Set 九十"]);
    }

    #[test]
    fn accepts_operations_as_words_and_signs() {
        let ops = ["=", "set", "+", "add", "-", "sub", "*", "mul", "/", "div"];
        let text = format!("<svar name=a op=\"{}\" value=1>", ops.join("\" value=1><svar name=a op=\""));
        let names =
            ["Set", "Set", "Add", "Add", "Subtract", "Subtract", "Multiply", "Multiply", "Divide", "Divide"];
        let expected: Vec<String> = names.iter().map(|name| format!("a {name} 1")).collect();
        check(&text, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn reads_several_tags_in_one_text() {
        check("x <svar name=a value=1/> y<svar name=b value=2> z", &["a Set 1", "b Set 2"]);
        let spans: Vec<_> = tags("x <svar name=a value=1/> y").map(|tag| tag.span).collect();
        assert_eq!(spans, [Span::new(2, 24)]);
    }

    #[test]
    fn ignores_malformed_tags() {
        for text in [
            "</svar>",
            "<svar",
            "<svarx name=a value=1>",
            "svar name=a",
            "< svar name=a value=1>",
            "<svar name=a value=1",
        ] {
            check(text, &[]);
        }
        check("<svar name=\"a value=1> and <svar name=b value=2>", &["b Set 2"]);
        check("<svar name=a value=<svar name=b value=2>", &["b Set 2"]);
    }

    #[test]
    fn reports_incomplete_tags() {
        check("<svar>a<svar/>", &["`<svar>` has no variable name"; 2]);
        check("<svar name=a name=b value='' value=2>", &["a Set "]);
        for name in ["[0]", "a[", "a[x]", "a[0", "a]0["] {
            let problem = format!("`<svar>` has the invalid variable name `{name}`");
            check(&format!("<svar name='{name}' value=1>"), &[&problem]);
        }
    }

    #[test]
    fn reads_bracketed_index_like_dotted_index() {
        check("<svar name='a[0].b' value=1><svar name=a.0[12] value=2>", &["a.0.b Set 1", "a.0.12 Set 2"]);
    }

    #[test]
    fn scans_many_openings_in_linear_time() {
        let text = "<svar a='<svar b=\"".repeat(50_000);
        assert_eq!(tags(&text).count(), 0);
    }
}
