//! The declaration of a macro: its name, what it takes, what it does.

use std::fmt;
use std::sync::Arc;

use ctx_types::{Phrase, Trust, phrase};

use crate::call::{Call, Failure, Value};
use crate::dialect::DialectSet;
use crate::state::Scope;

/// The body of a macro: makes the value of one call.
pub type ExpandFn = dyn Fn(&mut Call<'_>) -> Result<Value, Failure> + Send + Sync;

/// One macro, as it is registered and listed.
///
/// ```
/// use ctx_macros::{Definition, Dialect, Env, Limits, Registry, State, Template};
/// use ctx_types::{Source, SourceKind, Text, Trust};
///
/// let mut registry = Registry::builtin();
/// registry.register(
///     Definition::always("shout", |call| call.argument(0).to_uppercase().into())
///         .arity(1, 1)
///         .describe("Its argument in capitals.", "{{shout::hey}}"),
/// )?;
/// let template = Template::parse(&Text::from("{{shout::{{char}}}}!"), Dialect::Aio, &registry);
/// let origin = Source::new(SourceKind::Preset, Trust::Preset);
/// let expansion = template.expand(&Env::default(), &mut State::new(Limits::default()), &origin);
/// assert_eq!(expansion.text, "ASSISTANT!");
/// # Ok::<(), ctx_macros::RegisterError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, listed beside the others")]
pub struct Definition {
    /// The name by which it is called and listed.
    pub name: Arc<str>,
    /// Other names for it.
    pub aliases: Vec<Arc<str>>,
    /// How many arguments it takes; none by default.
    pub arity: Arity,
    /// Whether a call changes what later calls give, as setting a variable does.
    pub changes_state: bool,
    /// Whether equal texts and variables can give another value in the next turn, as the time does; a
    /// provider's prompt cache ends at such a call.
    pub volatile: bool,
    /// Whether every call without arguments gives the same in one run; then a text asks for it once.
    pub constant: bool,
    /// The dialects in which it exists; all of them by default.
    pub dialects: DialectSet,
    /// Under which heading it is listed; [`Topic::Other`] by default.
    pub topic: Topic,
    /// How far its value may be trusted at best; arguments and variables that it used can only lower it.
    pub trust: Trust,
    /// What it gives, in one sentence.
    pub description: String,
    /// A call as one would write it.
    pub example: String,
    /// Makes the value.
    pub expand: Arc<ExpandFn>,
    /// What the evaluator does with it.
    pub(crate) form: Form,
    /// Its value is made of its arguments or of variables: what is escaped there is escaped in it.
    pub(crate) echoes: bool,
    /// The first argument names a variable of these.
    pub(crate) variables: Option<Scope>,
    /// It gives this variable another value, or none, whatever it had: what stood there before is not read.
    pub(crate) replaces: bool,
}

/// What a macro is about: the heading under which it is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Topic {
    /// Who talks with whom, and the texts of the card and the profile.
    Names,
    /// The conversation.
    Conversation,
    /// The model and the state of the application.
    Model,
    /// Time and date.
    Time,
    /// Variables.
    Variables,
    /// Conditions, comments, and macros that work on text.
    Text,
    /// Random choices.
    Random,
    /// Templates of text completion.
    Instruct,
    /// The machine.
    System,
    /// Assets, tools, knowledge.
    Assets,
    /// Everything else.
    #[default]
    Other,
}

/// What the evaluator does with a macro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// It calls it.
    #[default]
    Ordinary,
    /// It evaluates one of its later arguments, by what the first one says.
    Condition,
    /// It divides the text of a condition.
    Alternative,
    /// It drops it with its arguments.
    Comment,
}

/// How many arguments a macro takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arity {
    /// The fewest; a call with fewer stays as it is written.
    pub min: usize,
    /// The most; none is any number.
    pub max: Option<usize>,
}

impl Definition {
    /// Declares a macro that always has a value; the rest is as with [`Definition::new`].
    pub fn always<F>(name: impl Into<Arc<str>>, expand: F) -> Self
    where
        F: Fn(&mut Call<'_>) -> Value + Send + Sync + 'static,
    {
        Self::new(name, move |call| Ok(expand(call)))
    }

    /// Declares a macro without arguments whose value is trusted as the preset is.
    pub fn new<F>(name: impl Into<Arc<str>>, expand: F) -> Self
    where
        F: Fn(&mut Call<'_>) -> Result<Value, Failure> + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            arity: Arity { min: 0, max: Some(0) },
            changes_state: false,
            volatile: false,
            constant: false,
            dialects: DialectSet::ALL,
            topic: Topic::default(),
            trust: Trust::Preset,
            description: String::new(),
            example: String::new(),
            expand: Arc::new(expand),
            form: Form::Ordinary,
            echoes: false,
            variables: None,
            replaces: false,
        }
    }

    /// Adds another name.
    #[must_use]
    pub fn alias(mut self, name: impl Into<Arc<str>>) -> Self {
        self.aliases.push(name.into());
        self
    }

    /// Sets the fewest and the most arguments; `None` as the most is any number.
    #[must_use]
    pub fn arity(mut self, min: usize, max: impl Into<Option<usize>>) -> Self {
        self.arity = Arity { min, max: max.into() };
        self
    }

    /// Declares that a call changes what later calls give.
    #[must_use]
    pub fn changes_state(mut self) -> Self {
        self.changes_state = true;
        self
    }

    /// Declares that the value can differ from turn to turn.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// Declares that every call without arguments gives the same in one run: nothing but the environment matters.
    #[must_use]
    pub fn constant(mut self) -> Self {
        self.constant = true;
        self
    }

    /// Sets the dialects in which it exists.
    #[must_use]
    pub fn dialects(mut self, dialects: DialectSet) -> Self {
        self.dialects = dialects;
        self
    }

    /// Sets the heading under which it is listed.
    #[must_use]
    pub fn topic(mut self, topic: Topic) -> Self {
        self.topic = topic;
        self
    }

    /// Sets how far the value may be trusted at best.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets the description, one sentence, and an example call.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>, example: impl Into<String>) -> Self {
        self.description = description.into();
        self.example = example.into();
        self
    }

    pub(crate) fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    pub(crate) const fn of_variable(mut self, scope: Scope) -> Self {
        self.variables = Some(scope);
        self
    }

    pub(crate) const fn replaces(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Returns whether a call gives a value, and does not only set a variable.
    pub(crate) const fn is_shown(&self) -> bool {
        self.variables.is_none() || !self.changes_state || self.echoes
    }

    pub(crate) fn echoes(mut self) -> Self {
        self.echoes = true;
        self
    }

    /// Returns the name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition")
            .field("name", &self.name)
            .field("aliases", &self.aliases)
            .field("arity", &self.arity)
            .field("changes_state", &self.changes_state)
            .field("volatile", &self.volatile)
            .field("constant", &self.constant)
            .field("dialects", &self.dialects)
            .field("topic", &self.topic)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}

impl Topic {
    /// Returns the heading.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Conversation => "conversation",
            Self::Model => "model",
            Self::Time => "time",
            Self::Variables => "variables",
            Self::Text => "text",
            Self::Random => "random",
            Self::Instruct => "instruct",
            Self::System => "system",
            Self::Assets => "assets",
            Self::Other => "other",
        }
    }
}

impl Arity {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self.max {
            Some(0) => phrase!("no arguments"),
            Some(1) if self.min == 1 => phrase!("1 argument"),
            Some(max) if max == self.min => phrase!("{max} arguments", max),
            Some(max) => phrase!("{min} to {max} arguments", min = self.min, max),
            None => phrase!("{min} or more arguments", min = self.min),
        }
    }
}

impl fmt::Display for Arity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}
