//! The listener, the connections, and their end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::gateway::Server;
use crate::routes::router;

/// How many connections there are at once.
const MAX_CONNECTIONS: usize = 4_096;

/// How large the head of a request may be.
const MAX_HEAD: usize = 64 << 10;

/// How long turns may take once they were stopped.
const STOPPING: Duration = Duration::from_secs(5);

/// How long is waited where no connection can be taken, and between looks at what is still under way.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections until the end; then waits for the turns that are under way.
pub(crate) async fn serve(server: Arc<Server>, listener: TcpListener, end: impl Future<Output = ()> + Send) {
    let router = router(server.clone());
    let (leaving, left) = watch::channel(false);
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            taken = listener.accept() => match (taken, connections.clone().try_acquire_owned()) {
                (Ok((stream, _)), Ok(permit)) => {
                    let connection = connection(stream, router.clone(), (server.time.head, left.clone()));
                    tokio::spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                // Too many connections, here or in the system: those that are there end sooner or later.
                _ => sleep(PAUSE).await,
            },
        }
    }
    drop(listener);
    leaving.send_replace(true);
    tracing::info!("no connection is taken any more");
    if timeout(server.time.drain, idle(&server, &connections)).await.is_err() {
        tracing::warn!("turns that are under way are stopped");
        server.end.cancel();
        drop(timeout(STOPPING, idle(&server, &connections)).await);
    }
}

/// Waits until no turn is under way and every connection is closed.
async fn idle(server: &Server, connections: &Semaphore) {
    let figures = &server.figures;
    while figures.open_turns.load(Ordering::Relaxed) > 0
        || figures.open_marks.load(Ordering::Relaxed) > 0
        || connections.available_permits() < MAX_CONNECTIONS
    {
        sleep(PAUSE).await;
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    (head_time, mut left): (Duration, watch::Receiver<bool>),
) {
    // Pieces are small, and each is to be seen at once.
    stream.set_nodelay(true).unwrap_or_default();
    let service = TowerToHyperService::new(router);
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // A connection that breaks concerns nobody else.
        _ = &mut served => return,
        _ = left.wait_for(|left| *left) => served.as_mut().graceful_shutdown(),
    }
    drop(served.await);
}
