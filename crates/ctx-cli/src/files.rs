//! Reading and writing files: with a limit on size, and never half.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).context("standard input")?;
    } else {
        let file = File::open(path).with_context(|| format!("cannot open `{name}`"))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read `{name}`"))?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        bail!("`{name}` is larger than {} MiB", MAX_BYTES / 1024 / 1024);
    }
    Ok(bytes)
}

/// Writes a file whole: to a temporary neighbour first, which then takes its name.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.display();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write `{name}`"))
}

/// Returns the name by which diagnostics speak of a file.
pub(crate) fn name(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}
