use crate::support;

use std::sync::Arc;

use ctx_macros::{
    CardTexts, Conversation, Dialect, Env, Limits, MacroPorts, ModelValues, SpokenText, State, codes,
    internal::AgentAssets,
};
use ctx_types::ports::{SystemInfo, ToolCatalog, ToolDefinition};
use ctx_types::{Code, Text, Trust};
use serde_json::json;
use support::{env, origin, parse};

#[track_caller]
fn check(env: &Env, text: &str, expected: &str, codes: &[Code]) {
    let expansion = parse(text, Dialect::Aio).expand(env, &mut State::new(Limits::default()), &origin());
    let found: Vec<Code> = expansion.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!((expansion.text.as_str(), found.as_slice()), (expected, codes), "{text:?}");
}

fn trust(env: &Env, text: &str) -> Trust {
    let expansion = parse(text, Dialect::Aio).expand(env, &mut State::new(Limits::default()), &origin());
    expansion.segments()[0].source.trust
}

struct Host;

impl SystemInfo for Host {
    fn fact(&self, name: &str) -> Option<Arc<str>> {
        (name != "hostname").then(|| Arc::from(format!("<{name}>")))
    }
}

impl ToolCatalog for Host {
    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str, description: Option<&str>| ToolDefinition {
            name: name.into(),
            description: description.map(Text::from),
            parameters: Arc::new(json!({ "type": "object" })),
        };
        vec![tool("search", Some("Searches notes.")), tool("clock", None)]
    }

    fn usage(&self) -> Option<Text> {
        Some("Call one at a time.".into())
    }

    fn context(&self, names: &[&str]) -> Option<Text> {
        Some(format!("for {names:?}").into())
    }
}

fn with_host() -> Env {
    let (system, tools) = (Some(Arc::new(Host) as Arc<_>), Some(Arc::new(Host) as Arc<_>));
    Env { ports: MacroPorts { system, tools }, ..env() }
}

#[test]
fn expands_model_id_and_name() {
    let model = ModelValues {
        id: Some("gpt-5".into()),
        profile_id: Some("p1".into()),
        provider: Some("openai".into()),
        ..ModelValues::default()
    };
    let named =
        ModelValues { name: Some("GPT 5".into()), profile_name: Some("Work".into()), ..model.clone() };
    let text = "{{modelId}}|{{modelName}}|{{provider}}|{{profileId}}|{{profileName}}";
    check(&Env { model, ..env() }, text, "gpt-5|gpt-5|openai|p1|p1", &[]);
    check(&Env { model: named, ..env() }, text, "gpt-5|GPT 5|openai|p1|Work", &[]);
    check(&env(), text, "||||", &[]);
}

#[test]
fn defaults_to_standard_guideline() {
    let guideline = |text: &str| {
        let card = CardTexts { visual_guideline: Some(text.into()), ..CardTexts::default() };
        Env { card, ..env() }
    };
    check(&guideline("Draw {{char}}."), "{{visual_guideline}}!", "Draw Alice.!", &[]);
    check(&guideline("[{{visual_guideline}}]"), "{{visual_guideline}}", "[]", &[]);
    let standard = parse("{{visual_guideline}}", Dialect::Aio);
    let standard = standard.expand(&env(), &mut State::new(Limits::default()), &origin()).text;
    assert!(standard.starts_with("Write answers in Markdown.") && !standard.contains("{{"));
}

#[test]
fn expands_newest_messages_with_their_trust() {
    let said = |text: &str, trust| Some(SpokenText { text: text.into(), trust });
    let conversation = Conversation {
        last: said("b", Trust::Model),
        last_user: said("a", Trust::User),
        last_agent: said("b", Trust::Model),
        ..Conversation::default()
    };
    let env = Env { conversation, input: Some("raw {{user}}".into()), ..env() };
    check(&env, "{{lastMessage}}{{lastUserMessage}}{{lastCharMessage}} {{input}}", "bab raw {{user}}", &[]);
    assert_eq!((trust(&env, "{{lastMessage}}"), trust(&env, "{{input}}")), (Trust::Model, Trust::User));
    check(&Env::default(), "[{{lastMessage}}{{lastUserMessage}}{{lastCharMessage}}{{input}}]", "[]", &[]);
}

#[test]
fn reads_system_facts_from_host() {
    let text = "{{os}} {{osVersion}} {{arch}} {{platform}} {{locale}}";
    check(&with_host(), text, "<os> <osVersion> <arch> <platform> <locale>", &[]);
    check(&with_host(), "{{hostname}}", "Unknown", &[codes::NOT_PROVIDED]);
    check(&env(), "{{os}}", "Unknown", &[codes::NOT_PROVIDED]);
    check(&Env { locale: Some("zh-CN".into()), ..env() }, "{{locale}}", "zh-CN", &[]);
}

#[test]
fn lists_files_by_group() {
    let files = json!([
        { "id": "smile", "type": "image", "filename": "smile.final.png", "description": "A smile", "group": "faces" },
        { "id": "song", "type": "audio", "path": "sounds/song.ogg", "group": "no such group" },
        { "id": "notes", "type": "file" },
        { "type": "image" },
        5,
    ]);
    let groups = json!([{ "id": "faces", "displayName": "Faces" }]);
    let assets = AgentAssets::read(Some(&files), Some(&groups));
    let env = Env { assets, ..env() };
    check(
        &env,
        "{{assets}}",
        "Files of this agent. Refer to one as `agent-asset://{group}/{id}.{ext}`:\n\
         - [Image] agent-asset://faces/smile.png: A smile\n\
         - [Audio] agent-asset://default/song.ogg\n\
         - [File] agent-asset://default/notes",
        &[],
    );
    check(&Env::default(), "{{assets}}", "This agent has no files.", &[]);
}

#[test]
fn lists_tools_by_name() {
    let search = "- search: Searches notes.\n  Arguments: {\"type\":\"object\"}";
    let clock = "- clock\n  Arguments: {\"type\":\"object\"}";
    check(&with_host(), "{{tools}}", &format!("{search}\n{clock}"), &[]);
    check(&with_host(), "{{tools::clock}}", clock, &[]);
    check(&with_host(), "{{tools::clock, search}}", &format!("{search}\n{clock}"), &[]);
    check(&with_host(), "{{tools::clok}}", "", &[codes::UNKNOWN_TOOL]);
    check(
        &with_host(),
        "{{tool_usage}} {{tool_context::a::b,c}}",
        "Call one at a time. for [\"a\", \"b\", \"c\"]",
        &[],
    );
    check(&env(), "{{tools}}{{tool_usage}}{{tool_context}}", "", &[codes::NOT_PROVIDED; 3]);
    assert_eq!(trust(&with_host(), "{{tools}}"), Trust::Tool);
}

#[test]
fn writes_knowledge_base_placeholders() {
    check(
        &env(),
        "{{kb}}|{{kb::a}}|{{kb::a::5::}}|{{kb::::3}}",
        "【kb】|【kb::a】|【kb::a::5】|【kb::::3】",
        &[],
    );
    check(&env(), "{{kb_list}}", "", &[codes::NOT_PROVIDED]);
    let mut env = env();
    env.texts.insert("kb_list".into(), "- recipes".into());
    env.texts.insert("--accent".into(), "#fff".into());
    check(&env, "{{kb_list}} {{cssvar::--accent}}", "- recipes #fff", &[]);
    check(&env, "{{cssvar::--x}}", "(未定义: --x)", &[codes::NOT_PROVIDED]);
}
