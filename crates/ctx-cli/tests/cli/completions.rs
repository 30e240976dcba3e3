//! `ctx completions`: scripts for shells.

use crate::assemble::json;
use crate::ctx;

#[test]
fn each_shell_has_a_script_that_knows_the_verbs() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = ctx(&format!("completions {shell}"), &[]);
        assert!(answer.starts_with("exit code 0\n=== output\n"), "{answer}");
        assert!(answer.contains("assemble") && answer.contains("context-tokens"), "{answer}");
        let script = json(&ctx(&format!("completions {shell} --json"), &[]))["script"].clone();
        assert!(answer.ends_with(script.as_str().unwrap()));
    }
}
