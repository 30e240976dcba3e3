//! The program that is killed: it talks without end, and tells each message that is stored.

use std::io::Write as _;
use std::path::Path;

use ctx_chat::{
    Chat, ChatLog, Conversation, Endpoint, RetryPolicy, SpillFolder, SqliteStore, TurnEvent, run_turn,
};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::room::{Bench, Room, block_on, ending, with_bench};

/// Talks until it is killed.
pub(crate) fn talk(store: &Path, url: &str) -> ! {
    let mut room = Room::at((), endpoint(url), &agent());
    room.store = SqliteStore::open(store).unwrap();
    (room.conversation, _) = block_on(Conversation::open(&room.store, "c", Some(1))).unwrap();
    let spill = spill(store);
    let mut chat = Chat::new(&room.agent, &room.client);
    equip(&mut chat, &spill);
    for turn in 1.. {
        let request = Room::says(&format!("Turn {turn}"));
        let log =
            ChatLog { store: &room.store, conversation: &mut room.conversation, memory: None, lease: None };
        let end = block_on(run_turn(&chat, Some(log), request, &mut tell, &room.cancel)).unwrap();
        assert_eq!(ending(&end), "answered", "{end:?}");
    }
    unreachable!("turns have no end")
}

/// Returns what is stored, at once.
fn tell(event: TurnEvent) {
    if let TurnEvent::Stored { id, role } = event {
        let mut output = std::io::stdout();
        output.write_all(format!("{id} {role}\n").as_bytes()).unwrap();
        output.flush().unwrap();
    }
}

pub(crate) fn agent() -> Value {
    json!({ "presetMessages": [{ "role": "system", "content": "Be kind." }, { "type": "chat_history" }] })
}

pub(crate) fn endpoint(url: &str) -> Endpoint {
    let never = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    Endpoint { retry: never, ..Endpoint::new(Dialect::OpenaiChat, url) }
}

/// A folder for large results beside the store; results over 1,000 bytes are large here.
pub(crate) fn spill(store: &Path) -> SpillFolder {
    SpillFolder::new(store.with_extension("results")).with_sizes(1_000, 50)
}

/// Gives a chat its tools.
pub(crate) fn equip<'a>(chat: &mut Chat<'a>, spill: &'a SpillFolder) {
    with_bench(chat, &Bench);
    if let Some(access) = &mut chat.tools {
        access.spill = Some(spill);
        access.limits.time = std::time::Duration::from_secs(60);
    }
}
