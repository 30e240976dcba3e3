//! Requests and responses that pass unchanged.

use std::fmt;

use bytes::Bytes;
use ctx_pipeline::Cancel;
use reqwest::Response;
use reqwest::header::HeaderMap;

use crate::client::Client;
use crate::client::wait::Until;
use crate::error::{ClientError, Phase};

/// A response of any status, whose body is read unchanged. Dropping it closes the connection.
pub struct RawResponse {
    response: Response,
    client: Client,
    cancel: Cancel,
    end: Until,
}

impl Client {
    /// Returns a client on the same connections that adds these parameters to the URLs of requests.
    #[must_use]
    pub fn with_parameters(mut self, parameters: &[(String, String)]) -> Self {
        if !parameters.is_empty() {
            self.url.query_pairs_mut().extend_pairs(parameters);
        }
        self
    }

    /// Sends a body unchanged to a path below the base URL, such as `embeddings`. Does not retry.
    ///
    /// Returns when the headers of the response arrive, for any status.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError`] if no response arrives in time, or `cancel` is called.
    pub async fn forward(
        &self,
        path: &str,
        body: Bytes,
        cancel: &Cancel,
    ) -> Result<RawResponse, ClientError> {
        let time = &self.endpoint.time;
        let end = Until::new(Phase::Answer, time.answer);
        let mut url = self.endpoint.checked_address(path).map_err(|error| self.without_secrets(error))?;
        url.set_query(self.url.query());
        let sending = self.http.post(url).headers(self.headers.clone()).body(body).send();
        let sent = Until::new(Phase::FirstToken, time.first_token).or(end).wait(cancel, sending).await;
        let response = sent.and_then(|sent| sent.map_err(|error| self.lost(error)));
        let response = response.map_err(|error| self.without_secrets(error))?;
        Ok(RawResponse { response, client: self.clone(), cancel: cancel.clone(), end })
    }

    fn without_secrets(&self, error: ClientError) -> ClientError {
        error.cleaned(&|text| self.endpoint.redact(text))
    }
}

impl RawResponse {
    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the next bytes of the body; `None` at its end.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError`] if the connection is lost, nothing arrives in time, or the request is canceled.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ClientError> {
        let time = &self.client.endpoint.time;
        // The model may begin to think after the head.
        let until = Until::new(Phase::NextToken, time.first_token.max(time.stall)).or(self.end);
        let chunk = until.wait(&self.cancel, self.response.chunk()).await;
        let chunk = chunk.and_then(|chunk| chunk.map_err(|error| self.client.lost(error)));
        chunk.map_err(|error| self.client.without_secrets(error))
    }
}

impl fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawResponse").field("status", &self.status()).finish_non_exhaustive()
    }
}
