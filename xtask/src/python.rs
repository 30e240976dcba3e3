//! `cargo xtask python`: the wheel of the Python package, built, installed and tried.
//!
//! With `--test` the conformance suite is run through the package: each call must give the bytes that Rust gives, and
//! the results are compared with what the suite expects. Then come the tests of the package, its types, the
//! pages of its documentation, its README in an environment that has nothing else, and what it takes beside the function
//! of `LangChain` that it can stand for. `--integrations` tests the integrations with the real frameworks, and checks
//! their types. `--fuzz N` makes N calls of each operation with changed documents and values of
//! wrong types.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{PYTHON, if_possible, venv};
use crate::workspace;

/// The package, from the root of the workspace.
const PACKAGE: &str = "bindings/python";

const USAGE: &str = "usage: cargo xtask python [--test | --integrations | --fuzz N] [--if-possible]";

/// How many calls that differ are told.
const MOST_TOLD: usize = 5;

/// Builds and installs the wheel; with `--test` tries it. With `--if-possible` it is said loudly, and is no failure,
/// that Python or the tools cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_optional = arguments.last().is_some_and(|last| last == "--if-possible");
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let task = match words.strip_suffix(&["--if-possible"]).unwrap_or(&words) {
        [] => Task::Build,
        ["--test"] => Task::Test,
        ["--integrations"] => Task::TestIntegrations,
        ["--fuzz", count] => Task::Fuzz(count.parse().context(USAGE)?),
        _ => bail!(USAGE),
    };
    let missing = "the Python package was NOT BUILT";
    let Some(python) = if_possible(is_optional, missing, tools())? else { return Ok(()) };
    let folder = workspace::root().join("target/python");
    let wheel = build(&python, &folder)?;
    install(&python, &wheel)?;
    match task {
        Task::Build => Ok(()),
        Task::Test => {
            conformance(&python, &folder)?;
            test(&python)?;
            document(&python, &folder)?;
            alone(&python, &folder)?;
            speed(&python)
        }
        Task::TestIntegrations => {
            let Some(python) = if_possible(is_optional, "the integrations were NOT TESTED", frameworks())?
            else {
                return Ok(());
            };
            install(&python, &wheel)?;
            test_integrations(&python)
        }
        Task::Fuzz(count) => {
            let script = workspace::root().join(PACKAGE).join("tests/fuzz.py");
            let mut command = Command::new(&python);
            perform(command.arg(script).arg(count.to_string()).arg(workspace::root().join("fixtures")))
        }
    }
}

/// Replays tool conversations through this package and through middlewares of `LangChain`. Prints the tokens that each
/// sends, and the facts that it loses. `--data DIR` also replays public trajectories, with a `--budget` of 2,000 tokens by default.
pub(crate) fn bench_compaction(arguments: &[String]) -> Result<()> {
    let wheel = build(&tools()?, &workspace::root().join("target/python"))?;
    let python = frameworks()?;
    install(&python, &wheel)?;
    let tests = workspace::root().join(PACKAGE).join("tests");
    let mut command = Command::new(&python);
    perform(command.args(["-B", "-m", "integrations.compaction_bench"]).args(arguments).current_dir(tests))
}

/// The part after the build of the wheel.
enum Task {
    Build,
    Test,
    TestIntegrations,
    Fuzz(u32),
}

/// Makes an environment with the tools, unless it is there; returns its Python.
fn tools() -> Result<PathBuf> {
    // The tools and all that they need, with fixed versions.
    venv("python", &requirements("requirements.txt")?, &[])
}

/// Makes an environment with the frameworks, unless it is there; returns its Python.
fn frameworks() -> Result<PathBuf> {
    venv("python-integrations", &requirements("requirements-integrations.txt")?, &[])
}

fn requirements(name: &str) -> Result<String> {
    let path = workspace::root().join(PACKAGE).join(name);
    fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Builds the wheel; returns its path.
fn build(python: &Path, folder: &Path) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    workspace::remove(&wheels)?;
    let mut command = Command::new(python);
    command.args(["-m", "maturin", "build", "--release", "--quiet", "--out"]).arg(&wheels);
    command.arg("--target-dir").arg(workspace::root().join("target/bindings"));
    perform(command.current_dir(workspace::root().join(PACKAGE)))?;
    let wheel = fs::read_dir(&wheels)?.next().context("no wheel was built")??.path();
    let bytes = fs::metadata(&wheel)?.len();
    println!("python: {} has {bytes} bytes", wheel.file_name().unwrap_or_default().display());
    Ok(wheel)
}

/// Installs the wheel into an environment.
fn install(python: &Path, wheel: &Path) -> Result<()> {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    perform(command.arg("--force-reinstall").arg(wheel))
}

/// Runs the conformance suite through the package, compares the results with what is expected, and each call with
/// Rust's byte for byte.
fn conformance(python: &Path, folder: &Path) -> Result<()> {
    let (suite, lines) = (folder.join("suite.zip"), folder.join("calls"));
    let pack = ["run", "--quiet", "--package", "suite", "--"];
    workspace::run(workspace::cargo(&pack).arg("--out").arg(&suite))?;
    let script = workspace::root().join(PACKAGE).join("tests/conformance.py");
    perform(Command::new(python).arg(script).args([&suite, &lines]))?;
    let calls = compare(&fs::read_to_string(&lines).context("no calls were noted")?)?;
    println!("python: {calls} calls give the bytes that Rust gives");
    Ok(())
}

/// Compares the results of calls, a line each, with what Rust gives for the same; returns how many there are.
pub(crate) fn compare(calls: &str) -> Result<usize> {
    let (inputs, results): (Vec<&str>, Vec<&str>) =
        calls.lines().filter_map(|line| line.split_once('\t')).unzip();
    ensure!(!inputs.is_empty(), "no call was noted");
    let mut command =
        workspace::cargo(&["run", "--quiet", "--package", "ctx-operations", "--example", "lines"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut given = child.stdin.take().context("the program takes nothing")?;
    let text = inputs.join("\n") + "\n";
    let feeding = std::thread::spawn(move || given.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "`lines` ended with {}", output.status);
    feeding.join().map_err(|_| anyhow::anyhow!("nothing could be handed over"))??;
    let expected = String::from_utf8(output.stdout)?;
    let pairs = results.iter().zip(expected.lines()).zip(&inputs);
    let differing: Vec<&str> =
        pairs.filter(|((own, rust), _)| **own != *rust).map(|(_, input)| *input).collect();
    ensure!(expected.lines().count() == results.len(), "not every call was answered");
    let told: Vec<String> =
        differing.iter().take(MOST_TOLD).map(|input| input.chars().take(200).collect()).collect();
    ensure!(differing.is_empty(), "{} calls differ from Rust's:\n{}", differing.len(), told.join("\n"));
    Ok(results.len())
}

/// Writes the documentation.
fn document(python: &Path, folder: &Path) -> Result<()> {
    let pages = folder.join("docs");
    workspace::remove(&pages)?;
    let mut command = Command::new(python);
    command.args(["-m", "pdoc", "--docformat", "restructuredtext", "-o"]).arg(&pages);
    // Modules that need frameworks cannot be imported here.
    perform(command.args(["ctx", r"!ctx\.(integrations|pytest_plugin).*"]))?;
    let page = fs::read_to_string(pages.join("ctx.html")).context("no pages were written")?;
    ensure!(page.contains("id=\"fit\""), "the pages do not tell of `fit`");
    println!("python: its documentation is in {}", pages.display());
    Ok(())
}

/// Installs the wheel into an environment of its own, and runs its README there.
fn alone(python: &Path, folder: &Path) -> Result<()> {
    let place = folder.join("alone");
    perform(Command::new(python).args(["-m", "venv", "--clear"]).arg(&place))?;
    let python = place.join(PYTHON);
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    perform(command.arg("--find-links").arg(folder.join("wheels")).arg("ctx-engine"))?;
    let script = workspace::root().join(PACKAGE).join("tests/test_ctx.py");
    perform(Command::new(&python).arg(script).arg("Readme").current_dir(&place))?;
    println!("python: the README runs where nothing but the wheel is installed");
    Ok(())
}

/// Runs the tests of the package and checks its types.
fn test(python: &Path) -> Result<()> {
    let package = workspace::root().join(PACKAGE);
    perform(Command::new(python).arg("tests/test_ctx.py").current_dir(&package))?;
    // The other modules need frameworks; `--integrations` checks them.
    let modules = ["__init__", "_error", "_host", "_messages", "integrations/_planning"];
    let mut checked = modules.map(|name| format!("python/ctx/{name}.py")).to_vec();
    checked.push("tests/typed.py".to_owned());
    check_types(python, &checked)
}

/// Runs the tests of the integrations and checks their types.
fn test_integrations(python: &Path) -> Result<()> {
    // From this folder, `ctx` is the installed package.
    let tests = workspace::root().join(PACKAGE).join("tests");
    let mut command = Command::new(python);
    perform(
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "integrations"]).current_dir(tests),
    )?;
    check_types(python, &["python/ctx".to_owned(), "tests/integrations".to_owned()])
}

fn check_types(python: &Path, checked: &[String]) -> Result<()> {
    let package = workspace::root().join(PACKAGE);
    perform(Command::new(python).args(["-m", "mypy", "--strict"]).args(checked).current_dir(&package))?;
    let mut command = Command::new(python);
    command.args(["-m", "pyright", "--pythonpath"]).arg(python).args(checked);
    perform(command.current_dir(&package))
}

/// Prints what fitting takes beside `LangChain`'s function; its counter gets the vocabulary that our own is made of.
fn speed(python: &Path) -> Result<()> {
    let metadata = workspace::metadata(&[])?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let carrier = packages.find(|package| package["name"] == "tiktoken-rs");
    let carrier = carrier.and_then(|package| package["manifest_path"].as_str());
    let carrier = Path::new(carrier.context("no package carries the vocabulary")?);
    let script = workspace::root().join(PACKAGE).join("tests/speed.py");
    perform(
        Command::new(python).arg(script).arg(carrier.with_file_name("assets").join("o200k_base.tiktoken")),
    )
}

fn perform(command: &mut Command) -> Result<()> {
    let shown = command.get_args().map(|part| part.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let status = command.stdin(Stdio::null()).status()?;
    ensure!(status.success(), "`{}` ended with {status}", shown.join(" "));
    Ok(())
}
