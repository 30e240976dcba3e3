//! The targets: any bytes in, no panic but for a broken promise.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_macros::{Dialect, Env, Limits as MacroLimits, Registry, State, Template};
use ctx_preset_import::{
    Document, Import, Importer, Limits, SourceFile, export_card, export_lorebook, export_preset,
    export_regex_scripts,
};
use ctx_regex::{Flags, Limits as RegexLimits, Literal, Regex, Replacement};
use ctx_types::{Source, SourceKind, Text, Trust};
use serde_json::Value;

/// Something that reads what strangers write.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Reads some bytes.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target { name: "png", run: png },
    Target { name: "zip", run: file },
    Target { name: "card", run: card },
    Target { name: "preset", run: preset },
    Target { name: "lorebook", run: lorebook },
    Target { name: "macro", run: macros },
    Target { name: "regex", run: regex },
];

/// Returns a target by its name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// Imports a file with small limits, so that much is tried in little time.
fn read(bytes: &[u8]) -> Import {
    let mut importer = Importer::default();
    importer.limits =
        Limits { packed_bytes: 1 << 20, packed_total_bytes: 2 << 20, json_nodes: 50_000, ..importer.limits };
    importer.import(&[SourceFile { name: "file", bytes }])
}

fn file(bytes: &[u8]) {
    read(bytes);
}

/// A picture, or what stands in a chunk of one.
fn png(bytes: &[u8]) {
    read(bytes);
    let Some((kind, rest)) = bytes.split_first() else { return };
    let (kind, text) = match kind % 4 {
        0 => (b"tEXt", [b"chara\0".as_slice(), STANDARD.encode(rest).as_bytes()].concat()),
        1 => (b"tEXt", [b"ccv3\0".as_slice(), rest].concat()),
        2 => (b"zTXt", [b"chara\0\0".as_slice(), rest].concat()),
        _ => (b"iTXt", rest.to_vec()),
    };
    let length = u32::try_from(text.len()).unwrap_or_default().to_be_bytes();
    read(&[b"\x89PNG\r\n\x1a\n".as_slice(), &length, kind, &text, &[0; 4]].concat());
}

/// Imports a document and looks whether each of its leaves has a row.
fn document(bytes: &[u8]) -> Import {
    let made = read(bytes);
    let is_plain = made.report.files.first().is_some_and(|file| file.container.is_none());
    if is_plain
        && let Ok(document) = Document::read(bytes, "file")
        && let Some(file) = made.report.files.first().filter(|file| !file.fields.is_empty())
    {
        let counted: usize = file.fields.iter().map(|field| field.count).sum();
        assert_eq!(counted, leaves(&document.value), "leaves are not counted once");
    }
    made
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) if !map.is_empty() => map.values().map(leaves).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn card(bytes: &[u8]) {
    let made = document(bytes);
    if let Some(agent) = &made.agent {
        let book = made.worldbooks.first().map(|named| &named.book);
        let card = export_card(agent, book);
        let again = read(card.to_string().as_bytes());
        if let Some(agent) = &again.agent {
            let book = again.worldbooks.first().map(|named| &named.book);
            assert_eq!(export_card(agent, book), card, "the card changes");
        }
    }
}

fn preset(bytes: &[u8]) {
    let made = document(bytes);
    if let Some(agent) = &made.agent {
        export_preset(agent);
        let lists = agent.regex_config.iter().flat_map(|config| &config.presets);
        lists.for_each(|list| drop(export_regex_scripts(list)));
    }
}

fn lorebook(bytes: &[u8]) {
    for named in &document(bytes).worldbooks {
        let file = export_lorebook(&named.book);
        if let Some(again) = read(file.to_string().as_bytes()).worldbooks.first() {
            assert_eq!(export_lorebook(&again.book), file, "the book changes");
        }
    }
}

/// Expands a text in each dialect.
fn macros(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let registry = Registry::builtin();
    let origin = Source::new(SourceKind::Preset, Trust::Preset);
    for dialect in Dialect::ALL {
        let template = Template::parse(&Text::from(&*text), dialect, &registry);
        let expansion = template.expand(&Env::default(), &mut State::new(MacroLimits::default()), &origin);
        let covered: usize =
            expansion.segments().iter().map(|segment| segment.span.end - segment.span.start).sum();
        // A text that nothing changed has no segments.
        assert!(covered == 0 || covered == expansion.text.len(), "segments are no partition");
    }
}

/// Reads a pattern up to the first zero and looks for it in the rest.
fn regex(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, text) = text.split_once('\0').unwrap_or((&text, "aab 角色 <b>x</b> 12"));
    let (pattern, flags) =
        Literal::parse(pattern).map_or((pattern, Flags::GLOBAL), |literal| (literal.pattern, literal.flags));
    if let Ok(regex) = Regex::new(pattern, flags, &RegexLimits::default()) {
        drop(regex.replace(text, &Replacement::parse("[$1$&]")));
    }
}
