//! Search for a text in all conversations.

use std::time::{Duration, Instant};

use ctx_project::Sources;
use ctx_project::session_file::{SessionFile, Target};
use ctx_types::session::Session;

use super::path::start;
use crate::api_files::FileKind;
use crate::api_talk::{SearchHit, SearchView};
use crate::call::Call;
use crate::server::Server;

/// Maximum number of hits.
const MAX_HITS: usize = 50;

/// Time limit of a search.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Text before and after the match in an excerpt, in bytes.
const EXCERPT: [usize; 2] = [40, 120];

/// Finds the conversations whose active branch contains a text: first the stored ones, most recently changed first.
pub(crate) fn search(server: &Server, call: &Call) -> SearchView {
    let wanted = call.query.get("text").map(|text| text.trim().to_lowercase()).unwrap_or_default();
    let mut found = SearchView { hits: Vec::new(), is_cut: false };
    if wanted.is_empty() {
        return found;
    }
    let begun = Instant::now();
    let stored = server.stored.names().into_iter().map(|(id, name)| (id, Some(name)));
    let files = server.desk.list().0.into_iter().filter(|file| file.kind == FileKind::Conversation);
    for (id, name) in stored.chain(files.map(|file| (file.id, None))) {
        if found.hits.len() >= MAX_HITS || begun.elapsed() > SEARCH_TIMEOUT {
            found.is_cut = true;
            break;
        }
        // Skip unreadable conversations; opening one reports the error.
        let file = match name {
            Some(name) => server.stored.open(&name).ok(),
            None => super::path(server, &id)
                .ok()
                .and_then(|path| SessionFile::open(&path, &Target::Nowhere, &mut Sources::default()).ok()),
        };
        found.hits.extend(file.and_then(|file| hit(&id, &file.session, &wanted)));
    }
    found
}

/// Returns the newest message of the active branch with the text, which is in lower case.
fn hit(conversation: &str, session: &Session, wanted: &str) -> Option<SearchHit> {
    session.ancestors(session.active_leaf_id()).find_map(|(id, node)| {
        let text = node.to_message(id).text().into_owned();
        let lower = text.to_lowercase();
        let at = lower.find(wanted)?;
        // Some letters have a lower case of another length: `at` is then a place in `lower` alone.
        let text = if lower.len() == text.len() { text } else { lower };
        let mut from = at.saturating_sub(EXCERPT[0]);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let rest = text.get(from..).unwrap_or_default();
        let excerpt = start(rest, at - from + wanted.len() + EXCERPT[1]);
        let excerpt = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(SearchHit { conversation: conversation.to_owned(), message: id.to_string(), excerpt })
    })
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;
    use ctx_types::session::Node;

    use super::*;

    #[test]
    fn finds_newest_message_with_text() {
        let texts = ["Basil in May", "é and BASIL\n again", "Nothing"];
        let (session, _) = Session::linear("s", texts.map(|text| Node::new(Role::User, text)));
        let found = hit("c", &session, "basil").unwrap();
        assert_eq!((found.message.as_str(), found.excerpt.as_str()), ("n2", "é and BASIL again"));
        assert!(hit("c", &session, "parsley").is_none());
    }
}
