#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Bool,
    Number(f64),
    String(Vec<u8>),
    Name(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// Number of another object.
    Reference(u32),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns an unsigned integer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range is checked")]
    pub(super) fn index(&self) -> Option<u32> {
        let number = self.number().filter(|number| (0.0..=f64::from(u32::MAX)).contains(number))?;
        Some(number as u32)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn string(&self) -> Option<&[u8]> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Object]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

/// In file order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dict(pub(super) Vec<(Vec<u8>, Object)>);

impl Dict {
    /// O(entries): dictionaries are short.
    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        self.0.iter().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.get(key).and_then(Object::name) == Some(name.as_bytes())
    }
}
