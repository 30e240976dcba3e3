//! The messages and members of a conversation, as an environment's file has them.

use ctx_macros::{Conversation, GroupMember, SpokenText};
use ctx_types::{Text, Trust};
use serde_json::{Map, Value};

use super::{Reader, below};

/// What macros may show of one message.
struct Message {
    speaker: Speaker,
    text: Text,
    at_millis: Option<i64>,
    swipes: Option<usize>,
    current_swipe: Option<usize>,
}

impl Reader {
    /// Reads a list of messages. One without words counts, but is neither shown nor does it hide another.
    pub(super) fn messages(&mut self, value: &Value, at: &str, zone: Option<&str>, chat: &mut Conversation) {
        let list = self.list(value, at).map(Vec::as_slice).unwrap_or_default();
        let mut messages = Vec::new();
        for (index, message) in list.iter().enumerate() {
            messages.extend(self.message(message, &format!("{at}/{index}"), zone));
        }
        chat.length = messages.len();
        let mut is_newest = true;
        for message in messages.into_iter().rev().filter(|message| !message.text.trim().is_empty()) {
            let said = SpokenText { text: message.text, trust: message.speaker.trust() };
            if chat.last.is_none() {
                chat.last = Some(said.clone());
                (chat.swipes, chat.current_swipe) = (message.swipes, message.current_swipe);
            }
            match message.speaker {
                Speaker::System => continue,
                Speaker::User => {
                    let time = message.at_millis.filter(|_| !is_newest);
                    chat.user_idle_since = chat.user_idle_since.or(time);
                    chat.last_user.get_or_insert(said);
                }
                Speaker::Agent => {
                    chat.last_agent.get_or_insert(said);
                }
            }
            is_newest = false;
        }
    }

    fn message(&mut self, value: &Value, at: &str, zone: Option<&str>) -> Option<Message> {
        let fields = self.object(value, at)?;
        let first = |names: [&'static str; 2]| {
            let found = names.into_iter().find_map(|name| Some((fields.get(name)?, below(at, name))));
            found.filter(|(value, _)| !value.is_null())
        };
        let swipes = fields.get("swipes").filter(|swipes| !swipes.is_null());
        let swipe = fields.get("swipe_id").filter(|swipe| !swipe.is_null());
        let swipe = swipe.and_then(|swipe| self.number(swipe, &below(at, "swipe_id")));
        Some(Message {
            speaker: self.speaker(fields, at),
            text: first(["content", "mes"]).map(|(text, at)| self.words(text, &at)).unwrap_or_default(),
            at_millis: first(["at", "send_date"]).and_then(|(time, at)| self.instant(time, &at, zone)),
            swipes: swipes.and_then(|swipes| self.list(swipes, &below(at, "swipes"))).map(Vec::len),
            current_swipe: swipe.and_then(|swipe| self.swipe(swipe, &below(at, "swipe_id"))),
        })
    }

    /// Returns the number from 1 of a version that is counted from 0.
    fn swipe(&mut self, swipe: u64, at: &str) -> Option<usize> {
        let number = usize::try_from(swipe).ok().and_then(|swipe| swipe.checked_add(1));
        number.or_else(|| self.wrong(at, "the index of a swipe"))
    }

    /// Returns the text of a message, in parts or whole; parts of another kind have none.
    fn words(&mut self, value: &Value, at: &str) -> Text {
        let Value::Array(parts) = value else { return self.text(value, at).unwrap_or_default() };
        let mut words = String::new();
        for (index, part) in parts.iter().enumerate() {
            let at = format!("{at}/{index}");
            let text = match part.as_object() {
                Some(part) => part.get("text").map(|text| (text, below(&at, "text"))),
                None => Some((part, at)),
            };
            let text = text.and_then(|(text, at)| self.element(text, &at));
            words.push_str(text.as_deref().unwrap_or_default());
        }
        Text::from(words)
    }

    pub(super) fn members(&mut self, value: &Value, at: &str) -> Vec<GroupMember> {
        let list = self.list(value, at).map(Vec::as_slice).unwrap_or_default();
        let members = list.iter().enumerate();
        members.filter_map(|(index, value)| self.member(value, &format!("{at}/{index}"))).collect()
    }

    fn member(&mut self, value: &Value, at: &str) -> Option<GroupMember> {
        let Some(name) = value.as_str().or_else(|| value.get("name")?.as_str()) else {
            return self.wrong(at, "a name or an object with a `name`");
        };
        let muted = value.get("muted").filter(|muted| !muted.is_null());
        let is_muted = muted.is_some_and(|muted| self.truth(muted, &below(at, "muted")));
        Some(GroupMember { name: Text::from(name), is_muted })
    }

    fn speaker(&mut self, message: &Map<String, Value>, at: &str) -> Speaker {
        let mut is = |name: &str| {
            let value = message.get(name).filter(|value| !value.is_null());
            value.is_some_and(|value| self.truth(value, &below(at, name)))
        };
        let (is_system, is_user) = (is("is_system"), is("is_user"));
        let role = message.get("role").and_then(|role| self.text(role, &below(at, "role")));
        match role.as_deref() {
            Some("user") => Speaker::User,
            Some("assistant" | "char" | "model") => Speaker::Agent,
            Some(_) => Speaker::System,
            None if is_system => Speaker::System,
            None if is_user => Speaker::User,
            None => Speaker::Agent,
        }
    }
}

/// Who said something.
#[derive(Clone, Copy)]
enum Speaker {
    User,
    Agent,
    System,
}

impl Speaker {
    const fn trust(self) -> Trust {
        match self {
            Self::User => Trust::User,
            Self::Agent => Trust::Model,
            Self::System => Trust::Preset,
        }
    }
}
