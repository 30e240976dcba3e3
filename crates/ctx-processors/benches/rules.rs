//! Benchmarks 50 regex rules over 1,000 messages, with an empty and with a filled cache.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ctx_macros::{Dialect, Env, Limits, Registry, State, Template};
use ctx_processors::regex_rules::{RuleLimits, RuleRun, RuleSet, RuleSource, Stage, Subject, Target};
use ctx_types::{Persist as _, Reader, RegexConfig, Role, Source, Text, Trust};
use serde_json::{Value, json};

const RULES: usize = 50;
const MESSAGES: usize = 1_000;

criterion_group!(benches, rules, compile);
criterion_main!(benches);

fn config() -> RegexConfig {
    let rule = |n: usize| {
        let (regex, replacement) = match n % 10 {
            0 => (format!("/<think{n}>[\\s\\S]*?<\\/think{n}>/g"), ""),
            1 => (format!("/\\*{n}([^*]+)\\*/g"), "_$1_"),
            2 => (format!("/\\b(?:really|very) word{n}\\b/gi"), "word"),
            3 => (format!("/^\\[status {n}\\].*$/gm"), ""),
            4 => (format!("/第{n}章/g"), "chapter"),
            5 => ("/ {2,}/g".to_owned(), " "),
            6 => (format!("/\"([^\"]{{0,{n}}})\"/g"), "“$1”"),
            7 => (format!("/(?<=#){n}\\w+(?!\\d)/g"), "tag"),
            8 => (format!("/(\\d+){n}(\\d+)/g"), "$2$1"),
            _ => (format!("/守护者{n}|灯笼{n}/g"), "lamp"),
        };
        json!({ "id": n.to_string(), "regex": regex, "replacement": replacement, "targetRoles": ["user", "assistant"] })
    };
    let rules: Vec<Value> = (0..RULES).map(rule).collect();
    RegexConfig::read(json!({ "presets": [{ "rules": rules }] }), &mut Reader::new())
}

fn messages() -> Vec<Text> {
    let pieces = [
        "The keeper of the lantern said \"you may go\"  and waited. ",
        "*11 She looks at the castle and sighs.* ",
        "守护者提着灯笼走过森林，第4章开始了。",
        "<think10>Where is the bridge?</think10>\n",
        "[status 13] hungry\n",
        "Nobody spoke of it again, and the river went on. ",
    ];
    let message = |n: usize| {
        let parts = (0..12).map(|part| pieces[(n * 7 + part * part * 5 + n / 3) % pieces.len()]);
        Text::from(format!("{n}. {}", parts.collect::<String>()))
    };
    (0..MESSAGES).map(message).collect()
}

fn set(config: &RegexConfig) -> RuleSet {
    let source = RuleSource { config, place: "/regexConfig", document: None, trust: Trust::Preset };
    let (set, found) = RuleSet::compile(&[source], Dialect::Aio, &Registry::builtin());
    assert_eq!(found, []);
    set
}

fn run(set: &RuleSet, messages: &[Text]) -> usize {
    let (env, mut state) = (Env::default(), State::new(Limits::default()));
    let mut expand = |template: &Template, source: &Source| template.expand(&env, &mut state, source);
    // Enough for all rules and texts.
    let limits = RuleLimits { steps: 1_000_000_000, ..RuleLimits::default() };
    let mut run = RuleRun::new(set, limits, &mut expand);
    let apply = |(depth, text): (usize, &Text)| {
        let role = if depth.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let subject = Subject { stage: Stage::Request, target: Target::Message(role), depth: Some(depth) };
        run.apply(text, subject).text.len()
    };
    let bytes = messages.iter().enumerate().map(apply).sum();
    assert_eq!(run.finish(), []);
    bytes
}

fn rules(criterion: &mut Criterion) {
    let (config, messages) = (config(), messages());
    let bytes: usize = messages.iter().map(|message| message.len()).sum();
    let mut group = criterion.benchmark_group("rules");
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10);
    group.bench_function("50 rules, 1,000 messages, cold", |bencher| {
        bencher.iter_batched(|| set(&config), |set| run(black_box(&set), &messages), BatchSize::LargeInput);
    });
    let remembered = set(&config);
    assert!(run(&remembered, &messages) < bytes, "the rules change something");
    group.bench_function("50 rules, 1,000 messages, remembered", |bencher| {
        bencher.iter(|| run(black_box(&remembered), &messages));
    });
}

fn compile(criterion: &mut Criterion) {
    let config = config();
    criterion.bench_function("rules/compile 50", |bencher| {
        bencher.iter(|| set(black_box(&config)));
    });
}
