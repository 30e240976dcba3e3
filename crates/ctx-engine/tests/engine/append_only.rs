//! Rules of append-only requests, by example.

use ctx_engine::{Compile, Context, Switches, read_agent};
use ctx_types::ports::ToolDefinition;
use ctx_types::session::{Change, Node, NodeEdit, NodeId, NodeMetadata, Session, SessionOp};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{
    Content, GenerationKind, Message, Persist as _, PrefixMode, Reader, Role, Source, SourceKind, Trust,
    TurnInput,
};
use serde_json::{Value, json};

use crate::append_only_conversations::{ENGINE, Host, Options, Step};

/// A conversation without a budget, without joined messages.
fn host() -> Host {
    Host::new(Options { context_tokens: 0, merges: false, recalls: false, has_opening: false })
}

/// Describes a request: whether it repeats the previous one, and the messages that follow.
fn describe(context: &Context) -> String {
    let prefix = context.report.prefix.as_ref().unwrap();
    let planned = prefix.planned_break.as_ref().map(|planned| format!(", {}", planned.reason));
    let head = format!("repeats {}{}", prefix.messages, planned.unwrap_or_default());
    let added = context.messages[prefix.messages..].iter();
    let added = added.map(|message| {
        format!("{} {}: {}", message.role, message.source, message.text()).trim_end().to_owned()
    });
    std::iter::once(head).chain(added).collect::<Vec<_>>().join("\n  ")
}

#[test]
fn keeps_texts_where_they_were_inserted() {
    let mut host = Host::new(Options { context_tokens: 0, merges: true, recalls: false, has_opening: false });
    let steps = [
        Step::Write { words: vec![0], is_stored: true },
        Step::Write { words: vec![1], is_stored: false },
        Step::CallTool { word: 2 },
        Step::Write { words: vec![5], is_stored: true },
        Step::Edit { back: 1 },
        Step::Write { words: vec![4], is_stored: true },
    ];
    let mut described = Vec::new();
    for step in &steps {
        let before: Vec<NodeId> = host.sent.keys().cloned().collect();
        host.run(step).unwrap();
        let new = host.sent.iter().filter(|(id, _)| !before.contains(id));
        described.extend(new.map(|(_, (context, _))| describe(context)));
    }
    insta::assert_snapshot!(described.join("\n"), @"
    repeats 0
      system merged:preset:sys+worldbook:b.2+preset:four: You are a gardener. It is 12:01 AM, a.

    ---

    basil grows by the door

    ---

    Depth four at 12:01 AM. basil
      user preset:two: Depth two.
      system preset:last: Before the answer.
      user history:n1: Question 0: basil?
      system merged:worldbook:b.1+preset:late: always

    ---

    Be brief.
    repeats 5
      assistant history:n2: Reply 1 about basil.
      system merged:preset:four+preset:list+worldbook:b.3: Depth four at 12:02 AM. basil

    ---

    At two depths.

    ---

    the lake is cold
      user input: Question 1: lake?
    repeats 8
      assistant history:n4: Reply 2 about lake.
      system merged:preset:four+worldbook:b.4: Depth four at 12:03 AM. basil

    ---

    the train leaves at 7:15
      user history:n5: Look up the train.
    repeats 11
      assistant history:n6:
      tool history:n7: found train
      system preset:four: Depth four at 12:04 AM. basil
    repeats 14
      assistant history:n8: Found.
      system preset:four: Depth four at 12:05 AM. basil
      user history:n9: Question 4: rain?
    repeats 16, the conversation changed at `n9`
      user history:n9: edited 5
      assistant history:n10: Reply 5 about rain.
      system preset:four: Depth four at 12:06 AM. basil
      user history:n11: Question 5: dog?
    ");
}

#[test]
fn sends_an_input_that_is_not_stored_once() {
    let mut host = host();
    for _ in 0..2 {
        let turn = host.turn().with(|turn| turn.input = Some("Hello".into()));
        host.send(turn).unwrap();
    }
    let (context, _) = host.sent.values().next().unwrap();
    assert_eq!(context.messages.iter().filter(|message| message.text() == "Hello").count(), 1);
}

#[test]
fn breaks_at_messages_that_a_summary_hides() {
    let mut host = host();
    for word in 0..3 {
        host.run(&Step::Write { words: vec![word], is_stored: true }).unwrap();
    }
    let mut summary = Node::new(Role::System, "They talked about plants.");
    summary.metadata = Some(Box::new(NodeMetadata {
        is_compression_node: Some(true),
        compressed_node_ids: vec!["n1".into(), "n2".into()],
        ..NodeMetadata::default()
    }));
    let summary = Box::new(summary.with_id("summary"));
    host.session.apply(&SessionOp::Insert { after: "n2".into(), node: summary }).unwrap();
    host.run(&Step::Write { words: vec![3], is_stored: true }).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n7")];
    let planned = context.report.prefix.clone().unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "the conversation changed at `n1`");
    assert!(context.messages.iter().all(|message| !message.text().contains("Question 0")));
}

#[test]
fn repeats_placeholders_between_messages() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "role": "user", "content": "Be brief." },
        { "type": "chat_history" },
    ] });
    let agent = read_agent(agent.to_string().as_bytes(), "a.json").unwrap();
    let with = Compile::default().with(|compile| {
        compile.switches = Switches {
            enable: vec!["ensure-alternating-roles".to_owned()],
            disable: vec!["merge-consecutive-roles".to_owned()],
        };
    });
    let compiled = ENGINE.compile(&agent.value, &with);
    let (mut session, _) = Session::linear("s", [Node::new(Role::User, "Hello").with_id("n1")]);
    let turn = TurnInput::default();
    let first = compiled.assemble_blocking(&session, &turn).unwrap();
    for op in &first.effects {
        session.apply(op).unwrap();
    }
    for (id, role, text) in [("n2", Role::Assistant, "Hi"), ("n3", Role::User, "Bye")] {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(role, text).with_id(id));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    }
    let second = compiled.assemble_blocking(&session, &turn).unwrap();
    let texts = |context: &Context| -> Vec<String> {
        context.messages.iter().map(|message| message.text().into_owned()).collect()
    };
    assert_eq!(texts(&first).len(), 4);
    assert_eq!(texts(&second)[..4], texts(&first));
}

/// Sends a request after each user message, and returns the texts of the requests.
fn run_conversation(agent: &Value, stored: &[(Role, &str)]) -> Vec<Vec<String>> {
    let bytes = agent.to_string();
    let agent = read_agent(bytes.as_bytes(), "a.json").unwrap();
    let with = Compile::default().with(|compile| {
        compile.switches = Switches { enable: vec![], disable: vec!["merge-consecutive-roles".to_owned()] };
    });
    let compiled = ENGINE.compile(&agent.value, &with);
    let mut session = Session::new("s");
    let mut requests = Vec::new();
    for (number, (role, text)) in stored.iter().enumerate() {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(*role, *text).with_id(format!("n{number}")));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
        if *role == Role::User {
            let context = compiled.assemble_blocking(&session, &TurnInput::default()).unwrap();
            for op in &context.effects {
                session.apply(op).unwrap();
            }
            let describe = |message: &Message| format!("{}: {}", message.role, message.text());
            requests.push(context.messages.iter().map(describe).collect());
        }
    }
    requests
}

#[test]
fn alternates_roles_after_prefix() {
    let agent = json!({ "prefix": "append-only", "parameters": {
        "processors": [{ "id": "ensure-alternating-roles", "enabled": true, "config": { "startWithUser": true } }],
    }, "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ] });
    let stored =
        [(Role::User, "Hello"), (Role::Assistant, "Hi"), (Role::User, "Bye"), (Role::User, "Are you there?")];
    let requests = run_conversation(&agent, &stored);
    insta::assert_snapshot!(requests[2].join("\n"), @"
    system: Be kind.
    user: Hello
    assistant: Hi
    user: Bye
    assistant: OK.
    user: Are you there?
    ");
}

#[test]
fn converts_system_messages_after_prefix() {
    let agent = json!({ "prefix": "append-only", "parameters": {
        "processors": [{ "id": "convert-system-to-user", "enabled": true, "config": { "scope": "after_first" } }],
    }, "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
        { "role": "system", "content": "Answer to {{lastUserMessage}}.",
          "injectionStrategy": { "type": "depth", "depth": 3 } },
    ] });
    let stored = [(Role::User, "Hello"), (Role::User, "Bye")];
    let requests = run_conversation(&agent, &stored);
    insta::assert_snapshot!(requests[1].join("\n"), @"
    system: Be kind.
    user: Answer to Hello.

    ---

    Hello
    user: Answer to Bye.

    ---

    Bye
    ");
}

#[test]
fn starts_new_prefix_after_damaged_record() {
    let mut host = host();
    host.run(&Step::Write { words: vec![0], is_stored: true }).unwrap();
    let metadata = NodeMetadata::read(json!({ "sentRequest": { "messages": 3 } }), &mut Reader::new());
    let edit = NodeEdit { metadata: Change::Set(Box::new(metadata)), ..NodeEdit::default() };
    host.session.apply(&SessionOp::Edit { id: "n1".into(), edit: Box::new(edit) }).unwrap();
    host.run(&Step::Write { words: vec![1], is_stored: true }).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n3")];
    let planned = context.report.prefix.clone().unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "the record of the previous request is damaged");
}

#[test]
fn starts_new_prefix_after_file_change() {
    let mut host = host();
    host.run(&Step::Attach).unwrap();
    host.run(&Step::Write { words: vec![1], is_stored: true }).unwrap();
    assert_eq!(host.sent[&NodeId::from("n3")].0.report.prefix.as_ref().unwrap().planned_break, None);
    host.run(&Step::ChangeFile).unwrap();
    host.run(&Step::Write { words: vec![1], is_stored: true }).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n5")];
    let planned = context.report.prefix.clone().unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "a file of `history:n1` changed");
}

#[test]
fn inserts_an_edited_note_as_a_new_version() {
    let mut host = host();
    host.run(&Step::Write { words: vec![0], is_stored: true }).unwrap();
    host.run(&Step::EditNote { word: 3 }).unwrap();
    host.run(&Step::Write { words: vec![0], is_stored: true }).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n3")];
    assert_eq!(context.report.prefix.as_ref().unwrap().planned_break, None);
    let notes: Vec<_> = context.messages.iter().map(Message::text).collect();
    let notes = notes.iter().filter(|text| text.starts_with("Depth four")).map(|text| &text[24..]);
    assert_eq!(notes.collect::<Vec<_>>(), ["basil", "lamp"]);
}

#[test]
fn forgets_an_input_that_was_withdrawn() {
    let mut host = Host::new(Options { context_tokens: 0, merges: true, recalls: false, has_opening: false });
    let turn = host.turn().with(|turn| turn.input = Some("Hello".into()));
    host.send(turn).unwrap();
    let turn = host.turn();
    host.send(turn).unwrap();
    let (context, _) = host.sent.values().next().unwrap();
    assert!(context.messages.iter().all(|message| !message.text().contains("Hello")));
    let planned = context.report.prefix.clone().unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "the input changed");
}

#[test]
fn reports_a_changed_note_when_the_request_is_sent_again() {
    let mut host = host();
    host.run(&Step::Write { words: vec![0], is_stored: true }).unwrap();
    host.run(&Step::EditNote { word: 3 }).unwrap();
    host.run(&Step::Regenerate).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n1")];
    let decisions =
        context.report.decisions.iter().filter(|decision| decision.reason.to_string().contains("again"));
    let sources: Vec<_> = decisions.map(|decision| decision.source.to_string()).collect();
    assert_eq!(sources, ["preset:four"]);
}

#[test]
fn recalls_messages_that_the_cut_drops() {
    let agent = json!({ "presetMessages": [{ "type": "chat_history" }] }).to_string();
    let agent = read_agent(agent.as_bytes(), "a.json").unwrap();
    let switches = Switches { enable: vec!["recall".to_owned()], disable: vec![] };
    let compiled =
        ENGINE.compile(&agent.value, &Compile::default().with(|compile| compile.switches = switches));
    let text = |at: usize| match at {
        15 => "The lighthouse key lies under the red stone.".to_owned(),
        _ => format!("Chapter {at} tells of ships and storms at the coast, and of long nights."),
    };
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let nodes = roles.take(40).enumerate().map(|(at, role)| Node::new(role, text(at)));
    let (session, _) = Session::linear("s", nodes);
    for mode in [PrefixMode::Moving, PrefixMode::AppendOnly] {
        let turn = TurnInput::new("Where is the lighthouse key?").with(|turn| {
            turn.prefix = Some(mode);
            turn.context_tokens = Some(700);
        });
        let context = compiled.assemble_blocking(&session, &turn).unwrap();
        assert!(context.messages.len() < 40);
        assert!(context.messages.iter().any(|message| message.text().contains("red stone")), "{mode:?}");
    }
}

/// A digest replaces the messages that a cut removes, and later requests repeat it.
#[test]
fn keeps_digest_after_planned_break() {
    let agent =
        json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }] }).to_string();
    let agent = read_agent(agent.as_bytes(), "a.json").unwrap();
    let enable = ["request-compressor", "recall"].map(str::to_owned).to_vec();
    let switches = Switches { enable, disable: vec![] };
    let compiled =
        ENGINE.compile(&agent.value, &Compile::default().with(|compile| compile.switches = switches));
    let (mut session, _) = Session::linear("s", []);
    let mut requests = Vec::new();
    for at in 0..44 {
        let parent = session.active_leaf_id().clone();
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        let text = format!("Chapter {at} tells of Captain Marlow, order {}, and long nights.", 7000 + at);
        let node = Box::new(Node::new(role, text).with_id(format!("n{at}")));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
        if role == Role::User {
            let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(700));
            let context = compiled.assemble_blocking(&session, &turn).unwrap();
            context.effects.iter().for_each(|op| drop(session.apply(op).unwrap()));
            let digests =
                context.messages.iter().filter(|message| message.source.kind == SourceKind::Summary);
            let prefix = context.report.prefix.unwrap();
            requests.push((
                context.messages.len(),
                prefix.messages,
                prefix.planned_break.is_some(),
                digests.count(),
            ));
        }
    }
    let cut = requests.iter().position(|(.., is_break, _)| *is_break).unwrap();
    assert!(requests[..cut].iter().all(|(.., digests)| *digests == 0), "{requests:?}");
    assert!(
        cut + 3 < requests.len() && requests[cut..].iter().all(|(.., digests)| *digests > 0),
        "{requests:?}"
    );
    for pair in requests[cut..].windows(2) {
        let [(sent, ..), (_, repeated, ..)] = pair else { panic!("two requests") };
        assert_eq!(sent, repeated, "{requests:?}");
    }
}

#[test]
fn inserts_text_with_variables_when_a_value_changes() {
    let agent = json!({ "prefix": "append-only",
        "variableConfig": { "enabled": true, "definitions": [{ "key": "hp", "initialValue": 10 }] },
        "presetMessages": [
            { "type": "chat_history" },
            { "role": "system", "content": "HP $[hp]", "injectionStrategy": { "type": "depth", "depth": 1 } },
        ] });
    let stored = [
        (Role::User, "One"),
        (Role::Assistant, "A hit. <svar name=\"hp\" value=\"7\" />"),
        (Role::User, "Two"),
        (Role::Assistant, "Calm."),
        (Role::User, "Three"),
    ];
    let requests = run_conversation(&agent, &stored);
    let values = requests[2].iter().filter(|text| text.contains("HP "));
    assert_eq!(values.collect::<Vec<_>>(), ["system: HP 10", "system: HP 7"]);
}

#[test]
fn recalls_a_line_once() {
    let agent =
        json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }] }).to_string();
    let agent = read_agent(agent.as_bytes(), "a.json").unwrap();
    let switches = Switches { enable: vec!["recall".to_owned()], disable: vec![] };
    let compiled =
        ENGINE.compile(&agent.value, &Compile::default().with(|compile| compile.switches = switches));
    let text = |at: usize| match at {
        15 => "The lighthouse key lies under the red stone.".to_owned(),
        _ => format!("Chapter {at} tells of ships and storms at the coast, and of long nights."),
    };
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let nodes = roles.take(40).enumerate().map(|(at, role)| Node::new(role, text(at)));
    let (mut session, _) = Session::linear("s", nodes);
    let mut count = 0;
    for id in ["a", "b", "c"] {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(Role::User, "Where is the lighthouse key?").with_id(id));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
        let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(700));
        let context = compiled.assemble_blocking(&session, &turn).unwrap();
        for op in &context.effects {
            session.apply(op).unwrap();
        }
        count = context.messages.iter().filter(|message| message.text().contains("red stone")).count();
    }
    assert_eq!(count, 1);
}

fn planned_break(host: &Host, id: &str) -> Option<String> {
    let planned = host.sent[&NodeId::from(id)].0.report.prefix.clone().unwrap().planned_break;
    planned.map(|planned| planned.reason.to_string())
}

#[test]
fn breaks_once_at_an_omitted_message_that_changed() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }],
        "regexConfig": { "presets": [{ "rules": [
            { "name": "hide", "regex": "/^Secret.*/g", "replacement": "", "applyTo": { "request": true } },
        ] }] } });
    let agent = read_agent(agent.to_string().as_bytes(), "a.json").unwrap();
    let compiled = ENGINE.compile(&agent.value, &Compile::default());
    let mut session = Session::new("s");
    let mut reasons = Vec::new();
    for id in ["n1", "n2", "n3", "n4"] {
        let texts = [(Role::User, format!("Question {id}")), (Role::Assistant, format!("Secret {id}"))];
        for (role, text) in texts {
            if role == Role::Assistant {
                let context = compiled.assemble_blocking(&session, &TurnInput::default()).unwrap();
                for op in &context.effects {
                    session.apply(op).unwrap();
                }
                let planned = context.report.prefix.and_then(|prefix| prefix.planned_break);
                reasons.push(planned.map(|planned| planned.reason.to_string()));
            }
            let parent = session.active_leaf_id().clone();
            let node = Box::new(Node::new(role, text).with_id(format!("{id}-{role}")));
            session.apply(&SessionOp::Append { parent, node }).unwrap();
        }
        if id == "n2" {
            let edit = Box::new(NodeEdit::content(Content::Text("Secret plan".into())));
            session.apply(&SessionOp::Edit { id: "n1-assistant".into(), edit }).unwrap();
        }
    }
    let changed = "the conversation changed at `n1-assistant`".to_owned();
    assert_eq!(reasons, [None, None, Some(changed), None]);
}

#[test]
fn sends_a_continued_message_once() {
    let mut host = host();
    host.run(&Step::Write { words: vec![0], is_stored: true }).unwrap();
    for kind in [GenerationKind::Normal, GenerationKind::Continue] {
        let turn = host.turn().with(|turn| turn.kind = kind);
        host.send(turn).unwrap();
    }
    let (context, _) = &host.sent[&NodeId::from("n2")];
    let replies = context.messages.iter().filter(|message| message.role == Role::Assistant);
    assert_eq!(replies.count(), 1);
    let reason = "this turn continues a message of the previous request";
    assert_eq!(planned_break(&host, "n2").as_deref(), Some(reason));
}

/// Sends requests of one conversation, each with its agent and turn. Replies have reasoning.
fn send_turns(turns: &[(&Value, TurnInput)]) -> Vec<Context> {
    let mut session = Session::new("s");
    let append = |session: &mut Session, node: Node| {
        let (parent, id) = (session.active_leaf_id().clone(), format!("n{}", session.nodes().count()));
        session.apply(&SessionOp::Append { parent, node: Box::new(node.with_id(id)) }).unwrap();
    };
    let send = |(number, (agent, turn)): (usize, &(&Value, TurnInput))| {
        let agent = agent.to_string();
        let agent = read_agent(agent.as_bytes(), "a.json").unwrap();
        let compiled = ENGINE.compile(&agent.value, &Compile::default());
        append(&mut session, Node::new(Role::User, format!("Question {number}")));
        let context = compiled.assemble_blocking(&session, turn).unwrap();
        for op in &context.effects {
            session.apply(op).unwrap();
        }
        let mut reply = Node::new(Role::Assistant, format!("Reply {number}"));
        let metadata = json!({ "reasoningContent": "Thought. ".repeat(2) });
        reply.metadata = Some(Box::new(NodeMetadata::read(metadata, &mut Reader::new())));
        append(&mut session, reply);
        context
    };
    turns.iter().enumerate().map(send).collect()
}

fn reasons(contexts: &[Context]) -> Vec<String> {
    let reports = contexts.iter().filter_map(|context| context.report.prefix.as_ref());
    let breaks =
        reports.map(|prefix| prefix.planned_break.as_ref().map(|planned| planned.reason.to_string()));
    breaks.map(Option::unwrap_or_default).collect()
}

/// Returns the number of messages with reasoning in each request.
fn reasoning(contexts: &[Context]) -> Vec<usize> {
    let count =
        |context: &Context| context.messages.iter().filter(|message| message.reasoning.is_some()).count();
    contexts.iter().map(count).collect()
}

#[test]
fn breaks_when_front_model_or_tools_change() {
    let agent = |fields: Value| {
        let mut agent = json!({ "prefix": "append-only", "presetMessages": [
            { "role": "system", "content": "{{description}}" }, { "type": "chat_history" }] });
        agent.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        agent
    };
    let plain = agent(json!({ "description": "Loves roses." }));
    let described = agent(json!({ "description": "Loves tulips." }));
    let rule = json!({ "regex": "/Question/g", "replacement": "Request", "targetRoles": ["user"], "applyTo": { "request": true } });
    let replaced =
        agent(json!({ "description": "Loves tulips.", "regexConfig": { "presets": [{ "rules": [rule] }] } }));
    let model = || TurnInput::default().with(|turn| turn.model = Some("gpt-5".into()));
    let tools = model().with(|turn| {
        turn.tools =
            vec![ToolDefinition { name: "look".into(), description: None, parameters: json!({}).into() }];
    });
    let contexts = send_turns(&[
        (&plain, TurnInput::default()),
        (&described, TurnInput::default()),
        (&replaced, TurnInput::default()),
        (&replaced, model()),
        (&replaced, tools.clone()),
        (&replaced, tools),
    ]);
    let texts: Vec<_> = contexts.iter().map(|context| context.messages[0].text()).collect();
    assert_eq!(texts[..2], ["Loves roses.", "Loves tulips."]);
    assert_eq!(contexts[2].messages[1].text(), "Request 0");
    let front = "the preset, the character or the user profile changed";
    assert_eq!(reasons(&contexts), ["", front, front, "the model changed", "the tools changed", ""]);
}

/// Returns the repeated messages of the turn after one with a tool call. The request with the result of the call has no
/// record, as in a chat.
fn repeated_after_tool_loop(further: Vec<Message>) -> usize {
    let mut host = host();
    host.append(Node::new(Role::User, "Look up the lake."));
    let turn = host.turn().with(|turn| turn.further = further);
    host.send(turn).unwrap();
    host.append_tool_result(1);
    host.append(Node::new(Role::Assistant, "Found."));
    host.append(Node::new(Role::User, "Thanks."));
    let turn = host.turn();
    host.send(turn).unwrap();
    let (context, _) = &host.sent[host.session.active_leaf_id()];
    context.report.prefix.as_ref().unwrap().messages
}

#[test]
fn counts_messages_of_a_tool_loop_as_repeated() {
    let source = Source::new(SourceKind::Plugin, Trust::User).with_id("page");
    let page = Message::new(Role::User, "A page about the lake.", source);
    let (without, with) = (repeated_after_tool_loop(vec![]), repeated_after_tool_loop(vec![page]));
    assert_eq!(without - with, 2, "the text for one turn precedes the call");
}

#[test]
fn writes_prefill_at_each_turn() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "type": "chat_history" }, { "role": "assistant", "content": "Sure:" }] });
    let contexts = send_turns(&[(&agent, TurnInput::default()), (&agent, TurnInput::default())]);
    let texts = |context: &Context| -> Vec<String> {
        context.messages.iter().map(|message| message.text().into_owned()).collect()
    };
    assert_eq!(texts(&contexts[0]), ["Question 0", "Sure:"]);
    assert_eq!(texts(&contexts[1]), ["Question 0", "Reply 0", "Question 1", "Sure:"]);
}

#[test]
fn drops_reasoning_of_a_turn_without_record() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }] });
    let turn = || TurnInput::default().with(|turn| turn.model = Some("gpt-6.2".into()));
    let moving = turn().with(|turn| turn.prefix = Some(PrefixMode::Moving));
    let contexts = send_turns(&[(&agent, turn()), (&agent, turn()), (&agent, turn())]);
    assert_eq!(reasoning(&contexts), [0, 1, 2]);
    let contexts = send_turns(&[(&agent, turn()), (&agent, moving), (&agent, turn())]);
    assert_eq!(reasoning(&contexts), [0, 1, 0]);
}

#[test]
fn cuts_even_if_the_request_fits_without_reasoning() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }] });
    let turn = TurnInput::default().with(|turn| {
        turn.model = Some("gpt-6.2".into());
        turn.context_tokens = Some(600);
        turn.reserve = Some(0);
    });
    let turns = vec![(&agent, turn); 60];
    let contexts = send_turns(&turns);
    let tokens = |context: &Context| context.tokens().iter().sum::<u32>();
    let breaks = reasons(&contexts);
    let after_break = contexts.iter().zip(&breaks).filter(|(_, reason)| !reason.is_empty());
    let after_break: Vec<u32> = after_break.map(|(context, _)| tokens(context)).collect();
    assert!(!after_break.is_empty() && after_break.iter().all(|tokens| *tokens <= 390), "{after_break:?}");
}

#[test]
fn stateless_requests_begin_with_constant_text() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "system", "content": "You are {{char}}." },
        { "role": "system", "content": "It is {{time}}." },
        { "type": "chat_history" },
        { "role": "system", "content": "Be brief.", "insertionPoint": -1 }] });
    let turn = TurnInput::default().with(|turn| {
        turn.is_stateless = true;
        turn.at_millis = Some(0);
        turn.model = Some("claude-opus-5-5".into());
    });
    let contexts = send_turns(&[(&agent, turn.clone()), (&agent, turn)]);
    let texts = contexts[1].messages.iter().map(|message| message.text().into_owned());
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"), @"
    You are Assistant.
    Question 0
    Reply 0
    Question 1
    It is 12:00 AM.
    Be brief.
    ");
    assert_eq!(reasoning(&contexts), [0, 0]);
    let code = ctx_wire::codes::REASONING_NOT_SENT;
    assert!(contexts[1].report.diagnostics.iter().any(|found| found.code == code));
}

/// Returns the messages of a stateless request.
fn send_stateless(agent: &Value, with: &Compile, stored: &[(Role, &str)]) -> Vec<String> {
    let agent = read_agent(agent.to_string().as_bytes(), "a.json").unwrap();
    let compiled = ENGINE.compile(&agent.value, with);
    let (session, _) = Session::linear("s", stored.iter().map(|(role, text)| Node::new(*role, *text)));
    let turn = TurnInput::default().with(|turn| {
        turn.is_stateless = true;
        turn.at_millis = Some(0);
    });
    let context = compiled.assemble_blocking(&session, &turn).unwrap();
    context.messages.iter().map(|message| format!("{}: {}", message.role, message.text())).collect()
}

#[test]
fn stateless_requests_end_with_the_conversation() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "user", "content": "What is the time at {{time}}?" },
        { "role": "assistant", "content": "It is {{time}}." },
        { "type": "chat_history" },
        { "role": "system", "content": "Be brief.", "injectionStrategy": { "type": "depth", "depth": 2 } }] });
    let messages =
        send_stateless(&agent, &Compile::default(), &[(Role::User, "And now?"), (Role::Assistant, "It")]);
    insta::assert_snapshot!(messages.join("\n"), @"
    user: What is the time at 12:00 AM?
    assistant: It is 12:00 AM.
    user: And now?
    system: Be brief.
    assistant: It
    ");
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "type": "chat_history" },
        { "role": "assistant", "content": "I like rain.", "injectionStrategy": { "type": "depth", "depth": 1 } }] });
    let messages = send_stateless(
        &agent,
        &Compile::default(),
        &[(Role::User, "Hello"), (Role::Assistant, "Hi"), (Role::User, "Rain?")],
    );
    assert_eq!(messages.last().map(String::as_str), Some("user: Rain?"));
}

#[test]
fn stateless_requests_begin_with_constant_lore() {
    let entries = json!({ "entries": [
        { "uid": 0, "key": [], "constant": true, "content": "It rains.", "position": 0, "order": 1 },
        { "uid": 1, "key": [], "constant": true, "content": "It is {{time}}.", "position": 0, "order": 2 },
        { "uid": 2, "key": ["lake"], "content": "The lake is cold.", "position": 0, "order": 3 }] });
    let book = Worldbook::read(entries, &mut Reader::new());
    let book = LoadedWorldbook { id: "b".into(), name: "b".into(), book: book.into(), is_global: true };
    let with = Compile::default().with(|compile| compile.worldbooks = vec![book]);
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "system", "content": "You are Ada." },
        { "type": "chat_history" }] });
    insta::assert_snapshot!(send_stateless(&agent, &with, &[(Role::User, "To the lake?")]).join("\n"), @"
    system: You are Ada.

    ---

    It rains.
    user: To the lake?
    system: It is 12:00 AM.
    system: The lake is cold.
    ");
}

#[test]
fn sends_examples_once_when_a_reply_is_regenerated() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "user", "content": "Example question" },
        { "role": "assistant", "content": "Example answer" },
        { "type": "chat_history" }] });
    let agent = agent.to_string();
    let agent = read_agent(agent.as_bytes(), "a.json").unwrap();
    let compiled = ENGINE.compile(&agent.value, &Compile::default());
    let (mut session, _) = Session::linear("s", [Node::new(Role::User, "Hello")]);
    let mut send = || {
        let context = compiled.assemble_blocking(&session, &TurnInput::default()).unwrap();
        for op in &context.effects {
            session.apply(op).unwrap();
        }
        let texts = context.messages.iter().map(|message| message.text().into_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(send(), ["Example question", "Example answer", "Hello"]);
    assert_eq!(send(), ["Example question", "Example answer", "Hello"]);
}

#[test]
fn recalls_messages_that_a_cut_without_overflow_drops() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [{ "type": "chat_history" }],
        "parameters": { "processors": [{ "id": "recall", "enabled": true }] } });
    let turn = TurnInput::default().with(|turn| {
        turn.model = Some("gpt-6.2".into());
        turn.context_tokens = Some(600);
        turn.reserve = Some(0);
    });
    let turns = vec![(&agent, turn); 40];
    let contexts = send_turns(&turns);
    let cut = reasons(&contexts).iter().position(|reason| !reason.is_empty()).unwrap();
    let recalls = |context: &Context| {
        context.messages.iter().filter(|message| message.source.kind == SourceKind::Summary).count()
    };
    assert_eq!((recalls(&contexts[cut - 1]), recalls(&contexts[cut])), (0, 1));
}
