//! Exports spans with OTLP over HTTP. A thread of the SDK sends batches and drops spans if there are too many.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::{Request, Response};
use ctx_types::{Phrase, phrase};
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::Ended;

/// Time limit for sending a batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connection to a collector.
pub(crate) struct Exporter {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}

impl Exporter {
    /// Prepares the export to a collector URL. Additional headers come from `OTEL_EXPORTER_OTLP_HEADERS`.
    pub(crate) fn open(address: &str) -> Result<Self, Phrase> {
        let wrong = |reason: String| {
            phrase!(
                "cannot send spans to `{address}`: {reason}",
                address = ctx_chat::redact_url(address),
                reason
            )
        };
        let carrier = Carrier {
            client: client(address.starts_with("https:")).map_err(&wrong)?,
            runtime: tokio::runtime::Handle::current(),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(carrier)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", address.trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let resource = Resource::builder().with_service_name("ctx").build();
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
        Ok(Self { tracer: provider.tracer("ctx-gateway"), provider })
    }

    pub(super) fn send(&self, ended: &Ended) {
        let (turn, usage) = (&ended.turn, ended.turn.usage);
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let mut attributes = vec![
            KeyValue::new("http.response.status_code", i64::from(ended.status)),
            KeyValue::new("ctx.dialect", ended.dialect.name()),
            KeyValue::new("gen_ai.usage.input_tokens", number(usage.input)),
            KeyValue::new("gen_ai.usage.output_tokens", number(usage.output)),
        ];
        let texts = [("gen_ai.agent.name", &turn.agent), ("server.address", &turn.server)];
        attributes
            .extend(texts.into_iter().filter_map(|(key, text)| Some(KeyValue::new(key, text.clone()?))));
        attributes.extend(turn.ready.map(|ready| KeyValue::new("ctx.ready_seconds", ready.as_secs_f64())));
        attributes.extend(turn.error.map(|error| KeyValue::new("error.type", error)));
        let builder = self.tracer.span_builder("ctx.request").with_kind(SpanKind::Server);
        let builder = builder.with_start_time(ended.begun).with_attributes(attributes);
        let mut span = builder.start(&self.tracer);
        if ended.status >= 500 || turn.error.is_some() {
            span.set_status(Status::error(""));
        }
        span.end();
    }

    /// Sends the queued spans and waits for the collector.
    pub(crate) fn close(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// Sends batches in the runtime of the gateway, because the SDK's thread has no runtime.
#[derive(Debug)]
struct Carrier {
    client: reqwest::Client,
    runtime: tokio::runtime::Handle,
}

#[async_trait]
impl HttpClient for Carrier {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}

fn client(is_secure: bool) -> Result<reqwest::Client, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let tls = tls.map_err(|error| error.to_string())?;
    let tls = match is_secure {
        true => tls.with_platform_verifier().map_err(|error| error.to_string())?,
        // A small machine may have no certificates.
        false => tls.with_root_certificates(RootCertStore::empty()),
    };
    let client = reqwest::Client::builder().tls_backend_preconfigured(tls.with_no_client_auth());
    client.timeout(PATIENCE).build().map_err(|error| error.without_url().to_string())
}
