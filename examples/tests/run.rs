//! Runs every example and compares what it prints; `INSTA_UPDATE=always` writes that again.
#![expect(clippy::unwrap_used, reason = "a test that cannot run a program has failed")]

use std::process::Command;

#[track_caller]
fn check(name: &str, program: &str) {
    let output = Command::new(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{name} ended with {}:\n{errors}", output.status);
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(name, String::from_utf8(output.stdout).unwrap());
    });
}

macro_rules! examples {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), env!(concat!("CARGO_BIN_EXE_", stringify!($name))));
            }
        )*

        /// A file that no test runs would rot.
        #[test]
        fn every_example_is_run() {
            let folder = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
            let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut found: Vec<String> =
                names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect();
            found.sort();
            let mut run = vec![$(stringify!($name)),*];
            run.sort_unstable();
            assert_eq!(found, run);
        }
    };
}

examples!(custom_anchor, custom_processor, dialects, embedder, import_card, minimal, server, summarize);
