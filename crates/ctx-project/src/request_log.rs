//! Request logs: files of JSON lines, folders of them, and standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use ctx_tokens::ModelTable;
use ctx_traffic::{LogAnalysis, LogReport};

use crate::error::Result;
use crate::files;
use crate::transcripts;
use crate::unusable;

/// Maximum size of a line, in bytes: 64 MiB. Longer lines are reported and skipped.
const MAX_LINE: u64 = 64 << 20;

/// Analyzes a log. A folder is read as its `.jsonl` files, in the order of their names. Of a transcript, the requests that
/// the agent logged are analyzed.
///
/// `progress` is called after each line with the number of bytes read so far.
pub fn analyze(path: &Path, models: ModelTable, progress: &mut dyn FnMut(u64)) -> Result<LogReport> {
    let mut analysis = LogAnalysis::new(models);
    if let Some(transcript) = transcripts::open(path)? {
        transcript.requests().for_each(|line| analysis.push(&line));
        return Ok(analysis.finish());
    }
    each_line(path, &mut |line, done| {
        match line {
            Some(line) => analysis.push(line),
            None => analysis.push_too_long(),
        }
        progress(done);
    })?;
    Ok(analysis.finish())
}

/// Visits the lines of a log with the number of bytes read so far; `None` is a line that is too long.
pub fn each_line(path: &Path, visit: &mut dyn FnMut(Option<&str>, u64)) -> Result<()> {
    let mut done = 0;
    for file in log_files(path)? {
        let unreadable = |error: &std::io::Error| {
            unusable!(
                "cannot read {path}: {reason}",
                path = files::name(&file),
                reason = files::reason(error)
            )
        };
        let mut input: Box<dyn BufRead> = if files::is_stdin(&file) {
            Box::new(std::io::stdin().lock())
        } else {
            Box::new(BufReader::with_capacity(
                1 << 20,
                File::open(&file).map_err(|error| unreadable(&error))?,
            ))
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(|error| unreadable(&error))? as u64;
            if read == 0 {
                break;
            }
            done += read;
            if read == MAX_LINE && line.last() != Some(&b'\n') {
                done += skip_line(&mut input).map_err(|error| unreadable(&error))?;
                visit(None, done);
            } else {
                visit(Some(&String::from_utf8_lossy(&line)), done);
            }
        }
    }
    Ok(())
}

/// Returns whether a path is a log: a folder, or a file whose name ends in `.jsonl` or `.ndjson`.
pub fn is_log(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    path.is_dir() || matches!(extension, Some("jsonl" | "ndjson"))
}

fn log_files(path: &Path) -> Result<Vec<PathBuf>> {
    if files::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error: &std::io::Error| {
        unusable!("cannot read {path}: {reason}", path = files::name(path), reason = files::reason(error))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?.path();
        if !entry.is_dir() && is_log(&entry) {
            found.push(entry);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(unusable!("{path} has no `.jsonl` files", path = files::name(path)));
    }
    Ok(found)
}

/// Skips the rest of a line. Returns its size.
fn skip_line(input: &mut dyn BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        skipped += used as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}
