use ctx_types::phrase;
use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use ctx_pipeline::internal::{Pipeline, Run};
use ctx_pipeline::{Cancel, ProcessorError, RunError};
use ctx_types::ports::Stopwatch;

use crate::run::case::{Host, Step, compile, describe, run, with_inputs};

#[track_caller]
fn check_cancelled(steps: Vec<Step>, host: &Host, expected: &[&str]) {
    let (run, result) = run(steps, "u1", host);
    assert!(matches!(result, Err(RunError::Cancelled)), "{result:?}");
    assert_eq!(describe(&run), expected);
}

#[test]
fn wakes_waiting_processor_on_cancellation() {
    let host = Host::default();
    let cancel = host.cancel.clone();
    let waits = Step::new("waits", move |cx| {
        cx.draft.messages_mut().clear();
        cx.log(phrase!("before"));
        cancel.cancel();
        Ok(())
    });
    check_cancelled(
        vec![Step::push("s1"), waits.hanging(), Step::push("s2")],
        &host,
        &["u1 s1", "waits: before"],
    );
}

#[test]
fn wakes_processor_on_cancellation_from_another_thread() {
    let host = Host::default();
    let cancel = host.cancel.clone();
    let waits = Step::new("waits", move |_| {
        let cancel = cancel.clone();
        drop(std::thread::spawn(move || cancel.cancel()));
        Ok(())
    });
    check_cancelled(vec![waits.hanging()], &host, &["u1"]);
}

#[test]
fn reports_cancellation_instead_of_failure() {
    let host = Host::default();
    let cancel = host.cancel.clone();
    let fails = Step::new("fails", move |_| {
        cancel.cancel();
        Err(ProcessorError::failed("the port was closed"))
    });
    check_cancelled(vec![fails.core()], &host, &["u1"]);
}

#[test]
fn allows_moving_runs_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    fn is_shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let pipeline: Pipeline = is_shared(compile([Step::push("s1")]));
    let mut run = Run::default();
    with_inputs(&Host::default(), |inputs| {
        let future = is_send(pipeline.run(&mut run, inputs, ..));
        pollster::block_on(future).unwrap();
    });
    assert_eq!(run.draft.messages().len(), 1);
}

#[test]
fn measures_time_of_each_processor() {
    /// Advances by a second on each read.
    struct Ticks(AtomicU64);

    impl Stopwatch for Ticks {
        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.0.fetch_add(1, Ordering::SeqCst))
        }
    }
    let host = Host { stopwatch: Some(Box::new(Ticks(AtomicU64::new(0)))), ..Host::default() };
    let (run, _) = run([Step::push("s1"), Step::push("s2")], "u1", &host);
    let second = Duration::from_secs(1);
    assert_eq!(run.timings, [("s1".into(), second), ("s2".into(), second)]);
}

#[derive(Default)]
struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn wakes_each_waiter_once_and_removes_it() {
    let (woken, cancel) = (Arc::new(WakeCounter::default()), Cancel::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    {
        let mut given_up = pin!(cancel.cancelled());
        assert!(given_up.as_mut().poll(&mut cx).is_pending());
        assert!(given_up.as_mut().poll(&mut cx).is_pending());
        assert_eq!(Arc::strong_count(&woken), 3, "the handle keeps one waker per waiter");
    }
    assert_eq!(Arc::strong_count(&woken), 2);
    let mut waiting = pin!(cancel.cancelled());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    cancel.cancel();
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(waiting.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn does_not_start_cancelled_run() {
    let host = Host::default();
    host.cancel.cancel();
    check_cancelled(vec![Step::push("s1")], &host, &["u1"]);
}

#[test]
fn cancels_loop_at_checkpoint() {
    let host = Host::default();
    let cancel = host.cancel.clone();
    let busy = Step::new("busy", move |cx| {
        cancel.cancel();
        loop {
            cx.checkpoint()?;
        }
    });
    check_cancelled(vec![busy], &host, &["u1"]);
}
