//! Attached files: each format of a request body, and folders that nothing leads out of.

use std::path::Path;

use serde_json::Value;

use crate::Folder;

/// A folder with an agent, a conversation and their files, as fixtures have them.
fn project() -> Folder {
    let case = "../../fixtures/attachments/each_dialect_takes_what_it_can";
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join(case);
    let folder = Folder::with(&[]);
    for name in ["agent.yaml", "session.yaml"] {
        folder.write(name, &std::fs::read(case.join(name)).unwrap());
    }
    for entry in std::fs::read_dir(case.join("assets")).unwrap() {
        let path = entry.unwrap().path();
        folder.write(path.file_name().unwrap().to_str().unwrap(), &std::fs::read(&path).unwrap());
    }
    folder
}

/// The outcomes of an assembly: its findings, and how many files became something else.
#[track_caller]
fn check(arguments: &str, degraded: usize, findings: &[&str]) {
    let folder = project();
    let model = "--model gemini-3-pro --session session.yaml --report r.json";
    let answer = folder.ctx(&format!("assemble agent.yaml {model} {arguments}"));
    assert!(answer.starts_with("exit code 0\n"), "{answer}");
    let found: Vec<&str> = answer.lines().filter(|line| line.contains("[CTX")).collect();
    let codes: Vec<&str> = found.iter().filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    assert_eq!(codes, findings, "{answer}");
    let report = std::fs::read(folder.path().join("r.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let decisions = report["decisions"].as_array().unwrap();
    let count = decisions.iter().filter(|decision| decision["outcome"] == "degraded").count();
    assert_eq!(count, degraded, "{report:#}");
}

#[test]
fn every_format_is_written_and_the_report_says_what_became_of_files() {
    check("--format openai", 2, &[]);
    check("--format openai-responses", 2, &["CTX0792"]);
    check("--format anthropic", 3, &["CTX0792", "CTX0504"]);
    check("--format gemini", 2, &[]);
    check("--format completion", 5, &["CTX0792", "CTX0792", "CTX0533"]);
}

#[test]
fn files_outside_of_the_folder_are_not_read() {
    let session = r#"[{"role": "user", "content": "Look.", "attachments": [
        {"id": "a", "name": "a.txt", "path": "../secret.txt"}, {"id": "b", "name": "b.txt", "path": "/etc/passwd"}
    ]}]"#;
    let folder = Folder::with(&[("chat/s.json", session), ("secret.txt", "SECRET"), ("files/a.txt", "open")]);
    let answer = folder.ctx("assemble --session chat/s.json --format openai --model gpt-4o");
    assert!(answer.starts_with("exit code 0\n") && answer.matches("CTX0790").count() == 2, "{answer}");
    assert!(!answer.contains("SECRET") && !answer.contains("root:"), "{answer}");
    let missing = folder.ctx("assemble --session chat/s.json --assets nowhere");
    let told = "exit code 3\n=== errors\nerror: cannot open the folder `nowhere`: no such file or folder\n";
    assert_eq!(missing, told);
}
