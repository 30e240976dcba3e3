//! The endpoint of the provider: from the command line, then `ctx.toml`, then the provider's default.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Result;
use ctx_chat::{ApiKey, AudioTranscriber, ClientError, Endpoint, redact_url, url_origin};
use ctx_types::internal::{Argument, Divider, nearest, pointer_step};
use ctx_types::{Diagnostic, Phrase, phrase};
use ctx_wire::Dialect;
use schemars::Schema;
use serde_json::Value;

use crate::codes;
pub use crate::config::EndpointKeys;
use crate::keyed::{self, Filled, Meaning, Meaningless, Parsed, TextTable};
use crate::keys::Keys;
use crate::options::EndpointOptions;

/// Default model for transcripts.
const TRANSCRIBING: &str = "whisper-1";

impl Meaning for Dialect {
    fn parse(name: &str) -> Result<Self, Meaningless> {
        let names = Self::ALL.map(Self::name);
        let fault = || Meaningless::new(phrase!("is not an API dialect")).near(nearest(name, names));
        Self::parse(name).ok_or_else(|| {
            fault().otherwise(phrase!("use one of {names}", names = Argument::names(names, Divider::Comma)))
        })
    }

    fn schema() -> Schema {
        keyed::words(Self::ALL.map(Self::name))
    }
}

/// Endpoint settings from `ctx.toml`.
#[derive(Clone, Default)]
pub struct EndpointConfig {
    base_url: Option<String>,
    dialect: Option<Dialect>,
    /// Model of requests.
    pub model: Option<String>,
    /// Agents that use the endpoint.
    pub agents: Vec<String>,
    key_env: Option<String>,
    key_file: Option<PathBuf>,
    headers: Vec<(String, String)>,
    connect: Option<u64>,
    first_token: Option<u64>,
    stall: Option<u64>,
    retries: Option<usize>,
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("EndpointConfig")
            .field("base_url", &self.base_url.as_deref().map(redact_url))
            .field("dialect", &self.dialect)
            .field("model", &self.model)
            .field("agents", &self.agents)
            .field("key_env", &self.key_env)
            .field("key_file", &self.key_file)
            .field("headers", &names)
            .field("times", &[self.connect, self.first_token, self.stall])
            .field("retries", &self.retries)
            .finish()
    }
}

impl EndpointConfig {
    /// Reads an endpoint table. `place` resolves its paths.
    pub fn read(value: &Value, place: &dyn Fn(&str) -> PathBuf) -> (Self, Vec<Diagnostic>) {
        let mut keys = match Keys::with_secrets(value, |_| true) {
            Ok(keys) => keys,
            Err(fault) => return (Self::default(), vec![*fault]),
        };
        let mut found = Vec::new();
        let table = EndpointKeys::read(&mut keys);
        let config = Self {
            base_url: table.base_url.map(|Filled(address)| address),
            dialect: table.dialect.map(|Parsed(dialect)| dialect),
            model: table.model,
            agents: table.agents,
            key_env: table.key_env.map(|Filled(name)| name),
            key_file: table.key_file.as_deref().map(place),
            headers: headers(table.headers.as_ref(), &mut found),
            connect: table.connect,
            first_token: table.first_token,
            stall: table.stall,
            retries: table.retries.map(|retries| usize::try_from(retries).unwrap_or(usize::MAX)),
        };
        (config, [found, keys.finish()].concat())
    }

    /// Returns a name for messages: the scheme, host, and port of a valid base URL, or the dialect.
    pub fn name(&self) -> Option<String> {
        let Some(address) = &self.base_url else {
            return self.dialect.map(|dialect| dialect.name().to_owned());
        };
        url_origin(address)
    }

    /// Fills in missing settings from another configuration.
    ///
    /// If that one has another base URL, dialect, key, or other headers, takes only its time limits and retries.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let is_other = |dialect| dialect != below.dialect.unwrap_or_default();
        let is_elsewhere = self.base_url.is_some()
            || self.dialect.is_some_and(is_other)
            || self.key_env.is_some()
            || self.key_file.is_some()
            || !self.headers.is_empty();
        let below = if is_elsewhere {
            Self {
                connect: below.connect,
                first_token: below.first_token,
                stall: below.stall,
                retries: below.retries,
                ..Self::default()
            }
        } else {
            below
        };
        Self {
            base_url: self.base_url.or(below.base_url),
            dialect: self.dialect.or(below.dialect),
            model: self.model.or(below.model),
            agents: if self.agents.is_empty() { below.agents } else { self.agents },
            key_env: self.key_env.or(below.key_env),
            key_file: self.key_file.or(below.key_file),
            headers: if self.headers.is_empty() { below.headers } else { self.headers },
            connect: self.connect.or(below.connect),
            first_token: self.first_token.or(below.first_token),
            stall: self.stall.or(below.stall),
            retries: self.retries.or(below.retries),
        }
    }

    /// Returns the configured key file.
    pub fn key_file(&self) -> Option<&Path> {
        self.key_file.as_deref()
    }

    /// Reports an invalid base URL, if one is set.
    pub(crate) fn address_fault(&self) -> Option<Diagnostic> {
        let address = self.base_url.as_deref()?;
        let fault = check_address(Endpoint::new(self.dialect.unwrap_or_default(), address)).err()?;
        Some(Diagnostic::error(codes::BAD_VALUE, fault.phrase()))
    }

    /// Returns the settings for a dialect. If they belong to another dialect, keeps only the time limits and retries.
    #[must_use]
    pub fn for_dialect(&self, dialect: Dialect) -> Self {
        if self.dialect.unwrap_or_default() == dialect {
            self.clone()
        } else {
            Self {
                dialect: Some(dialect),
                connect: self.connect,
                first_token: self.first_token,
                stall: self.stall,
                retries: self.retries,
                ..Self::default()
            }
        }
    }

    /// Creates the client for transcripts if the table sets a base URL or a model. For `needs_key`, see
    /// [`endpoint`](Self::endpoint).
    pub fn transcriber(&self, needs_key: bool) -> Result<Option<AudioTranscriber>> {
        if self.base_url.is_none() && self.model.is_none() {
            return Ok(None);
        }
        let endpoint = self.endpoint(&EndpointOptions::default(), needs_key)?;
        let model = self.model.as_deref().unwrap_or(TRANSCRIBING);
        Ok(Some(AudioTranscriber::new(endpoint, model)?))
    }

    /// Builds the endpoint. Set `needs_key` to false if no request is sent.
    pub fn endpoint(&self, arguments: &EndpointOptions, needs_key: bool) -> Result<Endpoint> {
        let dialect = arguments.dialect.or(self.dialect).unwrap_or_default();
        let base_url = arguments.base_url.clone().or_else(|| self.base_url.clone());
        let is_own = base_url.is_some();
        // Never send one provider's key to another provider.
        let other = Some(self.for_dialect(dialect)).filter(|_| !is_own);
        let this = other.as_ref().unwrap_or(self);
        let base_url = base_url.unwrap_or_else(|| Endpoint::default_base_url(dialect).to_owned());
        let mut endpoint = Endpoint::new(dialect, base_url);
        check_address(endpoint.clone())?;
        if needs_key {
            endpoint.key = this.key(arguments, dialect, is_own)?;
        }
        let secret = |(name, value): &(String, String)| (name.clone(), value.as_str().into());
        endpoint.headers = this.headers.iter().map(secret).collect();
        let set = |limit: &mut Duration, seconds: Option<u64>| {
            if let Some(seconds) = seconds {
                *limit = Duration::from_secs(seconds);
            }
        };
        set(&mut endpoint.time.connect, self.connect);
        set(&mut endpoint.time.first_token, self.first_token);
        set(&mut endpoint.time.stall, self.stall);
        endpoint.retry.retries = self.retries.unwrap_or(endpoint.retry.retries);
        Ok(endpoint)
    }

    /// Reads the API key. Without a configured key, tries the provider's environment variable. Servers with a custom
    /// base URL need no key.
    fn key(
        &self,
        arguments: &EndpointOptions,
        dialect: Dialect,
        is_own: bool,
    ) -> Result<Option<ApiKey>, ClientError> {
        if let Some(name) = &arguments.key_env {
            return ApiKey::from_env(name).map(Some);
        }
        if let Some(path) = &arguments.key_file {
            return ApiKey::from_file(path).map(Some);
        }
        if let Some(name) = &self.key_env {
            return ApiKey::from_env(name).map(Some);
        }
        if let Some(path) = &self.key_file {
            return ApiKey::from_file(path).map(Some);
        }
        let name = match dialect {
            Dialect::Anthropic => "ANTHROPIC_API_KEY",
            Dialect::Gemini => "GEMINI_API_KEY",
            _ => "OPENAI_API_KEY",
        };
        match (std::env::var_os(name), is_own) {
            // Never send a provider's key to another server.
            (_, true) => Ok(None),
            (Some(_), false) => ApiKey::from_env(name).map(Some),
            (None, false) => Err(ClientError::Config(phrase!(
                "no API key; set `{name}`, use `--key-env` or `--key-file`, or name a local server with \
                `--base-url`",
                name
            ))),
        }
    }
}

/// Checks the base URL of an endpoint.
fn check_address(mut endpoint: Endpoint) -> Result<(), ClientError> {
    // Some dialects put the model in the URL.
    endpoint.model = Some("model".to_owned());
    endpoint.url().map(drop)
}

/// Reads headers by name. Reports invalid headers without their values, which may be API keys.
fn headers(table: Option<&TextTable>, found: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    let Some(TextTable(headers)) = table else { return Vec::new() };
    let read = |(name, value): (&String, &Value)| {
        let text = value.as_str().map(|text| (name.clone(), text.to_owned()));
        text.or_else(|| {
            let expected = Phrase::from("a table whose values are strings");
            let message = phrase!("`headers` must be {expected}", expected);
            let wrong = Diagnostic::error(codes::BAD_VALUE, message)
                .at_pointer(format!("/headers/{}", pointer_step(name)))
                .with_help(phrase!("write each header as `name = \"value\"`"));
            found.push(wrong);
            None
        })
    };
    headers.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> EndpointConfig {
        EndpointConfig {
            key_env: Some("KEY".to_owned()),
            headers: vec![("x-key".to_owned(), "secret".to_owned())],
            retries: Some(1),
            ..EndpointConfig::default()
        }
    }

    #[test]
    fn a_key_is_not_taken_over_into_another_dialect() {
        let over =
            |dialect| EndpointConfig { dialect: Some(dialect), ..EndpointConfig::default() }.over(own());
        assert_eq!(over(Dialect::OpenaiChat).key_env.as_deref(), Some("KEY"));
        let other = over(Dialect::Gemini);
        assert_eq!((other.key_env, other.headers.len(), other.retries), (None, 0, Some(1)));
    }

    #[test]
    fn a_key_and_headers_go_to_no_other_provider() {
        let given = |dialect, base_url: Option<&str>| EndpointOptions {
            dialect: Some(dialect),
            base_url: base_url.map(str::to_owned),
            ..EndpointOptions::default()
        };
        let headers = |arguments| own().endpoint(&arguments, false).unwrap().headers.len();
        assert_eq!(headers(given(Dialect::OpenaiChat, None)), 1);
        assert_eq!(headers(given(Dialect::Anthropic, None)), 0);
        assert_eq!(headers(given(Dialect::Anthropic, Some("http://localhost"))), 1);
    }
}
