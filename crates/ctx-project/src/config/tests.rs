//! Tests of a `ctx.toml` in a folder on top of the user's own file.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;

/// Creates a folder with a `ctx.toml` and the files that it can name.
fn folder(value: &Value) -> (tempfile::TempDir, ConfigDocument) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.yaml", "b.yaml"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let document = ConfigDocument {
        folder: folder.path().to_owned(),
        name: "ctx.toml".to_owned(),
        bytes: value.to_string().into_bytes(),
        value: value.clone(),
    };
    (folder, document)
}

fn read(document: ConfigDocument) -> (Config, ConfigDocument) {
    (Config::of(&document.value, &document.folder).named(&document), document)
}

/// Returns all decisions that the defaults make for an empty command line.
fn decided(config: &Config) -> String {
    let (mut turn, sources) = (TurnOptions::default(), Sources::default());
    let endpoint = config.endpoint(&EndpointOptions::default()).unwrap();
    let fallbacks = (config.fallbacks().unwrap(), config.agent_endpoints().unwrap());
    let (transcription, store) = (config.transcription(), config.store().unwrap());
    let tools = config.tools(false).unwrap();
    let given = config.tools(true).unwrap();
    let serve = config.serve();
    config.complete(&mut turn, &sources).unwrap();
    let rest = (&config.user_parameters, config.compression(), config.endpoint_model());
    format!(
        "{endpoint:?}\n{fallbacks:?}\n{transcription:?}\n{store:?}\n{tools:?}\n{given:?}\n{serve:?}\n{turn:?}\n{rest:?}"
    )
}

/// Returns a valid value of a key: for the user's own file, or one for an untrusted file that reaches outside its
/// folder.
fn value(pointer: &str, is_own: bool) -> Value {
    let name = if is_own { "own" } else { "stranger" };
    let path = if is_own { "a.yaml" } else { "../b.yaml" };
    match pointer.rsplit_once('/').unwrap().1 {
        "base-url" => json!(format!("http://{name}.example")),
        "headers" => json!({ format!("x-{name}"): name }),
        "dialect" => json!(if is_own { "anthropic" } else { "gemini" }),
        "tools" => json!({ "ask": is_own, "folder": name, "deny": { "tools": [name] } }),
        "serve" => {
            json!({ "aliases": { "alias": name }, "origins": [format!("https://{name}.example")], "passthrough": is_own })
        }
        "worldbooks" => json!([path]),
        "compression" => json!({ "summaryModel": name }),
        "fallbacks" | "endpoints" => json!([{ "base-url": format!("http://{name}.example") }]),
        "agents" => json!([name]),
        "agent" | "session" | "profile" | "models" => json!(path),
        "assets" => json!(if is_own { "assets" } else { "../assets" }),
        "connect-timeout" | "first-token-timeout" | "stall-timeout" | "retries" => {
            json!(1 + u8::from(is_own))
        }
        _ => json!(name),
    }
}

/// Returns the pointers of the keys that are withheld one by one.
fn guarded() -> Vec<String> {
    let mut pointers = Vec::new();
    for row in ConfigFile::ROWS.iter().filter(|row| row.rule.reach != Reach::Nothing) {
        match row.rule.value_type {
            ValueType::Endpoint(rows) => {
                pointers.extend(rows.iter().map(|inner| format!("/{}/{}", row.key, inner.key)));
            }
            _ => pointers.push(format!("/{}", row.key)),
        }
    }
    pointers
}

fn file(pointer: &str, value: Value) -> Value {
    let keys = pointer.split('/').skip(1).collect::<Vec<_>>();
    keys.iter().rev().fold(value, |value, key| json!({ *key: value }))
}

/// A question or notice about an untrusted file.
#[derive(Clone, Debug, PartialEq)]
struct Question {
    keys: Vec<String>,
    too_many: Option<usize>,
    notice: Option<String>,
}

/// Returns a function that records each question and does not reply.
fn recorder() -> (Arc<Mutex<Vec<Question>>>, Ask) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let ask = Ask::by({
        let asked = asked.clone();
        move |untrusted: &Untrusted<'_>| {
            let items = untrusted.withheld.iter().flat_map(|withheld| &withheld.items);
            asked.lock().unwrap().push(Question {
                keys: items.map(|item| item.key.clone()).collect(),
                too_many: untrusted.too_many(),
                notice: untrusted.notice.map(ToString::to_string),
            });
            Answer::NotAsked
        }
    });
    (asked, ask)
}

#[test]
fn what_is_not_trusted_hides_nothing_of_the_users_own() {
    for pointer in &guarded() {
        let (_own, own) = folder(&file(pointer, value(pointer, true)));
        let (_stranger, stranger) = folder(&file(pointer, value(pointer, false)));
        let expected = decided(&read(own.clone()).0);
        let (asked, ask) = recorder();
        let joined = Config::joined(read(stranger), Some(read(own)), Some(ask));
        assert_eq!(decided(&joined), expected, "{pointer}");
        assert_ne!(expected, decided(&Config::default()), "{pointer}");
        let asked = asked.lock().unwrap();
        let [Question { notice: Some(notice), .. }] = &asked[..] else { panic!("{pointer}: {asked:?}") };
        assert!(notice.contains(&format!("ignored: `{}`", pointer[1..].replace('/', "."))), "{notice}");
    }
}

#[test]
fn each_way_out_can_be_gone() {
    let said = |pointer: &str| {
        let (_stranger, stranger) = folder(&file(pointer, value(pointer, false)));
        let config = Config::joined(read(stranger), None, None);
        let endpoint = config.endpoint(&EndpointOptions::default()).map(|_| ());
        let others = [config.store().map(|_| ()), config.tools(false).map(|_| ())];
        let turn = config.complete(&mut TurnOptions::default(), &Sources::default()).map(|_| ());
        let error = [endpoint, turn].into_iter().chain(others).find_map(Result::err)?;
        Some(error.to_string().split_once(", or ").unwrap().1.to_owned())
    };
    for (pointer, option) in [
        ("/endpoint/base-url", "--base-url"),
        ("/endpoint/headers", "--base-url"),
        ("/endpoint/dialect", "--dialect"),
        ("/endpoint/key-env", "--key-env"),
        ("/endpoint/key-file", "--key-file"),
        ("/tools", "--tools-dir"),
        ("/store", "--store"),
        ("/profile", "--profile"),
        ("/models", "--models"),
        ("/worldbooks", "--worldbook"),
    ] {
        let key = pointer[1..].replace('/', ".");
        let expected = format!("use `{option}`, or set `{key}` in your own `ctx.toml`");
        assert_eq!(said(pointer).as_deref(), Some(expected.as_str()));
    }
    for key in ["agent", "session"] {
        let expected = format!("name the file on the command line, or set `{key}` in your own `ctx.toml`");
        assert_eq!(said(&format!("/{key}")).as_deref(), Some(expected.as_str()));
    }
    for pointer in ["/assets", "/transcription/base-url", "/transcription/key-env", "/transcription/model"] {
        assert_eq!(said(pointer), None);
    }
}

#[test]
fn untrusted_file_decides_nothing_about_own_endpoint() {
    let (_own, own) = folder(&json!({ "endpoint": { "base-url": "http://own.example", "key-env": "KEY" } }));
    let stranger = json!({
        "model": "expensive",
        "endpoint": { "model": "expensive", "retries": 9, "connect-timeout": 1, "stall-timeout": 1 },
    });
    let (_stranger, stranger) = folder(&stranger);
    let expected = decided(&read(own.clone()).0);
    assert_eq!(decided(&Config::joined(read(stranger.clone()), Some(read(own)), None)), expected);
    // Without an endpoint in the user's own file, the model takes effect, but not in requests.
    let (asked, ask) = recorder();
    let alone = Config::joined(read(stranger), None, Some(ask));
    assert_eq!(alone.model().map(String::as_str), Some("expensive"));
    assert_eq!((alone.endpoint_model(), asked.lock().unwrap().len()), (None, 0));
    assert_eq!(alone.for_requests().model(), None);
    let asked = asked.lock().unwrap();
    assert!(asked.iter().any(|asked| asked.keys == ["model"] && asked.notice.is_some()), "{asked:?}");
}

#[test]
fn question_shows_every_item_of_the_file() {
    let books: Vec<String> = (0..MAX_ITEMS).map(|number| format!("../{number}.json")).collect();
    let stranger = json!({
        "session": "../chat.json",
        "assets": "/",
        "model": "m",
        "store": "chats.db",
        "endpoint": { "base-url": "http://foreign.example", "key-env": "AWS_SECRET_ACCESS_KEY" },
        "transcription": { "base-url": "http://foreign.example", "key-file": "/etc/shadow", "retries": 1 },
        "tools": { "folder": "/" },
    });
    let mut crowded = stranger.clone();
    crowded["worldbooks"] = json!(books);
    // The user's own file replaces some of these keys.
    let own = json!({ "endpoint": { "base-url": "http://own.example" }, "model": "own", "tools": {} });
    for (file, too_many) in [(stranger, None), (crowded, Some(MAX_ITEMS + 8))] {
        let (_stranger, document) = folder(&file);
        let expected: Vec<String> =
            document.withheld().into_iter().flat_map(|key| key.items).map(|item| item.key).collect();
        let without_session = |config: Config| config.without("session");
        for shorten in [without_session, Config::of_books, Config::for_requests, |config| config] {
            let (_own, own) = folder(&own);
            let (asked, ask) = recorder();
            let config = shorten(Config::joined(read(document.clone()), Some(read(own)), Some(ask)));
            let refused =
                [config.store().is_err(), config.file("models", None, &Sources::default()).is_err()];
            let asked = asked.lock().unwrap();
            // A run that needs none of the keys is not asked about, and nothing is trusted.
            assert_eq!(asked.len(), refused.iter().filter(|is_refused| **is_refused).count());
            for asked in &*asked {
                let expected = Question { keys: expected.clone(), too_many, notice: None };
                assert_eq!(*asked, expected);
            }
        }
    }
}

#[test]
fn diagnostics_do_not_repeat_secrets_in_wrong_places() {
    let file = json!({
        "endpoint": { "base-url": ["canary"], "key-env": ["canary"], "headers": "canary", "retries": "canary" },
        "fallbacks": ["canary"],
        "transcription": "canary",
    });
    let found = Config::of(&file, Path::new("")).found;
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(!format!("{found:?}").contains("canary"), "{found:?}");
}

#[test]
fn headers_and_aliases_are_tables() {
    let file = json!({ "endpoint": { "headers": ["x"] }, "serve": { "aliases": ["x"] } });
    let found = Config::of(&file, Path::new("")).found;
    let expected = "expected a table whose values are strings";
    assert!(found.len() == 2 && found.iter().all(|found| found.to_string().contains(expected)), "{found:?}");
}

#[test]
fn hides_secrets_in_text_that_is_not_utf8() {
    let bytes = b"# \xe9?\n[endpoint]\nkey = 'canary'\nother = '\xe9'\n";
    assert_eq!(document::shown(bytes), b"# \xe9?\n[endpoint]\nkey = '******'\nother = '*'\n");
}

#[test]
fn defaults_are_those_of_endpoints() {
    let endpoint = ctx_chat::Endpoint::new(ctx_wire::Dialect::OpenaiChat, "http://localhost");
    let default = |key: &str| find(EndpointKeys::ROWS, key).unwrap().default;
    assert_eq!(default("connect-timeout"), Some(endpoint.time.connect.as_secs()));
    assert_eq!(default("first-token-timeout"), Some(endpoint.time.first_token.as_secs()));
    assert_eq!(default("stall-timeout"), Some(endpoint.time.stall.as_secs()));
    assert_eq!(default("retries"), Some(endpoint.retry.retries as u64));
}

#[test]
fn lists_every_item_that_reaches_outside() {
    let many: Vec<String> = (0..500).map(|number| format!("tool_{number}")).collect();
    let file = json!({
        "tools": { "allow": { "tools": many }, "folder": "/" },
        "fallbacks": [
            { "base-url": format!("http://{}.example", "a.".repeat(900)), "model": "m".repeat(900) },
            { "base-url": "http://u:p@foreign.example?key=k", "key-env": "AWS_SECRET_ACCESS_KEY", "headers": { "a": "b" } },
            {},
        ],
    });
    let (_folder, document) = folder(&file);
    let withheld = document.withheld();
    let items: Vec<_> = withheld.iter().flat_map(|withheld| &withheld.items).collect();
    let shown = |key: &str| &*items.iter().find(|item| item.key == key).unwrap().shown;
    assert_eq!(shown("tools.folder"), "\"/\"");
    assert_eq!(shown("fallbacks.0.base-url"), format!("\"http://{}.example\"", "a.".repeat(900)));
    assert_eq!(shown("fallbacks.1.base-url"), "\"http://***@foreign.example?key=***\"");
    assert_eq!(shown("fallbacks.1.key-env"), "\"AWS_SECRET_ACCESS_KEY\"");
    assert_eq!(shown("fallbacks.1.headers"), "a = …");
    assert_eq!(shown("fallbacks.2"), "{}");
    assert!(shown("tools.allow").len() < 300 && shown("fallbacks.0.model").len() < 300);
    assert_eq!(count_outside(&withheld), 6);
}

#[test]
fn too_many_items_are_not_asked_about() {
    let count = |tables: usize| {
        let tables: Vec<Value> = (0..tables).map(|_| json!({ "retries": 1 })).collect();
        let (_folder, document) = folder(&json!({ "fallbacks": tables }));
        let withheld = document.withheld();
        let state = TrustState::New;
        Untrusted { name: "ctx.toml", withheld: &withheld, state: &state, notice: None }.too_many()
    };
    assert_eq!((count(MAX_ITEMS), count(MAX_ITEMS + 1)), (None, Some(MAX_ITEMS + 1)));
}

mod key_table {
    //! Checks that every use of a key follows from its row.

    use proptest::prelude::*;
    use schemars::SchemaGenerator;

    use super::*;
    use crate::config::key_table::{KeyRow, KeyRule, Secrecy, find};

    /// A key of a file with its parent tables and its rules; `None` for an unknown key.
    #[derive(Clone, Debug)]
    struct DrawnKey {
        tables: Vec<&'static str>,
        key: String,
        rule: Option<KeyRule>,
    }

    fn keys() -> impl Strategy<Value = DrawnKey> {
        let key = |tables: &[&'static str], row: &KeyRow| DrawnKey {
            tables: tables.to_vec(),
            key: row.key.to_owned(),
            rule: Some(row.rule),
        };
        let mut known = Vec::new();
        let mut endpoints = Vec::new();
        for row in ConfigFile::ROWS {
            match row.rule.rows() {
                [] => known.push(key(&[], row)),
                rows => known.extend(rows.iter().map(|inner| key(&[row.key], inner))),
            }
            endpoints.extend(row.rule.hides_unknown().then_some(row.key));
        }
        assert_eq!(endpoints, ["endpoint", "fallbacks", "endpoints", "transcription"]);
        let unknown = (prop::sample::select(endpoints), "x-[a-z]{1,8}");
        let unknown = unknown.prop_map(|(table, key)| DrawnKey { tables: vec![table], key, rule: None });
        prop_oneof![4 => prop::sample::select(known), 1 => unknown]
    }

    /// Returns a valid value of the key. The value contains a secret if the key allows it, and paths lead out of the
    /// folder.
    fn value_of(drawn: &DrawnKey, secret: &str) -> Value {
        match &*drawn.key {
            "headers" => json!({ "x-team": secret }),
            "base-url" => json!(format!("https://{secret}@host.example/v1?k={secret}")),
            "dialect" => json!("gemini"),
            "connect-timeout"
            | "first-token-timeout"
            | "stall-timeout"
            | "retries"
            | "context-tokens"
            | "reserve" => json!(7),
            "ask" | "passthrough" => json!(true),
            "origins" => json!(["https://app.example"]),
            "allow" | "deny" => json!({ "tools": ["read_file"] }),
            "processors" => json!([]),
            "agents" => json!(["plain"]),
            "aliases" => json!({ "plain": "agent" }),
            "compression" => json!({}),
            "tz" => json!("UTC"),
            "on-loss" => json!("drop"),
            "cache-marks" => json!("off"),
            "conversation-names" => json!(["prompt_cache_key"]),
            "worldbooks" => json!(["../b.json"]),
            "store" => json!(format!("postgres://u:{secret}@host.example/ctx")),
            "model" | "key-env" => json!("plain"),
            _ if drawn.rule.is_none() => json!(secret),
            _ => json!("../b.json"),
        }
    }

    /// Returns the file as a value and as TOML in the given form.
    fn file_of(drawn: &DrawnKey, value: &Value, form: u8) -> (Value, String) {
        let (key, is_list) =
            (&drawn.key, [["fallbacks"], ["endpoints"]].iter().any(|list| drawn.tables == list));
        let written = inline(value);
        let Some(table) = drawn.tables.first() else {
            return (json!({ key: value }), format!("{key} = {written}\n"));
        };
        let inner = json!({ key: value });
        let file = if is_list { json!({ *table: [inner] }) } else { json!({ *table: inner }) };
        let text = match (form, is_list) {
            (0, true) => format!("[[{table}]]\n{key} = {written}\n"),
            (1, true) => format!("{table} = [\n  {{ {key} = {written} }},\n]\n"),
            (_, true) => format!("{table} = [{{ {key} = {written} }}]\n"),
            (0, false) => format!("[{table}]\n{key} = {written}\n"),
            (1, false) => format!("{table}.{key} = {written}\n"),
            (_, false) => format!("{table} = {{ {key} = {written} }}\n"),
        };
        (file, text)
    }

    fn inline(value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("{key} = {}", inline(value)));
                format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
            }
            Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
            value => value.to_string(),
        }
    }

    /// Returns whether the schema has the key.
    fn is_in_schema(drawn: &DrawnKey) -> bool {
        let schema = json!(SchemaGenerator::default().root_schema_for::<ConfigFile>());
        let mut at = &schema;
        for table in &drawn.tables {
            at = inner(&schema, &at["properties"][*table]);
        }
        at["properties"].get(&drawn.key).is_some()
    }

    fn inner<'s>(schema: &'s Value, at: &'s Value) -> &'s Value {
        if let Some(name) = at.get("$ref").and_then(Value::as_str) {
            return inner(schema, schema.pointer(name.strip_prefix('#').unwrap()).unwrap());
        }
        match (at.get("anyOf").and_then(|choices| choices.get(0)), at.get("items")) {
            (Some(choice), _) => inner(schema, choice),
            (_, Some(items)) => inner(schema, items),
            _ => at,
        }
    }

    proptest! {
        #[test]
        fn decides_every_use_of_a_key(drawn in keys(), secret in "canary[a-z0-9]{4,12}", form in 0_u8..3) {
            let value = value_of(&drawn, &secret);
            let (file, text) = file_of(&drawn, &value, form);
            prop_assert_eq!(crate::config::value_of(&text), Some(file.clone()));
            let (_folder, document) = folder(&file);
            let top = drawn.tables.first().copied().unwrap_or(&drawn.key);
            // The reader and the schema.
            let unknown = Config::of(&file, &document.folder).found;
            let unknown = unknown.iter().any(|found| found.code == crate::codes::UNKNOWN_KEY);
            prop_assert_eq!(unknown, drawn.rule.is_none());
            prop_assert_eq!(is_in_schema(&drawn), drawn.rule.is_some());
            // Trust: keys that reach outside have no effect on the user's own endpoint.
            let own = json!({ "endpoint": { "base-url": "http://own.example" } });
            let withheld = document.withheld();
            let rule = rule_of(top).unwrap();
            let reaches = match (rule.value_type, drawn.rule) {
                (ValueType::Endpoints(_) | ValueType::Table(_), _) => true,
                (_, Some(rule)) => rule.reach != Reach::Nothing,
                (_, None) => false,
            };
            prop_assert_eq!(!withheld.is_empty(), reaches);
            let guard = Guard::of(&document, &own, None);
            let left = guard.effective(&file);
            let is_left = if drawn.tables.is_empty() || !matches!(rule.value_type, ValueType::Endpoint(_)) {
                left.get(top).is_some()
            } else {
                left[top].get(&drawn.key).is_some()
            };
            prop_assert_eq!(is_left, !reaches);
            // The redaction.
            let is_secret = drawn.rule.is_none_or(|rule| rule.secrecy == Secrecy::Hidden);
            let shown = covered(&text);
            prop_assert_eq!(shown.len(), text.len());
            prop_assert!(!shown.contains(&secret), "{}", shown);
            let has_address = ["base-url", "store"].contains(&&*drawn.key);
            let is_plain = !(is_secret || has_address);
            prop_assert!(!is_plain || shown == text, "{}", shown);
            let items = withheld.iter().flat_map(|withheld| &withheld.items);
            prop_assert!(items.clone().all(|item| !item.shown.contains(&secret)));
            let logged = format!("{:?}", read(document.clone()).0.endpoint);
            prop_assert!(!logged.contains(&secret));
            // The settings page.
            let is_locked = locked_keys().any(|key| key == top);
            let is_outside = !matches!(rule.reach, Reach::Nothing | Reach::Files)
                && !["model", "compression"].contains(&top);
            prop_assert_eq!(is_locked, is_outside);
            prop_assert!(find(ConfigFile::ROWS, top).is_some());
        }
    }
}
