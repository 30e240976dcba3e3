use crate::case;
use std::collections::BTreeSet;
use std::ops::Range;

use ctx_anchors::{
    AnchorRegistry, AssembledPreset, Preset, RenderRequest, RenderedText, Target, assemble, internal::Entry,
};
use ctx_types::DepthPoints;
use ctx_types::internal::{Rank, is_partition};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{Window, pending_start};
use ctx_types::{
    Agent, Attachment, Diagnostic, Injection, Message, Order, Persist as _, Place, Placement, Reader, Role,
    Segment, Side, Source, SourceKind, Span, Text, Trust, groups,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
struct Input {
    agent: Value,
    history: String,
    injections: Vec<Injection>,
    model: Option<&'static str>,
}

impl Input {
    fn preset(&self) -> (Preset, Vec<Diagnostic>) {
        Preset::compile(&Agent::read(self.agent.clone(), &mut Reader::new()), &case::registry())
    }

    fn assemble(&self, window: Window) -> AssembledPreset {
        let target = Target { model: self.model, profile: None, kind: None };
        assemble(&self.preset().0, window, self.injections.clone(), target, &mut render)
    }

    fn run(&self) -> AssembledPreset {
        self.assemble(case::window(&self.history))
    }

    fn has_history(&self) -> bool {
        self.agent["historyWhenUnplaced"] != "omit" || self.preset().0.places_history()
    }
}

fn render(request: RenderRequest<'_>) -> RenderedText {
    if !request.text.contains("{{user}}") {
        return RenderedText::unchanged(request.text);
    }
    let (own, mut text, mut written) = (&request.entry.source, String::new(), Vec::new());
    for (index, literal) in request.text.split("{{user}}").enumerate() {
        let value = if index == 0 { "" } else { "Ada" };
        for (part, source) in [(value, Source::new(SourceKind::Macro, Trust::User)), (literal, own.clone())] {
            let span = Span::new(text.len(), text.len() + part.len());
            if !span.is_empty() {
                written.push(Segment { span, source, via: Vec::new() });
            }
            text.push_str(part);
        }
    }
    RenderedText { text: Text::from(text), written }
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => select(&["x", "Hello {{user}}!", "{{user}}", "$&"][..]).prop_map(Value::from),
        1 => select(&["", " \n"][..]).prop_map(Value::from),
        1 => Just(json!([{"type": "text", "text": "a{{user}}"}, {"type": "image_url"}, {"type": "text", "text": "b"}, {"type": "text", "text": ""}])),
        1 => Just(Value::Null),
    ]
}

fn kind() -> impl Strategy<Value = Value> {
    let kinds =
        &["chat_history", "user_profile", "weather", "code", "placeholder", "lore", "char_description"];
    prop_oneof![6 => Just(Value::Null), 4 => select(&kinds[..]).prop_map(Value::from)]
}

const TARGETS: [&str; 8] = [
    "chat_history",
    "user_profile",
    "weather",
    "code",
    "lore",
    "char_description",
    "world_info_before",
    "author_note",
];

fn order() -> impl Strategy<Value = f64> {
    select(&[100.0, 100.0, -1.0, 0.0, 99.5, 200.0][..])
}

/// Some are invalid.
fn placement() -> impl Strategy<Value = Value> {
    let side = || select(&["before", "after"][..]);
    let depths = select(&["0", "0~1", "1, 3", "2~3, 50", "9:0", "x"][..]);
    prop_oneof![
        2 => Just(json!({})),
        2 => (-6_i64..12, order()).prop_map(|(at, order)| json!({ "insertionPoint": at, "order": order })),
        2 => (-1_i64..12, order()).prop_map(|(depth, order)| json!({
            "injectionStrategy": { "type": "depth", "depth": depth, "order": order, "lane": depth % 2 }
        })),
        1 => depths.prop_map(|depths| json!({
            "injectionStrategy": { "type": "advanced_depth", "depthConfig": depths }
        })),
        2 => (select(&TARGETS[..]), side(), order()).prop_map(|(target, side, order)| json!({
            "anchorTarget": target, "anchorPoint": side, "order": order
        })),
    ]
}

prop_compose! {
    fn entry()(
        kind in kind(), content in content(), placement in placement(),
        role in select(&["system", "user", "assistant", "tool"][..]),
        id in select(&["lore", "a", "b", ""][..]),
        off in 0..8, group in select(&["on", "off", "none"][..]),
    ) -> Value {
        let mut entry = placement;
        entry["type"] = kind;
        entry["content"] = content;
        entry["role"] = role.into();
        entry["id"] = id.into();
        match off {
            0 => entry["isEnabled"] = false.into(),
            1 => entry["groupId"] = group.into(),
            2 => entry["modelMatch"] = json!({ "enabled": true, "patterns": ["gpt"] }),
            _ => {}
        }
        entry
    }
}

prop_compose! {
    fn agent()(entries in vec(entry(), 0..12), omit in proptest::bool::weighted(0.2)) -> Value {
        json!({
            "presetMessages": entries,
            "presetGroups": [{ "id": "on" }, { "id": "off", "enabled": false }],
            "historyWhenUnplaced": if omit { "omit" } else { "append" },
        })
    }
}

fn history() -> impl Strategy<Value = String> {
    let turn = select(&["ua", "u", "ucta", "ucttcta", "uct", "uuas", "uc", "ta"][..]);
    let (head, tail) = (select(&["", "s", "ss"][..]), select(&["", "u", "uct", "up", "ucttp", "uu"][..]));
    (head, vec(turn, 0..5), tail).prop_map(|(head, turns, tail)| format!("{head}{}{tail}", turns.concat()))
}

prop_compose! {
    fn injection()(
        keys in placement(), rank in select(&[Rank::Worldbook, Rank::Plugin][..]), lane in -1_i64..2,
        role in select(&[Role::System, Role::User, Role::Assistant][..]), id in any::<u64>(),
        name in select(&[None, Some("Ada")][..]), files in 0_usize..3, cut in 0_usize..9,
    ) -> Injection {
        let file = ctx_types::PresetMessage::read(keys, &mut Reader::new());
        let text = if lane == 1 { "injected" } else { "" };
        let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id(id.to_string());
        let mut injection = Injection::plugin(text, Placement::read(&file).0, source.clone());
        if 0 < cut && cut < text.len() {
            let own = Source::new(SourceKind::Macro, Trust::User);
            let segment = |span, source| Segment { span, source, via: Vec::new() };
            injection.written =
                vec![segment(Span::new(0, cut), own), segment(Span::new(cut, text.len()), source)];
        }
        (injection.rank, injection.lane, injection.role) = (rank, lane, role);
        injection.name = name.map(Into::into);
        let file = |number| Attachment::from_value(&json!({ "id": format!("{number}"), "name": "a.png" }));
        injection.attachments = (0..files).map(file).collect();
        injection
    }
}

prop_compose! {
    fn input()(
        agent in agent(), history in history(), injections in vec(injection(), 0..4),
        model in select(&[None, Some("gpt-5"), Some("claude")][..]),
    ) -> Input {
        Input { agent, history, injections, model }
    }
}

/// Expected number of messages without a decision.
fn times(entry: &Entry, total: usize) -> usize {
    match &entry.placement {
        Placement::Depth { points, .. } => points.within(total as u64).len(),
        _ => 1,
    }
}

fn positions(messages: &[Message], members: &[Message]) -> Vec<usize> {
    let is_member = |message: &&Message| members.iter().any(|member| member.source == message.source);
    let found = messages.iter().enumerate().filter(|(_, message)| is_member(message));
    found.map(|(position, _)| position).collect()
}

/// Group borders where the loaded messages may start.
fn borders(window: &Window) -> Vec<usize> {
    let pending = pending_start(&window.messages);
    let starts = groups(&window.messages).into_iter().map(|Range { start, .. }| start);
    starts.filter(|start| *start <= pending).collect()
}

proptest! {
    #[test]
    fn sends_every_entry_or_records_decision(input in input()) {
        let assembled = input.run();
        let total = case::window(&input.history).total_len();
        let target = Target { model: input.model, profile: None, kind: None };
        prop_assert_eq!(input.preset().0.entries().len(), input.agent["presetMessages"].as_array().unwrap().len());
        for entry in input.preset().0.entries().iter().filter(|entry| entry.has_own_content()) {
            let sent = assembled.messages.iter().filter(|message| message.source == entry.source).count();
            let mut decisions = assembled.decisions.iter().filter(|decision| decision.source == entry.source);
            if !entry.is_active(target) {
                prop_assert_eq!(sent, 0);
                prop_assert!(decisions.next().is_some());
            } else if decisions.clone().next().is_none() {
                prop_assert_eq!(sent, times(entry, total), "{:?}", entry);
            } else if sent == 0 {
                prop_assert!(decisions.any(|decision| decision.outcome != Outcome::Moved), "{:?}", entry);
            }
        }
    }

    #[test]
    fn sends_every_injection_or_records_decision(input in input()) {
        let assembled = input.run();
        let sent = assembled.messages.iter().filter(|message| message.source.kind == SourceKind::Plugin);
        let lost = assembled.decisions.iter().filter(|decision| {
            decision.source.kind == SourceKind::Plugin && decision.outcome != Outcome::Moved
        });
        prop_assert!(sent.count() + lost.count() >= input.injections.len());
    }

    #[test]
    fn copies_all_fields_of_injection(input in input()) {
        let messages = input.run().messages;
        for injection in &input.injections {
            for message in messages.iter().filter(|message| message.source == injection.source) {
                let moved = matches!(&injection.placement, Placement::Anchor { target, .. } if &**target == "author_note");
                prop_assert!(message.role == injection.role || moved && message.role == Role::System);
                prop_assert_eq!(message.text(), &*injection.text);
                prop_assert_eq!(&message.name, &injection.name);
                prop_assert_eq!(&message.attachments, &injection.attachments);
                prop_assert_eq!(message.placement.as_deref(), Some(&injection.placement));
                prop_assert_eq!(&message.written, &injection.written);
            }
        }
    }

    #[test]
    fn records_decision_for_entries_moved_to_front(
        input in input(), loaded in any::<proptest::sample::Index>(),
    ) {
        let mut window = case::window(&input.history);
        let starts = borders(&window);
        window.skipped = if starts.is_empty() { 0 } else { starts[loaded.index(starts.len())] };
        window.messages.drain(..window.skipped);
        let skipped = window.skipped;
        let assembled = input.assemble(window);
        let is_at_front = |decision: &&Decision| {
            decision.outcome == Outcome::Moved && decision.reason.to_string().contains("placed before ")
                && (decision.reason.to_string().contains("depth") || decision.reason.to_string().contains("not loaded"))
        };
        let told = assembled.decisions.iter().filter(is_at_front).map(|decision| decision.source.to_string());
        let front = |message: &Message| Some((message.source.to_string(), message.slot_rank?.front?));
        let found: Vec<(String, usize)> = assembled.messages.iter().filter_map(front).collect();
        prop_assert!(found.iter().all(|(_, front)| *front == 0 || *front < skipped));
        let found: BTreeSet<String> = found.into_iter().map(|(source, _)| source).collect();
        prop_assert_eq!(found, told.collect::<BTreeSet<String>>());
    }

    #[test]
    fn keeps_history_complete_and_ordered(input in input()) {
        let assembled = input.run();
        let is_history = |message: &&Message| message.source.kind == SourceKind::History;
        let found: Vec<_> = assembled.messages.iter().filter(is_history).map(|message| &message.source).collect();
        let window = case::window(&input.history);
        let all = window.pinned.iter().chain(&window.messages).chain(&window.prefix);
        let expected: Vec<_> = all.filter(|_| input.has_history()).map(|message| &message.source).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn inserts_nothing_inside_message_groups(input in input()) {
        let assembled = input.run();
        let window = case::window(&input.history);
        for group in groups(&window.messages) {
            let members = &window.messages[group];
            let found = positions(&assembled.messages, members);
            if let [first, .., last] = found.as_slice() {
                prop_assert_eq!((found.len(), last - first + 1), (members.len(), members.len()));
            }
        }
    }

    #[test]
    fn adds_no_placed_message_to_groups(input in input()) {
        let messages = input.run().messages;
        for group in groups(&messages).into_iter().filter(|group| group.len() > 1) {
            prop_assert!(messages[group].iter().all(|message| message.source.kind == SourceKind::History));
        }
    }

    #[test]
    fn keeps_pins_first_and_prefix_last(input in input()) {
        let messages = input.run().messages;
        let last_pin = messages.iter().rposition(|message| message.place == Place::Pinned);
        let is_placed = |message: &Message| matches!(message.place, Place::Gap { .. });
        if let (Some(pin), Some(gap)) = (last_pin, messages.iter().position(is_placed)) {
            prop_assert!(pin < gap);
        }
        let prefix = messages.iter().position(|message| message.is_continuation_prefix);
        prop_assert!(prefix.is_none_or(|prefix| prefix + 1 == messages.len()));
    }

    #[test]
    fn returns_same_result_for_same_input(input in input()) {
        prop_assert_eq!(input.run(), input.run());
        prop_assert_eq!(input.preset().1, input.preset().1);
    }

    #[test]
    fn assigns_every_byte_to_one_segment(input in input()) {
        for message in input.run().messages {
            prop_assert!(is_partition(&message.segments(), message.content.len()), "{:?}", message);
        }
    }

    #[test]
    fn attributes_macro_output_to_macro(input in input()) {
        for message in input.run().messages.iter().filter(|message| message.source.kind == SourceKind::Preset) {
            let text = message.text();
            prop_assert_eq!(text.len(), message.content.len());
            for segment in message.segments().iter() {
                let written = &text[segment.span.start..segment.span.end];
                let is_macro = segment.source.kind == SourceKind::Macro;
                prop_assert!(is_macro || segment.source == message.source);
                prop_assert_eq!((written == "Ada", written.contains("Ada")), (is_macro, is_macro), "{}", written);
            }
        }
    }

    #[test]
    fn returns_same_end_for_loaded_messages(input in input(), choice in any::<proptest::sample::Index>()) {
        let whole = case::window(&input.history);
        let borders = borders(&whole);
        prop_assume!(input.has_history() && !borders.is_empty());
        let mut window = whole.clone();
        window.skipped = borders[choice.index(borders.len())];
        window.messages.drain(..window.skipped);
        let first = window.messages[0].source.clone();
        prop_assert_eq!(window.settled_len(), whole.settled_len());
        let end = |assembled: AssembledPreset| {
            let start = assembled.messages.iter().position(|message| message.source == first);
            assembled.messages[start.unwrap()..].to_vec()
        };
        prop_assert_eq!(end(input.assemble(window)), end(input.assemble(whole)));
    }

    #[test]
    fn points_diagnostics_into_file(input in input()) {
        for diagnostic in input.preset().1 {
            let pointer = diagnostic.location.pointer.clone().unwrap_or_default();
            prop_assert!(input.agent.pointer(&pointer).is_some(), "{}", diagnostic);
        }
    }

    #[test]
    fn sorts_slot_by_order_then_rank(
        orders in vec((order(), select(&[Rank::Worldbook, Rank::Plugin][..])), 0..8)
    ) {
        let source = Source::new(SourceKind::Plugin, Trust::Preset);
        let injection = |(index, (order, rank)): (usize, &(f64, Rank))| {
            let placement = Placement::Depth { points: DepthPoints::single(0), order: Order(*order) };
            let mut injection = Injection::plugin(index.to_string(), placement, source.clone());
            injection.rank = *rank;
            injection
        };
        let injections = orders.iter().enumerate().map(injection).collect();
        let input = Input { agent: json!({}), history: "u".to_owned(), injections, model: None };
        let mut expected: Vec<usize> = (0..orders.len()).collect();
        expected.sort_by_key(|index| (Order(orders[*index].0), orders[*index].1));
        let found: Vec<usize> =
            input.run().messages.iter().skip(1).map(|message| message.text().parse().unwrap()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn accepts_any_injection_placement_without_panic(
        at in any::<i64>(), depth in any::<u64>(), order in any::<f64>(), target in ".*", syntax in "[0-9~:, -]*",
    ) {
        let order = Order(order);
        let placements = [
            Placement::Index { at, order },
            Placement::Depth { points: DepthPoints::single(depth), order },
            Placement::Depth { points: DepthPoints::parse(&syntax).0, order },
            Placement::Anchor { target: target.into(), side: Side::Before, order },
        ];
        let source = Source::new(SourceKind::Plugin, Trust::Preset);
        let injections = placements.into_iter().map(|placement| Injection::plugin("x", placement, source.clone()));
        let injections: Vec<Injection> = injections.collect();
        for history in ["", "uau", "sucttaup"] {
            let input =
                Input { agent: json!({}), history: history.to_owned(), injections: injections.clone(), model: None };
            input.run();
        }
    }
}

#[test]
fn allows_sharing_preset_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Preset>();
    is_shared::<AnchorRegistry>();
}
