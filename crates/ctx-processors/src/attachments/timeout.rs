use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use ctx_types::phrase;
use ctx_types::ports::{Deadline, PortError, PortErrorKind};

/// Returns a `TimedOut` error after `limit`. Without a clock, there is no limit.
pub(crate) async fn within<T>(
    limit: Duration,
    clock: Option<&dyn Deadline>,
    answer: impl Future<Output = Result<T, PortError>>,
) -> Result<T, PortError> {
    let Some(clock) = clock else { return answer.await };
    let deadline = clock.within(limit);
    let mut over = deadline.over();
    let mut answer = pin!(answer);
    poll_fn(|cx| match answer.as_mut().poll(cx) {
        Poll::Ready(answer) => Poll::Ready(answer),
        Poll::Pending => over.as_mut().poll(cx).map(|()| {
            let detail = phrase!("timed out after {seconds} seconds", seconds = limit.as_secs());
            Err(PortError::new(PortErrorKind::TimedOut, detail))
        }),
    })
    .await
}
