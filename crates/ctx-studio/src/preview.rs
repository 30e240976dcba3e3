//! Previews: contexts of drafts, made by the same code as `ctx assemble`, and kept for what is asked about them.

mod compare;
mod conversations;
pub(crate) mod difference;
mod figures;
mod lists;
mod names;
mod pipeline;
mod rows;
mod scan;
mod texts;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ctx_engine::{AssembleError, Context, Engine, Switches};
use ctx_language::Language;
use ctx_project::inputs::InputFile;
use ctx_project::turn::{ReadSession, TurnFiles};
use ctx_project::{ConfigOptions, Sources, Turn, TurnOptions};
use ctx_types::phrase;

pub(crate) use compare::compared;
pub(crate) use conversations::Conversations;
use lists::Lists;
use names::Names;
pub(crate) use pipeline::pipeline;
pub(crate) use rows::{joined_name, kind, name};
pub(crate) use scan::scan;
pub(crate) use texts::{body, life, pieces, rows};

use crate::access::{lock, random};
use crate::api::Finding;
use crate::api_preview::{Preview, PreviewRequest, Row, TurnSettings, UsageView};
use crate::call::Refusal;
use crate::codes;
use crate::server::Server;

/// How many windows have previews.
const MAX_WINDOWS: usize = 32;

/// How many previews of a window are kept, beside those that are pinned.
const MAX_KEPT: usize = 8;

/// How many of a window are pinned.
const MAX_PINNED: usize = 4;

/// How many findings are told.
const MAX_FINDINGS: usize = 500;

/// The previews of all windows.
#[derive(Debug, Default)]
pub(crate) struct Previews(Mutex<BTreeMap<String, Arc<Window>>>);

/// The previews of one window.
#[derive(Debug)]
struct Window {
    /// The number of the latest request.
    latest: AtomicU64,
    /// Held by the one that is made.
    running: Mutex<()>,
    kept: Mutex<VecDeque<Arc<KeptPreview>>>,
    used: Mutex<Instant>,
}

/// A preview, about which more can be asked.
#[derive(Debug)]
pub(crate) struct KeptPreview {
    id: String,
    is_pinned: bool,
    turn: Mutex<Turn>,
    context: Option<Context>,
    lists: Lists,
    pointers: BTreeMap<usize, String>,
}

/// A row, and what it shows.
#[derive(Debug)]
struct KeptRow {
    row: Row,
    shows: Shown,
}

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// The message with this number.
    Message(usize),
    /// What the decision at this place of the report left out.
    LeftOut(usize),
}

impl Previews {
    fn window(&self, name: &str) -> Arc<Window> {
        let mut windows = lock(&self.0);
        if !windows.contains_key(name) && windows.len() >= MAX_WINDOWS {
            let idle =
                windows.iter().min_by_key(|(_, window)| *lock(&window.used)).map(|(name, _)| name.clone());
            idle.map(|name| windows.remove(&name));
        }
        let window = windows.entry(name.to_owned()).or_insert_with(|| Arc::new(Window::new())).clone();
        *lock(&window.used) = Instant::now();
        window
    }

    /// Returns a preview that is kept.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<KeptPreview>, Refusal> {
        let windows = lock(&self.0);
        let find = |window: &Arc<Window>| lock(&window.kept).iter().find(|kept| kept.id == id).cloned();
        windows
            .values()
            .find_map(find)
            .ok_or_else(|| Refusal::not_found(phrase!("no such preview; request a new one")))
    }
}

impl Window {
    fn new() -> Self {
        Self {
            latest: AtomicU64::new(0),
            running: Mutex::new(()),
            kept: Mutex::default(),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Numbers a request that a newer one replaces. One that is pinned has no number: it is not replaced, nor does it
    /// replace what the window shows.
    fn begin(&self, is_pinned: bool) -> Option<u64> {
        (!is_pinned).then(|| self.latest.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn is_replaced(&self, number: Option<u64>) -> bool {
        number.is_some_and(|number| self.latest.load(Ordering::SeqCst) != number)
    }

    fn keep(&self, preview: Arc<KeptPreview>) {
        let mut kept = lock(&self.kept);
        kept.push_back(preview);
        for (is_pinned, limit) in [(true, MAX_PINNED), (false, MAX_KEPT)] {
            let own = kept.iter().filter(|kept| kept.is_pinned == is_pinned).count();
            if own > limit
                && let Some(at) = kept.iter().position(|kept| kept.is_pinned == is_pinned)
            {
                kept.remove(at);
            }
        }
    }
}

/// Makes the context of a turn, unless a newer one is asked for.
pub(crate) fn preview(
    server: &Server,
    asked: &PreviewRequest,
    language: Language,
) -> Result<Preview, Refusal> {
    if asked.window.is_empty() || asked.window.len() > 100 {
        return Err(Refusal::malformed(phrase!("a window name must have 1 to 100 characters")));
    }
    let window = server.previews.window(&asked.window);
    let number = window.begin(asked.pin);
    let refuse_older = || {
        if window.is_replaced(number) {
            Err(Refusal::new(409, codes::OLDER_PREVIEW, phrase!("a newer preview replaced this preview")))
        } else {
            Ok(())
        }
    };
    let _running = lock(&window.running);
    refuse_older()?;
    let mut sources = Sources::default();
    let turn = match asked.import.as_deref() {
        Some(id) => imported(server, asked, id, &mut sources)?,
        None => opened((server, server.engine.clone()), asked, &mut sources)?,
    };
    let assembled = turn.assemble(false);
    refuse_older()?;
    let id = random::<9>()
        .map_err(|_| Refusal::new(503, codes::BUSY, phrase!("cannot get random bytes from the system")))?;
    let (context, infeasible) = match assembled {
        Ok(context) => (Some(context), None),
        Err(AssembleError::Infeasible(error)) => (None, Some(figures::infeasible(language, &error))),
        Err(AssembleError::Budget(error)) => (None, Some(figures::no_budget(language, &error))),
        Err(error) => return Err(error.into()),
    };
    let said = |found: &[ctx_types::Diagnostic]| said(server, language, &sources, found);
    let (mut lists, mut usage) = (Lists::default(), UsageView::default());
    let (mut stable, mut prefix) = (None, None);
    let mut pointers = BTreeMap::new();
    match &context {
        None => lists.findings = said(&turn.settings().1),
        Some(context) => {
            // The entries of an import are in no file yet.
            if asked.import.is_none() {
                pointers = rows::pointers(&turn, context);
            }
            let names = Names { language, turn: &turn };
            let shares = context.token_shares();
            lists.rows = rows::list(names, &turn, context, &pointers);
            lists.decisions = figures::decisions(names, context, &lists.rows);
            lists.stages = figures::stages(names, server, context);
            lists.findings = said(&context.report.diagnostics);
            lists.entry_tokens = figures::entries(context, &shares, &pointers);
            usage = figures::usage(context, &shares);
            stable = figures::stable(names, context);
            prefix = figures::prefix(names, context);
        }
    }
    let before = asked.have.as_deref().and_then(|id| server.previews.get(id).ok());
    let known = before.as_ref().map(|before| &before.lists);
    let answer = Preview {
        id: id.clone(),
        since: before.as_ref().map(|before| before.id.clone()),
        usage,
        stable,
        prefix,
        decisions: lists::since(known.map(|known| known.decisions.as_slice()), &lists.decisions),
        stages: lists::since(known.map(|known| known.stages.as_slice()), &lists.stages),
        findings: lists::since(known.map(|known| known.findings.as_slice()), &lists.findings),
        rows: lists.rows_since(known),
        entry_tokens: lists.tokens_since(known),
        infeasible,
    };
    let turn = Mutex::new(turn);
    window.keep(Arc::new(KeptPreview { id, is_pinned: asked.pin, turn, context, lists, pointers }));
    Ok(answer)
}

/// Reads the files that an import would write, and compiles their agent.
fn imported(
    server: &Server,
    asked: &PreviewRequest,
    id: &str,
    sources: &mut Sources,
) -> Result<Turn, Refusal> {
    let files = server.imports.get(id)?.files(&server.engine, &server.desk.folder)?;
    let mut config = server.config(sources)?.without("agent").without("session");
    let mut options = options(&asked.turn)?;
    options.switches = Switches { enable: asked.enable.clone(), disable: asked.disable.clone() };
    options.agent = Some(files.agent);
    options.session = files.conversation;
    options.profile = match (files.profile, asked.profile.as_deref()) {
        (Some(profile), _) => Some(profile),
        (None, Some(id)) if !id.is_empty() => Some(full(server, id)?),
        (None, Some(_)) => {
            config = config.without("profile");
            None
        }
        (None, None) => None,
    };
    for (path, bytes) in files.written {
        sources.put_draft(path, bytes);
    }
    let name = |files: &mut TurnFiles| {
        files.texts = Some(server.texts.clone());
        for file in [&mut files.agent, &mut files.session, &mut files.profile].into_iter().flatten() {
            *file = named_below(server, file.clone());
        }
    };
    Ok(Turn::open_on(server.engine.clone(), &options, config, name, sources)?.0)
}

/// Reads the files of a turn as they are edited, and compiles its agent.
fn opened(
    (server, engine): (&Server, Engine),
    asked: &PreviewRequest,
    sources: &mut Sources,
) -> Result<Turn, Refusal> {
    let mut options = options(&asked.turn)?;
    options.worldbooks = asked.worldbooks.iter().map(|id| full(server, id)).collect::<Result<_, _>>()?;
    let settings = asked.model_settings.as_deref().filter(|id| !id.is_empty());
    options.model_settings = settings.map(|id| full(server, id)).transpose()?;
    options.switches = Switches { enable: asked.enable.clone(), disable: asked.disable.clone() };
    let named = Named {
        agent: asked.agent.as_deref(),
        conversation: asked.conversation.as_deref(),
        profile: asked.profile.as_deref(),
        is_saved: asked.saved,
    };
    open_turn((server, engine), options, named, sources)
}

/// The files of a turn by their ids: an empty id means none, and without an id that of `ctx.toml` is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) conversation: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
    /// Whether files count and not their drafts.
    pub(crate) is_saved: bool,
}

/// Opens a turn of files of the folder.
pub(crate) fn open_turn(
    (server, engine): (&Server, Engine),
    mut options: TurnOptions,
    named: Named<'_>,
    sources: &mut Sources,
) -> Result<Turn, Refusal> {
    let mut drafts = BTreeSet::new();
    if !named.is_saved {
        for overlay in server.desk.overlays() {
            drafts.insert(overlay.path.clone());
            sources.put_draft(overlay.path, overlay.bytes);
        }
    }
    let mut config = server.config(sources)?;
    let mut file = |key: &str, id: Option<&str>| match id {
        None => Ok(None),
        Some("") => {
            config = std::mem::take(&mut config).without(key);
            Ok(None)
        }
        Some(id) => full(server, id).map(Some),
    };
    options.agent = file("agent", named.agent)?;
    let stored = named.conversation.filter(|id| server.stored.name(id).is_some());
    options.session = match stored {
        // Its files are those of the folder.
        Some(_) => Some(server.desk.folder.full("conversation")),
        None => file("session", named.conversation)?,
    };
    options.profile = file("profile", named.profile)?;
    // Read before the turn is, which takes what was read.
    let session = options.session.as_ref().map(InputFile::from).map(|file| named_below(server, file));
    let read = if let Some(id) = stored {
        let known = server.talks.read(server, id)?.file;
        Some(ReadSession { session: known.session.clone(), found: known.found.clone() })
    } else {
        let changed = |hash: &str| server.talks.known(named.conversation?, hash);
        session
            .and_then(|file| server.conversations.read(&file, drafts.contains(&file.path), sources, changed))
    };
    let name = |files: &mut TurnFiles| {
        files.read_session = read;
        files.texts = Some(server.texts.clone());
        let named = [&mut files.agent, &mut files.session, &mut files.profile, &mut files.models];
        let named = named.into_iter().chain([&mut files.model_settings]);
        for file in named.flatten().chain(&mut files.worldbooks) {
            *file = named_below(server, file.clone());
        }
        let agent = files.agent.as_ref().filter(|file| drafts.contains(&file.path));
        files.read_agent = agent.and_then(|file| server.desk.agent(file, &engine));
    };
    Ok(Turn::open_on(engine.clone(), &options, config, name, sources)?.0)
}

/// Names a file as it is seen from the folder.
fn named_below(server: &Server, mut file: InputFile) -> InputFile {
    if let Some(below) = server.below_name(&file.name) {
        file.name = below;
    }
    file
}

/// Returns the full path of a file of the listing.
pub(crate) fn full(server: &Server, id: &str) -> Result<PathBuf, Refusal> {
    Ok(server.desk.folder.full(&server.desk.path(id)?))
}

/// Makes options of what the page says about the moment.
pub(crate) fn options(turn: &TurnSettings) -> Result<TurnOptions, Refusal> {
    let kind = turn.generation().ok_or_else(|| {
        let kind = turn.kind.clone().unwrap_or_default();
        Refusal::malformed(phrase!("unknown generation kind `{kind}`", kind))
    })?;
    let prefix = turn
        .prefix_mode()
        .map_err(|prefix| Refusal::malformed(phrase!("unknown prefix mode `{prefix}`", prefix)))?;
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Ok(TurnOptions {
        input: given(&turn.input),
        at: given(&turn.at),
        tz: given(&turn.tz),
        seed: turn.seed.unwrap_or_default(),
        model: given(&turn.model),
        context_tokens: turn.context_tokens,
        reserve: turn.reserve,
        kind,
        prefix,
        config: ConfigOptions::default(),
        ..TurnOptions::default()
    })
}

/// Says findings, with their places in the texts that were read.
pub(crate) fn said(
    server: &Server,
    language: Language,
    sources: &Sources,
    found: &[ctx_types::Diagnostic],
) -> Vec<Finding> {
    let found: Vec<&ctx_types::Diagnostic> = found.iter().take(MAX_FINDINGS).collect();
    let marks = sources.marks(&found);
    let findings = found.iter().zip(&marks).enumerate().map(|(index, (found, mark))| {
        let position = mark.as_ref().map(|mark| (mark.line, mark.column));
        let mut finding = Finding::of(language, found, index).at(mark.as_ref(), position);
        // A preview fixes and marks nothing; the file itself does. What is typed before it would move each span.
        (finding.fixable, finding.span) = (false, None);
        finding
    });
    server.below(findings.collect())
}

impl KeptPreview {
    /// Returns the context, which is not there where nothing fits the budget.
    fn context(&self) -> Result<&Context, Refusal> {
        self.context.as_ref().ok_or_else(|| Refusal::unusable(phrase!("no context fits the budget")))
    }

    fn row(&self, number: usize) -> Result<&KeptRow, Refusal> {
        self.lists.rows.get(number).ok_or_else(|| Refusal::not_found(phrase!("no such row")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_request_replaces_the_older_one_and_a_pinned_one_none() {
        let window = Window::new();
        let (shown, pinned) = (window.begin(false), window.begin(true));
        assert!(!window.is_replaced(shown) && !window.is_replaced(pinned));
        let newer = window.begin(false);
        assert!(window.is_replaced(shown) && !window.is_replaced(pinned) && !window.is_replaced(newer));
    }
}
