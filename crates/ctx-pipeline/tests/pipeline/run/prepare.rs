use ctx_types::{Phrase, phrase};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ctx_pipeline::internal::{CompileContext, Pipeline, Run};
use ctx_pipeline::{Draft, PreparedData, ProcessorRegistry};
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, Code, Diagnostic, Injection, Placement, Source, SourceKind, Trust, UserProfile};

use crate::run::case::{Host, Step, compile, describe, with_inputs};

#[test]
fn shares_prepared_value_across_runs() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let step = Step::new("step", |cx| {
        let word = cx.prepared.get::<&str>().copied();
        cx.log(Phrase::verbatim(word.unwrap_or("nothing")));
        assert!(cx.prepared.get::<u8>().is_none());
        Ok(())
    });
    let pipeline = compile([step.preparing(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        PreparedData::new("made once")
    })]);
    for _ in 0..3 {
        let mut run = Run::default();
        with_inputs(&Host::default(), |inputs| pollster::block_on(pipeline.run(&mut run, inputs, ..)))
            .unwrap();
        assert_eq!(describe(&run), ["", "step: made once"]);
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn adds_preparation_diagnostics_to_pipeline() {
    const ODD: Code = Code::new(9999, "odd");
    let step = Step::push("s1").preparing(|cx| {
        cx.report(Diagnostic::warning(ODD, phrase!("an odd rule")));
        PreparedData::default()
    });
    let found: Vec<String> = compile([step]).diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["warning[CTX9999]: an odd rule"]);
}

#[test]
fn ends_run_when_preparation_of_core_processor_panicked() {
    let step = Step::push("s1").preparing(|_| panic!("no rules")).core();
    let (_, result) = crate::run::case::run([step], "u1", &Host::default());
    assert_eq!(result.unwrap_err().to_string(), "core processor `s1` failed: panic during preparation");
}

#[test]
fn provides_profile_and_worldbooks_during_preparation() {
    let profile = UserProfile { name: Some("Ada".into()), ..UserProfile::default() };
    let book = |name: &str| LoadedWorldbook {
        id: name.into(),
        name: name.into(),
        book: Arc::default(),
        is_global: false,
    };
    let (books, said) = ([book("moon"), book("sun")], Arc::new(Mutex::new(Vec::new())));
    let heard = said.clone();
    let step = Step::push("s1").preparing(move |cx| {
        let books = cx.worldbooks().iter().map(|book| book.name.to_string());
        let name = cx.profile().and_then(|profile| profile.name.as_deref()).unwrap_or("nobody");
        heard.lock().unwrap().push((name.to_owned(), books.collect::<Vec<_>>()));
        PreparedData::default()
    });
    let mut registry = ProcessorRegistry::default();
    registry.register(Arc::new(step)).unwrap();
    let known = CompileContext { profile: Some(&profile), worldbooks: &books };
    for around in [known, CompileContext { profile: None, worldbooks: &[] }] {
        Pipeline::compile(&registry, &Agent::default(), around, &[]);
    }
    let books = vec!["moon".to_owned(), "sun".to_owned()];
    assert_eq!(*said.lock().unwrap(), [("Ada".to_owned(), books), ("nobody".to_owned(), Vec::new())]);
}

#[test]
fn takes_injections_once() {
    let source = Source::new(SourceKind::Plugin, Trust::Preset);
    let mut draft = Draft::default();
    draft.inject(Injection::plugin("x", Placement::InOrder, source));
    assert_eq!((draft.take_injections().len(), draft.injections().len()), (1, 0));
    assert!(draft.macros().is_none());
    draft.set_macros(draft.clone().macros_mut().clone());
    assert!(draft.macros().is_some());
}
