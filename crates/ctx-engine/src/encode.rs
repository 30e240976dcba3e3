//! From a context to a request body: what is known about the model decides how the dialect is used.

use ctx_wire::{Dialect, Encoded, Options, Request, SystemPlacement};

use crate::context::Context;

impl Context {
    /// Writes the request body in a dialect, as the model takes it.
    ///
    /// ```
    /// use ctx_engine::{Compile, Dialect, Engine, Request};
    /// use ctx_types::{Agent, Session, TurnInput};
    ///
    /// let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
    /// let turn = TurnInput { input: Some("Hi".into()), ..TurnInput::default() };
    /// let context = compiled.assemble_blocking(&Session::new("s1"), &turn)?;
    /// let request = Request { model: "gemini-3-pro", tools: &[], parameters: &Default::default() };
    /// let body = context.encode(Dialect::Gemini, &request);
    /// assert_eq!(body.to_string(), r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#);
    /// # Ok::<(), ctx_engine::AssembleError>(())
    /// ```
    pub fn encode<'a>(&'a self, dialect: Dialect, request: &Request<'a>) -> Encoded<'a> {
        dialect.encode_with(&self.messages, request, &self.options())
    }

    /// Returns how the model wants a request: whether it goes on with an answer, and takes system messages inside
    /// the conversation.
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
        Options { prefill: may.prefill, system, ..Options::default() }
    }
}
