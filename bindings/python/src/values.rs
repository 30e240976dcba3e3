//! Values of Python as JSON, and back.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ctx_operations::{Role, Text};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// How deep lists and dicts may be nested: as documents may.
const MAX_DEPTH: usize = 128;

/// How many objects are remembered that say a role.
const MAX_ROLES: usize = 8;

/// A value of Python that is written as JSON; bytes become base64.
pub(crate) struct Given<'a, 'py> {
    value: &'a Bound<'py, PyAny>,
    depth: usize,
}

impl<'a, 'py> Given<'a, 'py> {
    pub(crate) const fn new(value: &'a Bound<'py, PyAny>) -> Self {
        Self { value, depth: 0 }
    }

    fn below<'b>(&self, value: &'b Bound<'py, PyAny>) -> Given<'b, 'py> {
        Given { value, depth: self.depth + 1 }
    }
}

impl Serialize for Given<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        if self.depth > MAX_DEPTH {
            return Err(S::Error::custom(format!("lists and dicts are nested more than {MAX_DEPTH} deep")));
        }
        if let Ok(text) = value.cast::<PyString>() {
            return serializer.serialize_str(text.to_cow().map_err(S::Error::custom)?.as_ref());
        }
        if let Ok(map) = value.cast::<PyDict>() {
            let mut written = serializer.serialize_map(Some(map.len()))?;
            for (key, value) in map.iter() {
                let key =
                    key.cast::<PyString>().map_err(|_| S::Error::custom("a key of a dict is no str"))?;
                let key = key.to_cow().map_err(S::Error::custom)?;
                written.serialize_entry(key.as_ref(), &self.below(&value))?;
            }
            return written.end();
        }
        if let Ok(list) = value.cast::<PyList>() {
            let mut written = serializer.serialize_seq(Some(list.len()))?;
            list.iter().try_for_each(|value| written.serialize_element(&self.below(&value)))?;
            return written.end();
        }
        if let Ok(list) = value.cast::<PyTuple>() {
            let mut written = serializer.serialize_seq(Some(list.len()))?;
            list.iter().try_for_each(|value| written.serialize_element(&self.below(&value)))?;
            return written.end();
        }
        if value.is_none() {
            return serializer.serialize_unit();
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            return serializer.serialize_bool(truth.is_true());
        }
        if value.is_instance_of::<PyInt>() {
            if let Ok(number) = value.extract::<i64>() {
                return serializer.serialize_i64(number);
            }
            let large = value.extract::<u64>();
            return serializer
                .serialize_u64(large.map_err(|_| S::Error::custom("an int has more than 64 bits"))?);
        }
        if value.is_instance_of::<PyFloat>() {
            let number = value.extract::<f64>().map_err(S::Error::custom)?;
            return if number.is_finite() { serializer.serialize_f64(number) } else { Err(S::Error::custom("a float is not finite")) };
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return serializer.serialize_str(&BASE64_STANDARD.encode(bytes.as_bytes()));
        }
        let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        Err(S::Error::custom(format!("`{kind}` cannot be written as JSON")))
    }
}

/// Reads a list of dicts that have a role and a text and nothing else; none where one of them is something else, or the
/// result of a tool.
///
/// Most messages are that, and reading them as JSON takes three times as long.
pub(crate) fn plain_messages<'py>(messages: &Bound<'py, PyAny>) -> Option<Vec<(Role, Text)>> {
    let py = messages.py();
    // The role is the same few objects again and again, which need not be read each time.
    let mut roles: Vec<(Bound<'py, PyString>, Role)> = Vec::new();
    let plain = |message: Bound<'py, PyAny>| {
        let message = message.cast_into::<PyDict>().ok().filter(|message| message.len() == 2)?;
        let field = |key| message.get_item(key).ok()??.cast_into::<PyString>().ok();
        let (given, content) = (field(intern!(py, "role"))?, field(intern!(py, "content"))?);
        let role = match roles.iter().find(|(known, _)| known.is(&given)) {
            Some((_, role)) => *role,
            None => {
                let role = Role::parse(str::from_utf8(given.encode_utf8().ok()?.as_bytes()).ok()?)?;
                if roles.len() < MAX_ROLES {
                    roles.push((given, role));
                }
                role
            }
        };
        let content = content.encode_utf8().ok()?;
        let text = str::from_utf8(content.as_bytes()).ok()?;
        (role != Role::Tool).then(|| (role, Text::from(text)))
    };
    let messages = messages.cast::<PyList>().ok()?;
    // How many there will be is not known to what collects them, as any may be something else.
    let mut read = Vec::with_capacity(messages.len());
    for message in messages.iter().map(plain) {
        read.push(message?);
    }
    Some(read)
}

/// Makes a value of Python of JSON.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(list) => {
            let values = list.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
