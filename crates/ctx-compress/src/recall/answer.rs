//! Searches a conversation and returns the matching lines with their places.

use ctx_types::session::Session;
use ctx_types::{Diagnostic, Phrase, Role};
use serde_json::{Value, json};

use crate::recall::lines::{RecallRequest, Recalled, RecalledPiece, recall};
use crate::recall::session_index::SessionIndex;
use crate::request::Meter;

/// A search in a conversation that a person or a program asks for.
///
/// ```
/// use ctx_compress::recall::RecallQuery;
/// use ctx_compress::request::Meter;
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session, SessionOp};
///
/// let mut session = Session::new("c");
/// let node = Box::new(Node::new(Role::User, "My daughter must not eat nuts.").with_id("n1"));
/// session.apply(&SessionOp::Append { parent: session.root_id().clone(), node })?;
/// let query = RecallQuery { text: "nuts", budget: RecallQuery::DEFAULT_BUDGET, with_branches: false };
/// let (answer, _) = query.search(&session, &Meter::estimate());
/// assert_eq!(answer.lines()[0].0.words, ["nuts"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecallQuery<'a> {
    /// The words to search for; only the first 16 KiB of a longer text count.
    pub text: &'a str,
    /// The maximum number of tokens of the answer.
    pub budget: u64,
    /// Whether other branches are searched too.
    pub with_branches: bool,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub enum RecallAnswer {
    /// The message for a request.
    Recalled(Recalled),
    /// Nothing, with the reason.
    Nothing(Phrase),
}

impl RecallQuery<'_> {
    /// The default budget in tokens.
    pub const DEFAULT_BUDGET: u64 = 1_000;

    /// Searches all enabled messages of a conversation, also those that a summary replaces. Also returns findings about
    /// messages that were not searched.
    pub fn search(&self, session: &Session, meter: &Meter<'_>) -> (RecallAnswer, Vec<Diagnostic>) {
        let nodes = SessionIndex::of(session, self.with_branches);
        let query = [(self.text, 100)];
        let answer = RecallAnswer::of(&RecallRequest {
            found: &nodes.index().search(&query),
            index: nodes.index(),
            message: &|at| nodes.message(session, at),
            is_held: &|_, _| false,
            is_noted: &|_, _, _| false,
            others: nodes.others(),
            room: self.budget,
            role: Role::System,
            meter,
        });
        (answer, nodes.index().findings())
    }
}

impl RecallAnswer {
    /// Writes the best hits that the request does not contain into the available room.
    ///
    /// Words of grammar are left out so that more lines fit. Equal input gives equal bytes, and a line does not change
    /// when the conversation grows.
    pub fn of(request: &RecallRequest<'_>) -> Self {
        recall(request).map_or_else(Self::Nothing, Self::Recalled)
    }

    /// Returns the message, or `None` if nothing was found.
    pub const fn recalled(&self) -> Option<&Recalled> {
        match self {
            Self::Recalled(recalled) => Some(recalled),
            Self::Nothing(_) => None,
        }
    }

    /// Returns the lines in the order of the conversation, each as it is written for a model.
    pub fn lines(&self) -> Vec<(&RecalledPiece, String)> {
        let Some(recalled) = self.recalled() else { return Vec::new() };
        let text = recalled.message.text();
        recalled.pieces.iter().zip(text.lines().skip(1).map(str::to_owned)).collect()
    }

    /// Writes the answer as JSON: the tokens, the text for the request, and the origin of each line. Without a text,
    /// `nothing` gives the reason.
    pub fn to_json(&self) -> Value {
        let line = |(piece, text): (&RecalledPiece, String)| json!({ "id": piece.source.id, "ago": piece.ago, "words": piece.words, "text": text });
        let mut json = json!({
            "tokens": self.recalled().map_or(0, |recalled| recalled.tokens),
            "text": self.recalled().map(|recalled| recalled.message.text()),
            "lines": self.lines().into_iter().map(line).collect::<Vec<_>>(),
        });
        if let Self::Nothing(why) = self {
            json["nothing"] = json!(why.to_string());
        }
        json
    }
}
