//! Writes the seeds of a target into a folder, each under a name of its own.

use std::path::Path;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, workspace, folder] = arguments.as_slice() else {
        bail!("usage: fuzz TARGET WORKSPACE FOLDER; `cargo xtask fuzz` calls it so");
    };
    if fuzz::target(target).is_none() {
        bail!("there is no target `{target}`");
    }
    std::fs::create_dir_all(folder)?;
    for (number, seed) in fuzz::seeds(target, Path::new(workspace)).into_iter().enumerate() {
        std::fs::write(Path::new(folder).join(format!("seed_{number:03}")), seed)?;
    }
    Ok(())
}
