//! Writes the tables of each vocabulary into a folder, as `ctx_tokens::load_tables` takes them: `tables FOLDER`.

use std::path::PathBuf;

use ctx_tokens::{Encoding, tables};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: tables FOLDER")?);
    for encoding in Encoding::ALL {
        if let Some(packed) = tables(encoding) {
            std::fs::write(folder.join(format!("{encoding}.bin")), packed)?;
        }
    }
    Ok(())
}
