//! Chooses the messages of a growing conversation so that requests keep their prefix.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use ctx_compress::recall::RecallQuery;
use ctx_compress::request::Meter;
use ctx_engine::Engine;
use ctx_tokens::Counter;
use ctx_tokens::internal::tools_cost;
use ctx_types::internal::Fingerprint;
use ctx_types::ports::ToolDefinition;
use ctx_types::{Message, Place, Role, groups};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::conversation::Conversation;
use crate::error::OperationError;
use crate::given::options;
use crate::messages::{sent_messages, tool_of};

/// The default of `low`, and its minimum, as shares of the budget.
const LOW: f64 = 0.6;
const LOWEST: f64 = 0.3;

/// The number of groups of average size that should fit between the low mark and the budget.
const GROUPS_BETWEEN: f64 = 5.0;

/// The maximum number of characters of one text in the question of a recall.
const QUESTION_CHARACTERS: usize = 4_096;

/// Begins a message with recalled lines, and identifies it in later calls.
const RECALLED: &str = "[Recalled from earlier messages]";

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct PlanOptions {
    messages: Vec<Value>,
    budget: Option<u64>,
    model: Option<String>,
    tools: Vec<Value>,
    reserve: u64,
    low: f64,
    pinned: BTreeSet<usize>,
    recall: u64,
    state: Option<PlanState>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            budget: None,
            model: None,
            tools: Vec::new(),
            reserve: 0,
            low: LOW,
            pinned: BTreeSet::new(),
            recall: 0,
            state: None,
        }
    }
}

/// Passed from one call to the next.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct PlanState {
    /// The keys of the removed messages.
    removed: BTreeSet<String>,
    /// A hash of the conversation up to its last removed message. A list that does not begin with it was edited, or is
    /// already reduced.
    prefix: Option<String>,
    /// The model that counted. Another model has no cache of the prefix.
    model: Option<String>,
}

/// A group of messages: all of them are kept, or all are removed.
struct PlannedGroup {
    messages: Range<usize>,
    tokens: u64,
    is_fixed: bool,
    is_removed: bool,
    is_orphan: bool,
}

/// The operation `plan`: chooses which messages to send.
///
/// Options: `messages` in the form of chat completions; `budget`, the maximum tokens of messages, `tools`, `reserve` and
/// recalled lines (default: the window of `model`); `low`, the share of the budget that remains after a cut, from 0.3 to 1
/// (default: 0.6, and less if groups are large); `pinned`, positions that are never removed; `recall`, the maximum tokens
/// for lines of removed messages (default: 0); `state`, from the call before. Above the budget, the oldest groups are
/// removed in one step; later calls repeat that choice until the next overflow. Messages are identified by `id`, or by
/// their content, never by position. A message without content stays with the one before it. O(messages).
///
/// Errors: an invalid option; `infeasible` if the messages that cannot be removed exceed the budget.
pub(crate) fn plan(input: Map<String, Value>) -> Result<Value, OperationError> {
    let given: PlanOptions = options(input)?;
    if let Some(at) = given.pinned.last().filter(|at| **at >= given.messages.len()) {
        return Err(OperationError::usage(format!("`pinned`: no message at position {at}")));
    }
    let is = |at: &usize, matches: fn(&Value) -> bool| given.messages.get(*at).is_some_and(matches);
    let (notes, others): (Vec<usize>, Vec<usize>) = (0..given.messages.len()).partition(|at| is(at, is_note));
    let (blanks, positions): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|at| is(at, is_blank));
    let own: Vec<&Value> = positions.iter().filter_map(|at| given.messages.get(*at)).collect();
    let messages = read_messages(&own)?;
    let facts = Engine::new().models.lookup(given.model.as_deref().unwrap_or_default()).0;
    let counter = Counter::for_model(&facts).0;
    let meter = Meter::lent(&facts, &counter);
    let window = facts.context_window.filter(|_| given.model.is_some()).map(u64::from);
    let budget = given.budget.or(window).ok_or_else(|| OperationError::usage("set `budget` or `model`"))?;
    let tools: Vec<ToolDefinition> = given.tools.iter().map(tool_of).collect();
    let tools = u64::from(tools_cost(&tools, &facts, &counter));

    let keys = keys(&own);
    let state = given.state.filter(|state| state.model == given.model).unwrap_or_default();
    let is_continued = state.prefix.is_some_and(|prefix| prefixes(&keys).any(|own| own == prefix));
    let pinned = given.pinned.iter().filter(|at| !is(at, is_note));
    let pinned =
        pinned.filter_map(|at| positions.partition_point(|read| read <= at).checked_sub(1)).collect();
    let mut planned = PlannedGroup::from_messages(&messages, &pinned, &meter);
    for group in planned.iter_mut().filter(|group| is_continued && !group.is_fixed) {
        let mut own = keys.get(group.messages.clone()).unwrap_or_default().iter();
        group.is_removed |= own.all(|key| state.removed.contains(key));
    }
    let limits = TokenLimits {
        budget,
        fixed: tools.saturating_add(given.reserve),
        recall: given.recall,
        low: given.low,
    };
    let is_reset = limits.remove_groups(&mut planned)?;

    let chosen = |wanted: fn(&PlannedGroup) -> bool| -> Vec<usize> {
        planned.iter().filter(|group| wanted(group)).flat_map(|group| group.messages.clone()).collect()
    };
    let (kept, removed) = (chosen(|group| !group.is_removed), chosen(|group| group.is_removed));
    let orphans = chosen(|group| group.is_orphan);
    let used = limits.tokens(&planned);
    let dropped: Vec<&Value> = removed.iter().filter_map(|at| own.get(*at).copied()).collect();
    let room = given.recall.min(budget.saturating_sub(used));
    let recalled = recall(&dropped, &question(&messages, &planned), room, &meter)?;
    let positions_of = |own: &[usize], is_start: bool| -> Vec<usize> {
        let follows = |blank: &&usize| match positions.partition_point(|at| at < *blank).checked_sub(1) {
            Some(before) => own.binary_search(&before).is_ok(),
            None => is_start,
        };
        let mut found: Vec<usize> = own.iter().filter_map(|at| positions.get(*at)).copied().collect();
        found.extend(blanks.iter().filter(follows));
        found.sort_unstable();
        found
    };
    let state = PlanState {
        removed: removed.iter().filter_map(|at| keys.get(*at).cloned()).collect(),
        prefix: removed.last().and_then(|last| prefixes(&keys).nth(*last)),
        model: given.model,
    };
    Ok(json!({
        "kept": positions_of(&kept, true),
        "removed": positions_of(&removed, false),
        "orphans": positions_of(&orphans, false),
        "notes": notes,
        "tokens": used - given.reserve + recalled.as_ref().map_or(0, |note| note.tokens),
        "recalled": recalled.map(|note| json!({ "role": "user", "content": note.text })),
        "reset": is_reset,
        "state": state,
    }))
}

/// Returns whether a message contains the recalled lines of an earlier call.
fn is_note(message: &Value) -> bool {
    let content = message.get("content");
    let text = content.and_then(|content| content.as_str().or_else(|| content.get(0)?.get("text")?.as_str()));
    let is_user = message.get("role").and_then(Value::as_str) == Some("user");
    is_user && text.and_then(|text| text.strip_prefix(RECALLED)).is_some_and(|rest| rest.starts_with('\n'))
}

/// Returns whether a message has no content, which conversations skip. Such a message stays with the one before it.
fn is_blank(message: &Value) -> bool {
    let is_empty = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    };
    let is_empty_part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") => is_empty(part.get("text")),
        _ => is_empty(Some(part)),
    };
    let has_calls =
        message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    let is_result = message.get("role").and_then(Value::as_str) == Some("tool");
    let content = message.get("content");
    let parts = content.and_then(Value::as_array);
    !has_calls
        && !is_result
        && parts.map_or_else(|| is_empty(content), |parts| parts.iter().all(is_empty_part))
}

fn read_messages(own: &[&Value]) -> Result<Vec<Message>, OperationError> {
    let mut conversation = Conversation::default();
    conversation.extend(json!(own))?;
    let messages = sent_messages(&conversation.session);
    if messages.len() == own.len() {
        return Ok(messages);
    }
    let (given, read) = (own.len(), messages.len());
    Err(OperationError::usage(format!("{given} messages were read as {read}; remove disabled messages")))
}

/// Returns a key for each message: its id, or a hash of its content, and the number of equal ones before it.
fn keys(messages: &[&Value]) -> Vec<String> {
    let mut seen: HashMap<String, u64> = HashMap::new();
    let key = |message: &&Value| {
        let key = if let Some(id) = message.get("id").and_then(Value::as_str) {
            format!("id:{id}")
        } else {
            let parts = ["role", "content", "tool_calls", "tool_call_id"].map(|name| message.get(name));
            Fingerprint::default().text(&json!(parts).to_string()).to_string()
        };
        let occurrence = seen.entry(key.clone()).and_modify(|count| *count += 1).or_insert(0);
        format!("{key}:{occurrence}")
    };
    messages.iter().map(key).collect()
}

/// Returns a hash of the conversation up to each message.
fn prefixes(keys: &[String]) -> impl Iterator<Item = String> {
    keys.iter().scan(Fingerprint::default(), |hash, key| {
        *hash = hash.text(key);
        Some(hash.to_string())
    })
}

impl PlannedGroup {
    /// Splits messages into groups. Leading instructions, the newest user message, pinned messages and the last group
    /// are fixed; calls without results before the last group, and results without calls, are removed.
    fn from_messages(messages: &[Message], pinned: &BTreeSet<usize>, meter: &Meter<'_>) -> Vec<Self> {
        let leading = messages.iter().take_while(|message| message.role.is_instruction()).count();
        let newest = messages.iter().rposition(|message| message.role == Role::User);
        let planned = groups(messages).into_iter().map(|range| {
            let members = messages.get(range.clone()).unwrap_or_default();
            let is_last = range.end == messages.len();
            let is_orphan = match members {
                [first, results @ ..] if first.role == Role::Assistant => {
                    !is_last && !is_answered(first, results)
                }
                [first, ..] => first.role == Role::Tool,
                [] => false,
            };
            let is_kept = |at: usize| at < leading || newest == Some(at) || pinned.contains(&at);
            let is_pinned = members.iter().any(|message| message.place == Place::Pinned);
            Self {
                tokens: meter.messages(members),
                is_fixed: !is_orphan && (is_last || is_pinned || range.clone().any(is_kept)),
                is_removed: is_orphan,
                is_orphan,
                messages: range,
            }
        });
        planned.collect()
    }
}

/// Returns whether each tool call has a result.
fn is_answered(message: &Message, results: &[Message]) -> bool {
    let answered: BTreeSet<&str> =
        results.iter().filter_map(|result| result.tool_call_id.as_deref()).collect();
    message.tool_calls.iter().all(|call| answered.contains(&*call.id))
}

/// The tokens that a request may have.
struct TokenLimits {
    budget: u64,
    /// Tools and reserve.
    fixed: u64,
    recall: u64,
    low: f64,
}

impl TokenLimits {
    /// Returns the tokens of a request, with the reserve.
    fn tokens(&self, planned: &[PlannedGroup]) -> u64 {
        let kept = planned.iter().filter(|group| !group.is_removed).map(|group| group.tokens);
        kept.fold(self.fixed, u64::saturating_add)
    }

    /// Removes the oldest groups down to the low mark if the request exceeds the budget; returns whether it did.
    fn remove_groups(&self, planned: &mut [PlannedGroup]) -> Result<bool, OperationError> {
        let mut tokens = self.tokens(planned);
        let is_cut = planned.iter().any(|group| group.is_removed);
        // Recalled lines need space once messages were removed.
        let limit = if is_cut { self.budget.saturating_sub(self.recall) } else { self.budget };
        if tokens <= limit {
            return Ok(false);
        }
        let low = self.low_mark(planned);
        let mut is_reset = false;
        for group in planned.iter_mut().filter(|group| !group.is_fixed && !group.is_removed) {
            if tokens <= low {
                break;
            }
            group.is_removed = true;
            tokens -= group.tokens;
            is_reset = true;
        }
        if tokens > self.budget {
            let message = format!(
                "messages that cannot be removed, tools and reserve have {tokens} tokens, more than the budget of {}",
                self.budget
            );
            return Err(OperationError::new("infeasible", message));
        }
        Ok(is_reset)
    }

    /// Returns the maximum tokens after a cut: `low` of the budget, or less if groups are large. Several groups then fit
    /// before the next cut.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a budget"
    )]
    fn low_mark(&self, planned: &[PlannedGroup]) -> u64 {
        let free: Vec<u64> =
            planned.iter().filter(|group| !group.is_fixed).map(|group| group.tokens).collect();
        let average = free.iter().sum::<u64>() as f64 / free.len().max(1) as f64;
        let budget = self.budget as f64;
        let share = self.low.min(1.0 - GROUPS_BETWEEN * average / budget.max(1.0)).clamp(LOWEST, 1.0);
        (budget * share) as u64
    }
}

/// Recalled lines of removed messages.
struct RecalledNote {
    text: String,
    tokens: u64,
}

/// Searches the removed messages. Returns `None` if nothing is found, or nothing that fits.
fn recall(
    removed: &[&Value],
    question: &str,
    room: u64,
    meter: &Meter<'_>,
) -> Result<Option<RecalledNote>, OperationError> {
    let first_line = meter.text(RECALLED);
    if removed.is_empty() || room <= first_line {
        return Ok(None);
    }
    let mut conversation = Conversation::default();
    conversation.extend(json!(removed))?;
    let query = RecallQuery { text: question, budget: room - first_line, with_branches: false };
    let (answer, _) = query.search(&conversation.session, meter);
    Ok(answer.recalled().map(|recalled| {
        let text = recalled.message.text();
        let lines = text.split_once('\n').map_or("", |(_, lines)| lines);
        RecalledNote { text: format!("{RECALLED}\n{lines}"), tokens: recalled.tokens + first_line }
    }))
}

/// Returns the text to search for: the newest user message and the last group.
fn question(messages: &[Message], planned: &[PlannedGroup]) -> String {
    let last = planned.last().map_or(0..0, |group| group.messages.clone());
    let newest = messages.iter().rev().find(|message| message.role == Role::User);
    let last = messages.get(last).unwrap_or_default().iter();
    let mut question = String::new();
    for message in newest.into_iter().chain(last) {
        let calls = message.tool_calls.iter().map(|call| call.arguments.to_string());
        for text in std::iter::once(message.content.text().to_string()).chain(calls) {
            question.extend(text.chars().take(QUESTION_CHARACTERS));
            question.push('\n');
        }
    }
    question
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `s`, `u`, `a` are messages; `c1` is a call; `t1` is its result. Each text has about 25 tokens.
    fn message(word: &str) -> Value {
        let text = format!("{word} {}", "lorem ipsum dolor sit amet ".repeat(4));
        match word.split_at(1) {
            ("s", _) => json!({ "role": "system", "content": text }),
            ("u", _) => json!({ "role": "user", "content": text }),
            ("c", id) => json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } }] }),
            ("t", id) => json!({ "role": "tool", "tool_call_id": id, "content": text }),
            _ => json!({ "role": "assistant", "content": text }),
        }
    }

    fn messages(words: &str) -> Vec<Value> {
        words.split_whitespace().map(message).collect()
    }

    fn run(messages: &[Value], budget: u64, state: &Value) -> Result<Value, OperationError> {
        run_with(messages, budget, &json!({ "state": state }))
    }

    fn run_with(messages: &[Value], budget: u64, more: &Value) -> Result<Value, OperationError> {
        let mut input = json!({ "messages": messages, "budget": budget });
        more.as_object().unwrap().iter().for_each(|(key, value)| input[key] = value.clone());
        let Value::Object(input) = input else { unreachable!("it is an object") };
        plan(input)
    }

    fn kept(planned: &Value) -> String {
        planned["kept"].to_string()
    }

    #[test]
    fn keeps_everything_below_the_budget() {
        let planned = run(&messages("s u c1 t1"), 1_000, &Value::Null).unwrap();
        assert_eq!(kept(&planned), "[0,1,2,3]");
        assert_eq!(planned["reset"], false);
    }

    #[test]
    fn removes_the_oldest_groups_with_their_results() {
        let all = messages("s u c1 t1 c2 t2 c3 t3 c4 t4");
        let planned = run(&all, 150, &Value::Null).unwrap();
        assert_eq!((kept(&planned).as_str(), &planned["reset"]), ("[0,1,8,9]", &json!(true)));
        assert_eq!(planned["removed"], json!([2, 3, 4, 5, 6, 7]));
        let pinned = run_with(&all, 160, &json!({ "pinned": [3] })).unwrap();
        assert_eq!(kept(&pinned), "[0,1,2,3,8,9]");
    }

    #[test]
    fn repeats_the_plan_until_the_next_overflow() {
        let first = run(&messages("s u c1 t1 c2 t2 c3 t3 c4 t4 c5 t5"), 200, &Value::Null).unwrap();
        assert_eq!((kept(&first).as_str(), &first["reset"]), ("[0,1,10,11]", &json!(true)));
        let next = run(&messages("s u c1 t1 c2 t2 c3 t3 c4 t4 c5 t5 c6 t6"), 200, &first["state"]).unwrap();
        assert_eq!((kept(&next).as_str(), &next["reset"]), ("[0,1,10,11,12,13]", &json!(false)));
    }

    #[test]
    fn keeps_messages_of_reduced_or_edited_lists() {
        let all = messages("s u ok c1 t1 c2 t2 ok c3 t3 c4 t4");
        let first = run(&all, 200, &Value::Null).unwrap();
        assert_eq!(kept(&first), "[0,1,10,11]");
        // Some frameworks store the messages that were sent. This `ok` is a new message.
        let reduced = run(&messages("s u c4 t4 ok"), 200, &first["state"]).unwrap();
        assert_eq!(kept(&reduced), "[0,1,2,3,4]");
        let edited = run(&messages("s u no c1 t1 ok"), 200, &first["state"]).unwrap();
        assert_eq!(kept(&edited), "[0,1,2,3,4,5]");
        let other = run_with(&all, 300, &json!({ "state": first["state"], "model": "gpt-4o" })).unwrap();
        assert_eq!(other["removed"], json!([]));
    }

    #[test]
    fn keeps_messages_without_content_with_the_one_before() {
        let mut all = messages("x s u c1 t1 x c2 t2 x c3 t3 c4 t4");
        for at in [0, 5, 8] {
            let content = if at == 0 { json!("") } else { json!([{ "type": "text", "text": " " }]) };
            all[at] = json!({ "role": "assistant", "content": content });
        }
        let planned = run(&all, 150, &Value::Null).unwrap();
        assert_eq!(
            (kept(&planned).as_str(), &planned["removed"]),
            ("[0,1,2,11,12]", &json!([3, 4, 5, 6, 7, 8, 9, 10]))
        );
    }

    #[test]
    fn rejects_positions_without_a_message() {
        let error = run_with(&messages("s u"), 100, &json!({ "pinned": [2] })).unwrap_err();
        assert_eq!((&*error.code, &*error.message), ("usage", "`pinned`: no message at position 2"));
    }

    #[test]
    fn removes_calls_and_results_without_each_other() {
        let planned = run(&messages("t9 u c1 u c2"), 1_000, &Value::Null).unwrap();
        assert_eq!((kept(&planned).as_str(), &planned["orphans"]), ("[1,3,4]", &json!([0, 2])));
    }

    #[test]
    fn recalls_removed_text_and_drops_old_notes() {
        let mut all = messages("s u c1 t1 c2 t2 c3 t3 c4 t4");
        all[3]["content"] = json!("The gate code is ZX-4471.");
        all[1]["content"] = json!("Open the gate with the code.");
        let planned = run_with(&all, 150, &json!({ "recall": 60 })).unwrap();
        let note = &planned["recalled"];
        assert!(note["content"].as_str().unwrap().contains("ZX-4471"), "{planned}");
        assert!(planned["tokens"].as_u64().unwrap() <= 150);
        all.push(note.clone());
        let again = run_with(&all, 150, &json!({ "recall": 60, "state": planned["state"] })).unwrap();
        assert_eq!((&again["kept"], &again["recalled"]), (&planned["kept"], note));
        assert_eq!(again["notes"], json!([10]));
    }

    #[test]
    fn rejects_budget_below_fixed_messages() {
        let error = run(&messages("s u"), 20, &Value::Null).unwrap_err();
        assert_eq!(error.code, "infeasible");
        assert_eq!(
            error.message,
            "messages that cannot be removed, tools and reserve have 50 tokens, more than the budget of 20"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn plans_are_within_the_budget_and_stable(
            steps in prop::collection::vec(prop_oneof![Just("u"), Just("a"), Just("call")], 1..40),
            budget in 150_u64..600,
            recall in prop_oneof![Just(0_u64), Just(40)],
            is_reduced in any::<bool>(),
        ) {
            let (mut all, mut state, mut last) = (messages("s u"), Value::Null, Vec::new());
            for (at, step) in steps.iter().enumerate() {
                match *step {
                    "call" => all.extend([message(&format!("c{at}")), message(&format!("t{at}"))]),
                    word => all.push(message(&format!("{word}{at}"))),
                }
                let options = |state: &Value| json!({ "state": state, "recall": recall });
                let planned = run_with(&all, budget, &options(&state)).unwrap();
                let again = run_with(&all, budget, &options(&planned["state"])).unwrap();
                prop_assert_eq!((&again["kept"], &again["state"]), (&planned["kept"], &planned["state"]));
                prop_assert!(planned["tokens"].as_u64().unwrap() <= budget);
                let kept: Vec<usize> = serde_json::from_value(planned["kept"].clone()).unwrap();
                let sent: Vec<Value> = kept.iter().map(|at| all[*at].clone()).collect();
                prop_assert!(planned["reset"] == true || sent.starts_with(&last));
                let own: Vec<&Value> = sent.iter().collect();
                let groups = PlannedGroup::from_messages(&read_messages(&own).unwrap(), &BTreeSet::new(), &Meter::estimate());
                prop_assert!(groups.iter().all(|group| !group.is_orphan));
                if is_reduced {
                    all = sent.clone();
                }
                (state, last) = (planned["state"].clone(), sent);
            }
        }
    }
}
