//! The examples of `counting.md` and `draws.md` are what our own code gives. `SUITE_UPDATE=1` writes them.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::Path;

use ctx_engine::{Compile, Engine, Switches, read_conversation};
use ctx_macros::{Dialect, Env, Limits as MacroLimits, Registry, State, Template};
use ctx_tokens::internal::message_cost;
use ctx_types::{Source, SourceKind, Text, Trust, TurnInput};
use ctx_worldbook::{Draws as _, SeededDraws};
use serde_json::{Map, Value, json};

/// How many numbers an example has.
const NUMBERS: usize = 4;

/// Checks the examples of a page: `complete` adds what our code gives for what stands there.
#[track_caller]
fn check(page: &str, complete: fn(&Value) -> Value, write: fn(&Value) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("format").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let written = suite::examples(&text).unwrap();
    let found: Value = serde_json::from_str(written).unwrap();
    let given = complete(&found);
    if std::env::var_os("SUITE_UPDATE").is_some() {
        std::fs::write(&path, text.replace(written, &write(&given))).unwrap();
        return;
    }
    assert_eq!(found, given, "{page}: `SUITE_UPDATE=1` writes what our code gives");
}

/// Writes a list with one element a line.
fn rows(list: &Value, indent: &str) -> String {
    let rows: Vec<String> = list.as_array().unwrap().iter().map(|row| format!("{indent}  {row}")).collect();
    format!("[\n{}\n{indent}]", rows.join(",\n"))
}

fn with(row: &Value, more: &Value) -> Value {
    let mut row = row.as_object().unwrap().clone();
    row.extend(more.as_object().unwrap().clone());
    Value::Object(row)
}

#[test]
fn messages_cost_what_the_page_says() {
    check(
        "counting.md",
        |rows| rows.as_array().unwrap().iter().map(counted).collect(),
        |list| rows(list, ""),
    );
}

fn counted(row: &Value) -> Value {
    let conversation = json!([row["message"]]).to_string();
    let session = read_conversation(conversation.as_bytes(), "session.json").unwrap().value;
    let turn = TurnInput::default().with(|turn| turn.model = row["model"].as_str().map(Into::into));
    let formatters = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned).to_vec();
    let switches = Switches { enable: Vec::new(), disable: formatters };
    let compile = Compile::default().with(|compile| compile.switches = switches);
    let compiled = Engine::new().compile(&ctx_types::Agent::default(), &compile);
    let context = compiled.assemble_blocking(&session, &turn).unwrap();
    assert_eq!(context.messages.len(), 1);
    let cost = message_cost(&context.messages[0], context.model(), &context.counter());
    let parts: Map<String, Value> = cost
        .parts()
        .filter(|(_, tokens)| *tokens > 0)
        .map(|(name, tokens)| (name.to_owned(), tokens.into()))
        .collect();
    with(row, &json!({ "parts": parts, "total": cost.total() }))
}

#[test]
fn chance_decides_as_the_page_says() {
    let complete = |all: &Value| {
        let list = |name: &str, of: fn(&Value) -> Value| -> Value {
            all[name].as_array().unwrap().iter().map(of).collect()
        };
        json!({
            "macros": list("macros", drawn),
            "sillytavern": list("sillytavern", picked),
            "worldbooks": list("worldbooks", streamed),
        })
    };
    let write = |all: &Value| {
        let mut text = String::from("{");
        for (index, (name, list)) in all.as_object().unwrap().iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(text, "{comma}\n  \"{name}\": {}", rows(list, "  ")).unwrap();
        }
        text + "\n}"
    };
    check("draws.md", complete, write);
}

fn expanded(text: &str, dialect: Dialect, env: &Env, source: &Source) -> String {
    let mut state = State::new(MacroLimits::default());
    let template = Template::parse(&Text::from(text), dialect, &Registry::builtin());
    template.expand(env, &mut state, source).text.to_string()
}

fn source_of(row: &Value) -> Source {
    let kinds = [SourceKind::Preset, SourceKind::Input, SourceKind::Worldbook];
    let kind = kinds.into_iter().find(|kind| row["source"]["kind"] == kind.as_str()).unwrap();
    let id = row["source"]["id"].as_str().map(Into::into);
    match row["source"]["index"].as_u64() {
        Some(index) => Source::preset(id, usize::try_from(index).unwrap(), None),
        None => Source { id, ..Source::new(kind, Trust::Preset) },
    }
}

/// Draws by the macros of the dialect `aio`, and as the page describes it.
fn drawn(row: &Value) -> Value {
    let below = row["below"].as_u64().unwrap();
    let conversation = row["conversation"].as_str();
    let list: Vec<String> = (0..below.min(10)).map(|number| number.to_string()).collect();
    let call = match conversation {
        Some(_) => format!("{{{{pick::{}}}}}", list.join("::")),
        None => format!("{{{{randomInt::0::{}}}}}", below - 1),
    };
    let seed = row["seed"].as_u64().unwrap_or_default();
    let mut env = Env { seed, ..Env::default() };
    env.conversation.id = conversation.map(Into::into);
    let source = source_of(row);
    let text = expanded(&vec![call; NUMBERS].join(" "), Dialect::Aio, &env, &source);
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().unwrap()).collect();
    let key = described::key(&row["source"]);
    let place = |ordinal| match conversation {
        Some(id) => described::draw(described::fnv(id.as_bytes()), described::mix(!key), ordinal, below),
        None => described::draw(seed, key, ordinal, below),
    };
    assert_eq!(numbers, (0..NUMBERS as u64).map(place).collect::<Vec<_>>(), "{row}");
    with(row, &json!({ "key": format!("{key:#018x}"), "numbers": numbers }))
}

fn picked(row: &Value) -> Value {
    let dialect = Dialect::parse(row["dialect"].as_str().unwrap()).unwrap();
    let mut env = Env::default();
    env.conversation.id = row["conversation"].as_str().map(Into::into);
    let source = Source::preset(None, 0, None);
    with(row, &json!({ "gives": expanded(row["text"].as_str().unwrap(), dialect, &env, &source) }))
}

fn streamed(row: &Value) -> Value {
    let seed = row["seed"].as_u64().unwrap();
    let mut draws = SeededDraws::new(seed);
    let numbers: Vec<f64> = (0..NUMBERS).map(|_| draws.draw()).collect();
    assert_eq!(numbers, described::stream(seed, NUMBERS));
    with(row, &json!({ "numbers": numbers }))
}

/// What `draws.md` describes in JavaScript.
mod described {
    use super::Value;

    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    pub(super) fn mix(number: u64) -> u64 {
        let number = number.wrapping_add(STEP);
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    pub(super) fn fnv(bytes: &[u8]) -> u64 {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }

    pub(super) fn key(source: &Value) -> u64 {
        let text = |key: &str| source[key].as_str().unwrap_or_default();
        let place =
            source["index"].as_u64().filter(|_| source.get("id").is_none()).map_or(0, |index| index + 1);
        mix(fnv(&[text("kind").as_bytes(), &[0], text("id").as_bytes()].concat()) ^ place)
    }

    pub(super) fn draw(seed: u64, key: u64, ordinal: u64, below: u64) -> u64 {
        let bits = mix(mix(mix(seed) ^ key) ^ ordinal);
        u64::try_from((u128::from(bits) * u128::from(below)) >> 64).unwrap()
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub(super) fn stream(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed ^ 0x776f_726c_6462_6f6b;
        let next = || {
            let bits = mix(state);
            state = state.wrapping_add(STEP);
            (bits >> 11) as f64 / (1_u64 << 53) as f64
        };
        std::iter::repeat_with(next).take(count).collect()
    }
}
