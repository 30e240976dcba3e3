use std::borrow::Cow;

use ctx_compress::mask::Language;
use ctx_pipeline::{
    PipelineContext, PrepareInput, ProcessorError, ProcessorResult, SettingsReader, TypedProcessor,
};
use ctx_types::{Agent, Content, Message, Source, SourceKind, Span, Trust};
use serde_json::Value;

use crate::asset_resolver::counts_line;
use crate::attachments::{AttachmentPolicy, FileCounts, FileResolver, TranscriptionSettings};
use crate::internal::ids;
use crate::rewrite::{Edit, rewrite};

/// Inserts document texts and transcripts of media into their messages.
///
/// A text replaces `【file::id】`, or goes to the end of the message. Text files are always converted; others
/// if the target does not accept them, if they are old, or by the strategy. Files of the preset follow when
/// the assembler has placed them. Texts come from [`AttachmentPorts`](ctx_types::ports::AttachmentPorts); without
/// them, files stay unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TranscriptionProcessor;

impl TypedProcessor for TranscriptionProcessor {
    type Prepared = TranscriptionSettings;

    describe!(
        250,
        "transcription-processor",
        "Transcription and text extraction",
        "Replaces attachments with document text and transcripts",
        per_message
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> TranscriptionSettings {
        TranscriptionSettings::read(&mut input.settings, language(input.agent))
    }

    async fn run(&self, settings: &TranscriptionSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        cx.blackboard.insert(settings.clone());
        write_chat_files(cx);
        resolve_files(cx, |_| true).await
    }
}

/// Writes file texts (`extra.files`) of `SillyTavern` chats above their messages, and media titles below them.
fn write_chat_files(cx: &mut PipelineContext<'_>) {
    let session = cx.inputs.session;
    if session.header.kept.get("chat_metadata").is_none() {
        return;
    }
    let texts = |message: &Message| -> Option<(String, String)> {
        let id = message.source.id.as_deref().filter(|_| message.source.kind.is_history())?;
        let extra = session.node(id)?.kept.get("extra")?;
        let list = |key: &str| extra.get(key).and_then(Value::as_array).into_iter().flatten();
        let filled = |text: &'_ Value| text.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let files: Vec<String> = list("files").filter_map(|file| filled(file.get("text")?)).collect();
        let above = if files.is_empty() { String::new() } else { files.join("\n\n") + "\n\n" };
        let titled = std::iter::once(extra).chain(list("media"));
        let titled = titled.filter(|item| item.get("append_title") == Some(&Value::Bool(true)));
        let titles = titled.filter_map(|item| filled(item.get("title")?));
        let below: String = titles.flat_map(|title| ["\n\n".to_owned(), title]).collect();
        (!above.is_empty() || !below.is_empty()).then_some((above, below))
    };
    for at in 0..cx.draft.messages().len() {
        let mut texts = texts(&cx.draft.messages()[at]);
        if texts.is_none() {
            continue;
        }
        let source = Source::new(SourceKind::File, Trust::File);
        let edits = |text: &str| {
            let end = Span::new(text.len(), text.len());
            let edits = texts.take().map(|(above, below)| [(Span::new(0, 0), above), (end, below)]);
            let edits = edits.into_iter().flatten().filter(|(_, text)| !text.is_empty());
            edits.map(|(span, text)| Edit { span, text, source: source.clone() }).collect()
        };
        let message = &mut cx.draft.messages_mut()[at];
        message.is_silent = false;
        rewrite(message, edits);
    }
}

pub(crate) fn language(agent: &Agent) -> Language {
    let entries = agent.preset_messages.iter().filter_map(|entry| entry.content.as_ref()).map(Content::text);
    let described = agent.character.iter().filter_map(|character| character.description.as_ref());
    Language::of_texts(entries.chain(described.map(|text| Cow::Borrowed(text.as_str()))))
}

/// Does nothing if the processor is disabled.
pub(crate) async fn resolve_placed_files(cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
    resolve_files(cx, |message| !message.source.kind.is_history()).await
}

async fn resolve_files(
    cx: &mut PipelineContext<'_>,
    is_wanted: impl Fn(&Message) -> bool,
) -> Result<(), ProcessorError> {
    let Some(settings) = cx.blackboard.get::<TranscriptionSettings>().cloned() else { return Ok(()) };
    let policy = cx.config_of(ids::ASSET_RESOLVER);
    let policy = policy.map(|config| AttachmentPolicy::read(&mut SettingsReader::new(config)));
    let done = FileResolver::new(&cx.inputs, policy, Some(settings)).run(cx, is_wanted).await?;
    if done != FileCounts::default() {
        cx.log(counts_line(&done));
    }
    Ok(())
}
