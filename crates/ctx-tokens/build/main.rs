//! Precomputes the tables of the feature `bpe` from the vocabularies of `tiktoken-rs`: 8 MB for `o200k_base`,
//! 4 MB for `cl100k_base`. The program then loads nothing.
#![expect(clippy::print_stdout, reason = "build scripts print to Cargo")]

#[cfg(feature = "bpe")]
#[path = "../src/bpe/layout.rs"]
mod layout;
#[cfg(feature = "bpe")]
mod tables;
#[cfg(feature = "bpe")]
mod tree;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/bpe/layout.rs");
    write()
}

#[cfg(feature = "bpe")]
fn write() -> Result<(), Box<dyn Error>> {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo gives no `OUT_DIR`")?);
    for (name, encoder) in
        [("cl100k_base", tiktoken_rs::cl100k_base()?), ("o200k_base", tiktoken_rs::o200k_base()?)]
    {
        // A gap in the numbers separates ordinary and special tokens.
        let texts: Vec<_> = (0..).map_while(|token| encoder.decode_bytes(&[token]).ok()).collect();
        let tables = tables::build(&texts)?;
        std::fs::write(out.join(format!("{name}.tokens")), tables.tokens)?;
        std::fs::write(out.join(format!("{name}.nodes")), tree::build(&texts)?)?;
        std::fs::write(out.join(format!("{name}.merges")), tables.merges)?;
    }
    Ok(())
}

#[cfg(not(feature = "bpe"))]
#[expect(clippy::unnecessary_wraps, reason = "same signature as with the feature")]
fn write() -> Result<(), Box<dyn Error>> {
    Ok(())
}
