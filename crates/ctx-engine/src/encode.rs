use ctx_wire::{Dialect, Encoded, Options, Request, SystemPlacement};

use crate::context::Context;

impl Context {
    /// Writes the request body in the API dialect of the turn, adapted to the model.
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

    /// Writes the request body with custom options; start from [`Context::options`]. For hosts that know more
    /// about the endpoint than the model name tells.
    pub fn encode_with<'a>(&'a self, request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
        self.dialect.encode_with(&self.messages, request, options)
    }

    /// Returns the API dialect of the turn; chat completions by default.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns encoding options that fit the model.
    ///
    /// An unknown model is assumed to continue a reply; its system messages inside the conversation are
    /// wrapped. An append-only context also wraps them, because a later message must not change the form of an
    /// earlier message.
    pub fn options(&self) -> Options<'static> {
        let may = self.model.capabilities;
        let is_known = self.model.name.is_some();
        let is_in_place = is_known && may.mid_system && self.report.prefix.is_none();
        let system = if is_in_place { SystemPlacement::InPlace } else { SystemPlacement::Wrapped };
        Options { prefill: may.prefill, system, rules: self.model.request, ..Options::default() }
    }
}
