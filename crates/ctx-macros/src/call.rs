//! What the body of a macro sees of its call, and what it gives back.

use std::borrow::Cow;

use ctx_types::{Code, Diagnostic, Phrase, Span, Text, Trust, excerpt, phrase, space};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::definition::Definition;
use crate::dialect::Dialect;
use crate::env::Env;
use crate::findings::Findings;
use crate::known_texts::TextForm;
use crate::markers;
use crate::space_set::SpaceSet;
use crate::state::{Scope, State};
use crate::template::Template;
use crate::{clock, codes, number, random};

/// One call of a macro while it is evaluated: its arguments, the environment and the variables.
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
    pub(crate) findings: &'a mut Findings,
    pub(crate) trust: Trust,
    /// Stands for the source of the text in random draws.
    pub(crate) source_key: u64,
    pub(crate) template: &'a Template,
    /// The text that the call's span is a part of: the template, or what a pass reads.
    pub(crate) text: &'a str,
    /// Where the last call was whose place was asked for, and the like.
    pub(crate) place: &'a mut Place,
    /// What `{{original}}` gives, until it has given it.
    pub(crate) original: &'a mut Option<Text>,
    /// The text is one of a card, and the texts of the card give nothing in it.
    pub(crate) is_card: bool,
}

/// What is remembered from call to call in one text: a place, counted as SillyTavern counts it, and who talks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    bytes: usize,
    /// In UTF-16 units, after old spellings were rewritten if the dialect does that first.
    units: usize,
    /// What stands for the conversation in draws, once it was asked for.
    conversation_key: Option<u64>,
    /// The number by which SillyTavern knows the chat, once it was asked for.
    chat_number: Option<u64>,
}

/// The value of one argument.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The argument in the source, without the white space around it.
    pub(crate) span: Span,
    pub(crate) trust: Trust,
    /// Whether every byte stands in the template.
    pub(crate) is_template: bool,
}

/// What a macro gives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A piece of text of its own.
    Str(Cow<'static, str>),
    /// A shared text, which is not copied where it is the whole result.
    Text(Text),
    /// A text whose macros are expanded where it is inserted.
    Template(Text),
    /// Nothing, and characters of this set are removed on both sides of the place, whoever wrote them.
    Trim(SpaceSet),
}

impl Place {
    /// Goes to the beginning of the text, or of another one.
    pub(crate) const fn begin(&mut self) {
        (self.bytes, self.units) = (0, 0);
    }
}

/// Why a macro gives no value; its call stays as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) diagnostic: Box<Diagnostic>,
    /// The rest of the text stays as it is written too.
    pub(crate) is_limit: bool,
}

/// How many random draws cost as much as a call.
const DRAWS_A_STEP: u64 = 8;

impl<'a> Call<'a> {
    /// Returns the definition that is called.
    pub const fn definition(&self) -> &'a Definition {
        self.definition
    }

    /// Returns the dialect of the text.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the values that the run was given.
    pub const fn env(&self) -> &'a Env {
        self.env
    }

    /// Returns the number of arguments, which is within the arity except for ones too many in a dialect that
    /// ignores them.
    pub const fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// Returns the argument at `index`, counted from 0; empty where there is none.
    pub fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).map_or("", |argument| argument.text.as_ref())
    }

    /// Returns the first argument, which names a variable; a name that is empty is reported.
    pub(crate) fn variable_name(&mut self) -> &'a str {
        self.argument_that_is_not_empty("the name of the variable")
    }

    /// Returns the first argument, and reports that it is empty.
    pub(crate) fn argument_that_is_not_empty(&mut self, what: &'static str) -> &'a str {
        let argument = self.argument(0);
        if argument.is_empty() {
            self.warn(codes::BAD_ARGUMENT, phrase!("{what} is empty", what = Phrase::from(what)));
        }
        argument
    }

    /// Returns the value of a variable; the call's value is trusted no further than it.
    pub fn variable(&mut self, scope: Scope, name: &str) -> Option<Text> {
        let trust = self.state.variable_trust(scope, name)?;
        self.limit_trust(trust);
        self.state.variable(scope, name).cloned()
    }

    /// Returns whether a variable is set.
    pub fn has_variable(&self, scope: Scope, name: &str) -> bool {
        self.state.variable(scope, name).is_some()
    }

    /// Sets a variable; its value is trusted as far as everything that this call used.
    ///
    /// # Errors
    /// A limit of the run is reached; return the failure.
    pub fn set_variable(&mut self, scope: Scope, name: &str, value: impl Into<Text>) -> Result<(), Failure> {
        let value = value.into();
        self.state.take_output(value.len()).map_err(Failure::limit)?;
        self.state.set_variable(scope, name, value, self.trust)
    }

    /// Sets a variable to the result of counting; its value is trusted as far as everything that this call used.
    /// A number that is too large to be exact is reported.
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

    /// Returns a random number below `bound`, or 0 if there is none.
    ///
    /// It depends on the seed, on the source of the text and on how often that source has drawn before, so
    /// that a change of one text does not change the draws of another.
    pub fn draw(&mut self, bound: u64) -> u64 {
        let ordinal = self.state.next_draw(self.source_key);
        random::draw(self.env.seed, self.source_key, ordinal, bound)
    }

    /// Returns a random number below `bound`, or 0 if there is none, that stays the same through the
    /// conversation: it depends on the conversation's id, on the source of the text and on how often that
    /// source has asked before.
    pub fn draw_for_conversation(&mut self, bound: u64) -> u64 {
        let source = random::second_key(self.source_key);
        let ordinal = self.state.next_draw(source);
        let key = || random::text_key(self.env.conversation.id.as_deref().unwrap_or_default());
        let conversation = *self.place.conversation_key.get_or_insert_with(key);
        random::draw(conversation, source, ordinal, bound)
    }

    /// Returns the number by which SillyTavern knows the chat.
    pub(crate) fn chat_number(&mut self) -> u64 {
        *self.place.chat_number.get_or_insert_with(|| self.env.conversation.number())
    }

    /// Returns the zone of the turn, as [`Call::now`] does.
    pub(crate) fn zone(&mut self) -> TimeZone {
        clock::zone(self)
    }

    /// Fails if the run may not write so many more bytes; to be asked before a long value is made.
    ///
    /// # Errors
    /// The limit of the run would be reached; return the failure.
    pub fn check_output(&self, bytes: usize) -> Result<(), Failure> {
        self.state.check_output(bytes).map_err(Failure::limit)
    }

    /// Takes the work of a number of draws from what the run may do.
    pub(crate) fn check_draws(&mut self, draws: u64) -> Result<(), Failure> {
        self.state.take_steps(draws / DRAWS_A_STEP).map_err(Failure::limit)
    }

    /// Returns the text of a card, with its macros to be expanded; nothing inside of such a text.
    pub(crate) fn card_text(&mut self, text: Option<&Text>) -> Value {
        self.made_text(text, TextForm::Trimmed, |text| without_returns(space::trim(text)))
    }

    /// Returns what is made of a text of the card, as [`Call::card_text`] does.
    pub(crate) fn made_text(
        &mut self,
        text: Option<&Text>,
        form: TextForm,
        make: fn(&str) -> Cow<'_, str>,
    ) -> Value {
        match text {
            Some(text) if !self.is_card => Value::Template(self.state.known_texts().made(text, form, make)),
            _ => Value::EMPTY,
        }
    }

    /// Returns where the call begins, as SillyTavern counts it. Places mostly grow, so that what was counted for
    /// the last one is not counted again.
    pub(crate) fn place(&mut self) -> usize {
        if self.place.bytes > self.span.start {
            self.place.begin();
        }
        let before = self.text.get(self.place.bytes..self.span.start).unwrap_or_default();
        let units = if before.is_ascii() { before.len() } else { before.encode_utf16().count() };
        let growth = if self.dialect.syntax().has_markers { markers::growth(before) } else { 0 };
        self.place.bytes = self.span.start;
        self.place.units += units + growth;
        self.place.units
    }

    /// Returns the time of the turn in its zone; a zone that is not known is reported, and UTC used.
    ///
    /// # Errors
    /// No time was given, or none that can be used; return the failure.
    pub(crate) fn now(&mut self) -> Result<Zoned, Failure> {
        clock::now(self)
    }

    /// Declares that the call's value may be trusted no further than `trust`.
    pub fn limit_trust(&mut self, trust: Trust) {
        self.trust = self.trust.max(trust);
    }

    /// Reports something about the call that does not keep it from having a value.
    pub fn warn(&mut self, code: Code, message: Phrase) {
        let span = self.span;
        self.findings.add(|| Diagnostic::warning(code, message).at_span(span));
    }

    /// Reports what was found about the call, at its place.
    pub(crate) fn add_finding(&mut self, finding: Option<Diagnostic>) {
        if let Some(finding) = finding {
            let span = self.span;
            self.findings.add(|| finding.at_span(span));
        }
    }

    /// Returns a text that the host gives by a name; where it gives none, that is said.
    pub(crate) fn text_of_host(&mut self, name: &str) -> Option<Text> {
        let text = self.env().texts.get(name).cloned();
        if text.is_none() {
            let name = excerpt(name);
            self.note(codes::NOT_PROVIDED, phrase!("the host provides no text for `{name}`", name));
        }
        text
    }

    /// Returns a value that the host tells; where it does not, that is said.
    pub(crate) fn told_by_host<T>(&mut self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            let name = &self.definition().name;
            self.note(codes::NOT_PROVIDED, phrase!("the host does not provide `{name}`", name));
        }
        value
    }

    /// Reports something about the call that is worth knowing.
    pub fn note(&mut self, code: Code, message: Phrase) {
        let span = self.span;
        self.findings.add(|| Diagnostic::info(code, message).at_span(span));
    }
}

/// Removes carriage returns.
pub(crate) fn without_returns(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace('\r', "")),
        None => Cow::Borrowed(text),
    }
}

impl Value {
    /// The value of macros that only have an effect.
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
    /// Creates the failure of one call; the place of the call is added to the finding.
    pub fn new(diagnostic: Diagnostic) -> Self {
        Self { diagnostic: Box::new(diagnostic), is_limit: false }
    }

    /// Creates a failure that needs no code of its own.
    pub fn because(message: Phrase) -> Self {
        Self::error(codes::MACRO_FAILED, message)
    }

    /// Creates a failure with a code.
    pub fn error(code: Code, message: Phrase) -> Self {
        Self::new(Diagnostic::error(code, message))
    }

    /// Returns what there is to say about it.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    pub(crate) fn limit(diagnostic: Box<Diagnostic>) -> Self {
        Self { diagnostic, is_limit: true }
    }
}
