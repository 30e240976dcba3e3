//! Logs of requests that other programs sent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ctx_project::request_log::{self, is_log};
use ctx_tokens::ModelTable;
use ctx_traffic::{LogAnalysis, RequestPair};
use ctx_types::phrase;

use crate::access::lock;
use crate::api_requests::{LogFile, LogList, LogPair, LogView};
use crate::call::{Call, Refusal, Reply};
use crate::codes;
use crate::folder::id_of;
use crate::server::Server;

/// Maximum number of logs that are listed.
const MAX_LOGS: usize = 500;

/// Maximum size of a log: 1 GiB. `ctx diff` reads larger ones.
const MAX_BYTES: u64 = 1 << 30;

/// Number of bytes that are checked for the keys of a request.
const BEGINNING: u64 = 8 << 10;

/// Keys of a log or of a request body. Conversations and transcripts have others.
const KEYS: [&str; 6] =
    [r#""request""#, r#""body""#, r#""model""#, r#""messages""#, r#""input""#, r#""contents""#];

/// Held by the only analysis: each may need hundreds of megabytes.
static ANALYZING: Mutex<()> = Mutex::new(());

/// A log of the folder.
struct FoundLog {
    path: String,
    bytes: u64,
    files: Vec<PathBuf>,
}

/// Lists the logs of the folder.
pub(crate) fn list(server: &Server, _call: &Call) -> Result<Reply, Refusal> {
    let found = logs(server);
    let is_cut = found.len() > MAX_LOGS;
    let logs = found.into_iter().take(MAX_LOGS);
    let logs = logs.map(|log| LogFile { id: id_of(&log.path), path: log.path, bytes: log.bytes });
    Reply::json(&LogList { logs: logs.collect(), is_cut })
}

/// Analyzes a log of the folder.
pub(crate) fn report(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let log = log(server, call)?;
    let _analyzing = lock(&ANALYZING);
    let report = request_log::analyze_files(&log.files, models(server)?, &mut |_| {})?;
    Reply::json(&LogView::new(&report))
}

/// Compares two requests of a log of the folder.
pub(crate) fn pair(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let log = log(server, call)?;
    let [before, after] = [call.number("before")?, call.number("after")?];
    let numbers = [before, after].map(|number| number.unwrap_or_default() as u64);
    let _analyzing = lock(&ANALYZING);
    let lines = request_log::read_lines(&log.files, numbers)?.ok_or_else(no_request)?;
    compared(server, [&lines[0], &lines[1]])
}

/// Analyzes a log that the page sends.
pub(crate) fn dropped_report(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let _analyzing = lock(&ANALYZING);
    let mut analysis = LogAnalysis::new(models(server)?);
    for line in call.body.split(|byte| *byte == b'\n') {
        analysis.push(&String::from_utf8_lossy(line));
    }
    Reply::json(&LogView::new(&analysis.finish()))
}

/// Compares two requests that the page sends, one per line.
pub(crate) fn dropped_pair(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let _analyzing = lock(&ANALYZING);
    let text = String::from_utf8_lossy(&call.body);
    let mut lines = text.lines();
    let (Some(before), Some(after)) = (lines.next(), lines.next()) else { return Err(no_request()) };
    compared(server, [before, after])
}

fn compared(server: &Server, [before, after]: [&str; 2]) -> Result<Reply, Refusal> {
    let pair = RequestPair::new(&models(server)?, before, after).ok_or_else(no_request)?;
    Reply::json(&LogPair::new(&pair))
}

fn no_request() -> Refusal {
    Refusal::not_found(phrase!("the log does not have this request; reload it"))
}

/// Returns the models of the folder, with their prices.
fn models(server: &Server) -> Result<ModelTable, Refusal> {
    let mut sources = server.sources();
    let config = server.config(&mut sources)?;
    Ok(Arc::unwrap_or_clone(config.models(None, &mut sources, &mut Vec::new())?))
}

/// Returns the log that a request names.
fn log(server: &Server, call: &Call) -> Result<FoundLog, Refusal> {
    let log = logs(server).into_iter().find(|log| id_of(&log.path) == call.part("f"));
    let log = log.ok_or_else(|| Refusal::not_found(phrase!("no such log; it may have been deleted")))?;
    if log.bytes > MAX_BYTES {
        let path = log.path.as_str();
        let message = phrase!("`{path}` is larger than {limit} MiB", path, limit = MAX_BYTES >> 20);
        let help = phrase!("analyze it with `ctx diff`");
        return Err(Refusal::new(413, codes::TOO_LARGE, message).with_help(help));
    }
    Ok(log)
}

/// Finds the logs of the folder: files, then folders of several. Files are read from the folder itself, without links.
fn logs(server: &Server) -> Vec<FoundLog> {
    let folder = &server.desk.folder;
    let mut found = Vec::new();
    let mut folders: BTreeMap<String, FoundLog> = BTreeMap::new();
    for file in folder.list().0 {
        let full = folder.full(&file.path);
        if !is_log(&full) || !has_requests(&full) {
            continue;
        }
        if let Some((parent, _)) = file.path.rsplit_once('/') {
            let path = format!("{parent}/");
            let log = folders.entry(path.clone()).or_insert(FoundLog { path, bytes: 0, files: Vec::new() });
            log.bytes += file.stamp.bytes;
            log.files.push(full.clone());
        }
        found.push(FoundLog { path: file.path, bytes: file.stamp.bytes, files: vec![full] });
    }
    found.extend(folders.into_values().filter(|log| log.files.len() > 1));
    found
}

/// Returns whether the beginning of a file looks like a request.
fn has_requests(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let beginning = String::from_utf8_lossy(&beginning);
    let line = beginning.trim_start().lines().next().unwrap_or_default();
    read.is_ok() && line.starts_with('{') && KEYS.iter().any(|key| line.contains(key))
}
