use crate::words;

words! {
    /// Asks the provider to cache the request up to a message.
    ///
    /// Ignored by API dialects without cache marks. Does not affect text or tokens.
    #[non_exhaustive]
    pub enum CacheMark: [as_str] {
        /// The provider's default lifetime: some minutes.
        Short = "short",
        /// The provider's longest lifetime, for example an hour.
        Long = "long",
    }
}

words! {
    /// Placement of cache marks.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum CachePolicy: [as_str, ALL] {
        /// No marks, for servers with automatic prefix caching.
        #[default]
        Off = "off",
        /// After the prefix that the next turn repeats, and after its leading system messages.
        Stable = "stable",
    }
}
