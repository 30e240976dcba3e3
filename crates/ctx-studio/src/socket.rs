//! The `WebSocket` of a browser window, which reports changes.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Request};
use axum::http::{Response, header};
use ctx_types::phrase;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::api::Notice;
use crate::call::Refusal;
use crate::codes;
use crate::guard::only;
use crate::serve::{authenticate, no_token, query};
use crate::server::Server;

/// Name of the subprotocol. The token of the window follows as a second subprotocol.
const PROTOCOL: &str = "ctx";

/// Idle time before a ping.
const QUIET: Duration = Duration::from_secs(20);

/// Time limit for sending a message.
const SEND_TIME: Duration = Duration::from_secs(10);

/// Maximum size of a message from a window. Windows do not send messages.
const MAX_MESSAGE: usize = 1 << 10;

/// Opens the `WebSocket` of a window.
///
/// Browsers cannot send the token in a header here. So the token is a second subprotocol, and `Origin` is required.
pub(crate) async fn open(server: Arc<Server>, request: Request) -> Result<Response<Body>, Refusal> {
    let (mut parts, _) = request.into_parts();
    let origin = only(&parts.headers, &header::ORIGIN).ok().flatten();
    if !origin.is_some_and(|origin| server.names.is_own(origin)) {
        let message = phrase!("the request is from another site");
        return Err(Refusal::new(403, codes::FOREIGN_ORIGIN, message));
    }
    let protocols = only(&parts.headers, &header::SEC_WEBSOCKET_PROTOCOL).ok().flatten().unwrap_or_default();
    let mut protocols = protocols.split(',').map(str::trim);
    let is_admitted = protocols.next() == Some(PROTOCOL)
        && protocols.next().is_some_and(|token| server.access.admits(token))
        && protocols.next().is_none();
    if !is_admitted {
        return Err(no_token());
    }
    authenticate(&parts.extensions);
    let asked = query(parts.uri.query());
    let since = asked.get("since").and_then(|since| since.parse().ok());
    let run = asked.get("run").cloned();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|_| Refusal::malformed(phrase!("this path is a WebSocket endpoint")))?;
    let permit = server.windows.clone().try_acquire_owned().map_err(|_| {
        let message = phrase!("too many windows are open; close some");
        Refusal::new(503, codes::BUSY, message)
    })?;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let (missed, receiver) = server.notices.listen(run.as_deref(), since);
        tell(socket, &server, missed, receiver).await;
        drop(permit);
    }))
}

/// Sends changes to a window until it disconnects.
async fn tell(mut socket: WebSocket, server: &Server, missed: Vec<Notice>, mut receiver: Receiver<Notice>) {
    for notice in &missed {
        if !sent(&mut socket, notice).await {
            return;
        }
    }
    let mut is_asked = false;
    loop {
        let is_there = tokio::select! {
            told = receiver.recv() => match told {
                Ok(notice) => sent(&mut socket, &notice).await,
                Err(RecvError::Lagged(_)) => sent(&mut socket, &server.notices.all_again()).await,
                Err(RecvError::Closed) => false,
            },
            said = timeout(QUIET, socket.recv()) => match said {
                Ok(said) => {
                    is_asked = false;
                    matches!(said, Some(Ok(message)) if !matches!(message, Message::Close(_)))
                }
                Err(_) if is_asked => false,
                Err(_) => {
                    is_asked = true;
                    put(&mut socket, Message::Ping(Vec::new().into())).await
                }
            },
        };
        if !is_there {
            return;
        }
    }
}

async fn sent(socket: &mut WebSocket, notice: &Notice) -> bool {
    let text = serde_json::to_string(notice).unwrap_or_default();
    put(socket, Message::Text(text.into())).await
}

async fn put(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SEND_TIME, socket.send(message)).await, Ok(Ok(())))
}
