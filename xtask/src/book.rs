//! `cargo xtask book`: the guide and the reference as a book, by mdBook.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::packages::loud;
use crate::workspace;

/// Writes the book to `target/book`; with `--if-possible` it is said loudly, and is no failure, that `mdbook` is not
/// installed.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = workspace::has_flag(arguments, "--if-possible", "book")?;
    let mut command = Command::new("mdbook");
    command.args(["build", "docs"]).current_dir(workspace::root()).stdin(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => {
            println!("book: `target/book/index.html`");
            Ok(())
        }
        Ok(status) => bail!("`mdbook build docs` ended with {status}"),
        Err(_) if is_optional => {
            println!("{}", loud("the book is NOT BUILT: `mdbook` is not installed (`cargo install mdbook`)"));
            Ok(())
        }
        Err(error) => bail!("cannot start `mdbook` (`cargo install mdbook`): {error}"),
    }
}
