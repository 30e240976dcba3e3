//! The storage of opencode, as JSON lines that the reader of transcripts knows.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

/// Rows of the newest conversation and of its sub-agents. Only these three tables are read; others have secrets.
const QUERIES: [&str; 3] = [
    "SELECT json_object('id', id, 'sessionID', id, 'directory', directory, 'parentID', parent_id) FROM session \
     WHERE ?1 IN (id, parent_id) ORDER BY id = ?1 DESC, id",
    "SELECT json_patch(data, json_object('id', id, 'sessionID', session_id, \
     'time', json_object('created', time_created))) FROM message \
     WHERE json_valid(data) AND session_id IN (SELECT id FROM session WHERE ?1 IN (id, parent_id)) ORDER BY id",
    "SELECT json_patch(data, json_object('id', id, 'sessionID', session_id, 'messageID', message_id)) FROM part \
     WHERE json_valid(data) AND session_id IN (SELECT id FROM session WHERE ?1 IN (id, parent_id)) ORDER BY id",
];

/// Reads the newest conversation of a database; `None` for other files.
pub(super) fn read_database(path: &Path, limit: usize) -> Option<rusqlite::Result<Vec<u8>>> {
    // Opening a pipe would wait for its writer.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut start = [0; 16];
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    if start != *b"SQLite format 3\0" {
        return None;
    }
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let newest = "SELECT id FROM session WHERE parent_id IS NULL AND EXISTS (SELECT 1 FROM part WHERE session_id = \
                  session.id) ORDER BY time_updated DESC, id DESC LIMIT 1";
    let newest: String = database.query_row(newest, [], |row| row.get(0)).ok()?;
    Some(read_rows(&database, &newest, limit))
}

fn read_rows(database: &Connection, session: &str, limit: usize) -> rusqlite::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for query in QUERIES {
        let mut statement = database.prepare(query)?;
        let mut rows = statement.query(params![session])?;
        while let Some(row) = rows.next()? {
            let line: String = row.get(0)?;
            if lines.len() + line.len() > limit {
                return Ok(lines);
            }
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
    }
    Ok(lines)
}

/// Reads the newest conversation of a folder of files, as older versions store it; `None` for other folders.
pub(super) fn read_folder(path: &Path, limit: usize) -> Option<Vec<u8>> {
    let storage =
        [path.join("storage"), path.to_owned()].into_iter().find(|path| path.join("message").is_dir())?;
    let projects = entries(&storage.join("session"));
    let sessions =
        projects.iter().flat_map(|project| entries(project)).filter_map(|file| read_json(&file, limit));
    let sessions: Vec<Value> = sessions.collect();
    let updated = |session: &Value| session.pointer("/time/updated").and_then(Value::as_i64);
    let newest =
        sessions.iter().filter(|session| session.get("parentID").is_none()).max_by_key(|it| updated(it))?;
    let children = sessions.iter().filter(|session| session.get("parentID") == newest.get("id"));
    let mut lines = Vec::new();
    for session in std::iter::once(newest).chain(children) {
        push(&mut lines, session, limit);
        let Some(id) = session["id"].as_str().filter(|id| is_name(id)) else { continue };
        for message in
            entries(&storage.join("message").join(id)).iter().filter_map(|file| read_json(file, limit))
        {
            push(&mut lines, &message, limit);
            let Some(id) = message["id"].as_str().filter(|id| is_name(id)) else { continue };
            let parts = entries(&storage.join("part").join(id));
            parts
                .iter()
                .filter_map(|file| read_json(file, limit))
                .for_each(|part| push(&mut lines, &part, limit));
        }
    }
    Some(lines)
}

/// Returns the entries of a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read_json(file: &Path, limit: usize) -> Option<Value> {
    let is_small = fs::metadata(file).is_ok_and(|data| data.is_file() && data.len() <= limit as u64);
    is_small.then(|| serde_json::from_slice(&fs::read(file).ok()?).ok()).flatten()
}

/// Returns whether an id names a file in a folder, and not one elsewhere.
fn is_name(id: &str) -> bool {
    !id.contains(['/', '\\', ':']) && !matches!(id, "" | "." | "..")
}

fn push(lines: &mut Vec<u8>, value: &Value, limit: usize) {
    let line = value.to_string();
    if lines.len() + line.len() <= limit {
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = r#"
        CREATE TABLE session(id, parent_id, directory, time_updated);
        CREATE TABLE message(id, session_id, time_created, data);
        CREATE TABLE part(id, message_id, session_id, data);
        CREATE TABLE account(data);
        INSERT INTO account VALUES('secret');
        INSERT INTO session VALUES('ses_0', NULL, '/w', 99), ('ses_1', NULL, '/w', 9), ('ses_2', 'ses_1', '/w', 9);
        INSERT INTO message VALUES('msg_1', 'ses_1', 1, '{"role":"user"}'), ('msg_2', 'ses_2', 2, '{"role":"user"}');
        INSERT INTO part VALUES('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"Which port?"}'),
            ('prt_2', 'msg_2', 'ses_2', '{"type":"text","text":"Look."}'), ('prt_3', 'msg_2', 'ses_2', '{');"#;

    #[test]
    fn reads_newest_conversation_of_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("opencode.db");
        Connection::open(&path).and_then(|database| database.execute_batch(ROWS)).expect("a database");
        let lines = read_database(&path, 10_000).expect("opencode").expect("rows");
        let lines = String::from_utf8(lines).expect("text");
        assert!(!lines.contains("secret") && !lines.contains("ses_0"), "{lines}");
        let transcript = ctx_traffic::Transcript::read(&lines).expect("a transcript");
        assert_eq!(transcript.messages()[0].text(), "Which port?");
        assert_eq!(transcript.agents[0].session.path().len(), 1);
    }

    #[test]
    fn reads_newest_conversation_of_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            (
                "session/p/ses_1.json",
                r#"{"id":"ses_1","directory":"/w","projectID":"p","time":{"updated":9}}"#,
            ),
            (
                "session/p/ses_0.json",
                r#"{"id":"ses_0","directory":"/w","projectID":"p","time":{"updated":1}}"#,
            ),
            ("message/ses_1/msg_1.json", r#"{"id":"msg_1","sessionID":"ses_1","role":"user"}"#),
            (
                "part/msg_1/prt_1.json",
                r#"{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"Hi"}"#,
            ),
        ] {
            let path = folder.path().join("storage").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let lines = read_folder(folder.path(), 10_000).expect("opencode");
        let transcript =
            ctx_traffic::Transcript::read(&String::from_utf8(lines).expect("text")).expect("a transcript");
        assert_eq!(transcript.messages()[0].text(), "Hi");
    }
}
