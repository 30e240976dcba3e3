//! Open connections of a server. Some are reserved for authenticated clients.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The open connections of a server.
#[derive(Debug)]
pub struct Connections {
    max: usize,
    max_unauthenticated: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next_id: u64,
    count: usize,
    /// Oldest first. Dropping a sender closes its connection.
    unauthenticated: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// An open connection. Dropping it frees its place.
#[derive(Debug)]
pub struct Connection {
    id: u64,
    is_authenticated: AtomicBool,
    connections: Arc<Connections>,
}

/// Tells when an unauthenticated connection must be closed.
#[derive(Debug)]
pub struct CloseSignal(oneshot::Receiver<()>);

impl Connections {
    /// Creates limits for all connections, and for those that are not authenticated.
    pub fn new(max: usize, max_unauthenticated: usize) -> Arc<Self> {
        Arc::new(Self { max, max_unauthenticated, open: Mutex::default() })
    }

    /// Returns the number of open connections.
    pub fn count(&self) -> usize {
        self.lock().count
    }

    /// Adds a connection; returns `None` if there are too many. If too many are unauthenticated, closes the oldest of
    /// these.
    pub fn open(self: &Arc<Self>) -> Option<(Connection, CloseSignal)> {
        let mut open = self.lock();
        if open.count == self.max {
            return None;
        }
        if open.unauthenticated.len() == self.max_unauthenticated {
            open.unauthenticated.pop_front();
        }
        let (close, closed) = oneshot::channel();
        open.count += 1;
        open.next_id += 1;
        let id = open.next_id;
        open.unauthenticated.push_back((id, close));
        let connection =
            Connection { id, is_authenticated: AtomicBool::new(false), connections: self.clone() };
        Some((connection, CloseSignal(closed)))
    }

    /// Removes a connection from the unauthenticated connections.
    fn remove(&self, id: u64) -> Option<oneshot::Sender<()>> {
        let mut open = self.lock();
        let index = open.unauthenticated.iter().position(|(known, _)| *known == id)?;
        open.unauthenticated.remove(index).map(|(_, close)| close)
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Returns whether the connection is authenticated.
    pub fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }

    /// Marks the connection as authenticated. New connections no longer close it.
    pub fn authenticate(&self) {
        if self.is_authenticated.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(close) = self.connections.remove(self.id) {
            // If there is no receiver, the connection has already ended.
            close.send(()).unwrap_or_default();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.connections.remove(self.id));
        self.connections.lock().count -= 1;
    }
}

impl CloseSignal {
    /// Completes when the connection must be closed. Never completes for an authenticated connection.
    pub async fn closed(self) {
        if self.0.await.is_ok() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 16;
    const MAX_UNAUTHENTICATED: usize = 4;

    #[test]
    fn closes_oldest_unauthenticated_connection() {
        let connections = Connections::new(MAX, MAX_UNAUTHENTICATED);
        let open = || connections.open().unwrap();
        let (authenticated, mut kept) = open();
        authenticated.authenticate();
        let mut slow: Vec<_> = (0..=MAX_UNAUTHENTICATED).map(|_| open()).collect();
        assert_eq!(kept.0.try_recv(), Ok(()));
        assert_eq!(slow[0].1.0.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(slow[1].1.0.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(slow);
        let counts = || {
            let open = connections.lock();
            (open.count, open.unauthenticated.len())
        };
        assert_eq!(counts(), (1, 0));
        drop(authenticated);
        assert_eq!(counts(), (0, 0));
    }

    #[test]
    fn limits_authenticated_connections_too() {
        let connections = Connections::new(MAX, MAX_UNAUTHENTICATED);
        let open = || connections.open().inspect(|(connection, _)| connection.authenticate());
        let all: Vec<_> = (0..MAX).map(|_| open().unwrap()).collect();
        assert!(connections.open().is_none());
        drop(all);
        assert!(connections.open().is_some());
    }
}
