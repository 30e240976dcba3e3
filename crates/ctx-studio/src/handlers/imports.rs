//! Files of other applications, and the sample.

use std::sync::Arc;

use ctx_language::Language;
use ctx_project::files::{self, Existing};
use ctx_project::sample::{self, Sample, SampleLanguage};
use ctx_types::phrase;

use crate::api::NoticeKind;
use crate::api_imports::{ImportDiscard, ImportTarget, ImportWrite, ImportWritten, Nothing, Start};
use crate::call::{Call, Refusal, Reply};
use crate::codes;
use crate::server::Server;

/// Takes a file, and tells what would become of all files of its batch.
pub(crate) fn take(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let given = |name: &str| call.query.get(name).map(String::as_str).unwrap_or_default();
    let (id, name) = (given("batch"), given("name"));
    let batch = server.imports.add(id, name, Arc::from(&*call.body))?;
    Reply::json(&batch.view(&server.engine, &server.desk.folder, id, call.language))
}

/// Checks the folder of an import.
pub(crate) fn check(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let ImportTarget { batch, folder } = call.json()?;
    let batch = server.imports.get(&batch)?;
    Reply::json(&batch.target(&server.engine, &server.desk.folder, &folder, call.language))
}

/// Writes what a batch became.
pub(crate) fn write(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    server.refuse_read_only()?;
    let ImportWrite { batch: id, folder, overwrite } = call.json()?;
    let batch = server.imports.get(&id)?;
    let written = batch.write(&server.engine, &server.desk.folder, (&folder, overwrite))?;
    server.imports.remove(&id);
    told(server, call, written)
}

pub(crate) fn discard(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let ImportDiscard { batch } = call.json()?;
    server.imports.remove(&batch);
    Reply::json(&Nothing {})
}

/// Writes the sample, as `ctx init` does; where one of its files exists, nothing is written.
pub(crate) fn start(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    server.refuse_read_only()?;
    let Start {} = call.json()?;
    let folder = &server.desk.folder.path;
    let paths = sample::paths(folder);
    if let Some(path) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        let path = files::name(path.strip_prefix(folder).unwrap_or(path));
        let message = phrase!("nothing written: `{path}` exists", path);
        return Err(Refusal::new(409, codes::STALE_FILE, message));
    }
    let language = match call.language {
        Language::Zh => SampleLanguage::Chinese,
        _ => SampleLanguage::English,
    };
    sample::write(folder, Sample::Short, language, Existing::Keep)?;
    let below = |path: &std::path::PathBuf| files::name(path.strip_prefix(folder).unwrap_or(path));
    told(server, call, paths.iter().map(below).collect())
}

/// Lists the folder again, and answers with what was written.
fn told(server: &Server, call: &Call, written: Vec<String>) -> Result<Reply, Refusal> {
    server.desk.look();
    server.notices.tell(NoticeKind::Project, None, None, call.window.as_deref());
    let agent = written.iter().find(|path| path.ends_with(ctx_project::imported::AGENT));
    let agent = agent.and_then(|path| server.desk.id(path));
    Reply::json(&ImportWritten { written, agent })
}
