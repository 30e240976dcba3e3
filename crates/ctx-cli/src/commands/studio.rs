//! `ctx studio`: the web page of a folder.

use std::io::{BufRead as _, IsTerminal as _};
use std::net::{Ipv4Addr, SocketAddr};

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_project::error::{ProjectError, Result, not_started};
use ctx_studio::{Links, Studio, StudioError};
use ctx_types::phrase;
use tokio::net::TcpListener;

use crate::args::StudioArguments;
use crate::commands::serve::{address, not_listening};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show;

/// The port where nobody names one: fixed, so that the browser keeps what belongs to the page.
const PORT: u16 = 4179;

/// How many ports are tried behind it.
const TRIES: u16 = 20;

/// Serves a folder until it is interrupted.
pub(crate) fn run(language: Language, arguments: &StudioArguments) -> Result<Exit> {
    let mut studio = Studio::new(Engine::new())
        .map_err(|error| told(&error))?
        .project(&arguments.folder)
        .language(language);
    if let Some(store) = &arguments.store {
        studio = studio.store(store);
    }
    if arguments.read_only {
        studio = studio.read_only();
    }
    studio.check().map_err(|error| told(&error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| not_started(&error))?;
    let served = runtime.block_on(serve(language, studio, arguments));
    // A thread that still reads standard input must not hold the end up.
    runtime.shutdown_background();
    served
}

async fn serve(language: Language, studio: Studio, arguments: &StudioArguments) -> Result<Exit> {
    let listener = listen(arguments.port).await?;
    let port = address(&listener)?.port();
    if port != PORT && arguments.port.is_none() {
        show::note(language, &phrase!("port {taken} is in use; using {port}", taken = PORT, port));
    }
    let links = studio.links();
    let link = links.new_link(port).map_err(|error| told(&error))?;
    show::result(&format!("{link}\n"))?;
    if !arguments.no_open && open::that_detached(&link).is_err() {
        show::note(language, &phrase!("cannot open a browser; open the link yourself"));
    }
    if std::io::stdin().is_terminal() {
        std::thread::spawn(move || more_links(&links, port));
    }
    // A terminal that is closed ends it as Ctrl-C does: what is not saved is written down.
    let mut interrupts = Interrupts::new()?;
    studio
        .serve_until(listener, async move { interrupts.next().await })
        .await
        .map_err(|error| told(&error))?;
    Ok(Exit::Success)
}

/// Prints a new link for each Enter: an earlier one has no effect any more.
fn more_links(links: &Links, port: u16) {
    for line in std::io::stdin().lock().lines() {
        let link = line.ok().and_then(|_| links.new_link(port).ok());
        let Some(link) = link else { return };
        if show::result(&format!("{link}\n")).is_err() {
            return;
        }
    }
}

/// Listens on the port that was named, or else on the first of ours that is free.
async fn listen(named: Option<u16>) -> Result<TcpListener> {
    let ports = named.map_or(PORT..=PORT + TRIES, |port| port..=port);
    let mut taken = None;
    for port in ports {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => taken = Some(not_listening(address, &error)),
        }
    }
    Err(taken.unwrap_or_else(|| not_started(&std::io::ErrorKind::AddrInUse.into())))
}

fn told(error: &StudioError) -> ProjectError {
    ProjectError::Unusable(error.phrase())
}
