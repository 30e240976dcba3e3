//! Open connections, a part of which is reserved for requests with a valid token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::access::lock;

/// Connections at once.
const MAX_CONNECTIONS: usize = 256;

/// Connections at once on which no valid token was sent yet.
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

/// An open connection; dropping it ends the count.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    connections: Arc<Connections>,
}

impl Connections {
    /// Counts a new connection; `None` if there are too many. If too many are unauthenticated, closes the oldest of
    /// these.
    ///
    /// The receiver ends when the connection must be closed, or when it sent a valid token.
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

    /// Takes a connection from the list of those that may be closed.
    fn remove(&self, id: u64) -> Option<oneshot::Sender<()>> {
        let mut open = lock(&self.0);
        let index = open.unauthenticated.iter().position(|(known, _)| *known == id)?;
        open.unauthenticated.remove(index).map(|(_, close)| close)
    }
}

impl Connection {
    /// Notes that a request of the connection had a valid token. The connection is not closed for others then.
    pub(crate) fn authenticate(&self) {
        if let Some(close) = self.connections.remove(self.id) {
            // The connection ends by itself if nothing receives this.
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
