//! `cargo xtask load --compare`: whole answers through `ctx serve`, a plain reverse proxy and `LiteLLM`'s proxy, before
//! the same provider, one after the other.
//!
//! A client has its own connection for each request, and sends the next one when it has the answer.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::client::{self, Call, micros};
use super::gateway::{Folder, Gateway, Running};
use super::millis;
use crate::packages::{folder, loud};

/// How many clients ask at the same time.
const CLIENTS: usize = 16;

/// What is asked of `PyPI`.
const LITELLM: &str = "litellm[proxy]==1.80.0";

/// How long a proxy may take until it answers, and until it ends.
const PATIENCE: [Duration; 2] = [Duration::from_secs(120), Duration::from_secs(20)];

/// Asks each of them for so many seconds, and prints one table.
pub(super) fn run(seconds: u64, program: &Path, upstream: SocketAddr) -> Result<()> {
    let home = Folder::new()?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("{CLIENTS} clients, {seconds} s each, {cores} cores for all of them together\n");
    println!("| through | requests a second | p50 | p99 | failed |\n|---|--:|--:|--:|--:|");
    measure("the provider alone", upstream, seconds)?;
    let mut missing = Vec::new();
    for (name, start) in [("nginx", nginx as Start), ("LiteLLM", litellm)] {
        match start(&home.0, upstream, cores) {
            Ok(proxy) => measure(name, proxy.address, seconds)?,
            Err(error) => missing.push(loud(&format!("NOT MEASURED: {name}: {error:#}"))),
        }
    }
    let store = home.0.join("compare.db");
    let gateway = Gateway::start(program, &home, (&store.to_string_lossy(), 0), upstream)?;
    measure("`ctx serve`, each turn stored", gateway.address, seconds)?;
    for line in missing {
        println!("\n{line}");
    }
    Ok(())
}

/// Starts a proxy with files in a folder, before a provider, for so many cores.
type Start = fn(&Path, SocketAddr, usize) -> Result<Proxy>;

/// A proxy that others wrote.
#[derive(Debug)]
struct Proxy {
    running: Running,
    address: SocketAddr,
}

impl Proxy {
    /// Starts one, and waits until it answers.
    fn start(name: &str, home: &Path, address: SocketAddr, command: &mut Command) -> Result<Self> {
        let log = home.join(format!("{name}.log"));
        let output = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let (mut proxy, since) = (Self { running: Running::start(command)?, address }, Instant::now());
        while let Err(error) = ask(address) {
            let has_ended = proxy.running.0.try_wait()?.is_some();
            if has_ended || since.elapsed() > PATIENCE[0] {
                let said = fs::read_to_string(&log).unwrap_or_default();
                let end: Vec<&str> = said.lines().rev().take(5).collect();
                bail!(
                    "it does not answer ({error}): {}",
                    end.into_iter().rev().collect::<Vec<_>>().join("\n")
                );
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(proxy)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It ends its workers itself; one that does not is killed.
        drop(Command::new("kill").arg(self.running.0.id().to_string()).status());
        let since = Instant::now();
        while since.elapsed() < PATIENCE[1] && matches!(self.running.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// An address that is free now.
fn free() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// The reverse proxy, that of the system or Debian's package, unpacked into the build folder.
fn nginx(home: &Path, upstream: SocketAddr, _: usize) -> Result<Proxy> {
    let (address, home) = (free()?, home.join("nginx"));
    fs::create_dir_all(&home)?;
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {}/{kind};", home.display()))
        .join(" ");
    let config = format!(
        "daemon off; worker_processes auto; user root; pid {home}/pid;\nevents {{ worker_connections 4096; }}\n\
         http {{ access_log off; {temporary}\nupstream provider {{ server {upstream}; keepalive 64; }}\n\
         server {{ listen {address}; location / {{ proxy_pass http://provider; proxy_http_version 1.1;\n\
         proxy_set_header Connection \"\"; proxy_buffering off; }} }} }}\n",
        home = home.display()
    );
    let file = home.join("nginx.conf");
    fs::write(&file, config)?;
    let mut command = Command::new(nginx_program()?);
    command.arg("-p").arg(&home).args(["-e", "stderr", "-c"]).arg(&file);
    Proxy::start("nginx", &home, address, &mut command)
}

fn nginx_program() -> Result<PathBuf> {
    let (installed, own) = (PathBuf::from("/usr/sbin/nginx"), folder("compare/nginx")?);
    let unpacked = own.join("usr/sbin/nginx");
    if !installed.exists() && !unpacked.exists() {
        done(Command::new("apt-get").args(["-qq", "download", "nginx"]).current_dir(&own))?;
        let packages = fs::read_dir(&own)?.flatten().map(|entry| entry.path());
        let package = packages.into_iter().find(|path| path.extension().is_some_and(|end| end == "deb"));
        let package = package.context("`apt-get download` has left no package")?;
        done(Command::new("dpkg-deb").arg("-x").arg(package).arg(&own))?;
    }
    Ok(if installed.exists() { installed } else { unpacked })
}

/// `LiteLLM`'s proxy with a process for each core, as its documentation advises, in an environment of its own.
fn litellm(home: &Path, upstream: SocketAddr, cores: usize) -> Result<Proxy> {
    let (address, own) = (free()?, folder("compare")?.join("litellm"));
    let (programs, witness) = (own.join("bin"), own.join("installed.txt"));
    if !fs::read_to_string(&witness).is_ok_and(|installed| installed == LITELLM) {
        done(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&own))?;
        let quiet = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
        done(Command::new(programs.join("pip")).args(quiet).arg(LITELLM))?;
        fs::write(&witness, LITELLM)?;
    }
    let config = format!(
        "model_list:\n- model_name: agent\n  litellm_params: {{model: openai/gpt-4o, api_base: \"http://{upstream}/v1\", \
         api_key: sk-load}}\n"
    );
    let file = home.join("litellm.yaml");
    fs::write(&file, config)?;
    let mut command = Command::new(programs.join("litellm"));
    command.arg("--config").arg(&file).args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--num_workers", &cores.to_string(), "--telemetry", "False"]);
    // It takes prices from its package, and nothing from elsewhere.
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("LITELLM_LOG", "ERROR").env("NO_PROXY", "*");
    Proxy::start("litellm", home, address, &mut command)
}

fn done(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

fn ask(address: SocketAddr) -> std::io::Result<Vec<u8>> {
    let answer = client::ask(address, &Call::default(), &client::body("How far is it?", false))?;
    if answer.windows(9).any(|bytes| bytes == b"\"content\"") {
        Ok(answer)
    } else {
        Err(std::io::Error::other("there is no answer in the answer"))
    }
}

/// Asks with all clients, and prints a line of the table.
fn measure(name: &str, address: SocketAddr, seconds: u64) -> Result<()> {
    // What is made at the first requests is not measured.
    for _ in 0..CLIENTS {
        ask(address).with_context(|| format!("{name} does not answer"))?;
    }
    let (begun, end) = (Instant::now(), Duration::from_secs(seconds));
    let client = || {
        let (mut times, mut failed) = (Vec::new(), 0_usize);
        while begun.elapsed() < end {
            let since = micros();
            match ask(address) {
                Ok(_) => times.push(micros() - since),
                Err(_) => failed += 1,
            }
        }
        (times, failed)
    };
    let asked = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let (took, mut times, mut failed) = (begun.elapsed(), Vec::new(), 0);
    for asked in asked {
        let (some, more) = asked.map_err(|_| anyhow::anyhow!("a client ended early"))?;
        times.extend(some);
        failed += more;
    }
    times.sort_unstable();
    let rate = times.len() as u128 * 1_000 / took.as_millis().max(1);
    let [p50, p99] = [0.5, 0.99].map(|share| millis(&times, share));
    println!("| {name} | {rate} | {p50:.1} ms | {p99:.1} ms | {failed} |");
    Ok(())
}
