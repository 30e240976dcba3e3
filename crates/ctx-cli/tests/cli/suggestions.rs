//! Whoever misspells a name is asked whether the near one was meant, whatever the name is of.

use crate::ctx;

/// A kind of name, the command line on which one is misspelt, the file that it reads, and what was meant.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "anchor",
        "check a.yaml",
        "presetMessages: [{ content: a, anchorTarget: chat_histroy }]",
        "chat_history",
    ),
    ("role", "check a.yaml", "presetMessages: [{ role: sytem, content: a }]", "system"),
    ("type of an entry", "check a.yaml", "presetMessages: [{ type: chat_histroy }]", "chat_history"),
    (
        "group",
        "check --json a.yaml",
        "presetMessages: [{ content: a, groupId: moood }]\npresetGroups: [{ id: mood }]",
        "mood",
    ),
    ("place of the history", "check a.yaml", "presetMessages: []\nhistoryWhenUnplaced: apend", "append"),
    (
        "strategy of an entry",
        "check a.yaml",
        "presetMessages: [{ content: a, injectionStrategy: { type: depht } }]",
        "depth",
    ),
    (
        "side of an anchor",
        "check a.yaml",
        "presetMessages: [{ type: chat_history }, { content: a, anchorTarget: chat_history, anchorPoint: befor }]",
        "before",
    ),
    ("macro", "check a.yaml", "presetMessages: [{ content: '{{usr}}' }]", "user"),
    ("dialect of macros", "check a.yaml", "dialect: silytavern\npresetMessages: []", "sillytavern"),
    (
        "language of dates",
        "assemble a.yaml --input Hi",
        "presetMessages: [{ content: '{{datetime_locale::enUS}}' }]",
        "en-US",
    ),
    (
        "processor",
        "check a.yaml",
        "presetMessages: []\nparameters: { processors: [{ id: token-limitr }] }",
        "token-limiter",
    ),
    (
        "processor of --enable",
        "assemble a.yaml --input Hi --enable token-limitr",
        "presetMessages: []",
        "token-limiter",
    ),
    (
        "processor of --disable",
        "assemble a.yaml --input Hi --disable regex-procesor",
        "presetMessages: []",
        "regex-processor",
    ),
    (
        "key of a processor",
        "check a.yaml",
        "presetMessages: []\nparameters: { processors: [{ id: token-limiter, enable: true }] }",
        "enabled",
    ),
    (
        "setting of a processor",
        "check a.yaml",
        "presetMessages: []\nparameters: { processors: [{ id: regex-processor, config: { step: 5 } }] }",
        "steps",
    ),
    (
        "target of a regex rule",
        "check a.yaml",
        "presetMessages: []\nregexConfig: { presets: [{ id: p, enabled: true, rules: [{ id: r, enabled: true, regex: a, replacement: b, targetRoles: [asistant] }] }] }",
        "assistant",
    ),
    (
        "role of a message",
        "check a.json",
        "[{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"asistant\", \"content\": \"Ho\"}]",
        "assistant",
    ),
    (
        "role of a request",
        "check a.json",
        "{\"model\": \"m\", \"messages\": [{\"role\": \"usr\", \"content\": \"Hi\"}]}",
        "user",
    ),
    ("model", "assemble --input Hi --model gtp-4o", "", "gpt-4o"),
    ("model to count for", "count --model gtp-4o a.yaml", "Hello", "gpt-4o"),
    (
        "fact of a model",
        "assemble --input Hi --models a.json",
        "[{\"pattern\": \"^m$\", \"contextWindo\": 8000}]",
        "contextWindow",
    ),
    ("template", "assemble --input Hi --format completion --template chatlm", "", "chatml"),
    (
        "key of a template",
        "assemble --input Hi --format completion --template a.yaml",
        "name: mine\nusr: { before: a }\n",
        "user",
    ),
    ("format", "assemble --input Hi --format opnai", "", "openai"),
    ("verb", "asemble", "", "assemble"),
    ("option", "assemble --inptu Hi", "", "--input"),
    ("time zone", "assemble --input Hi --tz Asia/Shanghia", "", "Asia/Shanghai"),
    ("field of an environment", "macros expand Hi --env a.json", "{\"persna\": \"Alex\"}", "persona"),
    (
        "dialect of a worldbook",
        "check a.json",
        "{\"name\": \"x\", \"entries\": {}, \"dialect\": \"cv3\"}",
        "ccv3",
    ),
    (
        "decorator of a worldbook",
        "check a.json",
        "{\"dialect\": \"ccv3\", \"entries\": {\"0\": {\"uid\": 0, \"key\": [\"a\"], \"content\": \"@@dpeth 4\\nMoon\"}}}",
        "depth",
    ),
    (
        "trigger of a worldbook",
        "check a.json",
        "{\"entries\": {\"0\": {\"uid\": 0, \"key\": [\"a\"], \"content\": \"Moon\", \"triggers\": [\"normal\", \"swpie\"]}}}",
        "swipe",
    ),
];

#[test]
fn each_kind_of_name_has_a_suggestion() {
    let mut missing = Vec::new();
    for (kind, arguments, file, meant) in ROWS {
        let name = ["a.yaml", "a.json"].into_iter().find(|name| arguments.contains(name));
        let told = ctx(arguments, &name.map(|name| (name, *file)).into_iter().collect::<Vec<_>>());
        let by_us = told.contains(&format!("did you mean `{meant}`?"));
        let by_parser = told.contains("tip: ") && told.contains(&format!("'{meant}'"));
        if !by_us && !by_parser {
            missing.push(format!("{kind}: no `{meant}` in\n{told}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_key_of_a_case_has_a_suggestion() {
    let files = [("t/a/agent.yaml", "presetMessages: []"), ("t/a/case.yaml", "inptu: Hi\n")];
    let told = ctx("test t", &files);
    assert!(told.contains("did you mean `input`?"), "{told}");
}

#[test]
fn a_strategy_has_a_suggestion() {
    let files = [("a.json", "[{\"role\": \"user\", \"content\": \"Hi\"}]")];
    let told = ctx("compress plan --session a.json --budget 10 --strategy sentnces", &files);
    assert!(told.contains("did you mean `sentences`?"), "{told}");
}

#[test]
fn a_worldbook_has_a_suggestion() {
    let files = [
        ("a.yaml", "presetMessages: []\nworldbookIds: [skyy]\n"),
        ("sky.json", "{\"name\": \"sky\", \"entries\": {}}"),
    ];
    let told = ctx("check --json a.yaml --worldbook sky.json", &files);
    assert!(told.contains("did you mean `sky`?"), "{told}");
}

#[test]
fn an_option_of_another_program_has_a_suggestion() {
    let check = |arguments: &str, tip: &str| {
        let told = ctx(arguments, &[]);
        let option = arguments.rsplit(' ').find(|word| word.starts_with("--")).unwrap();
        let head =
            format!("exit code 2\n=== errors\nerror: unexpected argument '{option}' found\n\n  tip: {tip}\n");
        assert!(told.starts_with(&head), "{told}");
    };
    let size = "a similar argument exists: '--context-tokens'";
    check("assemble --budget 1000", size);
    check("worldbook scan --max-tokens 100", size);
    for verb in ["assemble", "explain", "chat"] {
        let both = "some similar arguments exist: '--context-tokens', '--reserve'";
        check(&format!("{verb} --max-tokens"), both);
    }
    let chinese = ctx("assemble --budget 1000 --lang zh", &[]);
    assert!(chinese.contains("'--context-tokens'") && !chinese.contains("-- --budget"), "{chinese}");
    let help = ctx("assemble --help", &[]);
    assert!(!help.contains("--budget") && !help.contains("--max-tokens"), "{help}");
}
