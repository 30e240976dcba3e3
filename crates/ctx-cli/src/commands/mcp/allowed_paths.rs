//! Files and folders that the tools may read.

use std::path::{Path, PathBuf};

use ctx_project::error::Result;
use ctx_project::{files, home, unusable};

/// Roots of the readable files. Links are resolved before a path is compared with them.
#[derive(Clone, Debug)]
pub(super) struct AllowedPaths {
    roots: Vec<PathBuf>,
}

impl AllowedPaths {
    /// Skips roots that do not exist.
    pub(super) fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { roots: roots.into_iter().filter_map(|root| root.canonicalize().ok()).collect() }
    }

    /// Returns the absolute path of a file or folder that may be read. `~/` is the home folder.
    pub(super) fn resolve(&self, given: &str) -> Result<PathBuf> {
        let expanded = given.strip_prefix("~/").and_then(|rest| Some(home::folder()?.join(rest)));
        let path = expanded.unwrap_or_else(|| PathBuf::from(given));
        let name = files::name(Path::new(given));
        let found = path.canonicalize().map_err(|error| {
            unusable!("cannot read {path}: {reason}", path = name.clone(), reason = files::reason(&error))
        })?;
        if !self.roots.iter().any(|root| found.starts_with(root)) {
            return Err(unusable!(
                "{path} is outside of the readable folders; start `ctx mcp PATH` to add it",
                path = name
            ));
        }
        if found.is_file() || found.is_dir() {
            return Ok(found);
        }
        Err(unusable!("{path} is not a file or folder", path = name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_only_files_below_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("log.jsonl"), "").unwrap();
        std::fs::write(&outside, "").unwrap();
        let allowed = AllowedPaths::new([inside.clone(), folder.path().join("missing")]);
        let resolve = |path: &Path| allowed.resolve(path.to_str().unwrap());
        assert!(resolve(&inside.join("log.jsonl")).is_ok() && resolve(&inside).is_ok());
        let escaped = resolve(&inside.join("../out")).unwrap_err().to_string();
        assert!(escaped.contains("is outside of the readable folders"), "{escaped}");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
            assert!(resolve(&inside.join("link")).is_err());
        }
    }
}
