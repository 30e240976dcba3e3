//! Detection of formats by content. The fixture `files_of_others_are_refused` has files of unknown formats.

use ctx_preset_import::{
    Format, Import, Importer, SourceFile, codes, detect, read_agent, read_conversation, read_profile,
    read_worldbook,
};
use ctx_types::Diagnostic;
use serde_json::{Value, json};

use super::{found, import_all, written_agent};

#[test]
fn tells_formats_by_content() {
    for (text, expected) in [
        (r#"{"name": "A", "description": "d", "first_mes": ""}"#, Some(Format::CardV1)),
        (r#"{"name": "A", "personality": "p", "talkativeness": "0.5"}"#, Some(Format::CardV1)),
        (r#"{"name": "A", "scenario": "s", "content": "c"}"#, Some(Format::CardV1)),
        (r#"{"spec": "chara_card_v2", "data": {"name": "A"}}"#, Some(Format::CardV2)),
        (r#"{"spec": "chara_card_v3", "data": {"name": "A", "x": [[], {}]}}"#, Some(Format::CardV3)),
        (r#"{"char_name": "A", "char_persona": "p"}"#, Some(Format::Pygmalion)),
        (r#"{"name": "A", "greeting": "Hi"}"#, Some(Format::Pygmalion)),
        (r#"{"name": "A", "description": "d", "presetMessages": []}"#, Some(Format::Agent)),
        (r#"{"name": "A", "description": "d", "modelId": "m"}"#, Some(Format::Agent)),
        ("name: Nyx\ngreetings: []", Some(Format::Agent)),
        (r#"{"type": "AIO_Agent_Export", "agents": []}"#, Some(Format::AgentExport)),
        (r#"[{"type": "chat_history"}]"#, Some(Format::PresetList)),
        (r#"[{"role": "user", "insertionPoint": -1}]"#, Some(Format::PresetList)),
        ("version: 2\ngroups: []\nmessages: []", Some(Format::PresetFile)),
        ("messages:\n- type: user_profile", Some(Format::PresetFile)),
        ("messages:\n- role: user\n  content: Hi", Some(Format::ChatMessages)),
        (r#"[{"role": "user", "content": "Hi", "runId": "r"}]"#, Some(Format::StoredMessages)),
        (r#"{"nodes": {}, "activeLeafId": "a"}"#, Some(Format::Session)),
        (r#"{"detail": {"nodes": {}, "rootNodeId": "a"}}"#, Some(Format::SessionHalves)),
        (r#"{"mes": "hi", "is_user": true}"#, Some(Format::SillyTavernChat)),
        (r#"{"prompts": [], "prompt_order": []}"#, Some(Format::ChatPreset)),
        (r#"[{"findRegex": "a", "trimStrings": []}]"#, Some(Format::RegexScripts)),
        (r#"{"entries": {"0": {"key": ["a"], "content": "c"}}}"#, Some(Format::Worldbook)),
        (r#"{"name": "A", "description": "d", "entries": {}}"#, Some(Format::Worldbook)),
        (r#"{"entries": [{"keys": [], "content": ""}]}"#, Some(Format::CardBook)),
        (r#"{"spec": "lorebook_v3", "data": {}}"#, Some(Format::CardBook)),
        (r#"{"lorebookVersion": 5, "entries": []}"#, Some(Format::OtherLorebook)),
        (r#"{"story_string": "s", "name": "n"}"#, Some(Format::ContextTemplate)),
        (r#"{"input_sequence": "s"}"#, Some(Format::InstructTemplate)),
        (r#"{"temp": 1, "top_p": 0.5}"#, Some(Format::TextPreset)),
        (r#"{"name": "n", "rep_pen": 1.1, "max_length": 2048}"#, Some(Format::TextPreset)),
        (r#"{"name": "n", "content": "c", "post_history": ""}"#, Some(Format::SystemPrompt)),
        (r#"{"name": "n", "prefix": "p", "suffix": "s"}"#, Some(Format::ReasoningTemplate)),
        (r#"{"context": {"a": 1}, "instruct": {"b": 2}}"#, Some(Format::MasterExport)),
        (r#"{"personas": {"a": "Kim"}, "persona_descriptions": {}}"#, Some(Format::Personas)),
        (r#"{"power_user": {"x": 1}}"#, Some(Format::Settings)),
        (r#"{"nodes": {"a": {"parentId": null}}}"#, None),
        (r#"{"nodes": {"1": {"class_type": "x"}}}"#, None),
        (r#"{"name": "Kim", "content": ""}"#, None),
        (r#"{"entries": [1]}"#, None),
        ("just text", None),
        ("[1]", None),
        // Samplers alone are not a preset, except for two of text completion.
        (r#"{"temp": 1}"#, None),
        (r#"{"top_p": 1, "top_k": 2, "max_length": 20}"#, None),
        (r#"{"temperature": 1, "top_p": 0.5}"#, None),
        (r#"{"temp": "cold", "top_p": {}}"#, None),
    ] {
        assert_eq!(detect(text.as_bytes(), "").ok(), expected, "{text}");
    }
}

#[test]
fn reports_evidence_of_guesses() {
    let check = |name: &str, file: Value, format: Format, evidence: Option<(&str, &str)>| {
        let made = import_all(&[(name, file)]);
        let warning = |(format, what): (&str, &str)| {
            format!("warning[CTX0629]: the file is read as {format} because of {what} (at {name})")
        };
        assert_eq!(made.report.files[0].format, Some(format));
        assert_eq!(found(&made), evidence.map(warning).into_iter().collect::<Vec<_>>());
    };
    let card =
        |first: &str| json!({ "name": "Kim", "description": "Counts.", first: null, "personality": "" });
    let evidence = ("a character card", "a name and card texts");
    check("c.json", card("x"), Format::CardV1, Some(evidence));
    check("c.json", card("first_mes"), Format::CardV1, None);
    let named = json!({ "name": "Kim", "content": "Counts." });
    check("persona.json", named, Format::Profile, Some(("a user profile", "the name of the file")));
    let shown = json!({ "name": "Actor", "content": "You act.", "icon": "x" });
    let evidence = ("a user profile", "text with a display name or an icon");
    check("a.json", shown, Format::Profile, Some(evidence));
    let preset = json!({ "name": "P", "prompts": [{ "identifier": "main", "content": "x" }] });
    let evidence = ("a chat completion preset", "prompts with identifiers");
    check("p.json", preset, Format::ChatPreset, Some(evidence));
}

/// Imports one file with its format named by hand.
fn import_as(format: Option<Format>, name: &str, file: &Value) -> Import {
    let mut importer = Importer::default();
    importer.format = format;
    importer.import(&[SourceFile { name, bytes: file.to_string().as_bytes() }])
}

#[test]
fn reads_unknown_files_only_with_a_named_format() {
    let actor = json!({ "name": "Actor", "content": "You are an expert actor." });
    let made = import_as(None, "Actor.json", &actor);
    assert!(made.agent.is_none() && made.profile.is_none());
    let refused = &made.report.files[0].diagnostics[0];
    assert_eq!(refused.code.to_string(), "CTX0622");
    assert_eq!(
        refused.help.as_ref().map(ToString::to_string).as_deref(),
        Some("name the format with `--as`, for example `profile`, `sysprompt`, `card_pygmalion`")
    );
    let agent = written_agent(import_as(Some(Format::SystemPrompt), "Actor.json", &actor));
    assert_eq!(agent["presetMessages"][1]["content"], "You are an expert actor.");
    let profile = import_as(Some(Format::Profile), "Actor.json", &actor).profile.unwrap();
    assert_eq!(profile.name.as_deref(), Some("Actor"));
    // The named format applies to a single file in any case, and to files of several only without a certain format.
    let persona =
        json!({ "name": "Actor", "content": "You are an expert actor.", "icon": "x", "lastUsedAt": "1" });
    let made = import_as(Some(Format::SystemPrompt), "a.json", &persona);
    assert_eq!((made.report.files[0].format, made.profile), (Some(Format::SystemPrompt), None));
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada" } });
    let texts = [card.to_string(), actor.to_string()];
    let files = texts.each_ref().map(|text| SourceFile { name: "a.json", bytes: text.as_bytes() });
    let mut importer = Importer::default();
    importer.format = Some(Format::SystemPrompt);
    let formats: Vec<_> = importer.import(&files).report.files.iter().map(|file| file.format).collect();
    assert_eq!(formats, [Some(Format::CardV2), Some(Format::SystemPrompt)]);
}

#[test]
fn reports_weak_evidence_of_requested_formats() {
    let message = |found: Vec<Diagnostic>| {
        let guess = found.into_iter().find(|found| found.code == codes::GUESSED_FORMAT);
        guess.map(|guess| guess.message.to_string())
    };
    let read = |reader: &str, text: &str| {
        let bytes = text.as_bytes();
        let found = match reader {
            "profile" => read_profile(bytes, "a.json").map(|read| read.diagnostics),
            "agent" => read_agent(bytes, "a.json").map(|read| read.diagnostics),
            "conversation" => read_conversation(bytes, "a.json").map(|read| read.diagnostics),
            _ => read_worldbook(bytes, "a.json").map(|read| read.diagnostics),
        };
        found.ok().map(message)
    };
    for (reader, sure, weak, evidence) in [
        (
            "profile",
            r#"{"name": "Kim", "content": "Counts."}"#,
            r#"{"name": "Kim", "content": "Counts.", "version": 1}"#,
            "a user profile because of text under `content`",
        ),
        (
            "agent",
            r#"{"name": "Ada", "parameters": {"temperature": 1}}"#,
            r#"{"name": "f", "parameters": {"type": "object"}, "strict": true}"#,
            "an agent because of parameters or a character",
        ),
        (
            "conversation",
            r#"[{"role": "user", "content": "Hi"}]"#,
            r#"[{"title": "Owls", "content": "Hoo"}]"#,
            "a list of chat messages because of a list with keys such as `role` and `content`",
        ),
        (
            "worldbook",
            r#"{"entries": {"0": {"key": ["moon"], "content": "Hollow."}}}"#,
            r#"{"feed": "news", "entries": [{"content": "Rain."}]}"#,
            "a worldbook because of entries",
        ),
    ] {
        assert_eq!(read(reader, sure), Some(None));
        assert_eq!(read(reader, weak), Some(Some(format!("the file is read as {evidence}"))));
    }
    for reader in ["profile", "agent"] {
        assert_eq!(read(reader, r#"{"name": "left-pad", "version": "1.0.0"}"#), None);
    }
}
