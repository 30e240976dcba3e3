//! Bodies of Gemini's `generateContent`.

use ctx_types::{Diagnostic, Phrase, excerpt, phrase};

use super::{refused, tools};
use crate::codes;
use crate::json::{Json, Object};

/// Checks a body.
pub(crate) fn check(body: &Json<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let contents = body.get("contents").and_then(Json::as_list).unwrap_or_default();
    if contents.is_empty() {
        let finding = refused(codes::NO_MESSAGES, phrase!("the request has no contents"));
        found.push(finding.at_pointer("/contents"));
    }
    if contents.first().is_some_and(|content| role(content) == "model") {
        let text = phrase!("the model speaks first; some models accept only requests that the user starts");
        found.push(Diagnostic::warning(codes::ROLE_ORDER, text).at_pointer("/contents/0/role"));
    }
    for (index, content) in contents.iter().enumerate() {
        check_content(index, content, &mut found);
    }
    check_pairs(contents, &mut found);
    check_tools(body, &mut found);
    found
}

fn role<'a>(content: &'a Json<'_>) -> &'a str {
    content.get("role").and_then(Json::as_str).unwrap_or("user")
}

fn parts<'a>(content: &'a Json<'a>) -> &'a [Json<'a>] {
    content.get("parts").and_then(Json::as_list).unwrap_or_default()
}

fn check_content(index: usize, content: &Json<'_>, found: &mut Vec<Diagnostic>) {
    if !matches!(role(content), "user" | "model") {
        let text = phrase!("this dialect has no role `{content}`", content = excerpt(role(content)));
        let finding = super::unknown_role(text, role(content), &["user", "model"]);
        found.push(finding.at_pointer(format!("/contents/{index}/role")));
    }
    if parts(content).is_empty() {
        let finding = refused(codes::EMPTY_CONTENT, phrase!("the content has no parts"));
        found.push(finding.at_pointer(format!("/contents/{index}")));
    }
    for (position, part) in parts(content).iter().enumerate() {
        if part.as_object().is_none_or(Object::is_empty) {
            let finding = refused(codes::EMPTY_CONTENT, phrase!("the part is empty"));
            found.push(finding.at_pointer(format!("/contents/{index}/parts/{position}")));
        }
    }
}

/// Calls are answered in the next content, each by a result that names its function.
fn check_pairs(contents: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let mut open: Vec<(&str, &str)> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let mut answered = vec![false; open.len()];
        for (position, part) in parts(content).iter().enumerate() {
            let Some(result) = part.get("functionResponse") else { continue };
            let place = format!("/contents/{index}/parts/{position}/functionResponse");
            match answers(result, &open, &answered) {
                Ok(call) => answered[call] = true,
                Err((code, text)) => found.push(refused(code, text).at_pointer(place)),
            }
        }
        let unanswered = open.iter().zip(&answered).filter(|(_, is_answered)| !**is_answered);
        for ((name, _), _) in unanswered {
            let text =
                phrase!("the call of `{name}` has no result in the content after it", name = excerpt(name));
            let place = format!("/contents/{}", index.saturating_sub(1));
            found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(place));
        }
        open = parts(content).iter().filter_map(call).collect();
    }
    for (name, _) in open {
        let text = phrase!("the call of `{name}` has no result", name = excerpt(name));
        let place = format!("/contents/{}", contents.len().saturating_sub(1));
        found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(place));
    }
}

/// The name and the id of a call; the id is empty if it has none.
fn call<'a>(part: &'a Json<'a>) -> Option<(&'a str, &'a str)> {
    let call = part.get("functionCall")?;
    let text = |key: &str| call.get(key).and_then(Json::as_str).unwrap_or_default();
    Some((text("name"), text("id")))
}

/// Finds the call that a result answers: the one with its id, else the first open one of its name.
fn answers(
    result: &Json<'_>,
    open: &[(&str, &str)],
    answered: &[bool],
) -> Result<usize, (ctx_types::Code, Phrase)> {
    let text = |key: &str| result.get(key).and_then(Json::as_str).unwrap_or_default();
    let (name, id) = (text("name"), text("id"));
    let is_open = |at: &usize| answered.get(*at) == Some(&false);
    let by_id = (0..open.len()).filter(is_open).find(|at| !id.is_empty() && open[*at].1 == id);
    if let Some(at) = by_id {
        if open[at].0 == name {
            return Ok(at);
        }
        let text = phrase!(
            "the result is named `{name}`, its call `{call}`",
            name = excerpt(name),
            call = excerpt(open[at].0)
        );
        return Err((codes::SHAPE, text));
    }
    let by_name = (0..open.len()).filter(is_open).find(|at| open[*at].0 == name);
    by_name.ok_or_else(|| {
        (
            codes::ORPHAN_RESULT,
            phrase!("the content before has no open call of `{name}`", name = excerpt(name)),
        )
    })
}

fn check_tools(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let mut names = Vec::new();
    for (index, tool) in tools::list(body, found).iter().enumerate() {
        let functions = tool.get("functionDeclarations").and_then(Json::as_list);
        for (position, function) in functions.into_iter().flatten().enumerate() {
            let place = format!("/tools/{index}/functionDeclarations/{position}");
            names.push((place, function.get("name").and_then(Json::as_str)));
        }
    }
    tools::check_names(names.into_iter(), found);
}
