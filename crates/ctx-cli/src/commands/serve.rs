//! `ctx serve`: serves the agents of a folder over the APIs of providers.

use std::net::SocketAddr;

use ctx_gateway::{Gateway, GatewayError, KeyFile, KeyLimits, Options, agent_names};
use ctx_language::Language;
use ctx_project::EndpointOptions;
use ctx_project::error::{ProjectError, Result, not_started};
use ctx_project::unusable;
use ctx_types::internal::{Argument, Divider};
use ctx_types::phrase;
use tokio::net::TcpListener;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::{
    KeyAddArguments, KeyCommand, KeyFileArguments, KeyRevokeArguments, ServeArguments, ServeCommand,
};
use crate::commands::tap::{create_log, report};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::lang;
use crate::{project, show};

/// Serves a folder until a signal, or manages client keys.
pub(crate) fn run(language: Language, arguments: &ServeArguments) -> Result<Exit> {
    if let Some(ServeCommand::Key(key)) = &arguments.command {
        return match &key.command {
            KeyCommand::Add(add) => add_key(language, add),
            KeyCommand::List(list) => list_keys(&list.file),
            KeyCommand::Revoke(revoke) => revoke_key(language, revoke),
        };
    }
    log(arguments.log);
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    if let Some(count) = arguments.threads {
        threads.worker_threads(count.into());
    }
    let runtime = threads.enable_all().build().map_err(|error| not_started(&error))?;
    runtime.block_on(serve(language, arguments))
}

async fn serve(language: Language, arguments: &ServeArguments) -> Result<Exit> {
    let recorder = arguments.record.as_deref().map(create_log).transpose()?;
    let options = Options { recorder: recorder.clone(), ..options(language, arguments) };
    let gateway = Gateway::open(options).await.map_err(told)?;
    let address = SocketAddr::new(arguments.host, arguments.port);
    gateway.check_address(address).map_err(told)?;
    let listener = TcpListener::bind(address).await.map_err(|error| not_listening(address, &error))?;
    let address = self::address(&listener)?;
    let mut printed = vec![format!("http://{address}/v1")];
    let (mut problems, agents) = (gateway.unread_files(), gateway.load_agents().await);
    let is_any_served = agents.iter().any(|agent| agent.state.is_ok());
    for agent in agents {
        match agent.state {
            Ok(state) => printed.push(format!("{}: {}", agent.name, lang::say(language, &state))),
            Err(error) => problems.push(phrase!("`{file}` is not served: {error}", file = agent.name, error)),
        }
    }
    let failure = problems.pop_if(|_| !is_any_served);
    for problem in problems {
        show::remark(language, &phrase!("warning: {problem}", problem));
    }
    if let Some(failure) = failure {
        return Err(ProjectError::Unusable(failure));
    }
    printed.push(lang::say(language, &gateway.access()));
    show::result(&format!("{}\n", printed.join("\n")))?;
    let mut interrupts = Interrupts::new()?;
    let served = gateway.serve_until(listener, async move { interrupts.next().await }).await;
    if let Some(recorder) = recorder {
        report(language, &recorder.finish());
    }
    served.map_err(told)?;
    Ok(Exit::Success)
}

/// Returns the address of a listener.
pub(super) fn address(listener: &TcpListener) -> Result<SocketAddr> {
    let address = listener.local_addr();
    address.map_err(|error| {
        unusable!(
            "cannot read the address of the listener: {error}",
            error = ctx_project::files::reason(&error)
        )
    })
}

/// Explains why an address cannot be used.
pub(super) fn not_listening(address: SocketAddr, error: &std::io::Error) -> ProjectError {
    if error.kind() == std::io::ErrorKind::AddrInUse {
        let port = address.port();
        return unusable!("port {port} is in use; choose another with `--port`", port);
    }
    let (address, reason) = (address.to_string(), ctx_project::files::reason(error));
    unusable!("cannot listen on `{address}`: {reason}", address, reason)
}

fn options(language: Language, arguments: &ServeArguments) -> Options {
    Options {
        folder: arguments.folder.clone(),
        store: arguments.store.store.clone(),
        keys: arguments.keys.clone(),
        endpoint: EndpointOptions::from(&arguments.endpoint),
        model: arguments.model.clone(),
        context_tokens: arguments.context_tokens,
        on_loss: arguments.on_loss,
        at: arguments.at.clone(),
        tz: arguments.tz.clone(),
        seed: arguments.seed,
        config: project::config_options(language, &arguments.config),
        max_body: Some(arguments.max_body << 20),
        loaded_messages: usize::try_from(arguments.loaded_messages).ok(),
        collector: std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok().filter(|url| !url.is_empty()),
        ..Options::default()
    }
}

/// Writes logs to standard error. Ignores logs of other crates, which may contain URLs and headers.
fn log(level: LevelFilter) {
    let lines = tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(Targets::new().with_target("ctx_", level)).init();
}

fn add_key(language: Language, add: &KeyAddArguments) -> Result<Exit> {
    let limits = KeyLimits {
        requests: add.requests_per_minute,
        tokens: add.tokens_per_minute,
        turns: add.turns,
        bytes: add.bytes,
        conversations: add.conversations,
    };
    let known = agent_names(&add.file.folder);
    let given = add.agents.iter().flatten();
    let unknown: Vec<&String> = given.filter(|name| !known.contains(name)).collect();
    if !unknown.is_empty() {
        let unknown = Argument::names(unknown, Divider::Comma);
        let folder = ctx_project::files::name(&add.file.folder);
        show::remark(language, &phrase!("warning: `{folder}` has no agent {unknown}", folder, unknown));
    }
    let key = change(&add.file, |file| file.add(&add.name, add.agents.clone(), limits))?;
    show::note(language, &phrase!("save this key now: it is not shown again; the file has only its hash"));
    show::result(&format!("{}\n", key.reveal()))?;
    Ok(Exit::Success)
}

fn list_keys(file: &KeyFileArguments) -> Result<Exit> {
    for key in KeyFile::read_or_empty(&key_file(file))?.keys {
        let agents = key.agents.as_ref().map_or("*".to_owned(), |agents| agents.join(","));
        show::result(&format!("{}\t{agents}\n", key.name))?;
    }
    Ok(Exit::Success)
}

fn revoke_key(language: Language, revoke: &KeyRevokeArguments) -> Result<Exit> {
    change(&revoke.file, |file| file.revoke(&revoke.name))?;
    show::result(&format!("{}\n", lang::say(language, &phrase!("revoked `{name}`", name = &revoke.name))))?;
    Ok(Exit::Success)
}

fn change<T>(
    file: &KeyFileArguments,
    change: impl FnOnce(&mut KeyFile) -> ctx_project::error::Result<T>,
) -> ctx_project::error::Result<T> {
    KeyFile::change(file.keys.as_deref(), &file.folder, change)
}

fn key_file(file: &KeyFileArguments) -> std::path::PathBuf {
    Options { folder: file.folder.clone(), keys: file.keys.clone(), ..Options::default() }.key_file()
}

/// Passes on an error of the project, which has its own exit code.
fn told(error: GatewayError) -> ProjectError {
    match error {
        GatewayError::Project(error) => error,
        other => ProjectError::Unusable(other.phrase()),
    }
}
