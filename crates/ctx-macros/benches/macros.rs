//! Compares ways to expand a text of 100 KB with 500 calls of 60 macros.
//!
//! All produce the same text, which is checked first. Values are short and precomputed, so the benchmark
//! measures search and insertion.

mod large_text;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_macros::{Dialect, Env, Limits, Registry, State, Template};
use ctx_types::{Source, SourceKind, Text, Trust};
use large_text::{BYTES, CALLS};

criterion_group!(benches, passes, minijinja, engine);
criterion_main!(benches);

/// 60 compiled expressions, each applied to the whole text: literal, and case-insensitive with white space as
/// applications write them.
fn passes(criterion: &mut Criterion) {
    let text = large_text::text(BYTES, CALLS);
    let expected = expand(&Template::parse(&Text::from(&*text), Dialect::Aio, &large_text::registry()));
    let mut group = criterion.benchmark_group("passes");
    group.throughput(Throughput::Bytes(BYTES as u64));
    let literal = large_text::expressions(|name| format!(r"\{{\{{{name}\}}\}}"));
    let tolerant = large_text::expressions(|name| format!(r"(?i)\{{\{{\s*{name}\s*\}}\}}"));
    for (name, expressions) in [("literal", literal), ("tolerant", tolerant)] {
        assert_eq!(large_text::replace(&text, &expressions), expected.as_str(), "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| large_text::replace(black_box(&text), &expressions));
        });
    }
}

/// Template engine: rendering alone, and compilation with rendering.
fn minijinja(criterion: &mut Criterion) {
    let text = large_text::text(BYTES, CALLS);
    let expected = expand(&Template::parse(&Text::from(&*text), Dialect::Aio, &large_text::registry()));
    let (environment, values) = large_text::jinja(&text);
    let template = environment.get_template("text").unwrap_or_else(|error| unreachable!("{error}"));
    let rendered = template.render(values.clone()).unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(rendered, expected.as_str(), "the template engine gives the same");
    let mut group = criterion.benchmark_group("minijinja");
    group.throughput(Throughput::Bytes(BYTES as u64));
    group.bench_function("render", |bencher| bencher.iter(|| black_box(&template).render(values.clone())));
    group.bench_function("compile and render", |bencher| {
        bencher.iter(|| environment.render_str(black_box(&text), values.clone()));
    });
}

/// This crate: expansion alone, and compilation with expansion, in each macro syntax.
fn engine(criterion: &mut Criterion) {
    let text = Text::from(large_text::text(BYTES, CALLS));
    let registry = large_text::registry();
    let expected = expand(&Template::parse(&text, Dialect::Aio, &registry));
    for dialect in Dialect::ALL {
        let template = Template::parse(&text, dialect, &registry);
        assert_eq!(expand(&template), expected, "{}", dialect.as_str());
        let mut group = criterion.benchmark_group(dialect.as_str());
        group.throughput(Throughput::Bytes(BYTES as u64));
        group.bench_function("expand", |bencher| bencher.iter(|| expand(black_box(&template))));
        group.bench_function("parse and expand", |bencher| {
            bencher.iter(|| expand(&parse(black_box(&text), dialect, &registry)));
        });
    }
}

fn parse(text: &Text, dialect: Dialect, registry: &Registry) -> Template {
    Template::parse(text, dialect, registry)
}

fn expand(template: &Template) -> Text {
    let origin = Source::new(SourceKind::Preset, Trust::Preset);
    let expansion = template.expand(&Env::default(), &mut State::new(Limits::default()), &origin);
    assert!(expansion.diagnostics.is_empty(), "{:?}", expansion.diagnostics);
    expansion.text
}
