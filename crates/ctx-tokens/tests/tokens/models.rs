use ctx_tokens::{Encoding, ModelFacts, ModelTable, internal::MediaFamily};
use ctx_types::Diagnostic;
use ctx_types::internal::{OutputLimit, SamplerRule};

#[track_caller]
fn check(model: &str, name: &str, window: u32, output: Option<u32>) {
    let (facts, diagnostic) = ModelTable::builtin().lookup(model);
    assert_eq!(diagnostic, None, "`{model}`");
    let found = (facts.name.as_deref(), facts.context_window, facts.max_output);
    assert_eq!(found, (Some(name), Some(window), output), "`{model}`");
    assert_eq!(&*facts.model, model);
}

#[test]
fn finds_openai_models() {
    check("gpt-5", "gpt-5", 400_000, Some(128_000));
    check("gpt-5.1-codex-mini", "gpt-5-mini", 400_000, Some(128_000));
    check("gpt-5.4-2026-03-05", "gpt-5.4", 1_050_000, Some(128_000));
    check("gpt-5.6-sol", "gpt-5.5", 1_050_000, Some(128_000));
    check("gpt-6.2-sol", "gpt-6.2", 1_050_000, Some(128_000));
    check("gpt-5-chat-latest", "gpt-5-chat", 128_000, Some(16_384));
    check("gpt-4.1-nano", "gpt-4.1-nano", 1_047_576, Some(32_768));
    check("gpt-4o-2024-08-06", "gpt-4o", 128_000, Some(16_384));
    check("chatgpt-4o-latest", "gpt-4o", 128_000, Some(16_384));
    check("gpt-4", "gpt-4", 8_192, Some(8_192));
    check("openai/gpt-4:free", "gpt-4", 8_192, Some(8_192));
    check("gpt-4-0613", "gpt-4", 8_192, Some(8_192));
    check("gpt-4-turbo-preview", "gpt-4-turbo", 128_000, Some(4_096));
    check("gpt-3.5-turbo", "gpt-3.5-turbo", 16_385, Some(4_096));
    check("gpt-35-turbo", "gpt-3.5-turbo", 16_385, Some(4_096));
    check("o1", "o3", 200_000, Some(100_000));
    check("o3-pro", "o3", 200_000, Some(100_000));
    check("o4-mini-2025-04-16", "o4-mini", 200_000, Some(100_000));
    check("openai/gpt-oss-20b", "gpt-oss-120b", 131_072, Some(131_072));
}

#[test]
fn returns_request_rules() {
    let rules = |model: &str| ModelTable::builtin().lookup(model).0.request;
    for model in ["gpt-5", "openai/gpt-5-mini", "gpt-5.2-pro", "o3", "o4-mini", "gpt-5-codex", "kimi-k2.5"] {
        let limit = rules(model).output_limit;
        assert_eq!(
            (limit, rules(model).samplers),
            (OutputLimit::MaxCompletionTokens, SamplerRule::None),
            "{model}"
        );
    }
    let samplers = [
        ("gpt-4o", SamplerRule::All),
        ("gpt-5-chat-latest", SamplerRule::All),
        ("gpt-5.1", SamplerRule::WithoutReasoning),
        ("gpt-5.4-mini", SamplerRule::WithoutReasoning),
        ("gpt-5.6", SamplerRule::IfReasoningDisabled),
        ("claude-3-5-sonnet", SamplerRule::All),
        ("claude-opus-4-20250514", SamplerRule::All),
        ("claude-opus-4-1-20250805", SamplerRule::TemperatureOrTopP),
        ("anthropic/claude-sonnet-4.6", SamplerRule::TemperatureOrTopP),
        ("claude-opus-4-7", SamplerRule::None),
        ("claude-haiku-5-5", SamplerRule::None),
        ("unheard-of", SamplerRule::Unknown),
    ];
    for (model, expected) in samplers {
        assert_eq!(rules(model).samplers, expected, "{model}");
    }
}

#[test]
fn finds_claude_models() {
    check("claude-opus-5-5", "claude-opus-5-5", 1_000_000, Some(128_000));
    check("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000, Some(64_000));
    check("claude-opus-4-20250514", "claude-opus-4", 200_000, Some(32_000));
    check("claude-opus-4-1", "claude-opus-4-1", 200_000, Some(32_000));
    check("claude-opus-4.8", "claude-opus-4-8", 1_000_000, Some(128_000));
    check("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", 200_000, Some(64_000));
    check("anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet", 200_000, Some(64_000));
    check("claude-3-haiku-20240307", "claude-3-opus", 200_000, Some(4_096));
}

#[test]
fn finds_models_of_other_families() {
    check("models/gemini-2.5-flash", "gemini-2.5-pro", 1_048_576, Some(65_536));
    check("gemini-3.8-flash", "gemini-3-pro", 1_048_576, Some(65_536));
    check("gemini-4-argon", "gemini-4", 1_048_576, Some(1_048_576));
    check("deepseek-chat", "deepseek-chat", 131_072, Some(8_192));
    check("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-reasoner", 131_072, Some(65_536));
    check("deepseek-v4-flash", "deepseek-v4", 1_048_576, Some(393_216));
    check("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-max", 262_144, Some(65_536));
    check("qwen2.5-72b-instruct", "qwen2.5", 131_072, Some(8_192));
    check("llama3.1:8b", "llama-3.3-70b", 131_072, None);
    check("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b", 131_072, None);
    check("Meta-Llama-3-8B-Instruct", "llama-3-70b", 8_192, None);
    check("mistralai/Mistral-Large-3", "mistral-large-3", 262_144, None);
    check("open-mixtral-8x7b", "mistral-small", 32_768, None);
    check("z-ai/glm-4.6", "glm-4.7", 200_000, Some(131_072));
    check("glm-5.2", "glm-5.2", 1_048_576, Some(131_072));
    check("moonshotai/kimi-k2-0905", "kimi-k2", 262_144, None);
    check("kimi-k2.6", "kimi-k2.5", 262_144, None);
    check("moonshot-v1-32k", "moonshot-v1-32k", 32_768, None);
}

#[test]
fn finds_name_after_profile_or_path() {
    check("openrouter/openai/gpt-5", "gpt-5", 400_000, Some(128_000));
    check("profile:gpt-4o", "gpt-4o", 128_000, Some(16_384));
    check("my profile:openai/gpt-4o-mini", "gpt-4o-mini", 128_000, Some(16_384));
    check("ft:gpt-4o:org:name", "gpt-4o", 128_000, Some(16_384));
    check("GPT-4o", "gpt-4o", 128_000, Some(16_384));
}

#[test]
fn reports_unknown_model_without_limits() {
    for model in ["my-model", "ollama:mine", "gpt-47", "", "x\u{0}y"] {
        let (facts, diagnostic) = ModelTable::builtin().lookup(model);
        assert_eq!(facts, ModelFacts::unknown(model));
        assert_eq!(diagnostic.unwrap().code.number(), 400, "`{model}`");
    }
}

#[test]
fn truncates_long_model_name_in_diagnostic() {
    let (_, diagnostic) = ModelTable::builtin().lookup(&"gpt-4o".repeat(100_000));
    assert!(diagnostic.unwrap().message.to_string().len() < 200);
}

#[test]
fn suggests_similar_model() {
    for (model, near) in
        [("gtp-4o", "gpt-4o"), ("router/cluade-opus-5", "claude-opus-5"), ("deepsek-chat", "deepseek-chat")]
    {
        let (_, diagnostic) = ModelTable::builtin().lookup(model);
        assert_eq!(diagnostic.unwrap().help.unwrap(), format!("did you mean `{near}`?"));
    }
    // Another version is another model.
    let (_, diagnostic) = ModelTable::builtin().lookup("gpt-9");
    assert_eq!(diagnostic.unwrap().help.unwrap(), "add it to a model table");
}

#[test]
fn returns_encoding_and_capabilities_of_family() {
    let facts = |model| ModelTable::builtin().lookup(model).0;
    let encoding = |model| (facts(model).encoding, facts(model).is_exact);
    assert_eq!(encoding("gpt-5"), (Encoding::O200kBase, true));
    assert_eq!(encoding("gpt-4-turbo"), (Encoding::Cl100kBase, true));
    assert_eq!(encoding("claude-opus-5"), (Encoding::O200kBase, false));
    assert_eq!(encoding("qwen3"), (Encoding::O200kBase, false));

    let may = |model| facts(model).capabilities;
    assert!(may("claude-opus-4-8").mid_system && !may("claude-opus-4-6").mid_system);
    assert!(may("claude-sonnet-4-5").prefill && !may("claude-sonnet-4-6").prefill);
    assert!(may("gemini-2.5-pro").video && !may("gpt-4o").video);
    assert!(may("gpt-4o").vision && !may("gpt-3.5-turbo").vision);
    assert_eq!(facts("claude-opus-4-7").media, MediaFamily::ClaudeLarge);
    assert_eq!(facts("gpt-5-mini").media, MediaFamily::Gpt5Mini);
}

fn with(json: &str) -> (ModelTable, Vec<Diagnostic>) {
    ModelTable::builtin().with_override(json)
}

#[track_caller]
fn check_file(json: &str, expected: &[(u16, &str)]) {
    let (_, diagnostics) = with(json);
    let found = |diagnostic: &Diagnostic| {
        (diagnostic.code.number(), diagnostic.location.pointer.clone().unwrap_or_default())
    };
    let expected: Vec<_> = expected.iter().map(|(code, pointer)| (*code, (*pointer).to_owned())).collect();
    assert_eq!(diagnostics.iter().map(found).collect::<Vec<_>>(), expected, "{diagnostics:#?}");
}

#[test]
fn fills_user_row_from_builtin_row() {
    let file =
        r#"{"models": [{"pattern": "^gpt-4o", "contextWindow": 9000, "capabilities": {"vision": false}}]}"#;
    let (table, diagnostics) = with(file);
    assert_eq!(diagnostics, []);
    let (facts, _) = table.lookup("openai/gpt-4o");
    let (builtin, _) = ModelTable::builtin().lookup("openai/gpt-4o");
    let mut expected = ModelFacts { context_window: Some(9_000), ..builtin };
    expected.capabilities.vision = false;
    assert_eq!(facts, expected);
}

#[test]
fn adds_model_from_user_row() {
    let (table, _) =
        with(r#"[{"pattern": "^mine$", "name": "mine", "family": "openai", "contextWindow": 4096}]"#);
    let (facts, diagnostic) = table.lookup("mine");
    assert_eq!(diagnostic, None);
    assert!(facts.is_exact);
    assert_eq!((facts.context_window, facts.max_output, facts.overheads.with_tools), (Some(4_096), None, 12));
    let (_, diagnostic) = table.lookup("mime");
    assert_eq!(diagnostic.unwrap().help.unwrap(), "did you mean `mine`?");
}

#[test]
fn prefers_first_matching_user_row() {
    let (table, _) = with(r#"[{"pattern": "mine", "maxOutput": 1}, {"pattern": "mine", "maxOutput": 2}]"#);
    assert_eq!(table.lookup("mine").0.max_output, Some(1));
}

#[test]
fn treats_other_encoding_as_estimate_unless_exact() {
    let lookup = |row: &str| with(&format!("[{row}]")).0.lookup("gpt-4o").0;
    assert!(!lookup(r#"{"pattern": "^gpt-4o", "encoding": "cl100k_base"}"#).is_exact);
    assert!(lookup(r#"{"pattern": "^gpt-4o", "encoding": "cl100k_base", "count": "exact"}"#).is_exact);
    assert!(lookup(r#"{"pattern": "^gpt-4o", "encoding": "o200k_harmony"}"#).is_exact);
    assert!(!lookup(r#"{"pattern": "^gpt-4o", "encoding": "estimate", "count": "exact"}"#).is_exact);
}

#[test]
fn reports_invalid_row_and_keeps_others() {
    let file = r#"[7, {"pattern": "("}, {"contextWindow": 5}, {"pattern": "^gpt-4o$", "maxOutput": 5}]"#;
    check_file(file, &[(100, "/0"), (403, "/1/pattern"), (403, "/2")]);
    assert_eq!(with(file).0.lookup("gpt-4o").0.max_output, Some(5));
}

#[test]
fn reports_invalid_field_and_keeps_others() {
    let file = r#"{"models": [{"pattern": "^gpt-4o$", "contextWindow": -1, "maxOutput": 7, "media": "x", "family": "y",
        "encoding": "z", "count": 1, "name": 2, "capabilities": {"vision": 1}, "overheads": {"perTool": 1e9}}]}"#;
    let expected = [
        "name",
        "encoding",
        "count",
        "contextWindow",
        "media",
        "capabilities/vision",
        "overheads/perTool",
        "family",
    ]
    .map(|key| format!("/models/0/{key}"));
    check_file(file, &expected.each_ref().map(|pointer| (404, pointer.as_str())));
    let facts = with(file).0.lookup("gpt-4o").0;
    assert_eq!((facts.context_window, facts.max_output), (Some(128_000), Some(7)));
}

#[test]
fn lists_valid_values_of_invalid_field() {
    let said = |field: &str| {
        let (_, found) = with(&format!(r#"[{{"pattern": "x", {field}}}]"#));
        found[0].message.to_string()
    };
    let window = "`contextWindow` must be a whole number from 1 to 1000000000, not ";
    assert_eq!(said(r#""contextWindow": 0"#), format!("{window}`0`"));
    assert_eq!(said(r#""contextWindow": 1e30"#), format!("{window}`1e+30`"));
    let cost = "`perTool` must be a whole number from 0 to 100000, not `-1`";
    assert_eq!(said(r#""overheads": {"perTool": -1}"#), cost);
    assert!(said(r#""media": "gpt4""#).starts_with("`media` must be one of `unknown`, `gpt-4o`, "));
    assert!(said(r#""family": "y""#).starts_with("`family` must be one of `openai`, "));
    let long = said(&format!(r#""media": "{}""#, "y".repeat(1_000)));
    assert!(long.chars().count() < 300 && long.ends_with("…`"), "{long}");
}

#[test]
fn ignores_null_fields() {
    check_file(r#"[{"pattern": "x", "contextWindow": null, "capabilities": null}]"#, &[]);
}

#[test]
fn suggests_key_similar_to_unknown_key() {
    let file = r#"[{"pattern": "x", "contextwindow": 5, "capabilities": {"midsystem": true}}]"#;
    check_file(file, &[(405, "/0/contextwindow"), (405, "/0/capabilities/midsystem")]);
    assert_eq!(
        with(file).1[0].help.as_ref().map(ToString::to_string).as_deref(),
        Some("did you mean `contextWindow`?")
    );
}

#[test]
fn reports_invalid_tables() {
    check_file("{", &[(402, "")]);
    check_file("7", &[(402, "")]);
    check_file("{}", &[(402, "")]);
    check_file(r#"{"models": {}}"#, &[(100, "/models")]);
    check_file(&"[".repeat(10_000), &[(402, "")]);
    check_file(&" ".repeat(5 << 20), &[(406, "")]);
}

#[test]
fn locates_syntax_error() {
    let (_, diagnostics) = with("[\n  {,}]");
    assert_eq!(diagnostics[0].location.span.unwrap().start, 5);
    assert_eq!(diagnostics[0].location.pointer, None);
}

#[test]
fn rejects_too_many_rows() {
    let rows = vec![r#"{"pattern":"x"}"#; 10_001].join(",");
    check_file(&format!("[{rows}]"), &[(406, "")]);
}

#[test]
fn keeps_table_after_unreadable_override() {
    let (table, _) = with(r#"[{"pattern": "^gpt-4o$", "maxOutput": 5}]"#);
    let (table, _) = table.with_override("{");
    assert_eq!(table.lookup("gpt-4o").0.max_output, Some(5));
}
