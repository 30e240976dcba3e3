use std::time::Duration;

use ctx_compress::recall::nearest;
use ctx_pipeline::{PipelineContext, ProcessorError};
use ctx_types::ports::{Embedder, PortError, PortErrorKind};
use ctx_types::{Diagnostic, Text, phrase};

use crate::attachments::within;
use crate::codes;
use crate::recall::cache::TurnPath;

/// New vectors per turn, newest messages first.
const MOST_NEW: usize = 4_096;

/// Texts per request.
const BATCH: usize = 128;

/// Time limit per batch.
const LIMIT: Duration = Duration::from_secs(60);

/// Nearest messages to combine with the word search.
const MOST_NEAR: usize = 256;

/// Ranks messages by similarity to the question, nearest first; empty without an embedder.
///
/// In a preview or on failure, reports a warning and returns nothing.
pub(crate) async fn rank_by_meaning(
    cx: &mut PipelineContext<'_>,
    path: &TurnPath<'_>,
    asked: &str,
) -> Result<Vec<usize>, ProcessorError> {
    let Some(embedder) = cx.inputs.embedder else { return Ok(Vec::new()) };
    let reason = if cx.inputs.turn.preview {
        crate::attachments::not_cached_error()
    } else {
        match vectors(cx, embedder, path, asked).await? {
            Ok(question) => return Ok(path.with_vectors(|vectors| near(&question, vectors))),
            Err(error) => error,
        }
    };
    let message = phrase!("recall searches by words only: {reason}", reason = reason.phrase());
    let help = phrase!("check the embedding program");
    cx.report(Diagnostic::warning(codes::RECALL_WITHOUT_VECTORS, message).with_help(help));
    Ok(Vec::new())
}

fn near(question: &[f32], vectors: &[&[f32]]) -> Vec<usize> {
    let mut near = nearest(question, vectors);
    near.truncate(MOST_NEAR);
    near
}

async fn vectors(
    cx: &PipelineContext<'_>,
    embedder: &dyn Embedder,
    path: &TurnPath<'_>,
    asked: &str,
) -> Result<Result<Vec<f32>, PortError>, ProcessorError> {
    let new = path.without_vectors(MOST_NEW);
    for batch in new.chunks(BATCH) {
        cx.checkpoint()?;
        let texts: Vec<Text> = batch.iter().map(|node| node.text.clone()).collect();
        match embedded(cx, embedder, &texts).await {
            Ok(vectors) => path.keep_vectors(batch.iter().cloned().zip(vectors)),
            Err(error) => return Ok(Err(error)),
        }
    }
    let question = embedded(cx, embedder, &[Text::from(asked)]).await;
    Ok(question.map(|vectors| vectors.into_iter().next().unwrap_or_default()))
}

async fn embedded(
    cx: &PipelineContext<'_>,
    embedder: &dyn Embedder,
    texts: &[Text],
) -> Result<Vec<Vec<f32>>, PortError> {
    let vectors = within(LIMIT, cx.inputs.deadline, embedder.embed(texts)).await?;
    if vectors.len() == texts.len() {
        return Ok(vectors);
    }
    let detail = phrase!("expected {texts} vectors, got {count}", count = vectors.len(), texts = texts.len());
    Err(PortError::new(PortErrorKind::Invalid, detail))
}
