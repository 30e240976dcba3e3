//! Processors that a case can register by name (see `fixtures/README.md`).

use ctx_types::phrase;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use ctx_pipeline::{
    Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData,
    ProcessorError,
};
use ctx_tokens::internal::message_cost;
use ctx_types::ports::{Deadline, PortFuture};
use ctx_types::session::LogLine;
use ctx_types::{Agent, Content, Message, Role, Source, SourceKind, Trust};
use serde_json::json;

struct TestProcessor {
    id: &'static str,
    priority: i64,
    act: Act,
}

type Act = fn(&mut PipelineContext<'_>) -> Then;

enum Then {
    End,
    Fail(ProcessorError),
    WaitForEver,
}

const ALL: &[TestProcessor] = &[
    TestProcessor { id: "test:fails", priority: 900, act: fails },
    TestProcessor { id: "test:fails-as-core", priority: 900, act: fails },
    TestProcessor { id: "test:panics", priority: 900, act: panics },
    TestProcessor { id: "test:panics-while-compiling", priority: 900, act: adds },
    TestProcessor { id: "test:hangs", priority: 900, act: hangs },
    TestProcessor { id: "test:loops", priority: 900, act: loops },
    TestProcessor { id: "test:is-slow", priority: 900, act: is_slow },
    TestProcessor { id: "test:cancels", priority: 900, act: cancels },
    TestProcessor { id: "test:inside-group", priority: 900, act: inside_group },
    TestProcessor { id: "test:breaks-group", priority: 900, act: breaks_group },
    TestProcessor { id: "test:adds", priority: 900, act: adds },
    TestProcessor { id: "test:fills", priority: 900, act: fills },
    TestProcessor { id: "test:shortens", priority: 200, act: shortens },
    TestProcessor { id: "test:logs", priority: 900, act: logs },
];

pub(crate) fn named(id: &str) -> Option<Arc<dyn ContextProcessor>> {
    let found = ALL.iter().find(|known| known.id == id)?;
    Some(Arc::new(TestProcessor { ..*found }))
}

#[async_trait]
impl ContextProcessor for TestProcessor {
    fn descriptor(&self) -> Descriptor {
        let words = ConfigField::number("words", "Words to add", 3).between(0.0, 10_000.0);
        Descriptor::new(self.id, self.id, "for tests").with(|descriptor| {
            descriptor.priority = self.priority;
            descriptor.is_core = self.id.ends_with("-as-core");
            descriptor.config_fields = if self.id == "test:adds" { vec![words] } else { Vec::new() };
        })
    }

    fn prepare(&self, _agent: &Agent, _config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        assert!(!self.id.ends_with("-while-compiling"), "out of ideas");
        PreparedData::default()
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        match (self.act)(cx) {
            Then::End => Ok(()),
            Then::Fail(error) => Err(error),
            Then::WaitForEver => std::future::pending().await,
        }
    }
}

fn fails(cx: &mut PipelineContext<'_>) -> Then {
    cx.log(phrase!("began"));
    cx.draft.messages_mut().clear();
    Then::Fail(ProcessorError::failed("no luck"))
}

fn panics(cx: &mut PipelineContext<'_>) -> Then {
    cx.draft.messages_mut().clear();
    assert!(!cx.draft.messages().is_empty(), "out of ideas");
    Then::End
}

fn hangs(cx: &mut PipelineContext<'_>) -> Then {
    cx.draft.messages_mut().clear();
    Then::WaitForEver
}

fn loops(cx: &mut PipelineContext<'_>) -> Then {
    cx.draft.messages_mut().clear();
    loop {
        if let Err(error) = cx.checkpoint() {
            return Then::Fail(error);
        }
    }
}

fn is_slow(cx: &mut PipelineContext<'_>) -> Then {
    cx.draft.messages_mut().push(written("At last."));
    match (0..10).try_for_each(|_| cx.checkpoint()) {
        Ok(()) => Then::End,
        Err(error) => Then::Fail(error),
    }
}

fn cancels(cx: &mut PipelineContext<'_>) -> Then {
    cx.inputs.cancel.cancel();
    Then::End
}

fn inside_group(cx: &mut PipelineContext<'_>) -> Then {
    let result = cx.draft.messages().iter().rposition(|message| message.role == Role::Tool);
    if let Some(at) = result {
        cx.draft.messages_mut().insert(at, written("Between."));
    }
    Then::End
}

fn breaks_group(cx: &mut PipelineContext<'_>) -> Then {
    let result = cx.draft.messages().iter().rposition(|message| message.role == Role::Tool);
    if let Some(at) = result {
        cx.draft.messages_mut().remove(at);
    }
    Then::End
}

fn adds(cx: &mut PipelineContext<'_>) -> Then {
    let words = vec!["more"; cx.config.count("words")].join(" ");
    cx.draft.messages_mut().push(written(&words));
    Then::End
}

/// Adds 10 words more than the budget allows.
fn fills(cx: &mut PipelineContext<'_>) -> Then {
    let whole: i64 = cx.inputs.budget.lines.iter().map(|line| line.tokens).sum();
    let cost = |message| i64::from(message_cost(message, cx.inputs.model, cx.inputs.counter).total());
    let used: i64 = cx.draft.messages().iter().map(cost).sum();
    let words = usize::try_from(whole - used).unwrap_or_default() + 10;
    cx.draft.messages_mut().push(written(&vec!["more"; words].join(" ")));
    Then::End
}

fn shortens(cx: &mut PipelineContext<'_>) -> Then {
    for message in cx.draft.messages_mut() {
        let short = message.text().split(' ').take(2).collect::<Vec<_>>().join(" ");
        message.content = Content::Text(short.into());
    }
    Then::End
}

fn logs(cx: &mut PipelineContext<'_>) -> Then {
    cx.log(phrase!("3 rules applied"));
    cx.log(
        LogLine::warn(phrase!("a rule matched nothing")).with_details(json!({ "rule": "trim", "index": 2 })),
    );
    cx.log(LogLine::error(phrase!("a rule could not be read")).with_details(json!("(")));
    Then::End
}

fn written(text: &str) -> Message {
    Message::new(Role::System, text, Source::new(SourceKind::Plugin, Trust::Preset).with_id("test"))
}

/// A time limit on a clock that advances by a millisecond on each read.
pub(crate) struct Countdown(AtomicU64);

impl Countdown {
    pub(crate) fn new(millis: u64) -> Self {
        Self(AtomicU64::new(millis))
    }
}

impl Deadline for Countdown {
    fn is_over(&self) -> bool {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.is_err()
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::poll_fn(|cx| {
            if self.is_over() {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        let left = self.0.load(Ordering::SeqCst);
        Box::new(Self::new(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).min(left)))
    }
}
