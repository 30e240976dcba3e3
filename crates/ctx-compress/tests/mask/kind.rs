//! Kinds and languages of conversations.

use ctx_compress::mask::{ConversationKind, Language};
use ctx_types::{Message, Role, Source};

fn messages(texts: &[&str]) -> Vec<Message> {
    let message = |(at, text): (usize, &&str)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        Message::new(role, *text, Source::history("n", role))
    };
    texts.iter().enumerate().map(message).collect()
}

#[track_caller]
fn check(texts: &[&str], kind: ConversationKind, language: Language) {
    let messages = messages(texts);
    assert_eq!((ConversationKind::of(&messages), Language::of(&messages)), (kind, language), "{texts:?}");
}

#[test]
fn talk_is_a_chat() {
    let chat = ConversationKind::Chat;
    check(&[], chat, Language::English);
    check(
        &["How was your day?", "Fine, \"thanks\"! I said hello to Ann (my sister)."],
        chat,
        Language::English,
    );
    check(&["今天天气怎么样？", "晴天，很暖和。"], chat, Language::Chinese);
    check(&["* one\n* two", "**Bold** and 3 * 4 * 5 = 60"], chat, Language::English);
}

#[test]
fn code_makes_it_technical() {
    let technical = ConversationKind::Technical;
    check(&["It fails with `E0382`, why?", "The value moved."], technical, Language::English);
    check(&["Call parse_config() in src/app/main.rs first", "ok"], technical, Language::English);
    check(&["为什么 read_file 和 writeFile 报错？", "权限不足。"], technical, Language::Chinese);
}

#[test]
fn acting_makes_it_role_play() {
    let play = ConversationKind::RolePlay;
    check(&["*opens the old door*", "The hall is dark."], play, Language::English);
    check(&["“谁在那里？”他低声说道。", "风停了。"], play, Language::Chinese);
    check(&["（推开门）“有人吗？”", "没有回答。"], play, Language::Chinese);
}

#[test]
fn tools_make_it_a_task() {
    let mut messages = messages(&["Find a flight", "…", "thanks", "sure"]);
    messages[1].role = Role::Tool;
    messages[1].tool_call_id = Some("x".into());
    assert_eq!(ConversationKind::of(&messages), ConversationKind::Tools);
}

#[test]
fn what_tools_answer_has_no_language() {
    let mut messages = messages(&["find it", "航班已经找到航班已经找到"]);
    messages[1].tool_call_id = Some("x".into());
    assert_eq!(Language::of(&messages), Language::English);
}

#[test]
fn a_little_chinese_is_not_chinese() {
    check(
        &["The word 你好 means hello in Chinese", "I see, thank you"],
        ConversationKind::Chat,
        Language::English,
    );
}
