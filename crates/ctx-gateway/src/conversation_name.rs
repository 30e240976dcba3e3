//! How requests name their conversation.

use ctx_types::session::NodeId;
use ctx_types::{Phrase, phrase};
use ctx_wire::Dialect;
use serde_json::Value;

use crate::api_error::ApiError;
use crate::dialect::take_conversation_name;
use crate::gateway::Server;
use crate::request_options::parse_conversation_name;
use crate::turn::GatewayRequest;

/// The conversation that a request continues.
#[derive(Debug)]
pub(crate) struct ConversationName {
    pub(crate) name: String,
    /// The message that the new messages follow. If it is missing, they are aligned with the stored ones.
    pub(crate) after: Option<NodeId>,
    /// Whether the client always sends the history.
    pub(crate) sends_history: bool,
}

/// Where a response of a named conversation is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredResponse {
    pub(crate) conversation: String,
    pub(crate) node: NodeId,
}

/// A field that can name a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamingField {
    Header,
    PreviousResponse,
    PromptCacheKey,
    UserId,
}

impl NamingField {
    const ALL: [Self; 4] = [Self::Header, Self::PreviousResponse, Self::PromptCacheKey, Self::UserId];

    const fn name(self) -> &'static str {
        match self {
            Self::Header => "x-ctx-conversation",
            Self::PreviousResponse => "previous_response_id",
            Self::PromptCacheKey => "prompt_cache_key",
            Self::UserId => "metadata.user_id",
        }
    }
}

/// The fields that the operator enables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamingFields(Vec<NamingField>);

impl NamingFields {
    /// Reads the setting. If it is empty, the header and `previous_response_id` are enabled.
    pub(crate) fn read(names: &[String]) -> Result<Self, Phrase> {
        if names.is_empty() {
            return Ok(Self(vec![NamingField::Header, NamingField::PreviousResponse]));
        }
        let read = |name: &String| {
            let field = NamingField::ALL.into_iter().find(|field| field.name() == name);
            field.ok_or_else(|| {
                phrase!(
                    "`{name}` in `conversation-names` does not name conversations; use `x-ctx-conversation`, \
                     `previous_response_id`, `prompt_cache_key` or `metadata.user_id`",
                    name
                )
            })
        };
        names.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn has(&self, field: NamingField) -> bool {
        self.0.contains(&field)
    }
}

impl Server {
    /// Returns the name of a request's conversation: the first that is set and enabled.
    pub(crate) fn find_name(
        &self,
        provider: Dialect,
        request: &mut GatewayRequest,
    ) -> Result<Option<ConversationName>, ApiError> {
        let given = if self.naming.has(NamingField::Header) {
            let name = take_conversation_name(request.dialect, &mut request.body.parameters)?;
            let name = name.map(|name| parse_conversation_name(&name)).transpose()?;
            request.options.conversation.take().or(name)
        } else {
            None
        };
        let previous = self.previous_response(provider, given.as_deref(), request)?;
        let after = request.options.after.as_deref().map(NodeId::from);
        let of_previous = previous.map(|previous| (previous.conversation, Some(previous.node)));
        let name = match (given, of_previous) {
            (Some(name), of_previous) => {
                let node = of_previous.filter(|(conversation, _)| *conversation == name);
                (name, node.and_then(|(_, node)| node))
            }
            (None, Some(of_previous)) => of_previous,
            (None, None) => {
                let name =
                    client_name(&self.naming, request).and_then(|name| parse_conversation_name(&name).ok());
                return Ok(name.map(|name| ConversationName { name, after, sends_history: true }));
            }
        };
        Ok(Some(ConversationName { name: name.0, after: after.or(name.1), sends_history: false }))
    }

    /// Returns where the previous response is stored. An unknown id goes to a provider with the same API, unless the
    /// conversation is named.
    fn previous_response(
        &self,
        provider: Dialect,
        named: Option<&str>,
        request: &mut GatewayRequest,
    ) -> Result<Option<StoredResponse>, ApiError> {
        if request.dialect != Dialect::OpenaiResponses {
            return Ok(None);
        }
        let key = NamingField::PreviousResponse.name();
        let Some(id) = request.body.parameters.get(key) else { return Ok(None) };
        let id = id.as_str().unwrap_or_default().to_owned();
        let known = self
            .responses
            .get(&(request.owner.clone(), id))
            .filter(|_| self.naming.has(NamingField::PreviousResponse));
        if known.is_some() || named.is_some() {
            request.body.parameters.shift_remove(key);
            return Ok(known);
        }
        if provider == Dialect::OpenaiResponses {
            return Ok(None);
        }
        let text =
            phrase!("the previous response is not stored; send the complete input, or name the conversation");
        Err(ApiError::malformed(text).at(key))
    }
}

/// Returns the name that the client's own fields contain.
fn client_name(naming: &NamingFields, request: &GatewayRequest) -> Option<String> {
    let body = &request.body;
    let key = NamingField::PromptCacheKey.name();
    let cache_key = body.parameters.get(key);
    let cache_key = cache_key.filter(|_| naming.has(NamingField::PromptCacheKey)).and_then(Value::as_str);
    let user = body.parameters.get("metadata").and_then(|metadata| metadata.get("user_id")?.as_str());
    let user = user.filter(|_| naming.has(NamingField::UserId) && request.dialect == Dialect::Anthropic);
    cache_key.map(str::to_owned).or_else(|| {
        let session = session_id(user?)?;
        // The agents of a session run at the same time.
        Some(match &request.options.agent {
            Some(agent) => format!("{session}/{agent}"),
            None => session,
        })
    })
}

/// Returns the session in the user id of Claude Code: JSON, or `user_…_session_…` in older versions.
fn session_id(user: &str) -> Option<String> {
    let json = serde_json::from_str::<Value>(user).ok();
    let session = json.as_ref().and_then(|json| json.get("session_id")?.as_str());
    session.or_else(|| Some(user.rsplit_once("_session_")?.1)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_session_in_user_id() {
        let json = r#"{"device_id":"d","account_uuid":"","session_id":"s1"}"#;
        assert_eq!(session_id(json).as_deref(), Some("s1"));
        assert_eq!(session_id("user_a_account_b_session_c-d").as_deref(), Some("c-d"));
        assert_eq!(session_id("alice"), None);
    }

    #[test]
    fn reads_enabled_fields() {
        let default = NamingFields::read(&[]).unwrap();
        assert!(default.has(NamingField::Header) && !default.has(NamingField::UserId));
        let given = NamingFields::read(&["metadata.user_id".to_owned()]).unwrap();
        assert!(given.has(NamingField::UserId) && !given.has(NamingField::Header));
        assert!(NamingFields::read(&["user".to_owned()]).is_err());
    }
}
