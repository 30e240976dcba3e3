//! `ctx init`: creates a small example project.

use ctx_language::Language;
use ctx_types::phrase;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args::InitArguments;
use crate::exit::Exit;
use crate::lang;
use crate::show;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing};
use ctx_project::sample::{self, Sample, SampleLanguage};
use ctx_project::unusable;

/// Writes all files of the project. Writes none if one of them exists or cannot be written.
pub(crate) fn run(language: Language, arguments: &InitArguments) -> Result<Exit> {
    let folder = &arguments.folder;
    files::refuse_stdin(folder)?;
    let names = sample::paths(folder);
    let existing = if arguments.force { Existing::Replace } else { Existing::Keep };
    if let (Existing::Keep, Some(path)) =
        (existing, names.iter().find(|path| path.exists() || path.is_symlink()))
    {
        let message =
            phrase!("`{path}` exists; use another folder, or add `--force`", path = files::name(path));
        return Err(ProjectError::Usage(message));
    }
    if folder.is_file() {
        return Err(unusable!("`{path}` is a file; name a folder", path = files::name(folder)));
    }
    let texts = match language {
        Language::Zh => SampleLanguage::Chinese,
        _ => SampleLanguage::English,
    };
    let kind = if arguments.long { Sample::Long } else { Sample::Short };
    let sample::Written { schemas, schema_folder: hidden } = sample::write(folder, kind, texts, existing)?;
    let written = || names.iter().chain(&schemas).map(|path| files::name(path)).collect::<Vec<_>>();
    let json = || json!({ "written": written() });
    show::output(arguments.json, json, || welcome(language, folder, &names, &hidden))
}

fn welcome(language: Language, folder: &Path, files: &[PathBuf; 6], schemas: &Path) -> String {
    let mut text: String = files.iter().map(|file| show::wrote(language, &files::shell_word(file))).collect();
    let beside = phrase!(
        "wrote {path} (schemas for completion and checks in your editor)",
        path = files::shell_word(schemas)
    );
    text += &lang::say(language, &beside);
    let enter = if folder == Path::new(".") {
        String::new()
    } else {
        format!("  cd {}\n", files::shell_word(folder))
    };
    let [see, change] = ["preview the messages:", "edit the files, then compare the result:"];
    let [see, change] = [see, change].map(|line| lang::word(language, line));
    text + &format!("\n\n{see}\n{enter}  ctx assemble\n\n{change}\n  ctx test\n")
}
