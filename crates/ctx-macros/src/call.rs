use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Code, Diagnostic, Phrase, Span, Text, Trust, phrase, space};

use crate::definition::Definition;
use crate::derived_texts::TextForm;
use crate::diagnostic_list::DiagnosticList;
use crate::dialect::Dialect;
use crate::env::{Env, SpokenText};
use crate::markers;
use crate::space_set::SpaceSet;
use crate::state::{Scope, State};
use crate::template::Template;
use crate::{codes, number, random};

/// A macro call during evaluation: arguments, environment, and variables.
///
/// See [`Definition`] for an example.
#[derive(Debug)]
pub struct Call<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) dialect: Dialect,
    pub(crate) span: Span,
    pub(crate) arguments: &'a [Argument<'a>],
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
    pub(crate) findings: &'a mut DiagnosticList,
    pub(crate) trust: Trust,
    /// Source of the text, for random values.
    pub(crate) source_key: u64,
    pub(crate) template: &'a Template,
    pub(crate) place: &'a mut CallPosition,
    /// Taken by the first `{{original}}`.
    pub(crate) original: &'a mut Option<Text>,
    /// Inside a card text, where macros for card texts are empty.
    pub(crate) is_card: bool,
}

/// Values cached between the calls of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallPosition {
    bytes: usize,
    /// UTF-16 units, as SillyTavern counts: after it rewrites legacy markers.
    units: usize,
    conversation_key: Option<u64>,
    /// SillyTavern's numeric id.
    chat_number: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Without surrounding white space.
    pub(crate) span: Span,
    pub(crate) trust: Trust,
    pub(crate) is_template: bool,
}

/// Result of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// Static or owned text.
    Str(Cow<'static, str>),
    /// Shared text. Not copied if it is the whole result.
    Text(Text),
    /// Text with macros, which are expanded.
    Template(Text),
    /// Empty. Removes adjacent characters of this set on both sides, from any source.
    Trim(SpaceSet),
}

/// Reason why a macro has no value. The call is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) diagnostic: Box<Diagnostic>,
    /// A limit was reached: the rest of the text is left unchanged too.
    pub(crate) is_limit: bool,
}

const DRAWS_A_STEP: u64 = 8;

impl<'a> Call<'a> {
    /// Returns the called definition.
    pub const fn definition(&self) -> &'a Definition {
        self.definition
    }

    /// Returns the macro syntax of the text.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the environment of the run.
    pub const fn env(&self) -> &'a Env {
        self.env
    }

    /// Returns the number of arguments. Exceeds the arity only in a macro syntax that ignores extra
    /// arguments.
    pub const fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// Returns the argument at `index` (from 0), or an empty text.
    pub fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).map_or("", |argument| argument.text.as_ref())
    }

    pub(crate) fn variable_name(&mut self) -> &'a str {
        self.argument_that_is_not_empty("the name of the variable")
    }

    pub(crate) fn argument_that_is_not_empty(&mut self, what: &'static str) -> &'a str {
        let argument = self.argument(0);
        if argument.is_empty() {
            self.warn(codes::BAD_ARGUMENT, phrase!("{what} is empty", what = Phrase::from(what)));
        }
        argument
    }

    /// Returns the value of a variable. Limits the trust of the call's value to that of the variable.
    pub fn variable(&mut self, scope: Scope, name: &str) -> Option<Text> {
        let trust = self.state.variable_trust(scope, name)?;
        self.limit_trust(trust);
        self.state.variable(scope, name).cloned()
    }

    /// Returns whether a variable is set.
    pub fn has_variable(&self, scope: Scope, name: &str) -> bool {
        self.state.variable(scope, name).is_some()
    }

    /// Sets a variable, with the trust of everything this call used.
    ///
    /// # Errors
    /// A limit of the run is reached; return the failure.
    pub fn set_variable(&mut self, scope: Scope, name: &str, value: impl Into<Text>) -> Result<(), Failure> {
        let value = value.into();
        self.state.take_output(value.len())?;
        self.state.set_variable(scope, name, value, self.trust)
    }

    /// Sets a variable to a number, with the trust of everything this call used. Reports numbers that are too
    /// large to be exact.
    ///
    /// # Errors
    /// A limit of the run is reached; return the failure.
    pub fn set_number(&mut self, scope: Scope, name: &str, value: f64) -> Result<(), Failure> {
        self.state.set_number(scope, name, value, self.trust)?;
        self.add_finding(number::inexact(name, value));
        Ok(())
    }

    /// Removes a variable.
    pub fn remove_variable(&mut self, scope: Scope, name: &str) {
        self.state.remove_variable(scope, name);
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    ///
    /// It depends on the seed, the source of the text, and the number of earlier random values of that
    /// source. A change to one text does not affect the random values of another.
    pub fn draw(&mut self, bound: u64) -> u64 {
        let ordinal = self.state.next_draw(self.source_key);
        random::draw(self.env.seed, self.source_key, ordinal, bound)
    }

    /// Like `draw`, but stable for the whole conversation: depends on the conversation's id instead
    /// of the seed.
    pub fn draw_for_conversation(&mut self, bound: u64) -> u64 {
        let source = random::second_key(self.source_key);
        let ordinal = self.state.next_draw(source);
        let key = || random::text_key(self.env.conversation.id.as_deref().unwrap_or_default());
        let conversation = *self.place.conversation_key.get_or_insert_with(key);
        random::draw(conversation, source, ordinal, bound)
    }

    pub(crate) fn chat_number(&mut self) -> u64 {
        *self.place.chat_number.get_or_insert_with(|| self.env.conversation.number())
    }

    /// Checks that the run may write `bytes` more bytes. Call it before building a long value.
    ///
    /// # Errors
    /// The limit of the run would be exceeded; return the failure.
    pub fn check_output(&self, bytes: usize) -> Result<(), Failure> {
        self.state.check_output(bytes)
    }

    pub(crate) fn check_draws(&mut self, draws: u64) -> Result<(), Failure> {
        self.state.take_steps(draws / DRAWS_A_STEP)
    }

    pub(crate) fn spoken_text(&mut self, spoken: Option<&SpokenText>) -> Value {
        let Some(SpokenText { text, trust }) = spoken else { return Value::EMPTY };
        self.limit_trust(*trust);
        text.clone().into()
    }

    /// Empty inside a card text.
    pub(crate) fn card_text(&mut self, text: Option<&Text>) -> Value {
        self.derived_text(text, TextForm::Trimmed, |text| remove_carriage_returns(space::trim(text)))
    }

    /// Caches the result of `make` per `form`.
    pub(crate) fn derived_text(
        &mut self,
        text: Option<&Text>,
        form: TextForm,
        make: fn(&str) -> Cow<'_, str>,
    ) -> Value {
        match text {
            Some(text) if !self.is_card => {
                Value::Template(self.state.derived_texts().derive(text, form, make))
            }
            _ => Value::EMPTY,
        }
    }

    /// Offset as SillyTavern counts it. Offsets mostly increase, so the search continues from the last one.
    pub(crate) fn place(&mut self) -> usize {
        if self.place.bytes > self.span.start {
            (self.place.bytes, self.place.units) = (0, 0);
        }
        let before = self.template.text().get(self.place.bytes..self.span.start).unwrap_or_default();
        let units = if before.is_ascii() { before.len() } else { before.encode_utf16().count() };
        let growth = if self.dialect.is_sillytavern() { markers::growth(before) } else { 0 };
        self.place.bytes = self.span.start;
        self.place.units += units + growth;
        self.place.units
    }

    /// Limits the trust of the call's value to `trust`.
    pub fn limit_trust(&mut self, trust: Trust) {
        self.trust = self.trust.max(trust);
    }

    /// Adds a warning about the call.
    pub fn warn(&mut self, code: Code, message: Phrase) {
        self.add_finding(Some(Diagnostic::warning(code, message)));
    }

    /// Adds an info about the call.
    pub fn note(&mut self, code: Code, message: Phrase) {
        self.add_finding(Some(Diagnostic::info(code, message)));
    }

    pub(crate) fn add_finding(&mut self, finding: Option<Diagnostic>) {
        if let Some(finding) = finding {
            self.findings.add(|| finding.at_span(self.span));
        }
    }

    pub(crate) fn host_text(&mut self, name: &str) -> Option<Text> {
        let text = self.env().texts.get(name).cloned();
        if text.is_none() {
            let name = excerpt(name);
            self.note(codes::NOT_PROVIDED, phrase!("the host provides no text for `{name}`", name));
        }
        text
    }

    pub(crate) fn require_host_value<T>(&mut self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            let name = &self.definition().name;
            self.note(codes::NOT_PROVIDED, phrase!("the host does not provide `{name}`", name));
        }
        value
    }
}

pub(crate) fn remove_carriage_returns(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace('\r', "")),
        None => Cow::Borrowed(text),
    }
}

impl Value {
    /// Empty value, for macros that only have an effect.
    pub const EMPTY: Self = Self::Str(Cow::Borrowed(""));
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Str(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(Cow::Owned(text))
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<Option<Text>> for Value {
    fn from(text: Option<Text>) -> Self {
        text.map_or(Self::EMPTY, Self::Text)
    }
}

impl Failure {
    /// Creates the failure of one call. The span of the call is added to the diagnostic.
    pub fn new(diagnostic: Diagnostic) -> Self {
        Self { diagnostic: Box::new(diagnostic), is_limit: false }
    }

    /// Creates a failure with the code `MACRO_FAILED`.
    pub fn from_message(message: Phrase) -> Self {
        Self::error(codes::MACRO_FAILED, message)
    }

    /// Creates a failure with a code.
    pub fn error(code: Code, message: Phrase) -> Self {
        Self::new(Diagnostic::error(code, message))
    }

    /// Returns the diagnostic.
    pub fn into_diagnostic(self) -> Diagnostic {
        *self.diagnostic
    }

    pub(crate) fn limit(code: Code, message: Phrase) -> Self {
        Self { diagnostic: Box::new(Diagnostic::error(code, message)), is_limit: true }
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.diagnostic.location.span = Some(span);
        self
    }
}
