//! Listener, connections, and shutdown.

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

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 4_096;

/// Maximum size of a request head, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Time for canceled turns to complete.
const STOPPING: Duration = Duration::from_secs(5);

/// Pause before the next attempt to accept a connection, and between checks for running turns.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until `end`, then waits for running turns.
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
                // Too many connections here or in the system. Some will end soon.
                _ => sleep(PAUSE).await,
            },
        }
    }
    drop(listener);
    leaving.send_replace(true);
    tracing::info!("no longer accepting connections");
    if timeout(server.time.drain, idle(&server, &connections)).await.is_err() {
        tracing::warn!("stopping running turns");
        server.end.cancel();
        drop(timeout(STOPPING, idle(&server, &connections)).await);
    }
}

/// Waits until no turn runs and all connections are closed.
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
    // Chunks are small, and clients should see each at once.
    stream.set_nodelay(true).unwrap_or_default();
    let service = TowerToHyperService::new(router);
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // A broken connection does not affect others.
        _ = &mut served => return,
        _ = left.wait_for(|left| *left) => served.as_mut().graceful_shutdown(),
    }
    drop(served.await);
}
