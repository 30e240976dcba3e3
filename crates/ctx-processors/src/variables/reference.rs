//! References such as `$[hp]` in texts.

use std::sync::Arc;

use ctx_compress::mask::Language;
use ctx_types::internal::{closest, excerpt};
use ctx_types::{Diagnostic, Source, SourceKind, Span, Trust, phrase};
use memchr::memmem;

use crate::codes;
use crate::variables::definitions::VariableDefinitions;
use crate::variables::listing::Listing;
use crate::variables::state::Variables;
use crate::variables::tag::{ALL, MAX_PATH, canonical, path_len};

pub(crate) struct References<'a> {
    pub(crate) definitions: &'a VariableDefinitions,
    pub(crate) variables: &'a Variables,
    pub(crate) language: Language,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedReference {
    pub(crate) span: Span,
    pub(crate) text: String,
    pub(crate) source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownReference<'s> {
    pub(crate) span: Span,
    pub(crate) path: &'s str,
}

impl References<'_> {
    pub(crate) fn may_be_in(text: &str) -> bool {
        memmem::find(text.as_bytes(), b"$[").is_some()
    }

    /// O(text + output).
    pub(crate) fn find_all<'s>(
        &'s self,
        text: &'s str,
    ) -> impl Iterator<Item = Result<ResolvedReference, UnknownReference<'s>>> + 's {
        memmem::find_iter(text.as_bytes(), b"$[").filter_map(move |start| {
            let path = path_at(text, start + 2)?;
            let span = Span::new(start, start + path.len() + 3);
            Some(self.show(path, span))
        })
    }

    fn show<'s>(&self, path: &'s str, span: Span) -> Result<ResolvedReference, UnknownReference<'s>> {
        let form = path
            .strip_prefix(ALL)
            .and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix("::") });
        if let Some(listing) = form.and_then(Listing::parse) {
            let text = listing.write(self.variables, self.definitions, self.language);
            let trust = self.variables.iter().filter_map(|(path, _)| self.variables.trust(path)).max();
            return Ok(ResolvedReference { span, text, source: source(ALL, trust) });
        }
        match self.value(&canonical(path.into())) {
            Some((source, text)) => Ok(ResolvedReference { span, text, source }),
            None => Err(UnknownReference { span, path }),
        }
    }

    fn value(&self, path: &str) -> Option<(Source, String)> {
        let (name, inner) = self.variables.split_path(path);
        let value = self.variables.get(name)?;
        let text = match inner {
            None => value.to_text().into_owned(),
            Some(inner) => value.at(inner)?.to_text().into_owned(),
        };
        Some((source(name, self.variables.trust(name)), text))
    }

    /// Suggests a similar name. O(variables).
    pub(crate) fn diagnostic(&self, unknown: UnknownReference<'_>) -> Diagnostic {
        let path = unknown.path;
        let message = phrase!("unknown variable `{name}`", name = excerpt(path));
        let found = Diagnostic::warning(codes::UNKNOWN_VARIABLE, message);
        if path.starts_with(ALL) {
            let forms =
                phrase!("use `svars`, `svars::json`, `svars::table` or `svars::list` for all variables");
            return found.with_help(forms);
        }
        match closest(path, self.variables.iter().map(|(path, _)| path)) {
            Some(name) => found.with_help(phrase!("did you mean `{name}`?", name)),
            None => found,
        }
    }
}

fn path_at(text: &str, start: usize) -> Option<&str> {
    let rest = text.get(start..)?;
    let (path, after) = rest.split_at(path_len(rest));
    ((1..=MAX_PATH).contains(&path.len()) && after.starts_with(']')).then_some(path)
}

fn source(name: &str, trust: Option<Trust>) -> Source {
    Source::new(SourceKind::Variable, trust.unwrap_or(Trust::Preset)).with_id(Arc::<str>::from(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// References without a value stay unchanged and are listed after `?`.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let config = json!({ "enabled": true, "definitions": [
            { "key": "hp", "initialValue": 10 },
            { "key": "角色", "type": "group", "children": [{ "key": "心情", "initialValue": "平静" }] },
            { "key": "bag", "initialValue": { "items": [{ "name": "rope" }] } },
            { "key": "नमस्ते-x:1", "initialValue": "$[hp]" },
        ] });
        let definitions = VariableDefinitions::read(&config, &mut |_| ()).unwrap();
        let variables = Variables::initial(&definitions);
        let references =
            References { definitions: &definitions, variables: &variables, language: Language::English };
        let (mut out, mut from, mut unknown) = (String::new(), 0, String::new());
        for reference in references.find_all(text) {
            match reference {
                Ok(shown) => {
                    out.push_str(&text[from..shown.span.start]);
                    out.push_str(&shown.text);
                    from = shown.span.end;
                }
                Err(one) => {
                    unknown.push_str(" ?");
                    unknown.push_str(&text[one.span.start..one.span.end]);
                }
            }
        }
        assert_eq!(format!("{out}{}{unknown}", &text[from..]), expected, "{text:?}");
    }

    #[test]
    fn accepts_names_in_any_script() {
        check("HP=$[hp], $[角色.心情]; $[नमस्ते-x:1]", "HP=10, 平静; $[hp]");
        check("$[hp]$[hp]", "1010");
    }

    #[test]
    fn follows_paths_into_json() {
        check("$[bag.items.0.name] $[bag]", "rope {\"items\":[{\"name\":\"rope\"}]}");
        check("$[bag.items.7]", "$[bag.items.7] ?$[bag.items.7]");
        check("$[bag.items[0].name] $[bag.items[0]]", "rope {\"name\":\"rope\"}");
        check("$[bag.items[7]]", "$[bag.items[7]] ?$[bag.items[7]]");
        check("$[bag[x]] $[bag[0] $[hp[]]", "$[bag[x]] $[bag[0] $[hp[]]");
    }

    #[test]
    fn keeps_text_without_valid_references() {
        check("$[nobody] $[hp.x]", "$[nobody] $[hp.x] ?$[nobody] ?$[hp.x]");
        check(
            "$[] $[ hp ] $[hp $[a b] $[[hp]] [hp] $ [hp] $[",
            "$[] $[ hp ] $[hp $[a b] $[[hp]] [hp] $ [hp] $[",
        );
        check("$[$[hp]]", "$[10]");
        let long = format!("$[{}]", "x".repeat(MAX_PATH + 1));
        check(&long, &long);
    }
}
