//! Runs the cases of `fixtures/`: one test per folder, compared with its `expected.snap` (see
//! `fixtures/README.md`). A folder with several cases has one section per case.
//!
//! Every case also checks equal assemblies, lossless files, and segments that cover each text.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic fails the test")]

#[path = "../../../xtask/suite/src/attached.rs"]
mod attached;
#[path = "../../../xtask/suite/src/case_files.rs"]
mod case_files;
#[path = "../../../xtask/suite/src/cases.rs"]
mod cases;
mod test_processors;

use std::fmt::{Debug, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use attached::Attached;
use case_files::{CaseFiles, changed_cases, read_cases};
use cases::{Case, folders, is_assembly};
use ctx_engine::{
    CompiledAgent, Context, Engine, Format, ImportError, Imported, Ports, Request, read_agent,
    read_conversation, read_profile, read_worldbook,
};
use ctx_preset_import::{Document, Syntax, migrate};
use ctx_types::internal::is_partition;
use ctx_types::ports::Deadline;
use ctx_types::report::Outcome;
use ctx_types::session::Session;
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{Agent, Diagnostic, Persist, Reader, Text, TurnInput, UserProfile};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use test_processors::Countdown;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let root = root.canonicalize().unwrap();
    let mut trials = Vec::new();
    for area in folders(&root).into_iter().filter(|area| is_assembly(area)) {
        for case in folders(&area) {
            let name = case.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
            trials.push(Trial::test(name, move || check(&case)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn engine(case: &Case) -> Engine {
    let mut engine = Engine::new();
    for id in &case.processors {
        let processor = test_processors::named(id);
        engine.register(processor.expect("a case names processors for tests")).unwrap();
    }
    engine
}

fn check(folder: &Path) -> Result<(), Failed> {
    let mut sections = Vec::new();
    for files in read_cases(folder) {
        let result = catch_unwind(AssertUnwindSafe(|| run(&files)));
        let result = result.map_err(|_| format!("`{}` breaks a promise", files.name))?;
        sections.push(files.section(&result));
    }
    let shown: String = sections.iter().map(|section| section.text.as_str()).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let compare = || settings.bind(|| insta::assert_snapshot!("expected", shown));
    catch_unwind(AssertUnwindSafe(compare)).map_err(|_| {
        let names = changed_cases(folder, &sections);
        Failed::from(format!("the result of {names} differs; `INSTA_UPDATE=always` writes it again"))
    })
}

fn run(files: &CaseFiles) -> String {
    let case = Case::of(files);
    let engine = engine(&case);
    let mut inputs = Inputs { shown: String::new(), case: &case, files, is_readable: true };
    let agent: Option<Agent> = inputs.read("agent", Format::Agent, |bytes, name| {
        let agent = read_agent(bytes, name)?;
        assert_eq!(
            migrate(&mut agent.value.clone(), &engine.anchors),
            [],
            "a second migration changes nothing"
        );
        Ok(agent)
    });
    let session: Option<Session> = inputs.read("session", Format::Session, read_conversation);
    let profile: Option<UserProfile> = inputs.read("profile", Format::Profile, read_profile);
    let worldbooks = worldbooks(&mut inputs);
    let Inputs { mut shown, is_readable, .. } = inputs;
    if is_readable {
        let compiled = engine.compile(&agent.unwrap_or_default(), &case.compile(profile, worldbooks));
        let mut session = session.unwrap_or_else(|| Session::new("session"));
        for turn in 1..case.turns.unwrap_or(1) {
            case.take_turn(&mut session, &compiled, turn);
        }
        show_settings(&mut shown, &compiled, &case.settings);
        let mut turn = case.turn();
        if case.expand_input {
            turn.input = Some(show_input(&mut shown, &compiled, &session, &turn));
        }
        let attached = Attached::of(&files.folder);
        let assemble = |turn: &TurnInput| {
            let deadline = case.deadline.map(Countdown::new);
            let deadline = deadline.as_ref().map(|deadline| deadline as &dyn Deadline);
            let attachments = attached.ports();
            let ports = Ports::default().with(|ports| {
                ports.deadline = deadline;
                ports.attachments = attachments;
            });
            pollster::block_on(compiled.assemble_with(&session, turn, ports))
        };
        match assemble(&turn) {
            Err(error) => {
                list(&mut shown, "diagnostics", compiled.diagnostics());
                writeln!(shown, "=== no context\n{error}").unwrap();
            }
            Ok(context) => {
                assert_eq!(context, assemble(&turn).unwrap(), "two assemblies are equal");
                let preview = assemble(&turn.clone().with(|turn| turn.preview = true)).unwrap();
                assert_eq!(context.messages, preview.messages, "a preview gives the same messages");
                show_context(&mut shown, &context, &case);
                for name in &case.bodies {
                    let turn = turn.clone().with(|turn| turn.dialect = Some(name.as_str().into()));
                    let own = assemble(&turn).unwrap();
                    show_body(&mut shown, &own, &case);
                    if attached.is_any() {
                        show_degraded(&mut shown, &own);
                    } else {
                        assert_eq!(own, context, "the dialect affects only files");
                    }
                }
            }
        }
    }
    shown
}

fn show_input(shown: &mut String, compiled: &CompiledAgent, session: &Session, turn: &TurnInput) -> Text {
    let prepared = compiled.prepare_input(session, turn);
    assert_eq!(
        prepared,
        compiled.prepare_input(session, turn),
        "an input expands to the same text each time"
    );
    assert!(prepared.written.is_empty() || is_partition(&prepared.written, prepared.text.len()));
    let node = prepared.to_node("new").write();
    writeln!(
        shown,
        "=== prepared input\n{:#}",
        serde_json::json!({ "content": node["content"], "metadata": node["metadata"] })
    )
    .unwrap();
    if !prepared.diagnostics.is_empty() {
        list(shown, "findings of the input", &prepared.diagnostics);
    }
    prepared.text
}

/// Reads `worldbook` and other worldbooks with that prefix.
fn worldbooks(inputs: &mut Inputs<'_>) -> Vec<LoadedWorldbook> {
    let stems = inputs.files.worldbook_stems();
    let read = |stem: String| {
        let book: Worldbook = inputs.read(&stem, Format::Worldbook, read_worldbook)?;
        Some(inputs.case.worldbook(&stem, book))
    };
    stems.into_iter().filter_map(read).collect()
}

fn show_settings(shown: &mut String, compiled: &CompiledAgent, ids: &[String]) {
    for setting in
        compiled.pipeline().settings().iter().filter(|setting| ids.iter().any(|id| **id == *setting.id))
    {
        let (enabled, priority) = (&setting.enabled, &setting.priority);
        let deciding: Vec<&str> =
            setting.decided_by.iter().chain(&setting.overrules).map(|origin| origin.as_str()).collect();
        match deciding.as_slice() {
            [] | [_] => writeln!(shown, "=== settings of {}", setting.id).unwrap(),
            _ => writeln!(shown, "=== settings of {}: {}", setting.id, deciding.join(" over ")).unwrap(),
        }
        writeln!(shown, "enabled {} ({})", enabled.value, enabled.origin).unwrap();
        writeln!(shown, "priority {} ({})", priority.value, priority.origin).unwrap();
        for value in setting.config.values() {
            writeln!(shown, "{} {} ({})", value.key, value.setting.value, value.setting.origin).unwrap();
        }
    }
}

fn show_context(shown: &mut String, context: &Context, case: &Case) {
    for message in &context.messages {
        let len = message.content.len();
        assert!(is_partition(&message.segments(), len), "segments cover the text: {message:#?}");
    }
    let shares = context.token_shares().into_iter();
    let shares = shares.map(|shares| shares.iter().map(|share| share.tokens).sum::<u32>());
    assert!(shares.eq(context.tokens()), "the shares of segments add up to the tokens of the message");
    let total: u64 = context.tokens().into_iter().map(u64::from).sum();
    let available = context.report.usage.as_ref().and_then(|usage| usage.available);
    assert!(available.is_none_or(|available| total <= u64::from(available)), "the messages fit the budget");
    shown.push_str(&context.to_snapshot());
    if case.stages {
        writeln!(shown, "=== stages").unwrap();
        for stage in &context.report.stages {
            let (before, after) = (stage.messages_before, stage.messages_after);
            let (added, removed, changed) = (stage.added, stage.removed, stage.changed);
            writeln!(shown, "{}: {before} -> {after}, +{added} -{removed} ~{changed}", stage.id).unwrap();
            stage.log.iter().for_each(|line| writeln!(shown, "  {line}").unwrap());
        }
    }
    if case.effects {
        writeln!(shown, "=== effects\n{:#}", serde_json::json!(context.effects)).unwrap();
    }
    if case.openai {
        let request = Request { model: "model", tools: &[], parameters: &serde_json::Map::new() };
        let encoded = context.encode(&request);
        writeln!(shown, "=== openai\n{:#}", encoded.to_value()).unwrap();
        if !encoded.diagnostics.is_empty() {
            list(shown, "openai diagnostics", &encoded.diagnostics);
        }
    }
}

/// Shows a request body. The linter must find no problem that the encoder did not report.
fn show_body(shown: &mut String, context: &Context, case: &Case) {
    let name = context.dialect();
    let model = case.model.as_deref().unwrap_or("model");
    let request = Request { model, tools: &case.tools, parameters: &case.parameters };
    let encoded = context.encode(&request);
    assert_eq!(encoded, context.encode(&request), "two bodies are equal");
    let bytes = encoded.to_bytes();
    let body = encoded.to_value();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), body, "the bytes are the body");
    writeln!(shown, "=== body {name}\n{body:#}").unwrap();
    if !encoded.diagnostics.is_empty() {
        list(shown, &format!("findings of {name}"), &encoded.diagnostics);
    }
}

fn show_degraded(shown: &mut String, context: &Context) {
    let name = context.dialect();
    let degraded = context.report.decisions.iter().filter(|decision| decision.outcome == Outcome::Degraded);
    writeln!(shown, "=== degraded for {name}").unwrap();
    degraded.for_each(|decision| writeln!(shown, "{decision}").unwrap());
}

struct Inputs<'a> {
    shown: String,
    case: &'a Case,
    files: &'a CaseFiles,
    is_readable: bool,
}

impl Inputs<'_> {
    fn read<T: Persist + PartialEq + Debug>(
        &mut self,
        stem: &str,
        own: Format,
        read: impl Fn(&[u8], &str) -> Result<Imported<T>, ImportError>,
    ) -> Option<T> {
        let file = self.files.input(stem)?;
        match read(&file.bytes, &file.name) {
            Ok(imported) => {
                let saved = imported.value.write();
                let again = T::read(saved.clone(), &mut Reader::new());
                assert_eq!(again, imported.value, "a saved {stem} is read back unchanged");
                list(&mut self.shown, &format!("{stem}: {}", imported.format), &imported.diagnostics);
                if self.case.saved.iter().any(|saved| saved == stem) {
                    let given = Document::read(&file.bytes, &file.name).ok();
                    let given = given.filter(|given| given.syntax == Syntax::Json && imported.format == own);
                    self.show_saved(stem, &saved, given.map(|given| given.value));
                }
                Some(imported.value)
            }
            Err(error) => {
                self.is_readable = false;
                list(&mut self.shown, &format!("{stem} is unreadable"), &[error.to_diagnostic()]);
                None
            }
        }
    }

    /// Shows the saved form, unless it equals a JSON file of our format including key order.
    fn show_saved(&mut self, stem: &str, saved: &Value, given: Option<Value>) {
        let shown = format!("{saved:#}");
        if given.is_some_and(|given| format!("{given:#}") == shown) {
            writeln!(self.shown, "=== saved {stem}: as it was given").unwrap();
        } else {
            writeln!(self.shown, "=== saved {stem}\n{shown}").unwrap();
        }
    }
}

fn list(shown: &mut String, title: &str, diagnostics: &[Diagnostic]) {
    writeln!(shown, "=== {title}").unwrap();
    for diagnostic in diagnostics {
        writeln!(shown, "{diagnostic}").unwrap();
        if let Some(help) = &diagnostic.help {
            writeln!(shown, "  help: {help}").unwrap();
        }
    }
}
