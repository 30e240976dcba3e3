//! `ctx serve`: serves the agents of a folder over the APIs of providers.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use ctx_gateway::{Gateway, GatewayError, KeyFile, KeyLimits, Options, agent_names};
use ctx_language::Language;
use ctx_project::{EndpointOptions, OnLoss};
use ctx_types::internal::{Argument, Divider};
use ctx_types::phrase;
use tokio::net::TcpListener;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::{
    KeyAddArguments, KeyCommand, KeyFileArguments, KeyRevokeArguments, LogLevel, LossWord, ServeArguments,
    ServeCommand,
};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::lang::{self, Told};
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
    let runtime = threads.enable_all().build().context(Told(phrase!("cannot start")))?;
    runtime.block_on(serve(language, arguments))
}

async fn serve(language: Language, arguments: &ServeArguments) -> Result<Exit> {
    let gateway = Gateway::open(options(language, arguments)).await.map_err(told)?;
    let address = SocketAddr::new(arguments.host, arguments.port);
    gateway.check_address(address).map_err(told)?;
    let listener = TcpListener::bind(address).await.map_err(|error| not_listening(address, &error))?;
    let address = listener.local_addr().context(Told(phrase!("cannot read the address of the listener")))?;
    let agents: Vec<&str> = gateway.agents().collect();
    for problem in gateway.unread_files() {
        show::remark(language, &phrase!("warning: {problem}", problem));
    }
    let access = lang::say(language, &gateway.access());
    show::result(&format!("http://{address}/v1\n{}\n{access}\n", agents.join("\n")))?;
    let mut interrupts = Interrupts::new().context(Told(phrase!("cannot start")))?;
    let served = gateway.serve_until(listener, async move { interrupts.next().await }).await;
    served.map_err(told)?;
    Ok(Exit::Success)
}

/// Explains why an address cannot be used.
pub(super) fn not_listening(address: SocketAddr, error: &std::io::Error) -> Told {
    if error.kind() == std::io::ErrorKind::AddrInUse {
        let port = address.port();
        return Told(phrase!("port {port} is in use; choose another with `--port`", port));
    }
    let (address, reason) = (address.to_string(), ctx_project::files::reason(error));
    Told(phrase!("cannot listen on `{address}`: {reason}", address, reason))
}

fn options(language: Language, arguments: &ServeArguments) -> Options {
    Options {
        folder: arguments.folder.clone(),
        store: arguments.store.store.clone(),
        keys: arguments.keys.clone(),
        endpoint: EndpointOptions::from(&arguments.endpoint),
        model: arguments.model.clone(),
        on_loss: arguments.on_loss.map(|word| match word {
            LossWord::Refuse => OnLoss::Refuse,
            LossWord::Drop => OnLoss::Drop,
        }),
        at: arguments.at.clone(),
        tz: arguments.tz.clone(),
        seed: arguments.seed,
        config: project::config_options(language, &arguments.config),
        max_body: Some(arguments.max_body << 20),
        loaded_messages: usize::try_from(arguments.loaded_messages).ok(),
        // A build without `otlp` ignores a variable that is meant for other programs.
        collector: if cfg!(feature = "otlp") {
            std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok()
        } else {
            None
        },
        ..Options::default()
    }
}

/// Writes logs to standard error. Ignores logs of other crates, which may contain URLs and headers.
fn log(level: LogLevel) {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
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
fn told(error: GatewayError) -> anyhow::Error {
    match error {
        GatewayError::Project(error) => error.into(),
        other => Told(other.phrase()).into(),
    }
}
