//! Options of other programs. Each is an error that names our options.

use std::ffi::OsStr;

use clap::builder::{TypedValueParser, UnknownArgumentValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, Error};

/// Options of other programs for the size of a context, each with our options.
const FOREIGN: [(&str, &[&str]); 2] =
    [("budget", &["--context-tokens"]), ("max-tokens", &["--context-tokens", "--reserve"])];

/// Adds the options to each verb that has `--context-tokens`.
pub(super) fn with_foreign_options(command: Command) -> Command {
    let command = command.mut_subcommands(with_foreign_options);
    let options: Vec<String> =
        command.get_arguments().filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
    if !options.iter().any(|option| option == "--context-tokens") {
        return command;
    }
    let is_free = |name: &str| !options.iter().any(|option| option[2..] == *name);
    FOREIGN.iter().filter(|(name, _)| is_free(name)).fold(command, |command, (name, ours)| {
        let ours = ours.iter().filter(|ours| options.iter().any(|option| option == *ours));
        let parser = ForeignOption { name, ours: ours.map(|ours| (*ours).to_owned()).collect() };
        // The error does not depend on the value, which may be missing.
        let option = Arg::new(*name).long(*name).hide(true).num_args(0..=1).default_missing_value("");
        command.arg(option.value_parser(parser))
    })
}

/// Rejects any value, and suggests our options.
#[derive(Clone)]
struct ForeignOption {
    name: &'static str,
    ours: Vec<String>,
}

impl TypedValueParser for ForeignOption {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let unknown = UnknownArgumentValueParser::suggest_arg("").parse_ref(command, option, value);
        unknown.map(|_| String::new()).map_err(|mut error| {
            error.insert(ContextKind::InvalidArg, ContextValue::String(format!("--{}", self.name)));
            error.insert(ContextKind::SuggestedArg, ContextValue::Strings(self.ours.clone()));
            error
        })
    }
}
