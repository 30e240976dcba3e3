//! One program for all targets; `CTX_FUZZ_TARGET` names the one that runs.
#![no_main]

use std::sync::OnceLock;

use fuzz::Target;
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let chosen = || std::env::var("CTX_FUZZ_TARGET").ok().and_then(|name| fuzz::target(&name));
    let target = TARGET.get_or_init(|| chosen().expect("CTX_FUZZ_TARGET names a target"));
    (target.run)(bytes);
});
