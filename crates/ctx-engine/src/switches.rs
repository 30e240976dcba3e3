//! Which processors run: the switches of the command line and of applications.

/// Processors that a run switches on or off by id, over everything that files say.
///
/// An id that does not exist is a diagnostic. Where both lists name an id, `disable` wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// The ids to switch on.
    pub enable: Vec<String>,
    /// The ids to switch off.
    pub disable: Vec<String>,
}
