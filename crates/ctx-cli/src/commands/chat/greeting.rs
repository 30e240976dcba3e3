//! The number of a greeting, with which a new conversation may begin.

use ctx_project::error::{ProjectError, Result};
use ctx_types::{count_of, phrase};

/// Checks the number of a greeting. 0 means without a greeting. Returns a usage error if there are fewer greetings.
pub(super) fn check_number(number: usize, count: usize) -> Result<usize, ProjectError> {
    if number <= count {
        return Ok(number);
    }
    let greetings = count_of!(count, "greeting");
    Err(ProjectError::Usage(phrase!("no greeting {number}; the agent has {greetings}", number, greetings)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: usize, count: usize, expected: Result<usize, &str>) {
        let checked = check_number(number, count).map_err(|error| error.to_string());
        assert_eq!(checked, expected.map_err(str::to_owned));
    }

    #[test]
    fn rejects_missing_greeting() {
        check(0, 0, Ok(0));
        check(2, 2, Ok(2));
        check(3, 2, Err("no greeting 3; the agent has 2 greetings"));
        check(9, 1, Err("no greeting 9; the agent has 1 greeting"));
        check(1, 0, Err("no greeting 1; the agent has 0 greetings"));
    }
}
