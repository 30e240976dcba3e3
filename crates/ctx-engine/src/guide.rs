//! Rust examples of the README and the guide, run as documentation tests.

#[doc = include_str!("../../../README.md")]
mod readme {}

#[doc = include_str!("../../../README.zh-CN.md")]
mod readme_in_chinese {}

#[doc = include_str!("../../../docs/guide/processor.md")]
mod processor {}

#[doc = include_str!("../../../docs/guide/embed-in-rust.md")]
mod embed_in_rust {}

#[doc = include_str!("../../../docs/guide/anchors-and-macros.md")]
mod anchors_and_macros {}

#[doc = include_str!("../../../docs/guide/test-in-ci.md")]
mod test_in_ci {}
