use ctx_tokens::{
    Budget, BudgetError, BudgetRequest, ModelFacts,
    internal::{MAX_TOKENS, read_tokens},
};
use serde_json::json;

fn model() -> ModelFacts {
    ModelFacts { context_window: Some(10_000), max_output: Some(2_000), ..ModelFacts::unknown("mine") }
}

fn request(context_tokens: Option<i64>, reserve: Option<u32>) -> BudgetRequest {
    BudgetRequest { context_tokens, reserve, ..BudgetRequest::default() }
}

#[track_caller]
fn check(model: &ModelFacts, request: &BudgetRequest, available: Option<u32>, codes: &[u16]) {
    let (budget, diagnostics) = Budget::compute(model, request).unwrap();
    assert_eq!(budget.available, available, "{budget:?}");
    assert_eq!(diagnostics.iter().map(|found| found.code.number()).collect::<Vec<_>>(), codes);
    if let Some(available) = available {
        assert_eq!(budget.lines.iter().map(|line| line.tokens).sum::<i64>(), i64::from(available));
    }
}

#[test]
fn subtracts_max_output_by_default() {
    check(&model(), &request(None, None), Some(7_997), &[]);
}

#[test]
fn limits_default_reserve_to_quarter_of_context_window() {
    let model = ModelFacts { max_output: Some(10_000), ..model() };
    check(&model, &request(None, None), Some(7_497), &[]);
    let model = ModelFacts { max_output: None, ..model };
    check(&model, &request(None, None), Some(9_997), &[]);
}

#[test]
fn reserves_requested_response_length() {
    let asked = |answer| BudgetRequest { answer: Some(answer), ..BudgetRequest::default() };
    check(&model(), &asked(300), Some(9_697), &[]);
    check(&model(), &asked(9_000), Some(4_997), &[]);
    check(&model(), &BudgetRequest { reserve: Some(100), ..asked(300) }, Some(9_897), &[]);
    check(&model(), &BudgetRequest { context_tokens: Some(5_000), ..asked(300) }, Some(4_997), &[]);
}

#[test]
fn applies_context_limit_without_default_reserve() {
    check(&model(), &request(Some(5_000), None), Some(4_997), &[]);
    check(&model(), &request(Some(5_000), Some(1_000)), Some(3_997), &[]);
}

#[test]
fn treats_zero_as_context_window() {
    check(&model(), &request(Some(0), Some(0)), Some(9_997), &[]);
    check(&model(), &request(Some(0), None), Some(7_997), &[]);
}

#[test]
fn rejects_out_of_range_context_limit() {
    for context_tokens in [-1, i64::MIN, i64::from(MAX_TOKENS) + 1, i64::from(u32::MAX) + 1, i64::MAX] {
        let error = Budget::compute(&model(), &request(Some(context_tokens), None)).unwrap_err();
        assert_eq!(error, BudgetError::OutOfRange { context_tokens });
    }
    check(
        &ModelFacts::unknown("mine"),
        &request(Some(i64::from(MAX_TOKENS)), None),
        Some(MAX_TOKENS - 3),
        &[],
    );
}

#[test]
fn warns_if_limit_exceeds_context_window() {
    check(&model(), &request(Some(10_001), None), Some(9_998), &[411]);
    check(&model(), &request(Some(10_000), None), Some(9_997), &[]);
}

#[test]
fn sets_no_limit_without_context_window() {
    let unknown = ModelFacts::unknown("mine");
    check(&unknown, &request(None, None), None, &[410]);
    check(&unknown, &request(Some(0), Some(500)), None, &[410]);
    check(&unknown, &request(Some(100), None), Some(97), &[]);
}

#[test]
fn names_model_in_unlimited_warning() {
    let said = |name| {
        let (_, found) = Budget::compute(&ModelFacts::unknown(name), &request(None, None)).unwrap();
        (found[0].message.clone(), found[0].help.clone().unwrap())
    };
    let (message, help) = said("mine");
    assert_eq!(message, "the context window of `mine` is unknown; the context has no token limit");
    assert_eq!(help, "set a token limit for the context, or add the model to a model table");
    let (message, help) = said("");
    assert_eq!(message, "no model is set; the context has no token limit");
    assert_eq!(help, "set the model, or set a token limit for the context");
}

#[test]
fn reads_integers_in_range_as_tokens() {
    for (value, expected) in [
        (json!(0), Some(0)),
        (json!(8_000), Some(8_000)),
        (json!(8e3), Some(8_000)),
        (json!(MAX_TOKENS), Some(MAX_TOKENS)),
        (json!(MAX_TOKENS + 1), None),
        (json!(u64::MAX), None),
        (json!(1e300), None),
        (json!(-1), None),
        (json!(0.5), None),
        (json!("8000"), None),
        (json!(null), None),
    ] {
        assert_eq!(read_tokens(&value), expected, "{value}");
    }
}

#[test]
fn lists_every_deduction() {
    let request = BudgetRequest {
        context_tokens: None,
        reserve: Some(1_000),
        answer: None,
        tools: 250,
        fixed: vec![("summary prompt".to_owned(), 50), ("nothing".to_owned(), 0)],
    };
    let (budget, _) = Budget::compute(&model(), &request).unwrap();
    let lines: Vec<_> = budget.lines.iter().map(|line| (line.name.to_string(), line.tokens)).collect();
    let lines: Vec<_> = lines.iter().map(|(name, tokens)| (name.as_str(), *tokens)).collect();
    assert_eq!(
        lines,
        [
            ("context window of `mine`", 10_000),
            ("response reserve", -1_000),
            ("tools", -250),
            ("reply prefix", -3),
            ("summary prompt", -50),
        ]
    );
    assert_eq!(budget.available, Some(8_697));
}

#[test]
fn lists_deductions_if_no_tokens_are_left() {
    let error = Budget::compute(&model(), &request(Some(100), Some(97))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no tokens left for messages: context limit 100, response reserve -97, reply prefix -3"
    );
    assert!(Budget::compute(&model(), &request(Some(100), Some(96))).is_ok());
}

#[test]
fn handles_largest_numbers_without_overflow() {
    let request = BudgetRequest {
        context_tokens: Some(1),
        reserve: Some(u32::MAX),
        answer: None,
        tools: u32::MAX,
        fixed: vec![("more".to_owned(), u32::MAX)],
    };
    assert!(matches!(Budget::compute(&model(), &request), Err(BudgetError::NothingLeft { .. })));
}
