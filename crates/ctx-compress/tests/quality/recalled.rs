//! Labelled questions on the labelled conversations: is the message that answers found in a tenth of the tokens?

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ctx_compress::request::{CompressionPipeline, Protection, RequestConfig};
use ctx_types::Message;
use serde::Deserialize;
use serde_json::Value;

use crate::set::messages;

/// Tells which conversations are of a half.
type IsOfHalf = fn(&str) -> bool;

#[derive(Deserialize)]
struct Question {
    conversation: String,
    #[serde(rename = "question")]
    text: String,
    /// The id of the message that answers.
    message: String,
    /// What of it must be there.
    answer: String,
}

impl Question {
    /// Fits the conversation into a tenth of its tokens for the question, and tells whether the answer is there.
    fn is_answered(&self) -> bool {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conversations").join(&self.conversation);
        let file: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        let whole = messages(&file["messages"]);
        let meter = CompressionPipeline::new(RequestConfig::default());
        let budget = meter.meter().messages(&whole) / 10;
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget));
        let fitted = pipeline.compress_for(&whole, Protection::LastUserMessage, &self.text).compression;
        assert!(fitted.report.output_tokens <= budget, "{}", self.text);
        fitted.messages.iter().any(|message| self.is_in(message))
    }

    fn is_in(&self, message: &Message) -> bool {
        let text = message.text();
        let own = message.source.id.as_deref() == Some(&self.message) && text.contains(&self.answer);
        let has_call = message.tool_calls.iter().any(|call| call.arguments.as_str().contains(&self.answer));
        let lines = message.written.iter().filter(|line| {
            let is_of_message = line.via.iter().any(|source| source.id.as_deref() == Some(&self.message));
            is_of_message && text[line.span.start..line.span.end].contains(&self.answer)
        });
        own || has_call && message.source.id.as_deref() == Some(&self.message) || lines.count() > 0
    }
}

/// Nine of ten, of each half: in Chinese and in English, with tools and without.
#[test]
fn nine_of_ten_answers_are_found_in_a_tenth_of_the_tokens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recall/labelled_questions");
    let questions: Vec<Question> =
        serde_json::from_slice(&fs::read(folder.join("questions.json")).unwrap()).unwrap();
    let answered: Vec<(&Question, bool)> =
        questions.iter().map(|question| (question, question.is_answered())).collect();
    let mut shown = String::new();
    let halves: [(&str, IsOfHalf); 4] = [
        ("in Chinese", |name| name.contains("chinese")),
        ("in English", |name| !name.contains("chinese")),
        ("with tools", |name| !name.contains("chat")),
        ("without tools", |name| name.contains("chat")),
    ];
    for (name, is_of_half) in halves {
        let half = answered.iter().filter(|(question, _)| is_of_half(&question.conversation));
        let all = half.clone().count();
        let found = half.filter(|(_, is_answered)| *is_answered).count();
        writeln!(shown, "{name}: {found} of {all}").unwrap();
        assert_eq!(all, 20, "{name}");
        assert!(found * 10 >= all * 9, "{shown}");
    }
    for (question, is_answered) in answered {
        let found = if is_answered { "found " } else { "missed" };
        writeln!(shown, "{found} {} {}: {}", question.conversation, question.message, question.text).unwrap();
    }
    insta::with_settings!({ snapshot_path => folder, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("expected", shown);
    });
}
