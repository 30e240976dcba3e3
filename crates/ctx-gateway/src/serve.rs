//! Listener, connections, and shutdown.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use ctx_project::connections::{Connection, Connections};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::gateway::Server;
use crate::routes::router;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 4_096;

/// Maximum number of connections without a request that was allowed to use the gateway.
const MAX_UNAUTHENTICATED: usize = 2_048;

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
    let connections = Connections::new(MAX_CONNECTIONS, MAX_UNAUTHENTICATED);
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            taken = listener.accept() => match (taken, connections.open()) {
                (Ok((stream, _)), Some((connection, closed))) => {
                    let (server, router, left) = (server.clone(), router.clone(), left.clone());
                    tokio::spawn(async move {
                        tokio::select! {
                            () = serve_connection(stream, (server, router), connection, left) => {}
                            () = closed.closed() => {}
                        }
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
async fn idle(server: &Server, connections: &Connections) {
    let metrics = &server.metrics;
    while metrics.open_turns.load(Ordering::Relaxed) > 0 || connections.count() > 0 {
        sleep(PAUSE).await;
    }
}

async fn serve_connection(
    stream: TcpStream,
    (server, router): (Arc<Server>, Router),
    connection: Connection,
    mut left: watch::Receiver<bool>,
) {
    // Chunks are small, and clients should see each at once.
    stream.set_nodelay(true).unwrap_or_default();
    let (router, head_time) = (TowerToHyperService::new(router), server.time.head);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        if !connection.is_authenticated()
            && server.keys.authorize(request.headers(), request.uri().query()).is_ok()
        {
            connection.authenticate();
        }
        router.call(request)
    });
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
