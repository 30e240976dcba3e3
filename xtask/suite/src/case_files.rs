//! The cases in a folder of `fixtures/`: their options and their input files. `fixtures/README.md` describes both.
#![allow(dead_code, reason = "each program uses its part")]

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A case: a folder, or an entry of `cases` in the `case.yaml` of a folder.
#[derive(Debug)]
pub(crate) struct CaseFiles {
    /// The name, which no other case of the area has.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The options, without those that are input files.
    pub(crate) options: Map<String, Value>,
    /// The input files, in the order of their names.
    pub(crate) inputs: Vec<InputFile>,
    is_entry: bool,
}

/// An input file of a case.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl CaseFiles {
    /// Returns the input file with this name before its extension.
    pub(crate) fn input(&self, stem: &str) -> Option<&InputFile> {
        let mut found = self.inputs.iter().filter(|file| stem_of(&file.name) == stem);
        let input = found.next();
        assert!(found.next().is_none(), "`{}` has more than one file `{stem}`", self.name);
        input
    }

    /// Lists the worldbooks: `worldbook`, and any others with this prefix.
    pub(crate) fn worldbook_stems(&self) -> Vec<String> {
        let stems = self.inputs.iter().map(|file| stem_of(&file.name).to_owned());
        stems.filter(|stem| stem.starts_with("worldbook")).collect()
    }

    /// Returns the section of `expected.snap` with the result of the case.
    pub(crate) fn section(&self, result: &str) -> Section {
        let text = if self.is_entry {
            format!("##### {}\n{}\n", self.name, result.trim_end())
        } else {
            result.to_owned()
        };
        Section { name: self.name.clone(), text }
    }
}

/// The result of a case in `expected.snap`; that of an entry is below its name.
pub(crate) struct Section {
    name: String,
    pub(crate) text: String,
}

/// Names the cases of a folder whose results are not in its `expected.snap`.
pub(crate) fn changed_cases(folder: &Path, sections: &[Section]) -> String {
    let with_next = |text: &str| format!("{}\n##### ", text.trim_end());
    let expected = with_next(&std::fs::read_to_string(folder.join("expected.snap")).unwrap_or_default());
    let changed = sections.iter().filter(|section| !expected.contains(&with_next(&section.text)));
    let names: Vec<String> = changed.map(|section| format!("`{}`", section.name)).collect();
    names.join(", ")
}

/// Reads the cases of a folder: the entries of `cases` in its `case.yaml`, or the folder as a single case.
///
/// An entry overrides the options and the input files of the folder. Its keys with a `.` are names of files, and the
/// values are their texts; `null` removes a file.
pub(crate) fn read_cases(folder: &Path) -> Vec<CaseFiles> {
    let mut inputs = files(folder);
    let at = inputs.iter().position(|file| stem_of(&file.name) == "case");
    let case = inputs.remove(at.expect("a case has a `case.yaml`"));
    let mut options: Map<String, Value> = if case.name == "case.json" {
        serde_json::from_slice(&case.bytes).unwrap()
    } else {
        serde_yaml::from_slice(&case.bytes).unwrap()
    };
    let Some(entries) = options.shift_remove("cases") else {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        return vec![CaseFiles { name, folder: folder.to_owned(), options, inputs, is_entry: false }];
    };
    options.shift_remove("why");
    let entries: Map<String, Value> = serde_json::from_value(entries).unwrap();
    let cases = entries.into_iter().map(|(name, entry)| {
        let entry: Map<String, Value> = serde_json::from_value(entry).unwrap();
        let (files, own): (Map<String, Value>, Map<String, Value>) =
            entry.into_iter().partition(|(key, _)| key.contains('.'));
        let mut options = options.clone();
        options.extend(own);
        let inputs = override_files(&inputs, files);
        CaseFiles { name, folder: folder.to_owned(), options, inputs, is_entry: true }
    });
    cases.collect()
}

/// Returns the files of a folder and of an entry. A file of the entry replaces that with the same stem.
fn override_files(shared: &[InputFile], own: Map<String, Value>) -> Vec<InputFile> {
    let is_replaced = |file: &InputFile| own.keys().any(|name| stem_of(name) == stem_of(&file.name));
    let mut files: Vec<InputFile> = shared.iter().filter(|file| !is_replaced(file)).cloned().collect();
    for (name, text) in own {
        assert!(is_input(&name), "a case has no use for `{name}`");
        let text: Option<String> = serde_json::from_value(text).unwrap();
        files.extend(text.map(|text| InputFile { name, bytes: text.into_bytes() }));
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Reads the files of a folder without its results; a file that no test reads is a mistake.
fn files(folder: &Path) -> Vec<InputFile> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = Vec::new();
    for path in entries.filter(|path| !path.ends_with("assets")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["expected", "expected.snap"].contains(&stem_of(&name)) {
            continue;
        }
        let is_known = is_input(&name) || stem_of(&name) == "case";
        assert!(is_known && path.is_file(), "a case has no use for `{}`", path.display());
        files.push(InputFile { name, bytes: std::fs::read(path).unwrap() });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

fn is_input(name: &str) -> bool {
    let stem = stem_of(name);
    ["agent", "session", "profile"].contains(&stem) || stem.starts_with("worldbook")
}

/// Returns the name of a file without its extension.
fn stem_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
