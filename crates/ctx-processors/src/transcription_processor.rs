use std::borrow::Cow;

use async_trait::async_trait;
use ctx_compress::mask::Language;
use ctx_pipeline::{
    Config, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData, ProcessorError,
};
use ctx_types::{Agent, Content, Message, Source, SourceKind, Span, Trust};

use crate::asset_resolver::counts_line;
use crate::attachments::{AttachmentPolicy, FileCounts, FileResolver, TranscriptionSettings};
use crate::rewrite::{Edit, rewrite};

/// Inserts document texts and transcripts of media into their messages.
///
/// A text replaces `【file::id】`, or goes to the end of the message. Text files are always converted; others
/// if the target does not accept them, if they are old, or by the strategy. Files of the preset follow when
/// the assembler has placed them. Texts come from [`AttachmentPorts`](ctx_types::AttachmentPorts); without
/// them, files stay unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct TranscriptionProcessor;

#[async_trait]
impl ContextProcessor for TranscriptionProcessor {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "transcription-processor",
            "Transcription and text extraction",
            "Replaces attachments with document text and transcripts",
        )
        .with(|descriptor| {
            descriptor.priority = 250;
            descriptor.per_message = true;
            descriptor.config_fields = TranscriptionSettings::fields();
        })
    }

    fn prepare(&self, agent: &Agent, config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        PreparedData::new(TranscriptionSettings::from_config(config, language(agent)))
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let settings = cx.prepared.get::<TranscriptionSettings>().cloned();
        cx.blackboard
            .insert(settings.ok_or_else(|| ProcessorError::failed("its settings were not prepared"))?);
        write_chat_files(cx);
        resolve_files(cx, |_| true).await
    }
}

/// Writes the texts in `extra.files` of `SillyTavern` chats above their messages, as it does.
fn write_chat_files(cx: &mut PipelineContext<'_>) {
    let session = cx.inputs.session;
    if session.header.kept.get("chat_metadata").is_none() {
        return;
    }
    let texts = |message: &Message| -> Option<String> {
        let id = message.source.id.as_deref().filter(|_| message.source.kind.is_history())?;
        let files = session.node(id)?.kept.get("extra")?.get("files")?.as_array()?;
        let texts = files.iter().filter_map(|file| file.get("text")?.as_str());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n") + "\n\n")
    };
    let found: Vec<(usize, String)> = cx
        .draft
        .messages()
        .iter()
        .enumerate()
        .filter_map(|(at, message)| Some((at, texts(message)?)))
        .collect();
    for (at, text) in found {
        let mut text = Some(text);
        let source = Source::new(SourceKind::File, Trust::File);
        let edits = |_: &str| {
            let edit = |text| Edit { span: Span::new(0, 0), text, source: source.clone() };
            text.take().map(edit).into_iter().collect()
        };
        let message = &mut cx.draft.messages_mut()[at];
        message.is_silent = false;
        rewrite(message, edits, |text| text);
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
    let policy = cx.blackboard.get::<AttachmentPolicy>().copied();
    let done = FileResolver::new(&cx.inputs, policy, Some(settings)).run(cx, is_wanted).await?;
    if done != FileCounts::default() {
        cx.log(counts_line(&done));
    }
    Ok(())
}
