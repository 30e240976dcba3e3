//! Carries out one operation a line: `["name", {…}]` in, the result out, or `{"error": {"code", "message"}}`.
//!
//! Bindings are compared with it: theirs must be the same bytes.

use std::io::{BufRead as _, Write as _};

use ctx_operations::{OperationError, call};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let (name, input): (String, Value) = serde_json::from_str(&line?)?;
        let failed =
            |error: OperationError| json!({ "error": { "code": error.code, "message": error.message } });
        let result = call(&name, input).unwrap_or_else(failed);
        writeln!(out, "{result}")?;
    }
    Ok(())
}
