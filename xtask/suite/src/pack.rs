//! The archive: writing it from `fixtures/`, and reading it.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::VERSION;
use crate::case_files::{CaseFiles, read_cases};
use crate::cases::{Case, folders, is_assembly};
use crate::change::Change;
use crate::data::described;
use crate::needs::{is_compressed, needs};
use crate::outcome::outcome_with;

/// The files of an archive by their paths, which are divided by `/`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Options that decide about what our own snapshots show, and about nothing that is expected of others.
const SHOWN_ONLY: [&str; 4] = ["stages", "settings", "effects", "saved"];

/// Areas that are of another kind, and why they are left out.
const OTHER_AREAS: [(&str, &str); 6] = [
    ("compress_masks", "steps on a conversation, with a summarizer of the test's own"),
    ("import", "what the command prints when it imports files"),
    ("gateway", "requests of clients and what they are answered, for gateways"),
    ("recall", "questions on long conversations, whose answers our own index finds"),
    ("replies", "replies of providers, for clients"),
    ("transcripts", "transcripts of coding agents, which we read in our own way"),
];

/// Why cases are left out in which messages are compressed: no description lets others choose the same words.
const COMPRESSION: &str =
    "compression and the repairs before it, which each implementation makes in its own way";

/// The area whose files are lists of regular expressions: they hold their own results.
const PATTERNS: &str = "javascript";

/// The largest file of an archive that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Runs the cases of the `fixtures` folder of a repository and writes the archive. Equal repositories give equal bytes.
///
/// Errors: a file cannot be read, or a case cannot be run.
pub fn pack(fixtures: &Path) -> Result<Vec<u8>> {
    let repository = fixtures.parent().context("`fixtures` lies in a repository")?;
    let mut archive = described(repository)?;
    let mut listed = Vec::new();
    let mut left_out: Vec<Value> =
        OTHER_AREAS.iter().map(|(area, reason)| json!({ "name": area, "reason": reason })).collect();
    for area in folders(fixtures).iter().filter(|area| is_assembly(area)) {
        let mut cases: Vec<CaseFiles> = folders(area).iter().flat_map(|folder| read_cases(folder)).collect();
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        for files in cases {
            let name = format!("{}/{}", relative(fixtures, area)?, files.name);
            let case = Case::of(&files);
            match reason_to_leave_out(&files, &case)? {
                Some(reason) => left_out.push(json!({ "name": name, "reason": reason })),
                None => listed.push(add_case(&mut archive, &files, &name, &case)?),
            }
        }
    }
    let patterns = add_patterns(&mut archive, &fixtures.join(PATTERNS))?;
    let manifest = json!({
        "format": "ctx-conformance-suite",
        "version": VERSION,
        "cases": listed,
        "patterns": patterns,
        "leftOut": left_out,
    });
    archive.insert("manifest.json".to_owned(), lines(&manifest));
    write(&archive)
}

/// What only our own tests can lend, and what nobody else has to do alike.
fn reason_to_leave_out(files: &CaseFiles, case: &Case) -> Result<Option<&'static str>> {
    Ok(match (case.processors.is_empty(), case.time_limit.or(case.deadline)) {
        (false, _) => Some("processors for tests"),
        (true, Some(_)) => Some("the clock of tests"),
        (true, None) if is_compressed(files)? => Some(COMPRESSION),
        (true, None) => None,
    })
}

/// Adds the files of a case, its options and what must come out; returns its row of the manifest.
fn add_case(archive: &mut Files, files: &CaseFiles, name: &str, case: &Case) -> Result<Value> {
    let mut inputs: Files = files.inputs.iter().map(|file| (file.name.clone(), file.bytes.clone())).collect();
    let assets = files.folder.join("assets");
    let attached = if assets.is_dir() { all_files(&assets)? } else { Vec::new() };
    for path in attached {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        inputs.insert(relative(&files.folder, &path)?, bytes);
    }
    let paths: Vec<String> = inputs.keys().cloned().collect();
    let options = lines(&options(files));
    let mut contents = vec![options.clone()];
    if archive.insert(format!("cases/{name}/case.json"), options).is_some() {
        bail!("two cases have the name {name}");
    }
    for (path, bytes) in inputs {
        archive.insert(format!("cases/{name}/{path}"), bytes.clone());
        contents.push(bytes);
    }
    let expected = outcome_with(files, &Change::default()).with_context(|| format!("cannot run {name}"))?;
    archive.insert(format!("cases/{name}/expected.json"), lines(&expected));
    let needs = needs(files, &expected, &contents)?;
    Ok(json!({ "name": name, "why": case.why.trim(), "files": paths, "needs": needs }))
}

/// Returns the options of a case as JSON, without what is only shown.
fn options(files: &CaseFiles) -> Value {
    let mut options = files.options.clone();
    options.retain(|key, _| !SHOWN_ONLY.contains(&key.as_str()));
    Value::Object(options)
}

fn add_patterns(archive: &mut Files, folder: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for path in all_files(folder)? {
        let inside = format!("patterns/{}", relative(folder, &path)?);
        archive.insert(inside.clone(), std::fs::read(&path)?);
        paths.push(inside);
    }
    Ok(paths)
}

fn relative(folder: &Path, path: &Path) -> Result<String> {
    let inside = path.strip_prefix(folder)?.to_str().context("a path is no text")?;
    Ok(inside.replace('\\', "/"))
}

/// Lists the files below a folder, in order.
fn all_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() { waiting.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn lines(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Writes a ZIP file; in order of the paths, without the time and without owners.
fn write(files: &Files) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (path, bytes) in files {
        zip.start_file(path.as_str(), options)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Reads an archive. Errors: it is none, it is of another version, or a path leads out of it.
pub fn unpack(bytes: &[u8]) -> Result<Files> {
    let mut zip = ZipArchive::new(Cursor::new(bytes))?;
    let mut files = Files::new();
    for index in 0..zip.len() {
        let file = zip.by_index(index)?;
        let path = file.enclosed_name().context("a path leads out of the archive")?;
        let path = relative(Path::new(""), &path)?;
        let mut content = Vec::new();
        file.take(LARGEST).read_to_end(&mut content)?;
        files.insert(path, content);
    }
    let manifest = files.get("manifest.json").context("it has no `manifest.json`")?;
    let manifest: Value = serde_json::from_slice(manifest)?;
    if manifest.get("version").and_then(Value::as_u64) != Some(VERSION) {
        bail!("it is of version {}, and this is version {VERSION}", manifest["version"]);
    }
    Ok(files)
}
