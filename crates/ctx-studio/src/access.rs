//! Who may ask: a code in the link that is opened, once, and the token that is given for it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

/// How long the code of a link can be used.
const CODE_AGE: Duration = Duration::from_secs(5 * 60);

/// The secrets of one run of the server.
pub(crate) struct Access {
    token: String,
    code: Mutex<Option<LinkCode>>,
}

/// A code that was given out and not used.
struct LinkCode {
    text: String,
    given: Instant,
}

impl Access {
    /// Draws a token of 256 bits; there is no code before one is asked for.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        Ok(Self { token: random::<32>()?, code: Mutex::new(None) })
    }

    /// Draws a code of 128 bits; one that was given out before has no effect any more.
    pub(crate) fn new_code(&self) -> Result<String, getrandom::Error> {
        let text = random::<16>()?;
        *lock(&self.code) = Some(LinkCode { text: text.clone(), given: Instant::now() });
        Ok(text)
    }

    /// Returns the token for the code of a link, once.
    pub(crate) fn log_in(&self, code: &str) -> Option<String> {
        self.log_in_at(code, Instant::now())
    }

    fn log_in_at(&self, code: &str, now: Instant) -> Option<String> {
        let mut given = lock(&self.code);
        let own = given.take_if(|own| is_equal(&own.text, code))?;
        (now.saturating_duration_since(own.given) < CODE_AGE).then(|| self.token.clone())
    }

    /// Returns whether a text is the token.
    pub(crate) fn admits(&self, token: &str) -> bool {
        is_equal(&self.token, token)
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// Compares without telling by the time taken how much is equal.
fn is_equal(own: &str, given: &str) -> bool {
    own.as_bytes().ct_eq(given.as_bytes()).into()
}

/// Draws bytes, written with letters, digits, `-` and `_`.
pub(crate) fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Locks, whatever became of the thread that held the lock before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_once_and_for_five_minutes() {
        let access = Access::new().unwrap();
        let code = access.new_code().unwrap();
        assert_eq!(access.log_in("other"), None);
        let token = access.log_in(&code).unwrap();
        assert!(access.admits(&token) && !access.admits(&code) && !access.admits(""));
        assert_eq!(access.log_in(&code), None);
        let code = access.new_code().unwrap();
        assert_eq!(access.log_in_at(&code, Instant::now() + CODE_AGE), None);
        assert_eq!(access.log_in(&code), None);
    }

    #[test]
    fn a_new_code_ends_the_older_one() {
        let access = Access::new().unwrap();
        let older = access.new_code().unwrap();
        let newer = access.new_code().unwrap();
        assert_eq!(older.len(), 22);
        assert_eq!(access.log_in(&older), None);
        assert!(access.log_in(&newer).is_some());
    }
}
