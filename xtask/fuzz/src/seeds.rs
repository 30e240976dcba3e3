//! What a target begins with: files of the kind, and fixtures.

use std::path::Path;

use ctx_preset_import::export_card_picture;
use serde_json::{Value, json};

/// How large a seed may be, in bytes.
const LARGEST: u64 = 16 << 10;

/// Returns the seeds of a target, with those of the fixtures below the folder of the workspace.
pub fn seeds(target: &str, workspace: &Path) -> Vec<Vec<u8>> {
    let fixtures = workspace.join("fixtures");
    let text = |value: &Value| value.to_string().into_bytes();
    match target {
        "png" => export_card_picture(&card(), None).into_iter().chain([text(&card())]).collect(),
        "zip" => vec![archive("card.json", &text(&card())), archive("a/book.json", &text(&book()))],
        "card" => vec![text(&card()), b"name: Ada\ngreeting: Hi\ncontext: c\n".to_vec()],
        "preset" => vec![text(&preset()), text(&json!([script()])), text(&settings())],
        "lorebook" => {
            [text(&book()), text(&json!({ "spec": "lorebook_v3", "data": card_book() })), text(&risu())]
                .into_iter()
                .chain(below(&fixtures.join("worldbook")))
                .collect()
        }
        "macro" => [b"{{setvar::a::{{user}}}}{{getvar::a}}{{if a}}x{{else}}y{{/if}}{{roll 2d6}}".to_vec()]
            .into_iter()
            .chain(below(&fixtures.join("macros")))
            .collect(),
        _ => [
            &b"/(?<a>x+)(?=y)|\\d{2,3}?/giu\0xxy 12"[..],
            b"/<think>[\\s\\S]*?<\\/think>/g\0<think>a</think>b",
        ]
        .into_iter()
        .map(<[u8]>::to_vec)
        .chain(below(&fixtures.join("regex")))
        .collect(),
    }
}

/// Reads the small files below a folder, in the order of their names; what cannot be read is left out.
fn below(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => found.extend(below(&path)),
            Ok(metadata) if metadata.len() <= LARGEST => found.extend(std::fs::read(&path).ok()),
            _ => {}
        }
    }
    found
}

fn script() -> Value {
    json!({ "scriptName": "s", "findRegex": "/a+/g", "replaceString": "{{match}}", "trimStrings": ["a"], "placement": [1, 2], "minDepth": 0, "promptOnly": true })
}

fn card_book() -> Value {
    json!({ "name": "Sky", "scan_depth": 2, "entries": [{
        "id": 1, "keys": ["moon", "/sun/i"], "secondary_keys": ["night"], "content": "@@depth 2\nHollow.", "enabled": true,
        "insertion_order": 5, "position": "before_char", "extensions": { "position": 4, "depth": 2, "group": "a, b", "triggers": ["normal"] },
    }] })
}

fn card() -> Value {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "name": "Ada", "data": {
        "name": "Ada", "description": "D {{user}}", "first_mes": "Hi", "alternate_greetings": ["Ho"], "tags": ["a"],
        "mes_example": "<START>\n{{char}}: x", "system_prompt": "{{original}}", "character_book": card_book(),
        "assets": [{ "type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png" }],
        "extensions": { "depth_prompt": { "prompt": "p", "depth": 4, "role": "system" }, "regex_scripts": [script()] },
    } })
}

fn preset() -> Value {
    json!({ "temperature": 1, "openai_max_context": 4096, "new_chat_prompt": "[New]", "names_behavior": 0,
        "prompts": [
            { "identifier": "main", "role": "system", "content": "M", "injection_position": 0, "injection_depth": 4 },
            { "identifier": "deep", "role": "user", "content": "D", "injection_position": 1, "injection_depth": 2, "injection_order": 50, "injection_trigger": ["normal"] },
            { "identifier": "chatHistory", "marker": true },
        ],
        "prompt_order": [{ "character_id": 100_001, "order": [{ "identifier": "main", "enabled": true }, { "identifier": "chatHistory", "enabled": true }] }],
        "extensions": { "regex_scripts": [script()] },
    })
}

fn settings() -> Value {
    json!({ "username": "Kim", "user_avatar": "k.png", "power_user": {
        "personas": { "k.png": "Kim" }, "persona_descriptions": { "k.png": { "description": "T", "position": 4, "depth": 1 } },
    }, "world_info_settings": { "world_info_depth": 3 } })
}

fn book() -> Value {
    json!({ "entries": { "0": { "uid": 0, "key": ["moon"], "keysecondary": [], "content": "Hollow.", "order": 5, "position": 0, "disable": false } } })
}

fn risu() -> Value {
    json!({ "type": "risu", "data": [{ "key": "moon, sun", "content": "Hollow.", "insertorder": 5 }] })
}

/// An archive of one file that is not packed.
fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(data.len()).unwrap_or_default().to_le_bytes();
    let length = u16::try_from(name.len()).unwrap_or_default().to_le_bytes();
    let sum = crc(data).to_le_bytes();
    let shared = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sum, &size, &size, &length, &[0, 0]].concat();
    let local = [b"PK\x03\x04".as_slice(), &shared, name.as_bytes(), data].concat();
    let place = u32::try_from(local.len()).unwrap_or_default().to_le_bytes();
    let list = [b"PK\x01\x02".as_slice(), &[20, 3], &shared, &[0; 14], name.as_bytes()].concat();
    let list_size = u32::try_from(list.len()).unwrap_or_default().to_le_bytes();
    let end = [b"PK\x05\x06".as_slice(), &[0, 0, 0, 0, 1, 0, 1, 0], &list_size, &place, &[0, 0]].concat();
    [local, list, end].concat()
}

/// The checksum of archives, bit by bit.
fn crc(data: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !data.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}
