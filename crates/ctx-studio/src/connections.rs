//! Open connections. Some are reserved for requests with a valid token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::access::lock;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

/// Maximum number of connections without a valid token.
const MAX_UNAUTHENTICATED: usize = 64;

/// The open connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<OpenConnections>);

#[derive(Debug, Default)]
struct OpenConnections {
    next_id: u64,
    count: usize,
    /// Oldest first. Dropping a sender closes its connection.
    unauthenticated: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// An open connection. Dropping it frees its place.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    connections: Arc<Connections>,
}

impl Connections {
    /// Adds a connection; returns `None` if there are too many. If too many are unauthenticated, closes the oldest of
    /// these.
    ///
    /// The receiver completes when the connection must be closed or is authenticated.
    pub(crate) fn open(self: &Arc<Self>) -> Option<(Connection, oneshot::Receiver<()>)> {
        let mut open = lock(&self.0);
        if open.count == MAX_CONNECTIONS {
            return None;
        }
        if open.unauthenticated.len() == MAX_UNAUTHENTICATED {
            open.unauthenticated.pop_front();
        }
        let (close, closed) = oneshot::channel();
        open.count += 1;
        open.next_id += 1;
        let id = open.next_id;
        open.unauthenticated.push_back((id, close));
        Some((Connection { id, connections: self.clone() }, closed))
    }

    /// Removes a connection from the unauthenticated connections.
    fn remove(&self, id: u64) -> Option<oneshot::Sender<()>> {
        let mut open = lock(&self.0);
        let index = open.unauthenticated.iter().position(|(known, _)| *known == id)?;
        open.unauthenticated.remove(index).map(|(_, close)| close)
    }
}

impl Connection {
    /// Marks the connection as authenticated. New connections no longer close it.
    pub(crate) fn authenticate(&self) {
        if let Some(close) = self.connections.remove(self.id) {
            // If there is no receiver, the connection has already ended.
            close.send(()).unwrap_or_default();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.connections.remove(self.id));
        lock(&self.connections.0).count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_oldest_unauthenticated_connection() {
        let connections = Arc::new(Connections::default());
        let open = || connections.open().unwrap();
        let (authenticated, mut kept) = open();
        authenticated.authenticate();
        let mut slow: Vec<_> = (0..=MAX_UNAUTHENTICATED).map(|_| open()).collect();
        assert_eq!(kept.try_recv(), Ok(()));
        assert_eq!(slow[0].1.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(slow[1].1.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(slow);
        let counts = || {
            let open = lock(&connections.0);
            (open.count, open.unauthenticated.len())
        };
        assert_eq!(counts(), (1, 0));
        drop(authenticated);
        assert_eq!(counts(), (0, 0));
    }

    #[test]
    fn limits_authenticated_connections_too() {
        let connections = Arc::new(Connections::default());
        let open = || connections.open().inspect(|(connection, _)| connection.authenticate());
        let all: Vec<_> = (0..MAX_CONNECTIONS).map(|_| open().unwrap()).collect();
        assert!(connections.open().is_none());
        drop(all);
        assert!(connections.open().is_some());
    }
}
