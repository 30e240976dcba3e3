//! Requests without a turn: reads, and changes of stored conversations.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use ctx_wire::Dialect;
use serde_json::Value;

use crate::api_error::ApiError;
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::routes::json_bytes;

/// A request with a valid client key. It is included in the key's requests per minute.
pub(crate) struct AuthorizedRequest {
    pub(crate) server: Arc<Server>,
    pub(crate) key: Arc<KeyEntry>,
    pub(crate) headers: HeaderMap,
    dialect: Dialect,
}

impl FromRequestParts<Arc<Server>> for AuthorizedRequest {
    type Rejection = Response<Body>;

    fn from_request_parts(
        parts: &mut Parts,
        server: &Arc<Server>,
    ) -> impl Future<Output = Result<Self, Response<Body>>> + Send {
        let is_gemini = parts.uri.path().starts_with("/v1beta/");
        let dialect = if is_gemini { Dialect::Gemini } else { Dialect::OpenaiChat };
        let key = server.keys.authorize(&parts.headers, parts.uri.query());
        let counted = key.and_then(|key| server.meters.count_request(&key).map(|()| key));
        let (server, headers) = (server.clone(), parts.headers.clone());
        let authorized = counted.map(|key| Self { server, key, headers, dialect });
        std::future::ready(authorized.map_err(|error| error.into_response(dialect)))
    }
}

impl AuthorizedRequest {
    /// Returns a value, or an error in the dialect of the path.
    pub(crate) fn respond(&self, result: Result<Value, ApiError>) -> Response<Body> {
        match result {
            Ok(value) => json_bytes(value.to_string().into_bytes()),
            Err(error) => error.into_response(self.dialect),
        }
    }
}
