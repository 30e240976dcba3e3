//! From a context to a request body: what is known about the model decides how the dialect is used.

use ctx_wire::{Dialect, Encoded, Options, Request, SystemPlacement};

use crate::context::Context;

impl Context {
    /// Writes the request body in the dialect of the turn, as the model takes it.
    ///
    /// ```
    /// use ctx_engine::prelude::*;
    ///
    /// let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
    /// let turn = TurnInput::new("Hi").with(|turn| turn.dialect = Some("gemini".into()));
    /// let context = compiled.assemble_blocking(&Session::new("s1"), &turn)?;
    /// let body = context.encode(&Request::new("gemini-3-pro"));
    /// assert_eq!(body.to_string(), r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#);
    /// # Ok::<(), AssembleError>(())
    /// ```
    pub fn encode<'a>(&'a self, request: &Request<'a>) -> Encoded<'a> {
        self.encode_with(request, &self.options())
    }

    /// Writes the request body as [`Context::encode`] does, for a target of which the host knows more than the
    /// model's name says; it begins with [`Context::options`].
    pub fn encode_with<'a>(&'a self, request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
        self.dialect.encode_with(&self.messages, request, options)
    }

    /// Returns the dialect that the context was made for: that of the turn, chat completions if it names none.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns how the model wants a request: whether it continues a reply, accepts system messages inside the
    /// conversation, and which parameters, reasoning state and ids it accepts.
    ///
    /// Of a model that nobody knows the common is believed: it goes on with an answer, and such messages are
    /// wrapped.
    pub fn options(&self) -> Options<'static> {
        let is_known = self.model.name.is_some();
        let may = self.model.capabilities;
        let system = match is_known && may.mid_system {
            true => SystemPlacement::InPlace,
            false => SystemPlacement::Wrapped,
        };
        Options { prefill: may.prefill, system, rules: self.model.request, ..Options::default() }
    }
}
