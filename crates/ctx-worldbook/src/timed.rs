use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::reason::until;
use crate::set::{BookSet, Member};

/// JavaScript's `Number.MAX_SAFE_INTEGER`.
pub(crate) const FOREVER: u64 = 9_007_199_254_740_991;

/// Timed effects of a conversation by `book.uid`. The caller stores them between scans.
///
/// ```
/// use ctx_worldbook::TimedState;
///
/// let file = serde_json::json!({ "sticky": { "Sky.1": { "start": 3, "end": 6, "protected": false } } });
/// let (state, findings) = TimedState::read(&file);
/// assert_eq!(state.sticky["Sky.1"].end, 6);
/// assert!(findings.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimedState {
    /// Entries that stay active.
    pub sticky: BTreeMap<Arc<str>, Effect>,
    /// Entries in cooldown.
    pub cooldown: BTreeMap<Arc<str>, Effect>,
}

/// A timed effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Hash of the entry at the start; a changed entry loses the effect. `None` for effects of other
    /// applications.
    pub fingerprint: Option<Arc<str>>,
    /// Message count at its start.
    pub start: u64,
    /// Message count at its end.
    pub end: u64,
    /// Whether it stays although the conversation has not grown; true for a cooldown after a sticky effect.
    pub is_protected: bool,
}

impl TimedState {
    /// No effects.
    pub const EMPTY: Self = Self { sticky: BTreeMap::new(), cooldown: BTreeMap::new() };

    /// Returns whether there are no effects.
    pub fn is_empty(&self) -> bool {
        self.sticky.is_empty() && self.cooldown.is_empty()
    }

    /// Reads its own format or SillyTavern's `timedWorldInfo`.
    pub fn read(value: &Value) -> (Self, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        if !value.is_object() {
            findings
                .push(Diagnostic::error(codes::BAD_STATE, phrase!("the timed effects must be an object")));
        }
        let mut read = |kind: &str| {
            let Some(effects) = value.get(kind).filter(|effects| !effects.is_null()) else {
                return BTreeMap::new();
            };
            let Value::Object(effects) = effects else {
                let bad = Diagnostic::error(codes::BAD_STATE, phrase!("`{kind}` is not an object", kind));
                findings.push(
                    bad.at_pointer(format!("/{kind}")).with_help(phrase!("write `{{}}`, or remove it")),
                );
                return BTreeMap::new();
            };
            let mut found = BTreeMap::new();
            for (id, effect) in effects {
                if let Some(effect) = Effect::read(effect) {
                    found.insert(Arc::from(id.as_str()), effect);
                    continue;
                }
                let message =
                    phrase!("the timed effect of `{id}` has no `start` and `end`", id = excerpt(id));
                let bad = Diagnostic::error(codes::BAD_STATE, message).at_pointer(format!("/{kind}"));
                findings.push(bad.with_help(phrase!("remove it; the effect is ignored until then")));
            }
            found
        };
        let state = Self { sticky: read("sticky"), cooldown: read("cooldown") };
        (state, findings)
    }

    /// Returns whether JSON is an empty object or has `sticky` or `cooldown`, each an object or null.
    pub fn is_state(value: &Value) -> bool {
        let Some(state) = value.as_object() else { return false };
        let kinds: Vec<&Value> = ["sticky", "cooldown"].iter().filter_map(|kind| state.get(*kind)).collect();
        let is_read = |kind: &&Value| kind.is_object() || kind.is_null();
        (state.is_empty() || !kinds.is_empty()) && kinds.iter().all(is_read)
    }

    /// Writes JSON.
    pub fn write(&self) -> Value {
        let write = |effects: &BTreeMap<Arc<str>, Effect>| -> Map<String, Value> {
            effects.iter().map(|(id, effect)| (id.to_string(), effect.write())).collect()
        };
        json!({ "sticky": write(&self.sticky), "cooldown": write(&self.cooldown) })
    }

    /// Writes the state into its file. Keeps unchanged effects, unreadable effects, and other fields as they
    /// are.
    ///
    /// Do not overwrite a file if [`TimedState::is_state`] returns false.
    pub fn write_over(&self, file: &Value) -> Value {
        let mut written = file.as_object().cloned().unwrap_or_default();
        let Value::Object(new) = self.write() else { return Value::Object(written) };
        for (kind, mut effects) in new {
            let Some(effects) = effects.as_object_mut() else { continue };
            for (id, before) in file.get(&kind).and_then(Value::as_object).into_iter().flatten() {
                let known = Effect::read(before);
                match effects.get_mut(id) {
                    _ if known.is_none() => drop(effects.insert(id.clone(), before.clone())),
                    Some(effect) if known == Effect::read(effect) => effect.clone_from(before),
                    _ => {}
                }
            }
            written.insert(kind, Value::Object(std::mem::take(effects)));
        }
        Value::Object(written)
    }
}

impl Effect {
    /// Describes the end: `until the conversation has 3 messages`, or `permanently`.
    pub fn until(&self) -> Phrase {
        until(self.end)
    }

    fn read(value: &Value) -> Option<Self> {
        let number = |key: &str| {
            let number = value.get(key)?;
            number.as_u64().or_else(|| number.as_str()?.trim().parse().ok())
        };
        Some(Self {
            // SillyTavern's hash is a number.
            fingerprint: value.get("hash").and_then(Value::as_str).map(Arc::from),
            start: number("start")?,
            end: number("end")?,
            is_protected: value.get("protected").and_then(Value::as_bool).unwrap_or_default(),
        })
    }

    fn write(&self) -> Value {
        let mut map = Map::new();
        map.extend(self.fingerprint.as_ref().map(|hash| ("hash".to_owned(), json!(hash))));
        map.insert("start".to_owned(), json!(self.start));
        map.insert("end".to_owned(), json!(self.end));
        map.insert("protected".to_owned(), json!(self.is_protected));
        Value::Object(map)
    }

    fn matches_entry(&self, member: &Member) -> bool {
        self.fingerprint.as_deref().is_none_or(|known| known == fingerprint(member))
    }
}

fn fingerprint(member: &Member) -> String {
    format!("{:016x}", member.entry.fingerprint)
}

#[derive(Debug)]
pub(crate) struct TimedEffects {
    pub(crate) state: TimedState,
    length: u64,
    sticky: BTreeMap<usize, u64>,
    cooldown: BTreeMap<usize, u64>,
}

impl TimedEffects {
    /// Ends effects; a cooldown can follow.
    pub(crate) fn begin(set: &BookSet, state: &TimedState, length: u64) -> Self {
        let mut timed =
            Self { state: state.clone(), length, sticky: BTreeMap::new(), cooldown: BTreeMap::new() };
        if state.is_empty() {
            return timed;
        }
        let members: BTreeMap<&str, (usize, &Member)> =
            set.members().iter().enumerate().map(|at| (&*at.1.id, at)).collect();
        let (sticky, ended) =
            run_effects(&mut timed.state.sticky, &members, length, |member| member.entry.timing.sticky);
        for member in ended {
            timed.start_cooldown(member, true);
        }
        timed.sticky = sticky;
        (timed.cooldown, _) =
            run_effects(&mut timed.state.cooldown, &members, length, |member| member.entry.timing.cooldown);
        timed
    }

    pub(crate) fn sticky(&self, number: usize) -> Option<u64> {
        self.sticky.get(&number).copied()
    }

    pub(crate) fn cooldown(&self, number: usize) -> Option<u64> {
        self.cooldown.get(&number).copied()
    }

    pub(crate) fn is_delayed(&self, member: &Member) -> bool {
        self.length < member.entry.timing.delay
    }

    /// Does not extend running effects.
    pub(crate) fn start_effects(&mut self, member: &Member) {
        let timing = member.entry.timing;
        if timing.sticky > 0 && !self.state.sticky.contains_key(&member.id) {
            let effect = self.effect(member, timing.sticky, false);
            self.state.sticky.insert(member.id.clone(), effect);
        }
        if timing.cooldown > 0 && !self.state.cooldown.contains_key(&member.id) {
            self.start_cooldown(member, false);
        }
    }

    fn start_cooldown(&mut self, member: &Member, is_protected: bool) {
        let cooldown = member.entry.timing.cooldown;
        if cooldown > 0 {
            let effect = self.effect(member, cooldown, is_protected);
            self.state.cooldown.insert(member.id.clone(), effect);
        }
    }

    fn effect(&self, member: &Member, lasts: u64, is_protected: bool) -> Effect {
        Effect {
            fingerprint: Some(fingerprint(member).into()),
            start: self.length,
            end: self.length.saturating_add(lasts).min(FOREVER),
            is_protected,
        }
    }
}

/// Removes effects that ended or no longer apply. Returns the ends of the others by member number, and the members
/// whose effects ended.
fn run_effects<'m>(
    effects: &mut BTreeMap<Arc<str>, Effect>,
    members: &BTreeMap<&str, (usize, &'m Member)>,
    length: u64,
    lasts: fn(&Member) -> u64,
) -> (BTreeMap<usize, u64>, Vec<&'m Member>) {
    let (mut running, mut ended) = (BTreeMap::new(), Vec::new());
    effects.retain(|id, effect| {
        // The reply that started the effect was deleted.
        if length <= effect.start && !effect.is_protected {
            return false;
        }
        let is_over = length >= effect.end;
        // Effects of entries outside the set stay.
        let Some((number, member)) = members.get(&**id).copied() else { return !is_over };
        if !effect.matches_entry(member) || lasts(member) == 0 {
            return false;
        }
        if is_over {
            ended.push(member);
        } else {
            running.insert(number, effect.end);
        }
        !is_over
    });
    (running, ended)
}
