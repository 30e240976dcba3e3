//! `ctx tap`: records the requests of another program.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use ctx_language::Language;
use ctx_project::error::{ProjectError, Result, not_started};
use ctx_project::{files, home, unusable};
use ctx_tap::{
    HttpProxy, InvalidUpstream, LogSummary, Recorder, Tap, TapConfig, TapError, Upstream, Upstreams,
};
use ctx_types::phrase;
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::args::TapArguments;
use crate::commands::serve::not_listening;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show;

/// Variables with a base URL, and the path that clients expect in it.
const VARIABLES: [(&str, &str); 6] = [
    ("OPENAI_BASE_URL", "/v1"),
    ("OPENAI_API_BASE", "/v1"),
    ("ANTHROPIC_BASE_URL", ""),
    ("ANTHROPIC_API_BASE", ""),
    ("GOOGLE_GEMINI_BASE_URL", ""),
    // LiteLLM appends only the model.
    ("GEMINI_API_BASE", "/v1beta"),
];

/// Runs a command, or waits for a signal.
pub(crate) fn run(language: Language, arguments: &TapArguments) -> Result<Exit> {
    let upstreams = upstreams(arguments)?;
    let proxy = HttpProxy::from_environment().map_err(|name| {
        ProjectError::Usage(phrase!("`{name}` is not the URL of an HTTP proxy; use `http://HOST:PORT`", name))
    })?;
    let folder = arguments.record.clone().map_or_else(default_folder, Ok)?;
    let recorder = create_log(&folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| not_started(&error))?;
    let listen = arguments.listen.unwrap_or(TapConfig::default().listen);
    let config = TapConfig { listen, upstreams, recorder: Some(recorder.clone()), proxy };
    let exit = runtime.block_on(tap(language, config, &arguments.command));
    report(language, &recorder.finish());
    exit
}

/// Creates the log in a folder.
pub(super) fn create_log(folder: &Path) -> Result<Recorder> {
    Recorder::create(folder).map_err(|error| {
        let (folder, reason) = (files::name(folder), files::reason(&error));
        unusable!("cannot write a log in `{folder}`: {reason}", folder, reason)
    })
}

/// Reports the recorded requests.
pub(super) fn report(language: Language, summary: &LogSummary) {
    if let Some(error) = &summary.error {
        let (file, reason) = (files::name(&summary.path), files::reason(error));
        show::remark(language, &phrase!("warning: cannot write `{file}`: {reason}", file, reason));
    }
    if summary.lost > 0 {
        show::remark(
            language,
            &phrase!("warning: {count} requests are not in the log", count = summary.lost),
        );
    }
    let text = match summary.requests {
        0 => phrase!("no requests recorded"),
        count => {
            let file = files::shell_word(&summary.path);
            phrase!("requests recorded: {count}; compare them with `ctx diff {file}`", count, file)
        }
    };
    show::remark(language, &text);
}

fn default_folder() -> Result<PathBuf> {
    let folder = home::data().map(|folder| folder.join("requests"));
    folder.ok_or_else(|| unusable!("no home folder for the log; set a folder with `--record`"))
}

/// Returns the servers of the command line, of the environment, or of the providers.
fn upstreams(arguments: &TapArguments) -> Result<Upstreams> {
    if let Some(url) = &arguments.upstream {
        let upstream = Upstream::parse(url).map_err(|_| not_a_base_url("--upstream"))?;
        return Ok(Upstreams::all(&upstream));
    }
    let default = Upstreams::default();
    let set = |names: [&'static str; 2],
               default,
               parse: fn(&str) -> std::result::Result<Upstream, InvalidUpstream>| {
        let url = |name| std::env::var(name).ok().filter(|url| !url.is_empty()).map(|url| (name, url));
        match names.into_iter().find_map(url) {
            Some((name, url)) => parse(&url).map_err(|_| not_a_base_url(name)),
            None => Ok(default),
        }
    };
    Ok(Upstreams {
        openai: set(["OPENAI_BASE_URL", "OPENAI_API_BASE"], default.openai, Upstream::parse_openai)?,
        anthropic: set(["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"], default.anthropic, Upstream::parse)?,
        gemini: set(["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"], default.gemini, Upstream::parse)?,
    })
}

/// Does not repeat the URL, which may contain a password.
fn not_a_base_url(name: &str) -> ProjectError {
    ProjectError::Usage(phrase!(
        "`{name}` is not a base URL; use `https://HOST` or `http://HOST:PORT/PATH`",
        name
    ))
}

async fn tap(language: Language, config: TapConfig, command: &[OsString]) -> Result<Exit> {
    let tap = Tap::bind(config).await.map_err(|error| match error {
        TapError::Listen { address, error } => not_listening(address, &error),
        TapError::Tls(error) => unusable!("cannot set up TLS: {error}", error = error.to_string()),
    })?;
    let base = base_url(tap.address());
    if !tap.address().ip().is_loopback() {
        show::remark(language, &phrase!("warning: other machines can send requests to this address"));
    }
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(tap.run_until(async move { drop(ended.await) }));
    let exit = match command.split_first() {
        Some((program, arguments)) => run_command(&base, program, arguments).await,
        None => wait(&base).await,
    };
    drop(end);
    running.await.map_err(|error| not_started(&error.into()))?;
    exit
}

fn base_url(address: SocketAddr) -> String {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

/// Prints the variables and waits for a signal.
async fn wait(base: &str) -> Result<Exit> {
    let mut interrupts = Interrupts::new()?;
    let lines = VARIABLES.map(|(name, path)| format!("{name}={base}{path}\n"));
    show::result(&lines.concat())?;
    interrupts.next().await;
    Ok(Exit::Success)
}

/// Runs a command until its end.
async fn run_command(base: &str, program: &OsStr, arguments: &[OsString]) -> Result<Exit> {
    let name = Path::new(program).file_stem().unwrap_or(program);
    let mut command = Command::new(program);
    if name == "codex" {
        // It ignores the variable.
        command.arg("-c").arg(format!("openai_base_url=\"{base}/v1\""));
    }
    command.args(arguments).envs(VARIABLES.map(|(name, path)| (name, format!("{base}{path}"))));
    if name == "opencode" {
        command.env("ANTHROPIC_BASE_URL", format!("{base}/v1"));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        let hosts = std::env::var(name).unwrap_or_default();
        let hosts = [hosts.as_str(), "127.0.0.1,localhost"].join(",");
        command.env(name, hosts.trim_start_matches(','));
    }
    run_until_end(command).await.map(exit_of).map_err(|error| {
        let (command, reason) = (program.to_string_lossy().into_owned(), files::reason(&error));
        unusable!("cannot run `{command}`: {reason}", command, reason)
    })
}

/// Runs a command, and forwards signals to it.
#[cfg(unix)]
async fn run_until_end(mut command: Command) -> std::io::Result<ExitStatus> {
    use std::io::IsTerminal as _;

    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut child = command.spawn()?;
    loop {
        let received = tokio::select! {
            status = child.wait() => return status,
            // A terminal sends Ctrl-C to the command too.
            _ = interrupt.recv() => (!std::io::stdin().is_terminal()).then_some(Signal::INT),
            _ = terminate.recv() => Some(Signal::TERM),
            _ = hangup.recv() => Some(Signal::HUP),
        };
        let pid = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let (Some(pid), Some(received)) = (pid, received) {
            // The command may have ended.
            kill_process(pid, received).unwrap_or_default();
        }
    }
}

/// Runs a command. The system sends Ctrl-C to the command too.
#[cfg(not(unix))]
async fn run_until_end(mut command: Command) -> std::io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    loop {
        tokio::select! {
            status = child.wait() => return status,
            Ok(()) = tokio::signal::ctrl_c() => {}
        }
    }
}

/// Returns the exit code of a command, as shells do.
fn exit_of(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    // Codes of Windows can be larger.
    Exit::Command(status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
