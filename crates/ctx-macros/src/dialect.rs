use ctx_types::words;

words! {
    /// Syntax of the macros in a text.
    ///
    /// ```
    /// use ctx_macros::Dialect;
    ///
    /// assert_eq!(Dialect::parse("sillytavern"), Some(Dialect::SillyTavern));
    /// assert_eq!(Dialect::default().as_str(), "aio");
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Dialect: [as_str, parse, ALL] {
        /// AIO Hub. Names are case-sensitive, `\{{` escapes `{{`, and extra arguments are ignored. An unknown
        /// call is left unchanged, including nested calls.
        #[default]
        Aio = "aio",
        /// SillyTavern 1.18. Names are case-insensitive, and `\{` and `\}` escape braces. `{{name:argument}}`
        /// and `{{name argument}}` have one argument. A call that is unknown or has the wrong number of
        /// arguments is text, but nested calls are expanded. Calls can have blocks, `|` is reserved, and
        /// `<USER>` is a call.
        SillyTavern = "sillytavern",
    }
}

impl Dialect {
    /// Returns the replacement of a removed macro syntax (of an application's older macro engine).
    ///
    /// ```
    /// use ctx_macros::Dialect;
    ///
    /// assert_eq!(Dialect::replacing("sillytavern-legacy"), Some(Dialect::SillyTavern));
    /// assert_eq!(Dialect::replacing("aio"), None);
    /// ```
    pub fn replacing(removed: &str) -> Option<Self> {
        match removed {
            "aio-phased" => Some(Self::Aio),
            "sillytavern-legacy" => Some(Self::SillyTavern),
            _ => None,
        }
    }

    /// Whether macros in card and user profile texts are expanded on insertion. Otherwise inserted values are
    /// never expanded again.
    pub const fn expands_card_texts(self) -> bool {
        self.is_sillytavern()
    }

    pub(crate) const fn is_aio(self) -> bool {
        matches!(self, Self::Aio)
    }

    pub(crate) const fn is_sillytavern(self) -> bool {
        matches!(self, Self::SillyTavern)
    }
}
