//! Values of SillyTavern's macros.

use crate::support;

use std::sync::Arc;

use ctx_macros::{
    CardTexts, Conversation, Dialect, Env, GroupMember, Limits, ModelValues, Registry, SpokenText, State,
    Template,
};
use ctx_types::{Text, Trust};
use support::{AT, env, origin};

#[track_caller]
fn check_in(env: &Env, text: &str, expected: &str) {
    let template = Template::parse(&Text::from(text), Dialect::SillyTavern, &Registry::builtin());
    let expansion = template.expand(env, &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, expected, "{text:?}");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_in(&env(), text, expected);
}

fn card() -> Env {
    let text = |text: &str| Some(Text::from(text));
    let card = CardTexts {
        first_message: text("Hi, {{user}}!"),
        greetings: vec![Text::from("Ho."), Text::from(" {{char}} waves. ")],
        examples: text("<START>\n{{user}}: hi\n<start>\n{{char}}: ho\r\n"),
        system_prompt: text("Be {{char}}."),
        post_history: text("Stay."),
        depth_prompt: text("Deep."),
        creator_notes: text("Enjoy."),
        version: text("1.2"),
        visual_guideline: None,
    };
    Env { description: text(" {{char}} is tall.\r\n"), card, ..env() }
}

#[test]
fn expands_names_defaults_and_groups() {
    check(
        "{{user}} {{char}} {{group}} {{charIfNotGroup}} {{groupNotMuted}} {{notChar}}",
        "Mei Alice Alice Alice Alice Mei",
    );
    check_in(&Env::default(), "{{user}} {{char}}", "User Assistant");
    let member = |name: &str, is_muted| GroupMember { name: name.into(), is_muted };
    let group = vec![member("Alice", false), member("Bob", true), member("Carol", false)];
    let env = Env { group, ..env() };
    check_in(
        &env,
        "{{group}}|{{groupNotMuted}}|{{notChar}}|<GROUP>",
        "Alice, Bob, Carol|Alice, Carol|Bob, Carol, Mei|Alice, Bob, Carol",
    );
}

#[test]
fn trims_and_expands_character_card_texts() {
    let env = card();
    check_in(
        &env,
        "[{{description}}] [{{charDescription}}] [{{charPrompt}}]",
        "[Alice is tall.] [Alice is tall.] [Be Alice.]",
    );
    check_in(
        &env,
        "{{charInstruction}} {{charDepthPrompt}} {{creatorNotes}} {{charCreatorNotes}}",
        "Stay. Deep. Enjoy. Enjoy.",
    );
    check_in(
        &env,
        "{{version}} {{charVersion}} {{char_version}} {{charPersonality}} {{scenario}}",
        "1.2 1.2 1.2 PERS SCEN",
    );
    check_in(&env, "{{persona}}|{{charJailbreak}}", "I cost $$5, $& all. Mei|{{charJailbreak}}");
}

#[test]
fn numbers_greetings_from_zero() {
    let env = card();
    check_in(
        &env,
        "{{greeting}}|{{charFirstMessage::0}}|{{greeting::1}}|{{greeting 2}}|{{greeting::3}}",
        "Hi, Mei!|Hi, Mei!|Ho.|Alice waves.|",
    );
    check_in(
        &env,
        "{{greeting::x}} {{greeting::-1}} {{greeting::1::2}}",
        "{{greeting::x}} {{greeting::-1}} {{greeting::1::2}}",
    );
}

#[track_caller]
fn check_examples(examples: &str, expected: &str) {
    let card = CardTexts { examples: Some(examples.into()), ..CardTexts::default() };
    check_in(&Env { card, ..env() }, "{{mesExamples}}|", &format!("{expected}|"));
}

#[test]
fn starts_each_example_with_marker_line() {
    check_examples(
        "<START>\n{{user}}: hi\n<start>\n{{char}}: ho\r\n",
        "<START>\nMei: hi\n<START>\nAlice: ho\n",
    );
    check_examples("hi\n<START>ho", "<START>\nhi\n<START>\nho\n");
    check_examples("<START>\n<START>\nho", "<START>\n\n<START>\nho\n");
    check_examples("<START>\n", "");
    check_examples(" ", "");
    check_in(&card(), "{{mesExamplesRaw}}", "<START>\nMei: hi\n<start>\nAlice: ho");
}

#[test]
fn expands_original_once_per_text() {
    let env = Env { original: Some("MAIN {{user}}".into()), ..env() };
    check_in(&env, "[{{original}}] [{{ORIGINAL}}]", "[MAIN {{user}}] []");
    check_in(&env, "{{original}}", "MAIN {{user}}");
    check("[{{original}}]", "[{{original}}]");
}

#[test]
fn repeats_spaces_and_line_breaks() {
    check("a{{space}}b{{space::3}}c{{space::0}}d{{newline}}e{{newline::2}}f{{noop}}", "a b   cd\ne\n\nf");
    check("[{{space}}2{{/space}}{{newline 1}}]", "[  \n]");
    for text in [
        "{{newline::x}}",
        "{{newline::-1}}",
        "{{space::+2}}",
        "{{space::1.5}}",
        "{{newline::}}",
        "{{noop::1}}",
    ] {
        check(text, text);
    }
}

#[test]
fn splits_lists_at_colons_or_commas() {
    check("{{random::a}}{{random::b::b}}{{random:c, c}}{{random d,d}}{{random e::e}}{{random::}}|", "abcde|");
    check(r"{{random:a\,b}} {{pick a\,b}} {{random:: x\,y , x\,y }} {{random}}", "a,b a,b x,y ");
}

#[test]
fn derives_picks_from_chat_text_and_position() {
    let chat = |id_hash, again: Option<&str>| {
        let pick_again = again.map(Arc::from);
        Env {
            conversation: Conversation { id_hash: Some(id_hash), pick_again, ..Conversation::default() },
            ..env()
        }
    };
    let list = "{{pick::a::b::c::d::e}}";
    check_in(
        &chat(12_345, None),
        &format!("{list}{list} {{{{pick:a,b,c,d,e}}}} {{{{pick a,b,c,d,e}}}}"),
        "ed c d",
    );
    check_in(&chat(12_345, None), &list.repeat(12), "bcbeabedbccc");
    check_in(&chat(12_346, None), &list.repeat(12), "acbdbdcbbeca");
    check_in(&chat(12_345, Some("7")), &list.repeat(12), "eabbaceeebbc");
    // Offsets count rewritten markers, and non-ASCII text in UTF-16 units.
    check_in(&chat(12_345, None), &format!("<USER>😀 {}", list.repeat(8)), "Mei😀 eabcdeac");
}

#[test]
fn rolls_dice_by_count_sides_and_modifier() {
    check(
        "{{roll::1d1}} {{roll 3d1+2}} {{roll:d1}} {{roll 1}} {{roll::2D1-5}} {{roll::4d1+0}}",
        "1 5 1 1 -3 4",
    );
    check(
        "[{{roll::}}{{roll::x}}{{roll::0d6}}{{roll::1d0}}{{roll::1d6 + 1}}{{roll::-1}}{{roll::1.5}}{{roll::2d}}]",
        "[]",
    );
    check("{{roll}} {{roll::1::2}} {{roll::99999d6}}", "{{roll}} {{roll::1::2}} {{roll::99999d6}}");
}

#[test]
fn uses_time_of_the_turn() {
    check(
        "{{time}}|{{date}}|{{weekday}}|{{isotime}}|{{isodate}}",
        "10:30 PM|November 7, 2025|Friday|22:30|2025-11-07",
    );
    check(
        "{{datetimeformat::DD.MM.YYYY [at] HH:mm:ss}} {{datetimeformat H:mm}} {{datetimeformat:x}}",
        &format!("07.11.2025 at 22:30:05 22:30 {AT}"),
    );
    let env = Env { zone: Some("Asia/Shanghai".into()), ..env() };
    check_in(
        &env,
        "{{time}} {{isodate}} {{datetimeformat::}}",
        "6:30 AM 2025-11-08 2025-11-08T06:30:05+08:00",
    );
}

#[test]
fn reads_small_offsets_as_hours() {
    check(
        "{{time::UTC+3}}|{{time::UTC-5}}|{{time::utc+0}}|{{time UTC+15}}|{{time::UTC+330}}|{{time::UTC-90}}",
        "1:30 AM|5:30 PM|10:30 PM|1:30 PM|4:00 AM|9:00 PM",
    );
    check("{{time_UTC+3}} {{time::UTC+5:30}} {{time::UTC}}", "1:30 AM 4:00 AM 10:30 PM");
    check(
        "{{time::here}} {{time::+3}} {{time::UTC+x}} {{time::UTC+99999999999999999999}} {{time::}}",
        "10:30 PM 10:30 PM 10:30 PM 10:30 PM 10:30 PM",
    );
}

#[test]
fn writes_time_difference_with_direction() {
    check(
        "{{timeDiff::2025-11-07 22:30::2025-11-07 19:30}} {{timeDiff::2025-11-03::2025-11-07}}",
        "in 3 hours 4 days ago",
    );
    check("{{timeDiff::2025-11-07T22:30:00Z::2025-11-07T22:30:00+00:00}}", "a few seconds ago");
    check(
        "{{timeDiff::2025-311::2024}} {{timeDiff::x::2025}} {{timeDiff::2025}}",
        "in 2 years Invalid date {{timeDiff::2025}}",
    );
}

#[test]
fn measures_idle_time_since_last_user_message() {
    let idle = |since| Env {
        conversation: Conversation { user_idle_since: since, ..Conversation::default() },
        ..env()
    };
    check_in(&idle(Some(AT - 3 * 3_600_000)), "{{idleDuration}} {{idle_duration}}", "3 hours 3 hours");
    check_in(&idle(None), "{{idleDuration}}", "just now");
}

#[test]
fn expands_messages_and_their_numbers() {
    let said = |text: &str, trust| Some(SpokenText { text: text.into(), trust });
    let conversation = Conversation {
        length: 3,
        last: said("{{user}} ran", Trust::Model),
        last_user: said("b", Trust::User),
        last_agent: said("c", Trust::Model),
        swipes: Some(4),
        current_swipe: Some(2),
        ..Conversation::default()
    };
    let env = Env { conversation, ..env() };
    check_in(&env, "{{lastMessage}} {{lastUserMessage}} {{lastCharMessage}}", "{{user}} ran b c");
    check_in(&env, "{{lastMessageId}} {{allChatRange}} {{lastSwipeId}} {{currentSwipeId}}", "2 0-2 4 2");
    check(
        "[{{lastMessage}}{{lastMessageId}}{{allChatRange}}{{lastSwipeId}}{{firstIncludedMessageId}}]",
        "[]",
    );
}

#[test]
fn expands_application_state() {
    let model = ModelValues {
        id: Some("m".into()),
        context_tokens: Some(8_000),
        response_tokens: Some(300),
        ..ModelValues::default()
    };
    let env = Env { model, generation: Some("quiet".into()), extensions: vec!["Summarize".into()], ..env() };
    check_in(
        &env,
        "{{model}} {{maxPrompt}} {{maxContextTokens}} {{maxResponse}} {{maxPromptTokens}}",
        "m 7700 8000 300 7700",
    );
    check_in(
        &env,
        "{{lastGenerationType}} {{isMobile}} {{hasExtension::summarize}} {{hasExtension::x}}",
        "quiet false true false",
    );
}

#[test]
fn inserts_host_texts_verbatim() {
    let texts =
        [("chatStart", "***"), ("instructUserPrefix", "{{user}}:"), ("defaultSystemPrompt", "Write.")];
    let texts = texts.map(|(name, text)| (Arc::from(name), Text::from(text))).into_iter().collect();
    let outlets = [(Arc::from("rules"), Text::from("No magic."))].into_iter().collect();
    let env = Env { texts, outlets, ..env() };
    check_in(
        &env,
        "{{chatStart}} {{instructInput}} {{systemPrompt}} {{instructSystem}}",
        "*** {{user}}: Write. Write.",
    );
    check_in(
        &env,
        "{{outlet::rules}} {{outlet rules}} [{{outlet::x}}] {{outlet}}",
        "No magic. No magic. [] {{outlet}}",
    );
    check_in(&card(), "{{systemPrompt}} {{lastChatMessage}}", "Be Alice. {{lastChatMessage}}");
}

#[test]
fn removes_banned_words() {
    check("a{{banned \"x\"}}b{{banned::y}}c{{banned}}", "abc{{banned}}");
}
