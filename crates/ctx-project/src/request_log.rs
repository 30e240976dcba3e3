//! Request logs: files of JSON lines, folders of them, and standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ctx_preset_import::Document;
use ctx_tokens::ModelTable;
use ctx_traffic::{LogAnalysis, LogReport};
use ctx_wire::lint;
use serde::de::IgnoredAny;

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
    if let Some(transcript) = transcripts::open(path)? {
        let mut analysis = LogAnalysis::new(models);
        transcript.requests().for_each(|line| analysis.push(&line));
        return Ok(analysis.finish());
    }
    analyze_files(&log_files(path)?, models, progress)
}

/// Analyzes a log that consists of several files.
pub fn analyze_files(
    paths: &[PathBuf],
    models: ModelTable,
    progress: &mut dyn FnMut(u64),
) -> Result<LogReport> {
    let mut analysis = LogAnalysis::new(models);
    let mut done = 0;
    each_line(paths, &mut |line, size| {
        match line {
            Some(line) => analysis.push(&String::from_utf8_lossy(line)),
            None => analysis.push_too_long(),
        }
        done += size;
        progress(done);
        ControlFlow::Continue(())
    })?;
    Ok(analysis.finish())
}

/// Reads two lines of a log that consists of several files, by their numbers in the report. `None` if the log does not
/// have them, or one is too long.
pub fn read_lines(paths: &[PathBuf], numbers: [u64; 2]) -> Result<Option<[String; 2]>> {
    let (mut number, mut found) = (0, [None, None]);
    each_line(paths, &mut |line, _| {
        number += 1;
        for (wanted, found) in numbers.iter().zip(&mut found) {
            if number == *wanted {
                *found = line.map(|line| String::from_utf8_lossy(line).into_owned());
            }
        }
        if number < numbers[0].max(numbers[1]) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let [first, second] = found;
    Ok(first.zip(second).map(|(first, second)| [first, second]))
}

/// Returns the request body in a file; `None` for other files.
pub fn body(bytes: &[u8], name: &str) -> Option<String> {
    let document = Document::read(bytes, name).ok()?.value;
    // The output of `ctx assemble --json` also has messages.
    let is_body = document.get("report").is_none() && lint::detect(&document).is_some();
    // A body in another encoding or in YAML is written as JSON.
    let is_json = || serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    is_body
        .then(|| if is_json() { String::from_utf8_lossy(bytes).into_owned() } else { document.to_string() })
}

/// Reads a request of a log as a line, by its number in the report. `None` if the log does not have it.
pub fn read_request(path: &Path, number: u64, models: ModelTable) -> Result<Option<String>> {
    let report = analyze(path, models, &mut |_| {})?;
    let Some(line) = report.requests.iter().find(|found| found.index == number).map(|found| found.line)
    else {
        return Ok(None);
    };
    match transcripts::open(path)? {
        Some(transcript) => {
            let position = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
            Ok(transcript.requests().nth(position))
        }
        None => Ok(read_lines(&log_files(path)?, [line, line])?.map(|[line, _]| line)),
    }
}

/// Passes on each line with its size; `None` for a line that is too long.
pub(crate) fn each_line(
    paths: &[PathBuf],
    each: &mut impl FnMut(Option<&[u8]>, u64) -> ControlFlow<()>,
) -> Result<()> {
    for file in paths {
        let unreadable = |error: &std::io::Error| {
            unusable!("cannot read {path}: {reason}", path = files::name(file), reason = files::reason(error))
        };
        let mut input: Box<dyn BufRead> = if files::is_stdin(file) {
            Box::new(std::io::stdin().lock())
        } else {
            Box::new(BufReader::with_capacity(1 << 20, File::open(file).map_err(|error| unreadable(&error))?))
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(|error| unreadable(&error))? as u64;
            if read == 0 {
                break;
            }
            let is_whole = read < MAX_LINE || line.last() == Some(&b'\n');
            let skipped =
                if is_whole { 0 } else { skip_line(&mut input).map_err(|error| unreadable(&error))? };
            if each(is_whole.then_some(&*line), read + skipped).is_break() {
                return Ok(());
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

/// Returns the files of a log.
pub(crate) fn log_files(path: &Path) -> Result<Vec<PathBuf>> {
    if files::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error: &std::io::Error| {
        unusable!("cannot read {path}: {reason}", path = files::name(path), reason = files::reason(error))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?;
        // Ignores links, which can point out of the folder, and pipes, which can wait forever.
        if entry.file_type().is_ok_and(|kind| kind.is_file()) && is_log(&entry.path()) {
            found.push(entry.path());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_over_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jsonl"), "one\ntwo\n").unwrap();
        std::fs::write(folder.path().join("b.jsonl"), "three").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("c.jsonl")).unwrap();
        let paths = log_files(folder.path()).unwrap();
        let lines = read_lines(&paths, [3, 1]).unwrap().unwrap();
        assert_eq!(lines.map(|line| line.trim().to_owned()), ["three", "one"]);
        assert!(read_lines(&paths, [1, 4]).unwrap().is_none());
        assert!(read_lines(&paths, [0, 1]).unwrap().is_none());
    }
}
