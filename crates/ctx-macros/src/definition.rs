use std::fmt;
use std::sync::Arc;

use ctx_types::{Phrase, Trust, phrase, words};

use crate::call::{Call, Failure, Value};
use crate::dialect::Dialect;

pub(crate) type ExpandFn = dyn Fn(&mut Call<'_>) -> Result<Value, Failure> + Send + Sync;

/// A macro, as registered and listed.
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
pub struct Definition {
    /// Main name.
    pub name: Arc<str>,
    /// Alternative names.
    pub aliases: Vec<Arc<str>>,
    /// Accepted number of arguments; none by default.
    pub arity: Arity,
    /// Whether a call affects later calls, such as one that sets a variable.
    pub changes_state: bool,
    /// Whether the value can change between turns with the same texts and variables, as the time does. A
    /// provider's prompt cache ends at such a call.
    pub volatile: bool,
    /// Only macro syntax that has it; by default `None`: all have it.
    pub dialect: Option<Dialect>,
    /// Heading in lists; [`Topic::Other`] by default.
    pub topic: Topic,
    /// Highest trust of the value. Arguments and variables can only lower it.
    pub trust: Trust,
    /// One-sentence description of the value.
    pub description: String,
    /// Example call.
    pub example: String,
    pub(crate) expand: Arc<ExpandFn>,
    pub(crate) form: Form,
    /// Keeps escapes from arguments or variables.
    pub(crate) echoes: bool,
}

words! {
    /// Subject of a macro, used as a heading in lists.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Topic: [as_str] {
        /// Names, and texts of the card and the user profile.
        Names = "names",
        /// Conversation.
        Conversation = "conversation",
        /// Model and application state.
        Model = "model",
        /// Time and date.
        Time = "time",
        /// Variables.
        Variables = "variables",
        /// Conditions, comments, and text functions.
        Text = "text",
        /// Random choices.
        Random = "random",
        /// Templates for text completion.
        Instruct = "instruct",
        /// Host machine.
        System = "system",
        /// Assets, tools, and knowledge bases.
        Assets = "assets",
        /// Everything else.
        #[default]
        Other = "other",
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Ordinary,
    /// Evaluates one later argument, selected by the first.
    Condition,
    /// `{{else}}`.
    Alternative,
    Comment,
}

/// Accepted number of arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arity {
    /// Minimum. A call with fewer arguments is left unchanged.
    pub min: usize,
    /// Maximum; `None` is unlimited.
    pub max: Option<usize>,
}

impl Definition {
    /// Declares a macro that never fails. Defaults are those of [`Definition::new`].
    pub fn always<F>(name: impl Into<Arc<str>>, expand: F) -> Self
    where
        F: Fn(&mut Call<'_>) -> Value + Send + Sync + 'static,
    {
        Self::new(name, move |call| Ok(expand(call)))
    }

    /// Declares a macro without arguments and with the trust of the preset.
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
            dialect: None,
            topic: Topic::default(),
            trust: Trust::Preset,
            description: String::new(),
            example: String::new(),
            expand: Arc::new(expand),
            form: Form::Ordinary,
            echoes: false,
        }
    }

    /// Adds an alias.
    #[must_use]
    pub fn alias(mut self, name: impl Into<Arc<str>>) -> Self {
        self.aliases.push(name.into());
        self
    }

    /// Sets the minimum and maximum number of arguments. `None` as the maximum is unlimited.
    #[must_use]
    pub fn arity(mut self, min: usize, max: impl Into<Option<usize>>) -> Self {
        self.arity = Arity { min, max: max.into() };
        self
    }

    /// Declares that a call affects later calls.
    #[must_use]
    pub fn changes_state(mut self) -> Self {
        self.changes_state = true;
        self
    }

    /// Declares that the value can change between turns.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// Sets the only macro syntax that has it.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets the heading in lists.
    #[must_use]
    pub fn topic(mut self, topic: Topic) -> Self {
        self.topic = topic;
        self
    }

    /// Sets the highest trust of the value.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets the one-sentence description and an example call.
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

    pub(crate) fn echoes(mut self) -> Self {
        self.echoes = true;
        self
    }

    /// Returns whether a macro syntax has it.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        self.dialect.is_none_or(|only| only == dialect)
    }

    /// Returns the macro syntaxes that have it.
    pub fn dialects(&self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL.into_iter().filter(|dialect| self.is_in(*dialect))
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
            .field("arity", &self.arity)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

impl Arity {
    /// Describes the arity in a short phrase.
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
