use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ctx_types::internal::{closest, excerpt};
use ctx_types::{Diagnostic, Phrase, Reader, Span, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::model::ModelFacts;
use crate::row::{Families, Row, RowOrigin, Settings};

/// Facts about models by ordered patterns.
///
/// A pattern is a case-insensitive JavaScript regular expression. It is tried on the name, after the first
/// `:`, and after the last `/`: `^gpt-4o` matches `openrouter/openai/gpt-4o`.
///
/// ```
/// use ctx_tokens::ModelTable;
///
/// let table = ModelTable::builtin();
/// assert_eq!(table.lookup("profile:gpt-4o").0.context_window, Some(128_000));
///
/// let (model, diagnostic) = table.lookup("gtp-4o");
/// assert_eq!(model.context_window, None);
/// assert_eq!(diagnostic.unwrap().help.unwrap(), "did you mean `gpt-4o`?");
/// ```
#[derive(Clone, Debug)]
pub struct ModelTable {
    user: Arc<[Row]>,
    builtin: Arc<Builtin>,
    /// Context windows that no row contains.
    windows: BTreeMap<String, u32>,
}

#[derive(Debug)]
struct Builtin {
    families: Families,
    rows: Vec<Row>,
    /// Rows with prices only. They name other groups of models than `rows`.
    prices: Vec<Row>,
}

/// Published facts and prices (November 2026). Prices are those of the provider's own API, without discounts.
const BUILTIN: &str = include_str!("../models.json");

const MAX_BYTES: usize = 4 << 20;

const MAX_ROWS: usize = 10_000;

/// Longer names, in bytes, are unknown.
const MAX_NAME: usize = 1_024;

impl ModelTable {
    /// Returns the built-in table, parsed once per process.
    pub fn builtin() -> Self {
        static TABLE: OnceLock<ModelTable> = OnceLock::new();
        let table =
            || Self { user: Arc::new([]), builtin: Arc::new(read_builtin().0), windows: BTreeMap::new() };
        TABLE.get_or_init(table).clone()
    }

    /// Adds user rows before the built-in ones. Replaces earlier overrides.
    ///
    /// The file is a JSON list of rows, or an object with this list under `models`. Missing fields come from
    /// the built-in `family`, then from the first matching built-in row. Invalid rows are reported with JSON
    /// pointers and ignored. Limits: 4 MiB and 10,000 rows.
    ///
    /// ```
    /// use ctx_tokens::ModelTable;
    ///
    /// let file = r#"[{"pattern": "^gpt-4o$", "contextWindow": 32000}]"#;
    /// let (table, diagnostics) = ModelTable::builtin().with_override(file);
    /// assert!(diagnostics.is_empty());
    /// let (model, _) = table.lookup("gpt-4o");
    /// assert_eq!((model.context_window, model.max_output), (Some(32_000), Some(16_384)));
    /// ```
    pub fn with_override(self, json: &str) -> (Self, Vec<Diagnostic>) {
        let value = match parse(json) {
            Ok(value) => value,
            Err(diagnostic) => return (self, vec![*diagnostic]),
        };
        let mut reader = Reader::new();
        let rows = read_user(&value, &self.builtin.families, &mut reader);
        (Self { user: rows.into(), ..self }, reader.finish())
    }

    /// Sets the context window of a model if no row contains it. A server may report this window.
    ///
    /// ```
    /// use ctx_tokens::ModelTable;
    ///
    /// let table = ModelTable::builtin().with_window("my-model", 8_192).with_window("gpt-4o", 8_192);
    /// assert_eq!(table.lookup("my-model").0.context_window, Some(8_192));
    /// assert_eq!(table.lookup("gpt-4o").0.context_window, Some(128_000));
    /// ```
    #[must_use]
    pub fn with_window(mut self, model: &str, tokens: u32) -> Self {
        self.windows.insert(model.trim().to_owned(), tokens);
        self
    }

    /// Returns the facts of a model, or [`ModelFacts::unknown`] and a diagnostic. O(rows × name length).
    pub fn lookup(&self, model: &str) -> (ModelFacts, Option<Diagnostic>) {
        let model = model.trim();
        let names = spellings(model);
        let mut facts = ModelFacts::unknown(model);
        let mut is_unknown = true;
        if (1..=MAX_NAME).contains(&model.len()) {
            let tables = [(&*self.builtin.prices, false), (&*self.builtin.rows, true), (&*self.user, true)];
            for (rows, has_facts) in tables {
                if let Some(row) = rows.iter().find(|row| row.matches(&names)) {
                    row.settings.apply(&mut facts);
                    is_unknown &= !has_facts;
                }
            }
        }
        facts.context_window = facts.context_window.or_else(|| self.windows.get(model).copied());
        facts.request.max_output = facts.max_output;
        facts.request.late_system = facts.name.as_ref().map(|_| facts.capabilities.mid_system);
        (facts, is_unknown.then(|| self.unknown(model)))
    }

    /// Returns distinct row names, the user's first.
    pub fn names(&self) -> Vec<&str> {
        let rows = self.user.iter().chain(&self.builtin.rows);
        let mut names: Vec<&str> = Vec::new();
        for name in rows.filter_map(|row| row.name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn unknown(&self, model: &str) -> Diagnostic {
        if model.is_empty() {
            let message = phrase!("no model is set; tokens are estimated");
            return Diagnostic::warning(codes::UNKNOWN_MODEL, message);
        }
        let names = self.names();
        let near = spellings(model).into_iter().find_map(|name| near(name, &names));
        let message = phrase!("unknown model `{model}`; tokens are estimated", model = excerpt(model));
        let unknown = Diagnostic::warning(codes::UNKNOWN_MODEL, message);
        match near {
            Some(name) => unknown.with_suggestion(name),
            None => unknown.with_help(phrase!("add it to a model table")),
        }
    }
}

/// Names that differ only in digits are different models, not typos.
fn near<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    let letters = |text: &str| text.to_lowercase().replace(|c: char| c.is_ascii_digit(), "");
    let own = letters(name);
    let others =
        names.iter().copied().filter(|known| letters(known) != own || known.eq_ignore_ascii_case(name));
    closest(name, others)
}

fn spellings(model: &str) -> [&str; 3] {
    let behind_colon = model.split_once(':').map_or(model, |(_, behind)| behind);
    let behind_slash = model.rsplit_once('/').map_or(model, |(_, behind)| behind);
    [model, behind_colon, behind_slash]
}

fn parse(json: &str) -> Result<Value, Box<Diagnostic>> {
    if json.len() > MAX_BYTES {
        let message = phrase!(
            "the model table has {json} bytes; the limit is {limit}",
            json = json.len(),
            limit = MAX_BYTES
        );
        return Err(Box::new(Diagnostic::error(codes::TABLE_TOO_LARGE, message)));
    }
    serde_json::from_str(json).map_err(|error| {
        let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
        let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        let offset = offset.min(json.len());
        let diagnostic = Diagnostic::error(
            codes::TABLE_SYNTAX,
            phrase!("the model table is not JSON: {error}", error = error.to_string()),
        );
        Box::new(diagnostic.at_span(Span::new(offset, offset)))
    })
}

fn read_user(value: &Value, families: &Families, reader: &mut Reader) -> Vec<Row> {
    match value {
        Value::Array(_) => read_rows(value, families, RowOrigin::User, reader),
        Value::Object(map) if map.contains_key("models") => {
            read_models(map, families, RowOrigin::User, reader)
        }
        other => {
            let kind = if other.is_object() {
                Phrase::from("an object without `models`")
            } else {
                Phrase::from("any other value")
            };
            let message =
                phrase!("a model table must be a list of rows or an object with `models`, not {kind}", kind);
            reader.report(Diagnostic::error(codes::TABLE_SYNTAX, message));
            Vec::new()
        }
    }
}

fn read_models(
    map: &Map<String, Value>,
    families: &Families,
    origin: RowOrigin,
    reader: &mut Reader,
) -> Vec<Row> {
    let models = map.get("models").unwrap_or(&Value::Null);
    reader.at_key("models", |reader| read_rows(models, families, origin, reader))
}

fn read_rows(value: &Value, families: &Families, origin: RowOrigin, reader: &mut Reader) -> Vec<Row> {
    let Value::Array(values) = value else {
        reader.wrong_type("a list of rows", value);
        return Vec::new();
    };
    if values.len() > MAX_ROWS {
        let message = phrase!(
            "the model table has {values} rows; only the first {limit} are read",
            values = values.len(),
            limit = MAX_ROWS
        );
        reader.report(Diagnostic::warning(codes::TABLE_TOO_LARGE, message));
    }
    let rows = values.iter().take(MAX_ROWS).enumerate();
    rows.filter_map(|(index, row)| reader.at_index(index, |reader| Row::read(row, families, origin, reader)))
        .collect()
}

fn read_builtin() -> (Builtin, Vec<Diagnostic>) {
    let mut reader = Reader::new();
    let value = parse(BUILTIN).expect("the table is JSON");
    let map = value.as_object().expect("the table is an object");
    let mut families = Families::new();
    for (name, family) in map["families"].as_object().expect("families have names") {
        let facts = family.as_object().expect("a family is an object");
        let facts = reader.at_key(name, |reader| Settings::read(facts, &Vec::new(), reader));
        families.push((name.as_str().into(), facts));
    }
    let rows = read_models(map, &families, RowOrigin::Builtin, &mut reader);
    let prices =
        reader.at_key("prices", |reader| read_rows(&map["prices"], &families, RowOrigin::Builtin, reader));
    (Builtin { families, rows, prices }, reader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_builtin_table_without_diagnostics() {
        let (builtin, diagnostics) = read_builtin();
        assert_eq!(diagnostics, []);
        let mut reader = Reader::new();
        let value = parse(BUILTIN).unwrap();
        // As a user's file, every pattern is compiled.
        let rows = read_user(&value, &builtin.families, &mut reader);
        assert_eq!(reader.finish(), []);
        assert_eq!(rows.len(), value["models"].as_array().unwrap().len());
        assert_eq!(rows.len(), builtin.rows.len());
    }

    #[test]
    fn finds_every_builtin_row_by_name() {
        let (builtin, _) = read_builtin();
        for (index, row) in builtin.rows.iter().enumerate() {
            let name = row.name.as_deref().unwrap();
            let first = builtin.rows.iter().position(|row| row.matches(&spellings(name)));
            assert_eq!(first, Some(index), "`{name}`");
        }
    }
}
