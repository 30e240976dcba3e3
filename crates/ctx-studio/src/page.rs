//! The files of the page, which the program carries in itself.

use std::sync::OnceLock;

use axum::http::{HeaderValue, header};
use ctx_project::files::hash;
use ctx_types::phrase;

use crate::access::random;
use crate::call::{Call, Refusal, Reply};
use crate::codes;
use crate::guard;
use crate::server::Server;

const INDEX: &[u8] = include_bytes!("../page/dist/index.html");
pub(crate) const SCRIPT: &[u8] = include_bytes!("../page/dist/studio.js");
pub(crate) const EDITOR: &[u8] = include_bytes!("../page/dist/editor.js");
pub(crate) const STYLE: &[u8] = include_bytes!("../page/dist/studio.css");
pub(crate) const ICONS: &[u8] = include_bytes!("../page/dist/icons.svg");
pub(crate) const LICENSES: &[u8] = include_bytes!("../page/dist/LICENSES.txt");

/// What stands in the first file where the nonce goes.
const NONCE: &str = "{{nonce}}";

/// Names the page by what it is made of, so that one of another build is told from it.
pub(crate) fn build() -> String {
    static BUILD: OnceLock<String> = OnceLock::new();
    let build = || hash(&[INDEX, SCRIPT, EDITOR, STYLE, ICONS].concat()).chars().take(16).collect();
    BUILD.get_or_init(build).clone()
}

/// The first file; it alone decides what the page may load and run.
pub(crate) fn index(_server: &Server, _call: &Call) -> Result<Reply, Refusal> {
    let no_random = || Refusal::new(503, codes::BUSY, phrase!("cannot get random bytes from the system"));
    let nonce = random::<16>().map_err(|_| no_random())?;
    let policy = HeaderValue::from_str(&guard::policy(&nonce)).map_err(|_| no_random())?;
    let text = String::from_utf8_lossy(INDEX).replace(NONCE, &nonce);
    let headers = vec![(header::CONTENT_SECURITY_POLICY, policy)];
    Ok(Reply { body: text.into_bytes(), content_type: "text/html; charset=utf-8", headers })
}
