//! Lists of all variables.

use std::fmt::Write as _;

use ctx_compress::mask::Language;
use serde_json::{Map, Value};

use crate::variables::definitions::VariableDefinitions;
use crate::variables::state::Variables;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Json,
    Table,
    List,
}

impl Listing {
    pub(crate) fn parse(form: &str) -> Option<Self> {
        match form {
            "" | "json" => Some(Self::Json),
            "table" => Some(Self::Table),
            "list" => Some(Self::List),
            _ => None,
        }
    }

    pub(crate) fn write(
        self,
        variables: &Variables,
        definitions: &VariableDefinitions,
        language: Language,
    ) -> String {
        let shown =
            variables.iter().filter(|(path, _)| definitions.get(path).is_none_or(|one| !one.is_hidden));
        if self == Self::Json {
            let map: Map<String, Value> =
                shown.map(|(path, value)| (path.to_owned(), value.to_json())).collect();
            return format!("{:#}", Value::Object(map));
        }
        let mut text = match self {
            Self::Table => format!("{}\n| --- | --- | --- |", head(language)),
            Self::List | Self::Json => String::new(),
        };
        for (path, value) in shown {
            let meaning = definitions.get(path).map_or_else(String::new, |definition| {
                let words = [&definition.display_name, &definition.description].into_iter().flatten();
                words.map(|word| &**word).collect::<Vec<_>>().join(": ")
            });
            let value = value.to_text();
            let written = match self {
                Self::Table => write!(text, "\n| {} | {} | {} |", cell(path), cell(&value), cell(&meaning)),
                Self::List | Self::Json => {
                    let line = if text.is_empty() { "" } else { "\n" };
                    let meaning = if meaning.is_empty() { meaning } else { format!(" ({meaning})") };
                    write!(text, "{line}- {path}: {value}{meaning}")
                }
            };
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        text
    }
}

const fn head(language: Language) -> &'static str {
    match language {
        Language::English => "| variable | value | description |",
        // AIO Hub's text.
        Language::Chinese => "| 变量 | 值 | 描述 |",
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
