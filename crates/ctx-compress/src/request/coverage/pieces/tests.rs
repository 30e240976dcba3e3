//! How pieces are made, weighed and written.

use ctx_types::NoteLineKind::{Assistant, Call, Result, System, User};
use proptest::prelude::*;

use super::*;

fn passage(kind: NoteLineKind, text: &str, cuts: Option<Vec<usize>>) -> Passage<'_> {
    Passage { kind, tool: "", text: Cow::Borrowed(text), id: None, is_pinned: false, cuts }
}

/// Pieces as `text`, with `key|text` where a key is shared, `#2` for the list, `=meaning` where that is another, and
/// `*factor`.
fn shown(passage: &Passage<'_>, name: Option<&str>, style: Style) -> Vec<String> {
    let keys: HashSet<String> = ["place".to_owned()].into();
    let mut shown = Vec::new();
    each_piece(passage, name, style, &keys, &mut |piece| {
        let (key, value) = piece.text.split_at(piece.key_len);
        let key = if key.is_empty() { String::new() } else { format!("{key}|") };
        let list = if piece.list == 0 { String::new() } else { format!("#{}", piece.list) };
        let meaning = if piece.meaning == value { String::new() } else { format!("={}", piece.meaning) };
        shown.push(format!("{key}{value}{list}{meaning}*{}", piece.factor));
    });
    shown
}

#[track_caller]
fn check(kind: NoteLineKind, text: &str, expected: &[&str]) {
    assert_eq!(shown(&passage(kind, text, None), None, Style::SingleSentences), expected);
}

#[test]
fn values_of_results_stand_under_their_keys() {
    check(Result, r#"{"from": 5, "b": "x\n y"}"#, &["from:|5*1250", "b:|x y*1250"]);
    check(
        Result,
        r#"{"ids": ["p", "q"], "more": ["r"]}"#,
        &["ids:|p#1*1250", "ids:|q#1*1250", "more:|r#2*1250"],
    );
    check(Result, r#"[1, "two"]"#, &["1*1250", "two*1250"]);
    check(Result, r#"{"two words": 1}"#, &["twowords:|1*1250"]);
    check(Result, "{}", &[]);
    check(Assistant, r#"{"b": 1}"#, &["b:|1*1000"]);
}

#[test]
fn values_under_the_keys_of_arguments_count_twice() {
    check(Result, r#"{"Place": "lake"}"#, &["Place:|lake*2500"]);
    check(User, r#"{"place": "lake"}"#, &["place:|lake*2000"]);
}

#[test]
fn a_call_is_one_piece() {
    check(Call, r#"{"a": 1, "b": "x  y"}"#, &["a:1 b:x y=1 x  y*1500"]);
    check(Call, r#"{"ids": ["p", "q"], "more": ["r"]}"#, &["ids:p,q more:r=p q r*1500"]);
    check(Call, "[1, 2]", &["1 2*1500"]);
    check(Call, "no  json", &["no json*1500"]);
}

#[test]
fn a_call_keeps_so_many_arguments_of_such_a_length() {
    let of = |count: usize| format!("[{}]", vec!["7"; count].join(","));
    let values = vec!["7"; MOST_ARGUMENTS].join(" ");
    check(Call, &of(MOST_ARGUMENTS), &[&format!("{values}*1500")]);
    check(Call, &of(MOST_ARGUMENTS + 1), &[&format!("{values} …={values}*1500")]);
    let long = |count: usize| "字".repeat(count);
    check(Call, &format!("[\"{}\"]", long(160)), &[&format!("{}*1500", long(160))]);
    check(Call, &format!("[\"{}\"]", long(161)), &[&format!("{}…*1500", long(160))]);
    check(Call, &long(401), &[&format!("{}…*1500", long(400))]);
}

#[test]
fn a_text_that_is_too_long_is_split_at_a_blank_of_its_second_half() {
    let [a, b] = ["a", "b"].map(|letter| |count: usize| letter.repeat(count));
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(split_long(text).collect::<Vec<_>>(), expected);
        assert!(expected.iter().all(|part| part.len() <= LONGEST));
    };
    check("", &[]);
    check(&a(400), &[&a(400)]);
    check(&a(401), &[&a(400), "a"]);
    check(&format!("{} {}", a(201), b(300)), &[&a(201), &b(300)]);
    check(&format!("{} {}", a(200), b(300)), &[&format!("{} {}", a(200), b(199)), &b(101)]);
    check(&format!("{} {}", a(400), b(3)), &[&a(400), &b(3)]);
    check(&format!("{}字", a(399)), &[&a(399), "字"]);
}

#[test]
fn each_part_of_a_long_value_has_its_key() {
    let text = format!("{{\"ids\": [\"{} {}\"]}}", "a".repeat(300), "b".repeat(300));
    let part = |letter: &str| format!("ids:|{}#1*1250", letter.repeat(300));
    check(Result, &text, &[&part("a"), &part("b")]);
}

/// Sentences by whether one that says `text` is written for itself, and what it counts.
#[track_caller]
fn check_factor(style: Style, text: &str, factor: u32) {
    let expected = format!("*{factor}");
    let shown = shown(&passage(User, text, None), None, style);
    assert!(matches!(&shown[..], [piece] if piece.ends_with(&expected)), "{shown:?}");
}

#[test]
fn what_must_be_or_must_not_be_counts_more_in_a_summary_that_lasts() {
    for text in ["You MUST go", "It’s so: don’t go", "Is Ada allergic", "so, no.", "请不要去", "务必"]
    {
        check_factor(Style::SingleSentences, text, 1_500);
        check_factor(Style::Sentences, text, 1_000);
    }
    for text in ["A notable mustang knows onlyness", "They'd go", "我要去"] {
        check_factor(Style::SingleSentences, text, 1_000);
    }
    check_factor(Style::SingleSentences, "Must we go?", 1_050);
}

#[test]
fn questions_count_less_by_their_share() {
    check_factor(Style::Sentences, "Why so?", 700);
    check_factor(Style::Sentences, "去吗？", 700);
    // 10 of 20 bytes, the blank between counted.
    check_factor(Style::Sentences, "It is so. Why is it?", 850);
    check_factor(Style::Sentences, "Why is it? It was so", 850);
    check_factor(Style::Sentences, "A? Why is it. That it is", 976);
}

#[test]
fn a_name_that_the_note_says_once_is_left_out() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(shown(&passage(User, text, None), Some("Lin"), Style::Sentences), expected);
    };
    check("Lin: Yes.", &["Yes.*1000"]);
    check("Lin said: Yes.", &["Lin said: Yes.*1000"]);
    check("Kim: Yes.", &["Kim: Yes.*1000"]);
    check("Lin:Yes.", &["Lin:Yes.*1000"]);
}

#[test]
fn code_is_written_as_it_is_and_without_its_fence() {
    let check = |fence: &str| {
        let text = format!("The end is near.\n{fence}rust\nlet the = a. Is it?\n{fence}\nThe end!");
        let shown = shown(&passage(User, &text, None), None, Style::Telegraphic);
        let meaning = "The end is near. let the = a. Is it? The end!";
        assert_eq!(shown, [format!("end near. let the = a. Is it? end={meaning}*874")]);
    };
    check("```");
    check("~~~");
}

#[test]
fn units_of_an_earlier_note_stay_what_they_are() {
    let check = |kind, text, cuts: &[usize], expected: &[&str]| {
        let passage = passage(kind, text, Some(cuts.to_vec()));
        assert_eq!(shown(&passage, Some("U"), Style::Telegraphic), expected);
    };
    check(User, "It is so. Was it?", &[10], &["It is so.*1000", "Was it?*1000"]);
    check(System, "U: so", &[], &["U: so*1000"]);
    check(Assistant, "a:1", &[0, 9], &["a:1*1000"]);
    check(Result, "a:1,2 b:x", &[6], &["a:1,2=1,2 *1250", "b:x=x *1250"]);
    check(
        Call,
        "on:2026-05-01 at:10:30 _a-b.c:d e: 7:8 a/b:c :f",
        &[],
        &["on:2026-05-01 at:10:30 _a-b.c:d e: 7:8 a/b:c :f=2026-05-01 10:30 d e: 7:8 a/b:c :f *1500"],
    );
}

/// Where sentences end: those of a line, with `|` between.
#[track_caller]
fn check_sentences(text: &str) {
    let mut found = Vec::new();
    each_sentence(&text.replace('|', ""), &mut |sentence, is_code| {
        found.push((sentence.to_owned(), is_code));
    });
    let expected: Vec<_> = text.split('|').map(|sentence| (sentence.trim().to_owned(), false)).collect();
    assert_eq!(found, expected);
}

#[test]
fn sentences_end_at_their_signs_before_a_blank_or_in_chinese_before_anything() {
    check_sentences("One. |Two! |Three? |Four… |Five");
    check_sentences("At 3.50 it cost 1.5.2! |So a.b@c.org said...? |Yes.");
    check_sentences("一。|二！|三？|四");
    check_sentences("他说“好。”然后走了。|真的？！|好");
    check_sentences("“quoted” — and – dashes … |end");
    check_sentences("「好。」他说。|『好！』他说");
}

/// Writes sentences of so many bytes, the last of which is the sign.
fn sentence(bytes: usize, is_question: bool) -> String {
    let letters = "w".repeat(bytes.saturating_sub(1).max(1));
    format!("{letters}{}", if is_question { '?' } else { '.' })
}

/// Joins neighbors as long as they are no longer than a piece may be.
fn check_joined(sentences: &[(usize, bool)], style: Style) {
    let sentences: Vec<String> = sentences.iter().map(|(bytes, ask)| sentence(*bytes, *ask)).collect();
    let mut expected: Vec<Vec<&str>> = Vec::new();
    for sentence in &sentences {
        match expected.last_mut() {
            Some(open) if open.join(" ").len() + 1 + sentence.len() <= style.piece_len() => {
                open.push(sentence);
            }
            _ => expected.push(vec![sentence]),
        }
    }
    let text = sentences.join(" ");
    let mut found = Vec::new();
    prose(&text, style, WHOLE, &mut |piece| found.push((piece.text.to_owned(), piece.meaning.to_owned())));
    let expected: Vec<_> = expected.iter().map(|open| open.join(" ")).collect();
    let texts: Vec<_> = found.iter().map(|(text, _)| text.clone()).collect();
    assert_eq!(texts, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sentences_are_joined_to_pieces_and_nothing_is_lost(
        sentences in prop::collection::vec((prop::sample::select(vec![3_usize, 39, 40, 41, 79, 80, 99, 159, 160]), any::<bool>()), 1..12),
        style in prop::sample::select(vec![Style::Sentences, Style::SingleSentences]),
    ) {
        check_joined(&sentences, style);
    }
}

#[test]
fn a_telegram_is_joined_by_what_is_left_of_it() {
    let check = |texts: &[&str], expected: &[&str]| {
        let passage = texts.join(" ");
        let mut found = Vec::new();
        prose(&passage, Style::Telegraphic, WHOLE, &mut |piece| found.push(piece.text.to_owned()));
        assert_eq!(found, expected);
    };
    let long = sentence(155, false);
    check(&[&long, "Well, it is so."], &[&long]);
    check(&[&long, "It is red."], &[&format!("{long} red.")]);
    check(&[&long, "It was blue."], &[&long, "blue."]);
    check(&["Well, it is."], &[]);
    check(&["已经记下。", "明天我问问。"], &["已经记下。明天我问问。"]);
}
