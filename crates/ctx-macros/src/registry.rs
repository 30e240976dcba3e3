use std::collections::HashMap;
use std::sync::Arc;

use ctx_types::internal::{NearestName, nearest};

use crate::builtins;
use crate::definition::{Definition, Form};
use crate::dialect::Dialect;

/// Macros by name.
///
/// Cheap to clone, with copy-on-write. A compiled template keeps the macros that the registry had at that
/// time.
///
/// ```
/// use ctx_macros::{Definition, Dialect, Registry};
///
/// let mut registry = Registry::builtin();
/// assert_eq!(registry.get("agent", Dialect::Aio).map(|definition| &*definition.name), Some("char"));
/// let taken = registry.register(Definition::new("User", |_| Ok("me".into())));
/// assert_eq!(taken.unwrap_err().to_string(), "a macro called `User` is registered already");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    definitions: Arc<Vec<Definition>>,
    /// By lower-case name or alias. SillyTavern ignores case, so names must differ in more than case. Never
    /// iterated.
    by_name: Arc<HashMap<String, Vec<usize>>>,
}

/// Reason why a macro cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is taken in the same macro syntax, or is listed twice.
    #[error("a macro called `{name}` is registered already")]
    Duplicate {
        /// Name.
        name: String,
    },
    /// The name cannot be written in a call.
    #[error("`{name}` cannot be the name of a macro")]
    BadName {
        /// Name.
        name: String,
    },
    /// The minimum number of arguments exceeds the maximum.
    #[error("the macro `{name}` needs more arguments than it takes")]
    BadArity {
        /// Name of the macro.
        name: String,
    },
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry with all built-in macros.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        for definition in builtins::all() {
            let registered = registry.register(definition);
            debug_assert!(registered.is_ok(), "{registered:?}");
        }
        registry
    }

    /// Adds a macro.
    ///
    /// # Errors
    /// A name is taken or cannot be written in a call, or the arity is invalid. The registry is unchanged.
    pub fn register(&mut self, definition: Definition) -> Result<(), RegisterError> {
        let name = definition.name.to_string();
        if definition.arity.max.is_some_and(|max| max < definition.arity.min) {
            return Err(RegisterError::BadArity { name });
        }
        let mut folded = Vec::new();
        for name in definition.names() {
            let lower = name.to_lowercase();
            let is_taken =
                |known: &usize| self.definitions[*known].dialects().any(|dialect| definition.is_in(dialect));
            if folded.contains(&lower) || self.find_named(&lower).iter().any(is_taken) {
                return Err(RegisterError::Duplicate { name: name.to_string() });
            }
            if !is_name(name) && definition.form != Form::Comment {
                return Err(RegisterError::BadName { name: name.to_string() });
            }
            folded.push(lower);
        }
        let index = self.definitions.len();
        let by_name = Arc::make_mut(&mut self.by_name);
        for lower in folded {
            by_name.entry(lower).or_default().push(index);
        }
        Arc::make_mut(&mut self.definitions).push(definition);
        Ok(())
    }

    /// Finds a macro by name or alias.
    pub fn get(&self, name: &str, dialect: Dialect) -> Option<&Definition> {
        self.find(name, dialect).map(|index| self.definition(index))
    }

    /// Returns all macros in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter()
    }

    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.definitions, &other.definitions)
    }

    #[inline]
    pub(crate) fn definition(&self, index: usize) -> &Definition {
        &self.definitions[index]
    }

    pub(crate) fn find(&self, name: &str, dialect: Dialect) -> Option<usize> {
        let is_lower = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let known = if is_lower { self.find_named(name) } else { self.find_named(&name.to_lowercase()) };
        let is_known = |index: &&usize| self.definitions[**index].is_in(dialect);
        let index = *known.iter().find(is_known)?;
        let is_same = || self.definitions[index].names().any(|known| **known == *name);
        (!dialect.is_aio() || is_same()).then_some(index)
    }

    pub(crate) fn dialect_of(&self, name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| self.find(name, *dialect).is_some())
    }

    pub(crate) fn nearest(&self, name: &str, dialect: Dialect) -> Option<NearestName<'_>> {
        let known = self.definitions.iter().filter(|known| known.is_in(dialect));
        nearest(name, known.flat_map(Definition::names).map(|known| &**known))
    }

    fn find_named(&self, lower: &str) -> &[usize] {
        self.by_name.get(lower).map(Vec::as_slice).unwrap_or_default()
    }
}

/// A letter of any script, then letters, digits, `_`, and `-`.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.all(is_name_char)
}

pub(crate) fn name_len(text: &str) -> usize {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let plain = text.bytes().take_while(|byte| is_plain(byte)).count();
    match text.as_bytes().get(plain) {
        Some(byte) if !byte.is_ascii() => text.find(|c| !is_name_char(c)).unwrap_or(text.len()),
        _ => plain,
    }
}

pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}
