//! API keys: sources and redaction.

use ctx_types::phrase;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use crate::error::ClientError;
use crate::files;

/// Maximum size of a key file, in bytes.
const MAX_BYTES: u64 = 8 << 10;

/// Minimum length of a key that is redacted in texts. Shorter keys would match everywhere.
const SHORTEST_SEARCHED: usize = 6;

/// Replacement of a key in a text.
pub(super) const REDACTED: &str = "[redacted]";

/// Mark at the end of a truncated text.
const CUT_OFF: char = '…';

/// An API key of a provider. It is never printed: `Debug` shows only its source.
///
/// ```
/// use ctx_chat::ApiKey;
///
/// let key = ApiKey::new("sk-canary", "the test")?;
/// assert_eq!(format!("{key:?}"), "ApiKey(from the test)");
/// assert_eq!(key.redact("no such key: sk-canary".to_owned()), "no such key: [redacted]");
/// # Ok::<(), ctx_chat::ClientError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey {
    secret: SecretString,
    origin: String,
}

impl ApiKey {
    /// Creates a key. `origin` describes its source to the user. Ignores white space around the key.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Config`] if the key is blank or contains characters other than visible ASCII.
    pub fn new(key: &str, origin: impl Into<String>) -> Result<Self, ClientError> {
        let (key, origin) = (key.trim(), origin.into());
        if key.is_empty() {
            return Err(ClientError::Config(phrase!("the API key from {origin} is empty", origin)));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ClientError::Config(phrase!(
                "the API key from {origin} contains spaces or invalid characters",
                origin
            )));
        }
        Ok(Self { secret: SecretString::from(key), origin })
    }

    /// Reads the key from an environment variable.
    pub fn from_env(name: &str) -> Result<Self, ClientError> {
        match std::env::var(name) {
            Ok(key) => Self::new(&key, format!("`{name}`")),
            // The name may be a key in the wrong place.
            Err(_) if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                Err(ClientError::Config(phrase!(
                    "the name of the environment variable for the API key is not valid"
                )))
            }
            Err(_) => Err(ClientError::Config(phrase!("the environment variable `{name}` is not set", name))),
        }
    }

    /// Reads the key from a file of at most 8 KiB that contains only the key.
    pub fn from_file(path: &Path) -> Result<Self, ClientError> {
        let origin = format!("`{}`", path.display());
        let mut key = String::new();
        let read = files::open_input(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut key));
        read.map_err(|error| ClientError::KeyFile {
            path: path.display().to_string(),
            reason: files::reason(&error),
        })?;
        if key.len() as u64 > MAX_BYTES {
            return Err(ClientError::Config(phrase!("{origin} is too large for an API key", origin)));
        }
        Self::new(&key, origin)
    }

    /// Replaces every occurrence of the key in a text.
    pub fn redact(&self, text: String) -> String {
        redact(&self.secret, text)
    }

    pub(super) fn secret(&self) -> &SecretString {
        &self.secret
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey(from {})", self.origin)
    }
}

/// Replaces every occurrence of a secret in a text, including a part of it at the end of a truncated text.
pub(super) fn redact(secret: &SecretString, text: String) -> String {
    let secret = secret.expose_secret();
    if secret.len() < SHORTEST_SEARCHED {
        return text;
    }
    let text = if text.contains(secret) { text.replace(secret, REDACTED) } else { text };
    let kept = text.trim_end_matches(CUT_OFF);
    let mut beginnings = secret.char_indices().map(|(end, _)| &secret[..end]).rev();
    let begun = beginnings.find(|begun| begun.len() >= SHORTEST_SEARCHED && kept.ends_with(begun));
    match begun {
        Some(begun) => format!("{}{REDACTED}{}", &kept[..kept.len() - begun.len()], &text[kept.len()..]),
        None => text,
    }
}
