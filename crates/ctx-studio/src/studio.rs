//! What a program does with this crate: an engine, a folder, a listener.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_project::files;
use ctx_types::{Phrase, phrase};
use tokio::net::TcpListener;

use crate::access::Access;
use crate::folder::Folder;
use crate::serve;
use crate::server::Server;

/// A page on which the files of a folder are edited, and what is made of them is seen.
///
/// ```no_run
/// use ctx_engine::Engine;
/// use ctx_studio::Studio;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let studio = Studio::new(Engine::new())?.project("garden");
/// println!("{}", studio.links().new_link(listener.local_addr()?.port())?);
/// studio.serve(listener).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Studio {
    pub(crate) engine: Engine,
    pub(crate) folder: PathBuf,
    pub(crate) store: Option<PathBuf>,
    pub(crate) is_read_only: bool,
    pub(crate) language: Language,
    pub(crate) access: Arc<Access>,
}

/// Why a folder is not served, or no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudioError {
    /// The folder cannot be opened.
    #[error("{0}")]
    Folder(Phrase),
    /// The listener cannot be used.
    #[error("{0}")]
    Listener(Phrase),
    /// The system gives no random bytes.
    #[error("{0}")]
    Random(Phrase),
}

impl StudioError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Folder(phrase) | Self::Listener(phrase) | Self::Random(phrase) => phrase.clone(),
        }
    }
}

/// Gives out links, each of which opens the page once.
#[derive(Clone, Debug)]
pub struct Links(Arc<Access>);

impl Links {
    /// Returns the address of the page with a code that counts once, and for five minutes; earlier links have no effect
    /// any more.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub fn new_link(&self, port: u16) -> Result<String, StudioError> {
        let code = self.0.new_code().map_err(no_random)?;
        Ok(format!("http://127.0.0.1:{port}/#code={code}"))
    }
}

impl Studio {
    /// Takes an engine, with parts of one's own or without.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes, of which secrets are made.
    pub fn new(engine: Engine) -> Result<Self, StudioError> {
        let access = Access::new().map_err(no_random)?;
        Ok(Self {
            engine,
            folder: PathBuf::from("."),
            store: None,
            is_read_only: false,
            language: Language::En,
            access: Arc::new(access),
        })
    }

    /// Serves this folder, and not the working folder.
    #[must_use]
    pub fn project(mut self, folder: impl AsRef<Path>) -> Self {
        folder.as_ref().clone_into(&mut self.folder);
        self
    }

    /// Keeps unsaved edits beside this store of conversations, and not beside the one of `ctx.toml` or the user's own.
    #[must_use]
    pub fn store(mut self, store: impl AsRef<Path>) -> Self {
        self.store = Some(store.as_ref().to_owned());
        self
    }

    /// Shows files, and changes none.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Speaks this language where a window asks for none.
    #[must_use]
    pub const fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Returns what gives out links to the page.
    pub fn links(&self) -> Links {
        Links(self.access.clone())
    }

    /// Says whether the folder can be opened and that of the store is there, before a link to it is given out.
    ///
    /// # Errors
    ///
    /// It cannot, or is not.
    pub fn check(&self) -> Result<(), StudioError> {
        let parent = self.store.as_deref().and_then(Path::parent);
        let missing = parent.filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir());
        if let Some(folder) = missing.filter(|_| !self.is_read_only).map(files::name) {
            return Err(StudioError::Folder(phrase!(
                "the folder of the store, `{folder}`, does not exist; create it, or use another store",
                folder
            )));
        }
        Folder::open(&self.folder).map(drop)
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    ///
    /// The folder cannot be opened, or the listener is reached from other machines.
    pub async fn serve(self, listener: TcpListener) -> Result<(), StudioError> {
        self.serve_until(listener, std::future::pending()).await
    }

    /// Serves until a signal comes; then unsaved edits are kept for the next run.
    ///
    /// # Errors
    ///
    /// As [`serve`](Self::serve).
    pub async fn serve_until(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send,
    ) -> Result<(), StudioError> {
        let address = listener.local_addr().map_err(|error| {
            StudioError::Listener(phrase!(
                "cannot read the address of the listener: {error}",
                error = error.to_string()
            ))
        })?;
        if !address.ip().is_loopback() {
            let address = address.to_string();
            return Err(StudioError::Listener(phrase!(
                "other machines can reach `{address}`; use a loopback address",
                address
            )));
        }
        let server = tokio::task::spawn_blocking(move || Server::open(self, address.port())).await;
        let server = server.map_err(|error| {
            StudioError::Folder(phrase!("cannot open the folder: {error}", error = error.to_string()))
        })??;
        serve::serve(Arc::new(server), listener, end).await;
        Ok(())
    }
}

fn no_random(error: getrandom::Error) -> StudioError {
    StudioError::Random(phrase!(
        "cannot get random bytes from the system: {error}",
        error = error.to_string()
    ))
}
