/// Processors to enable or disable by id, overriding all files.
///
/// If both lists contain an id, `disable` applies. An unknown id is a diagnostic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Ids to enable.
    pub enable: Vec<String>,
    /// Ids to disable.
    pub disable: Vec<String>,
}
