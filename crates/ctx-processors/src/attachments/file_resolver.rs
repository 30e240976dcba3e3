//! Decides how each file is sent: unchanged, as text, or as a placeholder.

use std::time::Duration;

use ctx_compress::mask::Language;
use ctx_pipeline::{ConfigField, Inputs, PipelineContext, ProcessorError, SettingsReader};
use ctx_types::internal::{excerpt, thousands};
use ctx_types::ports::{AttachmentPorts, ExtractedText, PortError, PortErrorKind, PortFuture};
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Agent, Attachment, Code, Diagnostic, MediaKind, Message, Phrase, Source, phrase};

use crate::attachments::agent_files::with_agent_data;
use crate::attachments::forms::{FileLabel, Forms};
use crate::attachments::lift::{has_inline, lift};
use crate::attachments::loader::{Loader, not_cached_error};
#[cfg(feature = "images")]
use crate::attachments::measure::measure;
use crate::attachments::policy::{AttachmentPolicy, Fallback};
#[cfg(feature = "images")]
use crate::attachments::resize;
use crate::attachments::target::Target;
use crate::attachments::timeout::within;
use crate::attachments::write::{FileWords, has_placeholders, write};
use crate::codes;

pub(crate) const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Settings of `transcription-processor`: files to send as text even if the target accepts them.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptionSettings {
    is_always: bool,
    /// Files with at least this many later messages become text; 0: never.
    force_after: usize,
    prefers_transcripts: bool,
    limit: Duration,
    forms: Forms,
}

impl TranscriptionSettings {
    pub(crate) fn read(settings: &mut SettingsReader<'_>, language: Language) -> Self {
        let strategies =
            [("smart", "If the model does not support the file"), ("always", "Whenever text is available")];
        let strategy = ConfigField::select("strategy", "Convert files to text", &strategies)
            .with_description("text files are always converted");
        let force_after = ConfigField::integer("forceAfter", "Convert files older than (messages)", 10)
            .between(0.0, 1_000_000.0)
            .with_description("counted from the end of the conversation; 0: off");
        let transcripts = ConfigField::boolean("preferTranscripts", "Prefer existing transcripts", true);
        let limit =
            ConfigField::number("maxSeconds", "Time limit per file (seconds)", 60).between(1.0, 3_600.0);
        Self {
            is_always: settings.read(strategy),
            force_after: settings.read(force_after),
            prefers_transcripts: settings.read(transcripts),
            limit: Duration::from_secs(settings.read(limit)),
            forms: Forms::read(settings, language),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileCounts {
    pub(crate) unchanged: usize,
    pub(crate) as_text: usize,
    pub(crate) placeholders: usize,
    pub(crate) references: usize,
}

pub(crate) struct FileResolver<'a> {
    agent: &'a Agent,
    ports: AttachmentPorts<'a>,
    target: Target<'a>,
    loader: Loader<'a>,
    /// Without a policy, unsupported files stay unchanged.
    policy: Option<AttachmentPolicy>,
    transcription: Option<TranscriptionSettings>,
    forms: Forms,
    found: Vec<Diagnostic>,
    decisions: Vec<Decision>,
    done: FileCounts,
}

enum SentForm {
    Reference,
    Unchanged(Attachment),
    Text(String),
    Placeholder,
}

#[derive(Clone, Copy)]
struct Job<'j> {
    file: &'j Attachment,
    source: &'j Source,
    number: usize,
    /// Number of later messages.
    from_end: usize,
}

impl<'a> FileResolver<'a> {
    pub(crate) fn new(
        inputs: &Inputs<'a>,
        policy: Option<AttachmentPolicy>,
        transcription: Option<TranscriptionSettings>,
    ) -> Self {
        let forms = match &transcription {
            Some(transcription) => transcription.forms.clone(),
            None => Forms::read(&mut SettingsReader::default(), Language::default()),
        };
        let loader = Loader {
            store: inputs.attachments.assets,
            documents: inputs.attachments.documents,
            is_preview: inputs.turn.preview,
            clock: inputs.deadline,
            total: 0,
        };
        Self {
            agent: inputs.agent,
            ports: inputs.attachments,
            target: Target::new(inputs.turn, inputs.model),
            loader,
            policy,
            transcription,
            forms,
            found: Vec::new(),
            decisions: Vec::new(),
            done: FileCounts::default(),
        }
    }

    pub(crate) async fn run(
        mut self,
        cx: &mut PipelineContext<'_>,
        is_wanted: impl Fn(&Message) -> bool,
    ) -> Result<FileCounts, ProcessorError> {
        let lifts = self.transcription.is_some();
        let is_wanted =
            |message: &Message| is_wanted(message) && (has_files(message) || (lifts && has_inline(message)));
        if !cx.draft.messages().iter().any(is_wanted) {
            return Ok(self.done);
        }
        self.loader.total = loaded_bytes(cx.draft.messages());
        let mut messages = cx.draft.messages().to_vec();
        let count = messages.len();
        for (index, message) in messages.iter_mut().enumerate() {
            if is_wanted(message) {
                cx.checkpoint()?;
                self.message(message, count - 1 - index).await?;
            }
        }
        cx.draft.set_messages(messages);
        cx.draft.decide_all(self.decisions);
        self.found.into_iter().for_each(|finding| cx.report(finding));
        Ok(self.done)
    }

    async fn message(&mut self, message: &mut Message, from_end: usize) -> Result<(), ProcessorError> {
        if self.transcription.is_some() && has_inline(message) {
            lift(message);
        }
        let (mut kept, mut words) = (Vec::new(), Vec::new());
        let (files, source) = (message.attachments.clone(), message.source.clone());
        for (index, file) in files.iter().enumerate() {
            let job = Job { file, source: &source, number: index + 1, from_end };
            let label = self.forms.placeholder(job.file_label());
            let text = match self.resolve(job).await? {
                SentForm::Reference => {
                    self.done.references += 1;
                    kept.push(file.clone());
                    None
                }
                SentForm::Unchanged(file) => {
                    self.done.unchanged += 1;
                    kept.push(file);
                    None
                }
                SentForm::Text(text) => {
                    self.done.as_text += 1;
                    Some(text)
                }
                SentForm::Placeholder => {
                    self.done.placeholders += 1;
                    Some(label.clone())
                }
            };
            words.push(FileWords { id: file.id.to_string(), text, label });
        }
        if kept != files {
            message.attachments = kept;
        }
        if words.iter().any(|words| words.text.is_some()) || has_placeholders(message) {
            write(message, &words);
        }
        Ok(())
    }

    async fn resolve(&mut self, job: Job<'_>) -> Result<SentForm, ProcessorError> {
        let completed = with_agent_data(job.file, self.agent);
        let job = Job { file: &completed, ..job };
        if job.file.loaded.is_none() && job.file.url().is_some() {
            return self.resolve_url(job);
        }
        if job.file.loaded.is_none() && self.ports.assets.is_none() {
            return Ok(SentForm::Reference);
        }
        let loaded = match self.loader.load(job.file, self.policy.as_ref()).await {
            Ok(loaded) => loaded,
            Err(error) => {
                let why = phrase!("cannot load it: {error}", error = error.phrase());
                return self.fall_back(job, codes::ATTACHMENT_NOT_LOADED, &why);
            }
        };
        let job = Job { file: &loaded.file, ..job };
        if let Some(said) = &loaded.contradicts {
            self.report_type(job, said);
        }
        match self.too_many_pixels(job.file) {
            Some(why) => self.fall_back(job, codes::ATTACHMENT_TOO_LARGE, &why),
            None => self.resolve_loaded(job).await,
        }
    }

    async fn resolve_loaded(&mut self, job: Job<'_>) -> Result<SentForm, ProcessorError> {
        let refusal = self.target.refuses(job.mime_type());
        let Some(why) = self.reason_for_text(job, refusal.as_ref()) else {
            return match refusal {
                None => Ok(SentForm::Unchanged(self.resize_to_limit(job))),
                Some(refusal) => self.fall_back(job, codes::ATTACHMENT_PLACEHOLDER, &refusal),
            };
        };
        match (self.words(job).await, refusal) {
            (Ok(text), _) => {
                self.decide(
                    job,
                    phrase!(
                        "{job} is sent as {kind}: {why}",
                        job = job.name(),
                        kind = Phrase::from(job.kind_of_text()),
                        why
                    ),
                );
                Ok(SentForm::Text(text))
            }
            (Err(error), None) => {
                if error.kind != PortErrorKind::Unsupported {
                    let text = phrase!(
                        "{job} is sent unchanged, no text is available: {error}",
                        job = job.name(),
                        error = error.phrase()
                    );
                    self.report(job, Diagnostic::warning(job.failure(), text));
                }
                Ok(SentForm::Unchanged(self.resize_to_limit(job)))
            }
            (Err(error), Some(refusal)) => {
                let code = match error.kind {
                    PortErrorKind::Unsupported => codes::ATTACHMENT_PLACEHOLDER,
                    _ => job.failure(),
                };
                let error = error.phrase();
                self.fall_back(
                    job,
                    code,
                    &phrase!("{refusal}, and no text is available: {error}", refusal, error),
                )
            }
        }
    }

    #[cfg(feature = "images")]
    fn resize_to_limit(&mut self, job: Job<'_>) -> Attachment {
        let max_side = self.policy.map_or(0, |policy| policy.max_side);
        let asset = job.file.loaded.as_ref();
        let (mut asset, mime_type) =
            match asset.and_then(|asset| resize::shrink(asset, job.mime_type(), max_side)) {
                None => return job.file.clone(),
                Some(Ok(resized)) => resized,
                Some(Err(why)) => {
                    let text = phrase!(
                        "{job} is sent unchanged, larger than {limit} pixels: {why}",
                        job = job.name(),
                        limit = max_side,
                        why
                    );
                    let help = phrase!("attach a smaller image, or set `maxImageSide` to 0");
                    self.report(job, Diagnostic::warning(codes::ATTACHMENT_TOO_LARGE, text).with_help(help));
                    return job.file.clone();
                }
            };
        asset.measures = measure(&asset.bytes, mime_type);
        asset.mime_type = Some(mime_type.into());
        self.decide(
            job,
            phrase!(
                "{job} is resized: its longest side is now {limit} pixels",
                job = job.name(),
                limit = max_side
            ),
        );
        Attachment { mime_type: asset.mime_type.clone(), loaded: Some(asset), ..job.file.clone() }
    }

    #[cfg(not(feature = "images"))]
    #[expect(clippy::unused_self, reason = "same signature as with the feature")]
    fn resize_to_limit(&self, job: Job<'_>) -> Attachment {
        job.file.clone()
    }

    fn reason_for_text(&self, job: Job<'_>, refusal: Option<&Phrase>) -> Option<Phrase> {
        let fallback = self.policy.map(|policy| policy.fallback(job.file.kind()));
        if let Some(refusal) = refusal.filter(|_| fallback == Some(Fallback::Text)) {
            return Some(refusal.clone());
        }
        let transcription = self.transcription.as_ref()?;
        if ctx_wire::is_plain_text(job.mime_type()) {
            return Some(phrase!("text files are always sent as text"));
        }
        if transcription.is_always {
            return Some(phrase!("the strategy is `always`"));
        }
        if transcription.force_after > 0 && job.from_end >= transcription.force_after {
            return Some(phrase!("{count} messages follow it", count = job.from_end));
        }
        let is_medium = job.file.kind() != MediaKind::Document;
        let transcriber =
            self.ports.transcriber.filter(|_| is_medium && transcription.prefers_transcripts)?;
        let is_there = matches!(transcriber.cached(job.file), Some(Ok(_)));
        is_there.then(|| phrase!("a transcript is available"))
    }

    async fn words(&self, job: Job<'_>) -> Result<String, PortError> {
        let shown = job.file_label();
        if job.file.kind() != MediaKind::Document {
            let text = self.transcript(job.file).await?;
            return Ok(self.forms.transcript(shown, &check_text(text.as_str())?));
        }
        let ExtractedText { text, left_out } = self.document(job.file).await?;
        let mut text = check_text(&text)?;
        if let Some(left_out) = left_out {
            text = format!("{text}\n[… {left_out}]");
        }
        let language = job.file.name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let language = if language.chars().all(|c| c.is_ascii_alphanumeric()) { language } else { "" };
        let fence = ctx_wire::is_plain_text(job.mime_type()) && job.mime_type() != "text/html";
        Ok(self.forms.document(shown, &text, fence.then_some(language)))
    }

    async fn document(&self, file: &Attachment) -> Result<ExtractedText, PortError> {
        let reader = self.ports.documents;
        let reader = reader.ok_or_else(|| no_port(phrase!("no document reader is configured")))?;
        self.cached_or(reader.cached(file), || reader.extract(file)).await
    }

    async fn transcript(&self, file: &Attachment) -> Result<ctx_types::Text, PortError> {
        let transcriber = self.ports.transcriber;
        let transcriber = transcriber.ok_or_else(|| no_port(phrase!("no transcriber is configured")))?;
        self.cached_or(transcriber.cached(file), || transcriber.transcribe(file)).await
    }

    async fn cached_or<'f, T>(
        &self,
        cached: Option<Result<T, PortError>>,
        load: impl FnOnce() -> PortFuture<'f, Result<T, PortError>>,
    ) -> Result<T, PortError> {
        let limit = self.transcription.as_ref().map_or(LOAD_TIMEOUT, |transcription| transcription.limit);
        match cached {
            Some(answer) => answer,
            None if self.loader.is_preview => Err(not_cached_error()),
            None => within(limit, self.loader.clock, load()).await,
        }
    }

    /// URLs are never fetched here.
    fn resolve_url(&mut self, job: Job<'_>) -> Result<SentForm, ProcessorError> {
        if self.target.takes_address(job.file.kind()) {
            return Ok(SentForm::Reference);
        }
        let why = phrase!("only the URL is known, and this target does not fetch URLs");
        self.fall_back(job, codes::ATTACHMENT_PLACEHOLDER, &why)
    }

    fn fall_back(&mut self, job: Job<'_>, code: Code, why: &Phrase) -> Result<SentForm, ProcessorError> {
        let Some(policy) = self.policy else { return Ok(SentForm::Reference) };
        if policy.fallback(job.file.kind()) == Fallback::Error {
            return Err(ProcessorError::failed(format!(
                "{} of {} cannot be sent: {why}",
                job.name(),
                job.source
            )));
        }
        let text = phrase!("a placeholder replaces {job}: {why}", job = job.name(), why = why.clone());
        self.decide(job, text.clone());
        self.report(job, Diagnostic::warning(code, text));
        Ok(SentForm::Placeholder)
    }

    fn too_many_pixels(&self, file: &Attachment) -> Option<Phrase> {
        let (width, height) = file.loaded.as_ref()?.measures.size?;
        let pixels = u64::from(width.get()) * u64::from(height.get());
        let most = self.policy?.max_pixels;
        let (shown, most_shown) = (thousands(pixels), thousands(most));
        (pixels > most)
            .then(|| phrase!("{pixels} pixels exceed the limit of {most}", pixels = shown, most = most_shown))
    }

    fn report_type(&mut self, job: Job<'_>, said: &str) {
        let text = phrase!(
            "{job} is declared as {said}, but contains {actual}",
            job = job.name(),
            said = excerpt(said),
            actual = job.mime_type()
        );
        let finding = Diagnostic::warning(codes::ATTACHMENT_TYPE, text);
        self.report(job, finding.with_help(phrase!("correct the type; the actual type is sent")));
    }

    fn report(&mut self, job: Job<'_>, mut finding: Diagnostic) {
        finding.message =
            phrase!("{message} (in `{source}`)", message = finding.message, source = job.source.to_string());
        self.found.push(finding);
    }

    fn decide(&mut self, job: Job<'_>, reason: Phrase) {
        self.decisions.push(Decision::new(Outcome::Degraded, job.source.clone(), reason));
    }
}

impl Job<'_> {
    fn name(&self) -> Phrase {
        match self.file.label() {
            "" => phrase!("file {number}", number = self.number),
            label => phrase!("`{name}`", name = excerpt(label)),
        }
    }

    fn file_label(&self) -> FileLabel<'_> {
        FileLabel { name: self.file.label(), number: self.number }
    }

    fn mime_type(&self) -> &str {
        self.file.mime_type.as_deref().unwrap_or_default()
    }

    fn kind_of_text(&self) -> &'static str {
        if self.file.kind() == MediaKind::Document { "its text" } else { "its transcript" }
    }

    fn failure(&self) -> Code {
        match self.file.kind() {
            MediaKind::Document => codes::DOCUMENT_UNREADABLE,
            _ => codes::NOT_TRANSCRIBED,
        }
    }
}

fn has_files(message: &Message) -> bool {
    !message.attachments.is_empty()
}

fn loaded_bytes(messages: &[Message]) -> u64 {
    let files = messages.iter().flat_map(|message| &message.attachments);
    files.filter_map(|file| file.loaded.as_ref()).map(|asset| asset.bytes.len() as u64).sum()
}

fn no_port(detail: Phrase) -> PortError {
    PortError::new(PortErrorKind::Unsupported, detail)
}

/// Blank text is an error: a scanned page or silence.
fn check_text(text: &str) -> Result<String, PortError> {
    if text.trim().is_empty() {
        Err(PortError::new(PortErrorKind::Invalid, phrase!("it contains no text")))
    } else {
        Ok(text.to_owned())
    }
}
