//! Summaries that are put together from the messages' own sentences.

use ctx_compress::mask::{
    Extraction, Language, MadeBy, MaskConfig, MaskPlan, MaskSelection, Summarizing, extract,
};
use ctx_tokens::Counter;
use ctx_types::ports::TokenCounter as _;
use ctx_types::session::{Node, Session};
use ctx_types::{Message, Role};
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::generate::{draws, session};

/// Builds a conversation: lines begin with `u`, `a` or, for a result of the call before, `t`; `a!name{…}` calls.
fn talk(lines: &str) -> Vec<Node> {
    let mut calls = 0;
    let node = |line: &str| {
        let (head, text) = line.trim().split_once(' ').unwrap();
        let mut node = match head {
            "u" => Node::new(Role::User, text),
            "t" => Node::new(Role::Tool, text),
            _ => Node::new(Role::Assistant, text),
        };
        if let Some((name, arguments)) = text.strip_prefix('!').and_then(|call| call.split_once('{')) {
            calls += 1;
            let call = serde_json::json!({ "id": format!("c{calls}"), "name": name, "arguments": format!("{{{arguments}") });
            let value = serde_json::json!({ "role": "assistant", "content": null, "toolCalls": [call] });
            node = serde_json::from_value(value).unwrap();
        }
        if head == "t" {
            node.tool_call_id = Some(format!("c{calls}").into());
        }
        node
    };
    lines.lines().filter(|line| !line.trim().is_empty()).map(node).collect()
}

#[track_caller]
fn summary(lines: &str, tokens: u64) -> String {
    let (session, _) = Session::linear("s", talk(lines));
    let messages: Vec<Message> =
        session.path().iter().map(|node| node.to_message(node.id.as_ref().unwrap())).collect();
    let from = Extraction { messages: &messages, tokens, language: Language::of(&messages) };
    extract(&from, &Counter::estimate()).unwrap().to_string()
}

const HOTEL: &str = r#"
    u Hello! Please book room 12 of the Hotel Alpina for Ms Ada Bell from 3 May to 7 May. She must not be put above the kitchen.
    a !find_rooms{"from": "2026-05-03", "to": "2026-05-07"}
    t {"free": [{"room": 12, "price": 140, "view": "Lake Zurich"}, {"room": 14, "price": 90, "view": "garden"}]}
    a Of course, I would be very happy to help you with that. Room 12 of the Hotel Alpina is free and costs 140 a night, with a view of Lake Zurich. Shall I book it?
    u Yes please, that sounds really lovely. Her number at the “Travel Club” is TC-4471.
    a !book_room{"room": 12, "guest": "Ada Bell", "from": "2026-05-03", "to": "2026-05-07"}
    t {"booking": "B-7781", "ok": true}
    a It is done: room 12 is booked for Ada Bell, and the booking is B-7781. Would you like anything else today?
    u Thank you so much, you are kind. Breakfast has to be at 6:30, since her train to Chur leaves at 7:15.
    a I have noted breakfast at 6:30. I will ask the kitchen tomorrow whether they can do it. Does she eat eggs?
"#;

#[test]
fn it_has_the_sections_of_the_prompts() {
    assert_snapshot!(summary(HOTEL, 320), @"
    ## 1. Overview
    - user: Please book room 12 of the Hotel Alpina for Ms Ada Bell from 3 May to 7 May. She must not be put above the kitchen.

    ## 2. Present focus
    - user: Thank you so much, you are kind. Breakfast has to be at 6:30, since her train to Chur leaves at 7:15.
    - assistant: I have noted breakfast at 6:30. I will ask the kitchen tomorrow whether they can do it. Does she eat eggs?

    ## 3. Ideas and terms
    - Hotel Alpina, Ada Bell, Travel Club

    ## 4. Facts to keep
    - called find_rooms: from:2026-05-03 to:2026-05-07
    - result: room:12 price:140 view:Lake Zurich room:14 price:90 view:garden
    - assistant: Of course, I would be very happy to help you with that. Room 12 of the Hotel Alpina is free and costs 140 a night, with a view of Lake Zurich. Shall I book it?
    - user: Yes please, that sounds really lovely. Her number at the “Travel Club” is TC-4471.

    ## 5. Done and under way
    - called book_room: room:12 guest:Ada Bell from:2026-05-03 to:2026-05-07
    - result: booking:B-7781
    - assistant: It is done: room 12 is booked for Ada Bell, and the booking is B-7781.

    ## 6. Open points and next steps
    - assistant: Would you like anything else today?
    ");
}

#[test]
fn with_little_room_it_has_no_headings() {
    assert_snapshot!(summary(HOTEL, 70), @"
    - user: Please book room 12 of the Hotel Alpina for Ms Ada Bell from 3 May to 7 May.
    - result: price:140 view:Lake Zurich room:14
    - called book_room: room:12 guest:Ada Bell from:2026-05-03 to:2026-05-07
    - result: booking:B-7781
    - assistant: I have noted breakfast at 6:30.
    ");
}

#[test]
fn it_speaks_the_language_of_the_conversation() {
    let lines = "
        u 帮我把《红楼梦》读书会定在 5 月 3 日下午三点，地点在“静思书屋”，一共 12 个人，不要安排在二楼。
        a 好的，已经为您订好静思书屋一楼，5 月 3 日下午三点，预订号 B-7781，费用 360 元。需要准备茶点吗？
        u 要，但是王老师对花生过敏，千万不要放花生。
        a 明白，茶点不放花生。接下来我会联系书屋确认菜单，大约需要一天。
    ";
    assert_snapshot!(summary(lines, 160), @"
    ## 1. 概览
    - 用户：帮我把《红楼梦》读书会定在 5 月 3 日下午三点，地点在“静思书屋”，一共 12 个人，不要安排在二楼。

    ## 2. 目前的焦点
    - 用户：要，但是王老师对花生过敏，千万不要放花生。
    - 助手：明白，茶点不放花生。接下来我会联系书屋确认菜单，大约需要一天。

    ## 3. 概念与术语
    - 红楼梦、静思书屋

    ## 4. 需要保留的事实
    - 助手：需要准备茶点吗？
    ");
}

#[test]
fn an_earlier_summary_goes_on_in_its_sections() {
    let config = MaskConfig { protect_recent_count: 0, roll_up_percent: 0, ..MaskConfig::default() };
    let counter = Counter::estimate();
    let (mut session, _) = Session::linear("s", talk(HOTEL));
    // More than would be asked for of so short a talk, so that there are sections.
    let with_extract = |from: &Extraction<'_>| extract(&Extraction { tokens: 200, ..*from }, &counter);
    let with =
        Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&with_extract) };
    let compress = |session: &Session| {
        let plan = MaskPlan::new(session, &config, &MaskSelection::All, &counter).unwrap();
        let draft = pollster::block_on(plan.summarize(&with)).unwrap();
        assert_eq!(draft.made_by, MadeBy::Extract);
        draft.commit(session, 7).unwrap()
    };
    let first = compress(&session);
    session.apply(&first.op).unwrap();
    let later = "
        u Now the next guest: Mr Tom Gale needs a room with a bath from 9 May, and he brings a dog called Rex.
        a Dogs are welcome and cost 15 a night. Room 21 has a bath; I have booked it for Tom Gale, number B-8090.
        u Good. Send the invoice to accounts@example.org, not to him.
        a The invoice B-8090 will go to accounts@example.org.
    ";
    for node in talk(later) {
        let id = format!("later{}", session.path().len());
        let parent = session.active_leaf_id().clone();
        session
            .apply(&ctx_types::session::SessionOp::Append { parent, node: Box::new(node.with_id(id)) })
            .unwrap();
    }
    let second = compress(&session);
    session.apply(&second.op).unwrap();
    assert_eq!((second.notice.messages, second.notice.summaries), (4, 1));
    assert_snapshot!(session.node(&second.id).unwrap().content.as_ref().unwrap().text(), @"
    ## 1. Overview
    - user: Please book room 12 of the Hotel Alpina for Ms Ada Bell from 3 May to 7 May. She must not be put above the kitchen.

    ## 2. Present focus
    - user: Good. Send the invoice to accounts@example.org, not to him.
    - assistant: The invoice B-8090 will go to accounts@example.org.

    ## 3. Ideas and terms
    - Ada Bell, Hotel Alpina, Travel Club, Tom Gale

    ## 4. Facts to keep
    - assistant: I have noted breakfast at 6:30.
    - result: room:12 price:140 view:Lake Zurich room:14 price:90 view:garden
    - user: Her number at the “Travel Club” is TC-4471.

    ## 5. Done and under way
    - called book_room: room:12 guest:Ada Bell from:2026-05-03 to:2026-05-07
    - result: booking:B-7781
    - assistant: Room 21 has a bath; I have booked it for Tom Gale, number B-8090.
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_keeps_to_its_room_and_invents_nothing(draws in draws(), tokens in 1_u64..400) {
        let session = session(&draws);
        let messages: Vec<Message> = session.path().iter().map(|node| node.to_message(node.id.as_ref().unwrap())).collect();
        let counter = Counter::estimate();
        let from = Extraction { messages: &messages, tokens, language: Language::English };
        let summary = extract(&from, &counter);
        prop_assert_eq!(&summary, &extract(&from, &counter), "the same each time");
        if let Some(summary) = summary {
            prop_assert!(u64::from(counter.count(&summary)) <= tokens);
            let said: String = messages.iter().map(|message| message.text().into_owned() + &message.tool_calls.iter().map(|call| call.arguments.to_string()).collect::<String>()).collect();
            for number in summary.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() > 1) {
                prop_assert!(said.contains(number), "`{number}` is not said");
            }
        }
    }
}
