//! Diagnostics of the files of a project, as `ctx check` reports them.

use ctx_types::Edit;

use super::*;

const AGENT: &[u8] = b"presetMessages: [{ role: system, content: Be kind. }]";
const CHAT: &[u8] = br#"[{ "role": "user", "content": "Hi" }]"#;

/// Checks how a named file is read with `--as`.
#[track_caller]
fn check(bytes: &[u8], format: &str, expected: Result<Format, &str>) {
    let checker = Checker::new(&[]).unwrap().naming(DocumentKind::parse(format));
    let checked = checker.check_bytes(Path::new("a.yaml"), bytes);
    let messages: String = checked.findings.iter().map(|found| found.message.to_string()).collect();
    match expected {
        Ok(format) => assert_eq!(checked.kind, Some(DocumentKind::Format(format)), "{messages}"),
        Err(expected) => assert!(messages.ends_with(expected), "{messages}"),
    }
}

#[test]
fn reads_named_file_as_given_format() {
    check(AGENT, "session", Err("found an agent"));
    check(AGENT, "lorebook", Err("found an agent"));
    check(AGENT, "agent", Ok(Format::Agent));
    check(CHAT, "agent", Ok(Format::Agent));
    // A list of messages is a conversation too.
    check(CHAT, "session", Ok(Format::ChatMessages));
}

/// A project with a file of each kind.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (".git/HEAD", ""),
        ("profile.yaml", "name: Ada\ncontent: An engineer.\n"),
        ("conversation.json", r#"[{"role":"user","content":"Hi"}]"#),
        ("a/agent.yaml", "presetMessages:\n  - type: chat_history\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Checks the diagnostics of `case.yaml` or `ctx.toml` in a project, one per line: code, pointer, message, fix and edit.
#[track_caller]
fn check_own_file(name: &str, text: &str, expected: &[&str]) {
    let folder = project();
    let checked = Checker::new(&[]).unwrap().check_bytes(&folder.path().join(name), text.as_bytes());
    let prefix = format!("{}/", files::name(folder.path()));
    let line = |found: &Diagnostic| {
        let pointer = found.location.pointer.as_deref().unwrap_or_default();
        let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        let edit = match found.fix.as_ref().map(|fix| &fix.edit) {
            // `ctx.toml` is never changed.
            Some(Edit::Value(value)) if name == "case.yaml" => format!(" -> {value}"),
            _ => String::new(),
        };
        format!("{} {pointer}: {}{help}{edit}", found.code, found.message).replace(&prefix, "")
    };
    let found: Vec<String> = checked.findings.iter().map(line).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn checks_processors_of_a_case() {
    let case = "disable: [merge-system-to-hed]\nenable: [reqest-compressor, token-limiter]\n";
    check_own_file(
        "case.yaml",
        case,
        &[
            "CTX0452 /disable/0: unknown processor `merge-system-to-hed` (set by the command line) (did you mean `merge-system-to-head`?) -> \"merge-system-to-head\"",
            "CTX0452 /enable/0: unknown processor `reqest-compressor` (set by the command line) (did you mean `request-compressor`?) -> \"request-compressor\"",
        ],
    );
}

#[test]
fn reads_files_of_a_case_as_their_kind() {
    check_own_file(
        "case.yaml",
        "worldbooks: [profile.yaml]",
        &["CTX0607 /worldbooks/0: expected a worldbook (an object with `entries`), found a user profile"],
    );
    check_own_file(
        "case.yaml",
        "profile: conversation.json",
        &[
            "CTX0607 /profile: expected a user profile (an object with `name` and `content`, or a plain text), found a list of chat messages",
        ],
    );
    check_own_file(
        "case.yaml",
        "agent: profile.yaml",
        &[
            "CTX0607 /agent: expected an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`), found a user profile (use this file as a user profile, not as an agent)",
        ],
    );
    check_own_file(
        "case.yaml",
        "models: profile.yaml",
        &[
            "CTX0402 /models: a model table must be a list of rows or an object with `models`, not an object without `models`",
        ],
    );
    check_own_file(
        "case.yaml",
        "tools: conversation.json",
        &[
            "CTX0904 /tools: 1 tool definition without a name (give each definition a `name`, or a `function` with a `name`)",
        ],
    );
    check_own_file(
        "case.yaml",
        "tools: profile.yaml",
        &["CTX0902 /tools: `profile.yaml` is not a list of tool definitions"],
    );
    check_own_file("case.yaml", "agent: a", &["CTX0900 /agent: `a` is a folder, not a file"]);
    check_own_file(
        "case.yaml",
        "agent: ''",
        &[
            "CTX0902 /agent: `agent`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `agent`)",
        ],
    );
    check_own_file(
        "case.yaml",
        "agent: a/agent.yaml\nprofile: profile.yaml\nsession: conversation.json",
        &[],
    );
}

#[test]
fn checks_files_of_defaults() {
    check_own_file(
        "ctx.toml",
        "agent = 'profile.yaml'",
        &[
            "CTX0607 /agent: expected an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`), found a user profile (use this file as a user profile, not as an agent)",
        ],
    );
    check_own_file("ctx.toml", "agent = 'a/'", &["CTX0900 /agent: `a/` is a folder, not a file"]);
    check_own_file(
        "ctx.toml",
        "agent = ''",
        &[
            "CTX0902 /agent: `agent`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `agent`)",
        ],
    );
    check_own_file(
        "ctx.toml",
        "[endpoint]\nbase-url = 'ftp://x'",
        &["CTX0902 /endpoint/base-url: the base URL must start with `http://` or `https://`"],
    );
    check_own_file(
        "ctx.toml",
        "[endpoint]\nkey-env = ''",
        &[
            "CTX0902 /endpoint/key-env: `key-env`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `key-env`)",
        ],
    );
    check_own_file(
        "ctx.toml",
        "[tools]\nallow = { categories = ['nope', 'files'], tools = ['frob', 'read_fil', 'list_folder'] }",
        &[
            "CTX0902 /tools/allow/categories/0: unknown tool category `nope` (use one of `files`)",
            "CTX0902 /tools/allow/tools/0: unknown tool `frob` (use one of `read_file`, `list_folder`, `search_text`)",
            "CTX0902 /tools/allow/tools/1: unknown tool `read_fil` (did you mean `read_file`?)",
        ],
    );
}

#[test]
fn checks_file_with_two_names_once() {
    check_own_file(
        "case.yaml",
        "worldbooks: [profile.yaml, a/../profile.yaml]",
        &["CTX0607 /worldbooks/0: expected a worldbook (an object with `entries`), found a user profile"],
    );
}

#[test]
fn suggests_similar_value() {
    check_own_file(
        "case.yaml",
        "kind: quite",
        &["CTX0902 /kind: `kind`: `quite` is not a generation kind (did you mean `quiet`?) -> \"quiet\""],
    );
    check_own_file(
        "case.yaml",
        "kind: foo",
        &[
            "CTX0902 /kind: `kind`: `foo` is not a generation kind (use one of `normal`, `continue`, `impersonate`, `quiet`)",
        ],
    );
    check_own_file(
        "case.yaml",
        "tz: Europe/Berln",
        &[
            "CTX0902 /tz: `tz`: `Europe/Berln` is not a time zone (did you mean `Europe/Berlin`?) -> \"Europe/Berlin\"",
        ],
    );
    check_own_file(
        "case.yaml",
        "tz: Mars",
        &["CTX0902 /tz: `tz`: `Mars` is not a time zone (use a name such as Asia/Shanghai or UTC)"],
    );
    check_own_file(
        "ctx.toml",
        "[endpoint]\ndialect = 'opnai'",
        &["CTX0902 /endpoint/dialect: `dialect`: `opnai` is not an API dialect (did you mean `openai`?)"],
    );
    check_own_file(
        "case.yaml",
        "input: a\ninptu: b",
        &["CTX0901 /inptu: unknown key `inptu` (remove this key or `input`, which is also set)"],
    );
}

#[test]
fn suggests_file_of_a_similar_name() {
    let books = "worldbooks = ['a/agnt.yaml']\n[endpoint]\nkey-file = 'a/agnt.yaml'";
    let near = "no file `a/agnt.yaml` (did you mean `a/agent.yaml`?)";
    let [book, key] = ["/worldbooks/0", "/endpoint/key-file"].map(|at| format!("CTX0900 {at}: {near}"));
    check_own_file("ctx.toml", books, &[&book, &key]);
    check_own_file("case.yaml", "# nothing yet\n", &[]);
}

#[test]
fn counts_names_beyond_the_first() {
    let check = |name: &str, text: &str, first: &str, list: &str| {
        let folder = project();
        let checked = Checker::new(&[]).unwrap().check_bytes(&folder.path().join(name), text.as_bytes());
        let messages = checked.findings.iter().map(|found| found.message.to_string());
        let (first, others): (Vec<_>, Vec<_>) = messages.partition(|message| message.starts_with(first));
        assert_eq!(first.len(), 200, "{first:?}");
        assert_eq!(others, [format!("did not check 2 more names in `{list}`")]);
    };
    let names = vec!["'frob'"; 202].join(", ");
    check("case.yaml", &format!("enable: [{names}]"), "unknown processor `frob`", "/enable");
    let tools = format!("[tools]\ndeny = {{ tools = [{names}] }}");
    check("ctx.toml", &tools, "unknown tool `frob`", "/tools/deny/tools");
    let books = (0..202).map(|number| format!("'{number}.json'")).collect::<Vec<_>>().join(", ");
    check("case.yaml", &format!("worldbooks: [{books}]"), "no file `", "/worldbooks");
    check("ctx.toml", &format!("worldbooks = [{books}]"), "no file `", "/worldbooks");
}

/// Files with a misspelled name, and the name.
const MISSPELLED: [(&str, &str); 18] = [
    ("presetMessages: [{ content: a, anchorTarget: chat_histroy }]", "chat_history"),
    ("presetMessages: [{ role: sytem, content: a }]", "system"),
    ("presetMessages: [{ type: chat_histroy }]", "chat_history"),
    ("presetMessages: [{ content: a, groupId: moood }]\npresetGroups: [{ id: mood }]", "mood"),
    ("presetMessages: []\nhistoryWhenUnplaced: apend", "append"),
    ("presetMessages: [{ content: a, injectionStrategy: { type: depht } }]", "depth"),
    (
        "presetMessages: [{ type: chat_history }, { content: a, anchorTarget: chat_history, anchorPoint: befor }]",
        "before",
    ),
    ("presetMessages: [{ content: '{{usr}}' }]", "user"),
    ("dialect: silytavern\npresetMessages: []", "sillytavern"),
    ("presetMessages: []\nparameters: { processors: [{ id: token-limitr }] }", "token-limiter"),
    ("presetMessages: []\nparameters: { processors: [{ id: token-limiter, enable: true }] }", "enabled"),
    (
        "presetMessages: []\nparameters: { processors: [{ id: regex-processor, config: { step: 5 } }] }",
        "steps",
    ),
    (
        "presetMessages: []\nregexConfig: { presets: [{ id: p, enabled: true, rules: [{ id: r, enabled: true, regex: a, replacement: b, targetRoles: [asistant] }] }] }",
        "assistant",
    ),
    (
        "[{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"asistant\", \"content\": \"Ho\"}]",
        "assistant",
    ),
    ("{\"model\": \"m\", \"messages\": [{\"role\": \"usr\", \"content\": \"Hi\"}]}", "user"),
    ("{\"name\": \"x\", \"entries\": {}, \"dialect\": \"cv3\"}", "ccv3"),
    (
        "{\"dialect\": \"ccv3\", \"entries\": {\"0\": {\"uid\": 0, \"key\": [\"a\"], \"content\": \"@@dpeth 4\\nMoon\"}}}",
        "depth",
    ),
    (
        "{\"entries\": {\"0\": {\"uid\": 0, \"key\": [\"a\"], \"content\": \"Moon\", \"triggers\": [\"normal\", \"swpie\"]}}}",
        "swipe",
    ),
];

#[test]
fn suggests_names_of_all_kinds() {
    for (text, meant) in MISSPELLED {
        let name = if text.starts_with(['[', '{']) { "a.json" } else { "a.yaml" };
        let checked = Checker::new(&[]).unwrap().check_bytes(Path::new(name), text.as_bytes());
        let help: String =
            checked.findings.iter().filter_map(|found| found.help.as_ref()).map(Phrase::to_string).collect();
        assert!(help.contains(&format!("did you mean `{meant}`?")), "{text}: {help}");
    }
}

/// Checks which names break the prompt cache of an agent.
#[track_caller]
fn check_breakers(agent: &str, expected: &[&str]) {
    let checked = Checker::new(&[]).unwrap().check_bytes(Path::new("a.yaml"), agent.as_bytes());
    let found: Vec<String> = messages(&checked, "CTX0706");
    let names: Vec<&str> = found.iter().filter_map(|message| message.split('`').nth(1)).collect();
    assert_eq!(names, expected, "{found:?}");
}

/// Returns the messages of the diagnostics with a code.
fn messages(checked: &Checked, code: &str) -> Vec<String> {
    let found = checked.findings.iter().filter(|found| found.code.to_string() == code);
    found.map(|found| found.message.to_string()).collect()
}

#[test]
fn names_text_that_breaks_the_cache() {
    let agent = "presetMessages:\n  - role: system\n    content:\n      - { type: text, text: 'Hi {{user}}.' }\n      \
                 - { type: text, text: ' It is {{time}}.' }\n  - { type: chat_history }\n";
    check_breakers(agent, &["time"]);
    check_breakers(&format!("prefix: append-only\n{agent}"), &[]);
}

#[test]
fn compares_values_of_variables() {
    let agent = |first: &str, second: &str| {
        format!(
            "variableConfig: {{ enabled: true, definitions: [{{ key: hp, initialValue: 3 }}] }}\npresetMessages:\n  \
             - {{ role: system, content: \"{first}\" }}\n  - {{ role: system, content: \"{second}\" }}\n  \
             - {{ type: chat_history }}\n"
        )
    };
    check_breakers(&agent("{{setvar::a::{{time}}}}", "{{getvar::a}} x"), &["getvar"]);
    check_breakers(&agent("{{setvar::a::calm}}{{incvar::n}}", "{{getvar::a}} {{getvar::n}} x"), &[]);
    check_breakers(&agent("{{getvar::a}} x", "{{setvar::a::{{time}}}}"), &[]);
    check_breakers(
        &agent("{{setvar::a::{{date}}}}{{setvar::b::{{getvar::a}}}}", "{{getvar::b}} x"),
        &["getvar"],
    );
    check_breakers(&agent("HP $[hp]", "{{time}} x"), &["$[hp]", "time"]);
}

#[test]
fn finds_entries_above_stable_text() {
    let agent = |role: &str, strategy: &str| {
        format!(
            "presetMessages:\n  - {{ role: system, content: Be kind. }}\n  - {{ type: chat_history }}\n  \
             - {{ role: {role}, content: \"{{{{time}}}} x\", injectionStrategy: {{ {strategy} }} }}\n"
        )
    };
    let before = "type: anchor, anchorTarget: chat_history, anchorPosition: before";
    let after = "type: anchor, anchorTarget: chat_history, anchorPosition: after";
    check_breakers(&agent("user", before), &["time"]);
    check_breakers(&agent("system", before), &["time"]);
    check_breakers(&agent("user", after), &[]);
    check_breakers(&agent("system", after), &[]);
    check_breakers(&agent("user", "type: depth, depth: 4"), &[]);
}

#[test]
fn finds_macros_in_shown_texts_of_a_card() {
    let agent = |dialect: &str, card: &str, text: &str| {
        format!(
            "dialect: {dialect}\ncharacter: {{ description: \"{card}\" }}\npresetMessages:\n  \
             - {{ role: system, content: \"{text} x\" }}\n  - {{ type: chat_history }}\n"
        )
    };
    check_breakers(&agent("sillytavern", "It is {{time}}.", "{{description}}"), &["charDescription"]);
    check_breakers(&agent("aio", "It is {{time}}.", "{{description}}"), &[]);
    check_breakers(&agent("sillytavern", "It is late.", "{{description}}"), &[]);
    check_breakers(
        &agent("sillytavern", "{{setvar::a::{{time}}}}", "{{description}}{{getvar::a}}"),
        &["getvar"],
    );
}

#[test]
fn ignores_texts_that_are_never_shown() {
    let agent = |dialect: &str, text: &str| {
        format!(
            "dialect: {dialect}\npresetMessages:\n  - {{ role: system, content: \"{text} x\" }}\n  - {{ type: chat_history }}\n"
        )
    };
    check_breakers(&agent("sillytavern", "{{if 0}}{{time}}{{/if}}"), &[]);
    check_breakers(&agent("aio", "{{setvar::a::{{time}}}}{{setvar::a::1}}{{getvar::a}}"), &[]);
}

#[test]
fn counts_tokens_that_miss_the_cache() {
    let rule = "  - { role: system, content: Answer in one sentence and be kind to everybody who asks. }\n";
    let (history, clock) =
        ("  - { type: chat_history }\n", r#"  - { role: system, content: "Now: {{time}}."@ }"#);
    let now = |place: &str| clock.replace('@', place) + "\n";
    let check = |entries: &[&str], breaker: &[&str], moving: &[&str]| {
        let agent = format!("presetMessages:\n{}", entries.concat());
        let checked = Checker::new(&[]).unwrap().check_bytes(Path::new("a.yaml"), agent.as_bytes());
        assert_eq!(messages(&checked, "CTX0706"), breaker, "{agent}");
        assert_eq!(messages(&checked, "CTX0707"), moving, "{agent}");
    };
    let missed = |tokens: &str| {
        format!(
            "`time` changes every turn: about {tokens} of the preset and the whole conversation miss the prompt cache"
        )
    };
    let moving = |entry: &str| {
        format!(
            "moving text breaks the prompt cache; tokens billed again in 50 turns, about: `{entry}` 220000"
        )
    };
    check(&[&now(""), rule, history], &[&missed("16 tokens")], &[&moving("preset#0")]);
    // A system message below the conversation is moved above it.
    check(&[rule, history, &now("")], &[&missed("1 token")], &[&moving("preset#2")]);
    check(&[rule, history, &now(", injectionStrategy: { type: depth, depth: 0 }")], &[], &[]);
    let alone = "presetMessages:\n  - { content: \"{{time}}\" }\n  - { type: chat_history }\n";
    let checked = Checker::new(&[]).unwrap().check_bytes(Path::new("a.yaml"), alone.as_bytes());
    let expected = "`time` changes every turn: the whole conversation misses the prompt cache";
    assert_eq!(messages(&checked, "CTX0706"), [expected]);
}

#[test]
fn finds_worldbook_entries_in_every_request() {
    let agent = "worldbookIds: [b]\npresetMessages:\n  - { role: system, content: Be kind. }\n  - { type: chat_history }\n";
    let found = |fields: &str| {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("b.json");
        let entry = format!(r#""uid": 0, "key": ["a"], "content": "It is {{{{time}}}}.", {fields}"#);
        std::fs::write(&book, format!(r#"{{ "entries": {{ "0": {{ {entry} }} }} }}"#)).unwrap();
        let checker = Checker::new(&[book]).unwrap();
        messages(&checker.check_bytes(Path::new("a.yaml"), agent.as_bytes()), "CTX0706").len()
    };
    assert_eq!(found(r#""constant": true"#), 1);
    assert_eq!(found(r#""constant": true, "position": 1"#), 1);
    assert_eq!(found(r#""constant": true, "position": 4, "depth": 0"#), 0);
    assert_eq!(found(r#""constant": true, "disable": true"#), 0);
    assert_eq!(found(r#""constant": false"#), 0);
    let global = |more: &str| {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("b.json");
        let entry = format!(r#""constant": true, "content": "It is {{{{time}}}}."{more}"#);
        std::fs::write(&book, format!(r#"{{"entries": {{"0": {{{entry}}}}}}}"#)).unwrap();
        let agent = b"presetMessages: [{ role: system, content: Be kind. }, { type: chat_history }]";
        let checker = Checker::new(&[book]).unwrap();
        messages(&checker.check_bytes(Path::new("a.yaml"), agent), "CTX0706").len()
    };
    assert_eq!(global(""), 1);
    assert_eq!(
        global(r#", "delayUntilRecursion": false, "probability": 100, "triggers": [], "group": """#),
        1
    );
    for more in [
        r#", "probability": 50"#,
        r#", "delay": 5"#,
        r#", "delayUntilRecursion": true"#,
        r#", "group": "weather""#,
        r#", "triggers": ["continue"]"#,
        r#", "characterFilter": { "names": ["Ada"] }"#,
        r#", "position": 4"#,
        r#", "disable": true"#,
    ] {
        assert_eq!(global(more), 0, "{more}");
    }
}

const MOVING: &str = "\
name: Ada
worldbookIds: [b]
presetMessages:
  - { id: rules, role: system, content: Be kind. }
  - { type: chat_history }
  - { id: note, role: system, content: Be calm., injectionStrategy: { type: depth, depth: 4 } }
  - { id: short, role: user, content: Be brief., insertionPoint: -1 }
  - { id: clock, role: system, content: 'It is {{time}}.', injectionStrategy: { type: depth, depth: 0 } }
";

const CONSTANT_BOOK: &str = r#"{ "entries": { "0": { "constant": true, "content": "The sea is near.", "position": 4, "depth": 2 } } }"#;

#[test]
fn lists_moving_text_with_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("b.json");
    std::fs::write(&book, CONSTANT_BOOK).unwrap();
    let checker = Checker::new(&[book]).unwrap();
    let found =
        |agent: &str| messages(&checker.check_bytes(Path::new("a.yaml"), agent.as_bytes()), "CTX0707");
    let cost = "`preset:note` 17000, `worldbook:b.0` 9600, `preset:short` 2600";
    let expected =
        format!("moving text breaks the prompt cache; tokens billed again in 50 turns, about: {cost}");
    assert_eq!(found(MOVING), [expected]);
    for mode in ["moving", "append-only", "auto"] {
        assert_eq!(found(&format!("prefix: {mode}\n{MOVING}")), [""; 0], "{mode}");
    }
}

/// Checks which authors of moving text are listed, with their tokens.
#[track_caller]
fn check_moving_text(agent: &str, expected: &str) {
    let checked = Checker::new(&[]).unwrap().check_bytes(Path::new("a.yaml"), agent.as_bytes());
    let found = messages(&checked, "CTX0707");
    let list = found.iter().find_map(|message| Some(message.split_once("turns, about: ")?.1));
    assert_eq!(list.unwrap_or_default(), expected, "{found:?}");
}

#[test]
fn names_authors_of_moving_text() {
    let agent = |entry: &str| format!("presetMessages:\n  - {{ type: chat_history }}\n  - {entry}\n");
    check_moving_text(
        &agent("{ role: system, content: x, injectionStrategy: { type: depth, depth: 0 } }"),
        "",
    );
    check_moving_text(
        &agent("{ id: a, role: user, content: x, injectionStrategy: { type: depth, depth: 2 } }"),
        "`preset:a` 9200",
    );
    let several =
        "{ id: a, content: x, injectionStrategy: { type: advanced_depth, depthConfig: '3, 10~5' } }";
    check_moving_text(&agent(several), "`preset:a` 220000");
    let after = format!(
        "{{ id: a, role: user, content: {}, anchorTarget: chat_history, anchorPoint: after }}",
        "Be kind. ".repeat(30)
    );
    check_moving_text(&agent(&after), "`preset:a` 3300");
    let limited = "parameters:\n  contextManagement: { enabled: true, maxContextTokens: 8000 }\n  processors: [{ id: recall, enabled: true }]\n";
    check_moving_text(&(agent("{ content: x }") + limited), "`token-limiter` 120000, `recall` 7100");
}

#[test]
fn reads_nothing_outside_the_project_of_a_case() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("project/.git")).unwrap();
    std::fs::write(folder.path().join("secret.json"), "[canary").unwrap();
    let case = b"session: ../secret.json\nworldbooks: [../secret.json, /no/such]\n";
    let checked = Checker::new(&[]).unwrap().check_bytes(&folder.path().join("project/case.yaml"), case);
    let found: Vec<String> = checked.findings.iter().map(|found| found.message.to_string()).collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|found| found.ends_with("is outside the project of the case")), "{found:?}");
}

/// Defaults with a fault of each kind.
const FAULTY: &str = "\
agnt = 'a.yaml'
session = 'chta.json'
context-tokens = 'many'
[[processors]]
id = 'token-limitr'
[endpoint]
key-file = 'key'
[endpoint.headers]
x-a = 'abcdefgh'
x-b = 3
[compression]
minHistoryCount = 'x'
[tools]
folder = 'notes'
deny = { tool = ['x'] }
";

#[test]
fn checks_defaults_as_each_command_reads_them() {
    let folder = project();
    let checked = Checker::new(&[]).unwrap().check_bytes(&folder.path().join("ctx.toml"), FAULTY.as_bytes());
    let prefix = format!("{}/", files::name(folder.path()));
    let line = |found: &Diagnostic| {
        let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{} {}{help}", found.code, found.message).replace(&prefix, "")
    };
    let found: Vec<String> = checked.findings.iter().map(line).collect();
    assert_eq!(
        found,
        [
            "CTX0901 unknown key `agnt` (did you mean `agent`?)",
            "CTX0900 no file `chta.json`",
            "CTX0902 `context-tokens`: expected a whole number from 0 to 1000000000, found `\"many\"` (write a whole number from 0 to 1000000000, or remove `context-tokens`)",
            "CTX0452 unknown processor `token-limitr` (set by user) (did you mean `token-limiter`?)",
            "CTX0900 no file `key`",
            "CTX0902 `headers` must be a table whose values are strings (write each header as `name = \"value\"`)",
            "CTX0825 compression setting `minHistoryCount` is `\"x\"`; expected a whole number from 0 to 1000000000000",
            "CTX0900 no folder `notes`",
            "CTX0901 unknown key `tool` (did you mean `tools`?)",
        ]
    );
}

#[test]
fn checks_file_with_two_paths_once() {
    let folder = project();
    let path = |name: &str| folder.path().join(name);
    let paths = [path("a"), path("a/agent.yaml"), path("a/../profile.yaml"), path("a"), path("profile.yaml")];
    let mut checked = Vec::new();
    let mut checker = Checker::new(&[]).unwrap();
    checker.check(&paths, &mut None, &mut |file| checked.extend(file.files));
    assert_eq!(checked, [files::name(&paths[1]), files::name(&paths[2])]);
}
