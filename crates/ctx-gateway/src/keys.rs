//! Client keys. The key file contains their hashes and permissions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use ctx_project::ProjectError;
use ctx_project::config::Trusted;
use ctx_project::error::Result;
use ctx_project::files::{self, Existing, FilesRead};
use ctx_types::internal::excerpt;
use ctx_types::{Phrase, phrase};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::api_error::{ApiError, ApiErrorKind};

/// Maximum number of keys.
const MAX_KEYS: usize = 10_000;

/// Owner of conversations that start without a key.
const LOCAL: &str = "local";

/// Prefix of all keys.
const PREFIX: &str = "ctx-";

/// The key file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyFile {
    /// Keys in the order of their creation.
    pub keys: Vec<KeyEntry>,
}

/// A client key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyEntry {
    /// Name of the key, which owns its conversations.
    pub name: String,
    /// SHA-256 hash of the key, in hexadecimal.
    hash: String,
    /// Allowed agents; `None` allows all.
    pub agents: Option<Vec<String>>,
    /// Limits of the key.
    pub limits: KeyLimits,
}

/// Limits of a key. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Requests per minute.
    pub requests: Option<u64>,
    /// Input and output tokens per minute, as counted by the provider.
    pub tokens: Option<u64>,
    /// Concurrent turns.
    pub turns: Option<u64>,
    /// Bytes per request.
    pub bytes: Option<u64>,
    /// Stored conversations.
    pub conversations: Option<u64>,
}

/// A new key. It is shown once; the file contains only its hash.
#[derive(Debug)]
pub struct NewKey(String);

impl NewKey {
    /// Returns the key.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl KeyLimits {
    /// JSON keys of the limits.
    const NAMES: [&str; 5] = ["requestsPerMinute", "tokensPerMinute", "turns", "bytes", "conversations"];

    fn values(&mut self) -> [&mut Option<u64>; 5] {
        [&mut self.requests, &mut self.tokens, &mut self.turns, &mut self.bytes, &mut self.conversations]
    }
}

impl KeyFile {
    /// Name of the key file in a served folder.
    pub const NAME: &str = "serve-keys.json";

    /// Reads a key file.
    ///
    /// # Errors
    ///
    /// The file is missing, cannot be read, or is not a key file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &files::read(path)?)
    }

    /// Reads a key file; a missing file has no keys.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a key file.
    pub fn read_or_empty(path: &Path) -> Result<Self> {
        if is_missing(path) { Ok(Self::default()) } else { Self::read(path) }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let invalid = |why: Phrase| {
            let path = files::name(path);
            ProjectError::Unusable(phrase!("`{path}` is not a key file: {why}", path, why))
        };
        let value: Value = serde_json::from_slice(bytes).map_err(|_| invalid(phrase!("it is not JSON")))?;
        let list = value
            .get("keys")
            .and_then(Value::as_array)
            .ok_or_else(|| invalid(phrase!("it has no `keys` list")))?;
        if list.len() > MAX_KEYS {
            return Err(invalid(phrase!("it has too many client keys")));
        }
        let keys = list.iter().map(KeyEntry::read).collect::<Option<Vec<_>>>();
        Ok(Self {
            keys: keys.ok_or_else(|| {
                invalid(phrase!(
                    "a client key has no `hash`, or its `name`, `agents` or limits are not valid"
                ))
            })?,
        })
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = self.to_text();
        files::write(&[(path.to_owned(), text.as_bytes())], Existing::Replace, &FilesRead::default())
    }

    /// Changes the named key file, or the one of the folder, and records that the user trusts its new content. A missing
    /// file has no keys. Other runs wait until the file is written.
    ///
    /// # Errors
    ///
    /// The file is not named and not trusted, or it cannot be read or written, or `change` fails.
    pub fn change<T>(
        named: Option<&Path>,
        folder: &Path,
        change: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let place = KeyFilePlace::new(named, folder);
        let parent = place.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // The lock is on the folder, because each write replaces the file.
        let _lock = files::lock(parent.unwrap_or(Path::new(".")))?;
        let mut file = if is_missing(&place.path) {
            Self::default()
        } else {
            place.parse(&files::read(&place.path)?)?
        };
        let changed = change(&mut file)?;
        let text = file.to_text();
        Trusted::change_file(&place.path, text.as_bytes(), || file.write(&place.path))?;
        Ok(changed)
    }

    fn to_text(&self) -> String {
        let keys: Vec<Value> = self.keys.iter().map(KeyEntry::to_json).collect();
        format!("{:#}\n", json!({ "keys": keys }))
    }

    /// Creates a key.
    ///
    /// # Errors
    ///
    /// The name exists already, the name is invalid, or the system has no random bytes.
    pub fn add(&mut self, name: &str, agents: Option<Vec<String>>, limits: KeyLimits) -> Result<NewKey> {
        if !is_name(name) {
            return Err(ProjectError::Usage(phrase!(
                "`{name}` is not a valid client key name; use up to 64 letters, digits, `-`, `_`, and `.`",
                name = excerpt(name)
            )));
        }
        if self.keys.iter().any(|key| key.name == name) {
            return Err(ProjectError::Usage(phrase!("client key `{name}` already exists", name)));
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            ProjectError::Unusable(phrase!(
                "cannot get random bytes from the system: {error}",
                error = error.to_string()
            ))
        })?;
        let key = format!("{PREFIX}{}", hex(&bytes));
        self.keys.push(KeyEntry { name: name.to_owned(), hash: hash(&key), agents, limits });
        Ok(NewKey(key))
    }

    /// Removes a key. A running gateway reloads the file within 2 seconds of its change.
    ///
    /// # Errors
    ///
    /// There is no key of this name.
    pub fn revoke(&mut self, name: &str) -> Result<()> {
        let before = self.keys.len();
        self.keys.retain(|key| key.name != name);
        if self.keys.len() == before {
            Err(ProjectError::Usage(phrase!("no client key `{name}`", name = excerpt(name))))
        } else {
            Ok(())
        }
    }
}

impl KeyEntry {
    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut limits = KeyLimits::default();
        for (limit, name) in limits.values().into_iter().zip(KeyLimits::NAMES) {
            *limit = value
                .get(name)
                .filter(|limit| !limit.is_null())
                .map(|limit| limit.as_u64().ok_or(()))
                .transpose()
                .ok()?;
        }
        // Reject a malformed list. Ignoring it would allow all agents.
        let agents = match value.get("agents") {
            None | Some(Value::Null) => None,
            Some(Value::Array(list)) => {
                Some(list.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?)
            }
            Some(_) => return None,
        };
        let name = text("name").filter(|name| is_name(name))?;
        Some(Self { name, hash: text("hash")?, agents, limits })
    }

    fn to_json(&self) -> Value {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), self.name.as_str().into());
        entry.insert("hash".to_owned(), self.hash.as_str().into());
        if let Some(agents) = &self.agents {
            entry.insert("agents".to_owned(), json!(agents));
        }
        let mut limits = self.limits;
        for (limit, name) in limits.values().into_iter().zip(KeyLimits::NAMES) {
            entry.extend(limit.map(|limit| (name.to_owned(), limit.into())));
        }
        Value::Object(entry)
    }

    /// Returns an error if the key does not allow the agent.
    pub(crate) fn check_agent(&self, agent: &str) -> Result<(), ApiError> {
        match &self.agents {
            Some(agents) if !agents.iter().any(|allowed| allowed == agent) => {
                let text = phrase!("this client key cannot use `{agent}`", agent = excerpt(agent));
                Err(ApiError::forbidden(text).at("model"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a path does not exist, not even as a broken link.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Place of a key file.
#[derive(Debug)]
struct KeyFilePlace {
    path: PathBuf,
    /// Whether the user named the file. Otherwise the file must be trusted.
    is_named: bool,
}

impl KeyFilePlace {
    fn new(named: Option<&Path>, folder: &Path) -> Self {
        let path = named.map_or_else(|| folder.join(KeyFile::NAME), Path::to_owned);
        Self { path, is_named: named.is_some() }
    }

    /// Reads the content of the file, if the user trusts it.
    fn parse(&self, bytes: &[u8]) -> Result<KeyFile> {
        if self.is_named || Trusted::read()?.has_file(&self.path, bytes) {
            return KeyFile::parse(&self.path, bytes);
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        Err(ProjectError::Usage(phrase!(
            "`{path}` is not trusted; read it, then run `ctx trust {folder}`, or use `--keys {path}`",
            path = files::name(&self.path),
            folder = files::shell_word(folder)
        )))
    }
}

/// The keys that a running gateway accepts, reloaded from their file.
#[derive(Debug)]
pub(crate) struct Keys {
    place: KeyFilePlace,
    /// Origins of web pages that can send requests without a key.
    origins: Vec<HeaderValue>,
    accepted: RwLock<AcceptedKeys>,
}

#[derive(Debug)]
struct AcceptedKeys {
    /// `None` without a key file: requests from this machine need no key.
    keys: Option<Vec<Arc<KeyEntry>>>,
    /// The content of the file; `None` if it is missing or cannot be read.
    bytes: Option<Vec<u8>>,
    /// The entry for requests without a key.
    local: Arc<KeyEntry>,
}

impl Keys {
    /// Reads the keys when the gateway starts, from the named file or from the folder's key file.
    ///
    /// # Errors
    ///
    /// The named file is missing, a file cannot be read or is not a key file, or the folder's key file is not
    /// trusted.
    pub(crate) fn open(named: Option<&Path>, folder: &Path, origins: Vec<HeaderValue>) -> Result<Self> {
        let place = KeyFilePlace::new(named, folder);
        let local = Arc::new(KeyEntry {
            name: LOCAL.to_owned(),
            hash: String::new(),
            agents: None,
            limits: KeyLimits::default(),
        });
        let accepted = RwLock::new(AcceptedKeys { keys: None, bytes: None, local });
        let keys = Self { place, origins, accepted };
        let path = &keys.place.path;
        // Without this check, a deleted key file would open the gateway.
        let is_expected = keys.place.is_named || Trusted::read()?.knows_file(path);
        if is_expected && !keys.place.is_named && is_missing(path) {
            let (path, folder) = (files::name(path), files::shell_word(folder));
            return Err(ProjectError::Unusable(phrase!(
                "the trusted key file `{path}` is missing; restore it, or forget it with `ctx trust {folder} --remove`",
                path,
                folder
            )));
        }
        if is_expected || !is_missing(path) {
            let bytes = files::read(&keys.place.path)?;
            let file = keys.place.parse(&bytes)?;
            keys.accept(shared(file), Some(bytes));
        }
        Ok(keys)
    }

    fn accept(&self, keys: Vec<Arc<KeyEntry>>, bytes: Option<Vec<u8>>) {
        let mut accepted = self.accepted.write().unwrap_or_else(PoisonError::into_inner);
        accepted.keys = Some(keys);
        accepted.bytes = bytes;
    }

    /// Reads the file again if it changed. No key is accepted while the file is missing, unreadable or not trusted.
    pub(crate) fn reload(&self) {
        let is_open = self.is_open();
        if is_open && is_missing(&self.place.path) {
            return;
        }
        let read = files::read(&self.place.path).and_then(|bytes| Ok((self.place.parse(&bytes)?, bytes)));
        match read {
            Ok((_, bytes)) if !is_open && self.accepted().bytes.as_ref() == Some(&bytes) => {}
            Ok((file, bytes)) => {
                tracing::info!(keys = file.keys.len(), "the key file changed");
                self.accept(shared(file), Some(bytes));
            }
            // The error was already reported.
            Err(_) if !is_open && self.accepted().bytes.is_none() => {}
            Err(error) => {
                tracing::error!(error = %error, "cannot use the key file; rejecting all requests");
                self.accept(Vec::new(), None);
            }
        }
    }

    /// Returns the key file and its number of keys; `None` without a key file.
    pub(crate) fn status(&self) -> Option<(&Path, usize)> {
        let count = self.accepted().keys.as_ref().map(Vec::len)?;
        Some((&self.place.path, count))
    }

    /// Returns whether requests need no key.
    pub(crate) fn is_open(&self) -> bool {
        self.accepted().keys.is_none()
    }

    fn accepted(&self) -> RwLockReadGuard<'_, AcceptedKeys> {
        self.accepted.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the key of a request. Compares every key in constant time.
    ///
    /// Without a key file the request must come from a program on this machine.
    pub(crate) fn authorize(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Result<Arc<KeyEntry>, ApiError> {
        let accepted = self.accepted();
        let Some(keys) = &accepted.keys else {
            return check_local(headers, &self.origins).map(|()| accepted.local.clone());
        };
        let mut found = None;
        for given in given_keys(headers, query) {
            let given = hash(&given);
            for key in keys {
                if bool::from(key.hash.as_bytes().ct_eq(given.as_bytes())) {
                    found = Some(key);
                }
            }
        }
        found.cloned().ok_or_else(|| {
            let text = phrase!("missing or invalid client key");
            ApiError::new(401, ApiErrorKind::Unauthorized, text)
        })
    }
}

/// Returns whether a text is a valid name of a key. Conversations are stored under `NAME/ID`.
fn is_name(text: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    // `LOCAL` is reserved for requests without a key.
    !text.is_empty() && text != LOCAL && text.len() <= 64 && text.chars().all(is_allowed)
}

fn shared(file: KeyFile) -> Vec<Arc<KeyEntry>> {
    file.keys.into_iter().map(Arc::new).collect()
}

/// Maximum keys of a request that are compared.
const MAX_GIVEN: usize = 8;

/// Returns the keys in a request, from all headers and parameters that clients of any dialect use. Clients that need
/// a placeholder in `authorization` send the key in another header.
fn given_keys(headers: &HeaderMap, query: Option<&str>) -> Vec<String> {
    let values = |name: HeaderName| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let bearer = values(header::AUTHORIZATION).filter_map(|value| {
        // The scheme is case-insensitive (RFC 9110, section 11.1).
        let (scheme, key) = value.split_once([' ', '\t'])?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key)
    });
    let api_key_headers =
        ["x-api-key", "x-goog-api-key"].map(HeaderName::from_static).into_iter().flat_map(values);
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let parameters = pairs.filter(|(name, _)| name == "key").map(|(_, key)| key.into_owned());
    let keys = bearer.chain(api_key_headers).map(|key| key.trim().to_owned()).chain(parameters);
    keys.take(MAX_GIVEN).collect()
}

/// Rejects requests from web pages of other origins, except those that the operator allows.
///
/// Other sites can point their host names at a local server, so the host must be a name of this machine. A page of
/// another local server has another port in its origin.
fn check_local(headers: &HeaderMap, allowed: &[HeaderValue]) -> Result<(), ApiError> {
    let refused = || {
        ApiError::forbidden(phrase!(
            "without client keys, the gateway accepts only requests from this machine"
        ))
    };
    let is_local = |host: &str| {
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(host, |(name, _)| name);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    };
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).filter(|host| is_local(host));
    let host = host.filter(|_| hosts.next().is_none()).ok_or_else(refused)?;
    let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
    let mut origins = headers.get_all(header::ORIGIN).iter();
    if origins.all(|origin| allowed.contains(origin) || origin.to_str().is_ok_and(is_own)) {
        Ok(())
    } else {
        Err(refused())
    }
}

fn hash(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}

/// Returns a random name that cannot be guessed.
pub(crate) fn random_name() -> Result<String, ApiError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| ApiError::internal())?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a file is read if its only key has these additional fields.
    #[track_caller]
    fn check(more: &Value, is_read: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KeyFile::NAME);
        let mut key = json!({ "name": "alice", "hash": hash("ctx-1") });
        key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        std::fs::write(&path, json!({ "keys": [key] }).to_string()).unwrap();
        assert_eq!(KeyFile::read(&path).is_ok(), is_read, "{more}");
    }

    #[test]
    fn compares_each_key_of_a_request() {
        let mut headers = HeaderMap::new();
        for value in ["Bearer placeholder", "bearer\tvalid", "Basic x"] {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        headers.insert("x-api-key", "other".parse().unwrap());
        assert_eq!(
            given_keys(&headers, Some("key=a&k=b&key=c")),
            ["placeholder", "valid", "other", "a", "c"]
        );
    }

    #[test]
    fn rejects_malformed_limits_of_keys() {
        check(&json!({}), true);
        check(&json!({ "agents": null, "turns": null }), true);
        check(&json!({ "agents": ["ada"], "turns": 2 }), true);
        check(&json!({ "agents": "ada" }), false);
        check(&json!({ "agents": ["ada", 5] }), false);
        check(&json!({ "turns": "2" }), false);
        check(&json!({ "bytes": -1 }), false);
        // The owner of a stored conversation is the name before `/`.
        check(&json!({ "name": "alice/bob" }), false);
    }
}
