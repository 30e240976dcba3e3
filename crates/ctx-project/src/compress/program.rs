//! A program that writes summaries: the prompt on its standard input, the summary on its standard output.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ctx_types::internal::excerpt;
use ctx_types::ports::{PortError, PortErrorKind, PortFuture, Summarizer, SummaryAnswer, SummaryRequest};
use ctx_types::{Phrase, Text, phrase};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::error::ProjectError;

/// The longest answer, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

/// How long what a program wrote is read after its end, where a child of it keeps its output open.
const LINGER: Duration = Duration::from_millis(500);

/// How much of what a program complains about is kept, in bytes.
const MAX_COMPLAINT: usize = 4 * 1024;

/// A program with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct SummaryProgram {
    words: Vec<OsString>,
    window: Option<u32>,
}

impl SummaryProgram {
    /// Reads a command: the name of a file, else words as a shell splits them. No shell is started.
    pub(crate) fn parse(command: &str, window: Option<u32>) -> Result<Self, ProjectError> {
        let words = if Path::new(command).is_file() {
            Some(vec![command.to_owned()])
        } else {
            shlex::split(command).filter(|words| words.first().is_some_and(|word| !word.is_empty()))
        };
        match words {
            Some(words) => Ok(Self { words: words.into_iter().map(OsString::from).collect(), window }),
            None => Err(ProjectError::Usage(phrase!(
                "`--summarizer cmd:{command}` has an unclosed quotation mark",
                command
            ))),
        }
    }

    fn name(&self) -> String {
        let name = self.words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        excerpt(&name).into_owned()
    }

    /// Starts the program, in a group of processes of its own so that its children end with it.
    fn start(&self, request: &SummaryRequest) -> Result<Running, PortError> {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let notes = [
            ("CTX_SUMMARY_MODEL", request.model.as_deref().map(str::to_owned)),
            ("CTX_SUMMARY_TEMPERATURE", request.temperature.map(|temperature| temperature.to_string())),
            ("CTX_SUMMARY_MAX_TOKENS", request.max_tokens.map(|tokens| tokens.to_string())),
        ];
        for (name, value) in notes.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn().map_err(|error| {
            let (kind, reason) = match error.kind() {
                ErrorKind::NotFound => (PortErrorKind::NotFound, phrase!("no such program")),
                ErrorKind::PermissionDenied => (PortErrorKind::Denied, phrase!("permission denied")),
                _ => (PortErrorKind::Unavailable, crate::files::reason(&error)),
            };
            PortError::new(kind, phrase!("`{name}`: {reason}", name = self.name(), reason))
        })?;
        Ok(Running(child))
    }

    async fn ask(&self, request: &SummaryRequest) -> Result<SummaryAnswer, PortError> {
        let mut running = self.start(request)?;
        let (stdin, stdout, stderr) =
            (running.0.stdin.take(), running.0.stdout.take(), running.0.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program need not read all of its prompt.
                stdin.write_all(request.prompt.as_bytes()).await.unwrap_or_default();
                stdin.shutdown().await.unwrap_or_default();
            }
            Ok(())
        };
        let (mut answer, mut complaint) = (Vec::new(), Vec::new());
        let talk = async {
            let complaints = read_complaint(stderr, &mut complaint);
            tokio::try_join!(write, self.read_answer(stdout, &mut answer), complaints)
        };
        let status = {
            let mut talk = std::pin::pin!(talk);
            let talked = tokio::select! {
                talked = &mut talk => Some(talked),
                // What it started may keep its output open; it has said what it had to say.
                _ = running.0.wait() => tokio::time::timeout(LINGER, talk).await.ok(),
            };
            talked.transpose()?;
            running.0.wait().await.map_err(|error| self.broken(&error))?
        };
        if status.success() {
            Ok(Text::from(self.text(answer)?).into())
        } else {
            Err(self.failure(status, &String::from_utf8_lossy(&complaint)))
        }
    }

    /// Reads what the program writes; too much of it is an error.
    async fn read_answer(
        &self,
        stdout: Option<impl AsyncRead + Unpin>,
        answer: &mut Vec<u8>,
    ) -> Result<(), PortError> {
        if let Some(stdout) = stdout {
            let read = stdout.take(MAX_ANSWER + 1).read_to_end(answer).await;
            read.map_err(|error| self.broken(&error))?;
        }
        if answer.len() as u64 > MAX_ANSWER {
            Err(self.wrote(&phrase!("more than {limit} MiB", limit = MAX_ANSWER / 1024 / 1024)))
        } else {
            Ok(())
        }
    }

    fn text(&self, answer: Vec<u8>) -> Result<String, PortError> {
        String::from_utf8(answer).map_err(|_| self.wrote(&phrase!("invalid UTF-8")))
    }

    fn wrote(&self, what: &Phrase) -> PortError {
        PortError::new(
            PortErrorKind::Invalid,
            phrase!("`{name}` wrote {what}", name = self.name(), what = what.clone()),
        )
    }

    fn broken(&self, error: &std::io::Error) -> PortError {
        let reason = phrase!("`{name}`: {reason}", name = self.name(), reason = error.to_string());
        PortError::new(PortErrorKind::Unavailable, reason)
    }

    fn failure(&self, status: ExitStatus, complaint: &str) -> PortError {
        let how = match status.code() {
            Some(code) => phrase!("`{name}` exited with code {code}", name = self.name(), code),
            None => phrase!("`{name}` was terminated by a signal", name = self.name()),
        };
        let last = complaint.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let how = match last {
            Some(line) => phrase!("{how}: {complaint}", how, complaint = excerpt(line)),
            None => how,
        };
        PortError::new(PortErrorKind::Unavailable, how)
    }
}

impl Summarizer for SummaryProgram {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        Box::pin(self.ask(request))
    }

    fn window(&self) -> Option<u32> {
        self.window
    }
}

/// Reads what a program complains about to its end, and keeps the last of it.
async fn read_complaint(stderr: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> Result<(), PortError> {
    let mut buffer = [0_u8; 1024];
    if let Some(mut stderr) = stderr {
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
            kept.drain(..kept.len().saturating_sub(MAX_COMPLAINT));
        }
    }
    Ok(())
}

/// A program that runs; it and what it has started end when this goes.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    /// Ends the program and what it has started; elsewhere than on Unix, dropping the child ends it alone.
    fn end(&self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};

            let group = self.0.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
            // That it has ended meanwhile is no fault.
            group
                .map(|group| kill_process_group(group, Signal::KILL).unwrap_or_default())
                .unwrap_or_default();
        }
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test ends where something is not as expected")]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// Asks a shell script for a summary.
    fn summarize(script: &str) -> Result<String, String> {
        let program =
            SummaryProgram { words: ["sh", "-c", script].map(OsString::from).to_vec(), window: None };
        let request = SummaryRequest {
            prompt: "the prompt".into(),
            model: None,
            temperature: None,
            max_tokens: Some(40),
        };
        let answer = runtime().block_on(program.summarize(&request));
        answer.map(|answer| answer.text.to_string()).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(script: &str, expected: Result<&str, &str>) {
        assert_eq!(summarize(script).as_deref().map_err(String::as_str), expected, "{script}");
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn it_reads_the_prompt_and_writes_the_summary() {
        check("cat", Ok("the prompt"));
        check("echo $CTX_SUMMARY_MAX_TOKENS", Ok("40\n"));
    }

    #[test]
    fn it_need_not_read_its_prompt() {
        check("exec < /dev/null; echo yes", Ok("yes\n"));
    }

    #[test]
    fn a_child_that_keeps_its_output_open_is_not_waited_for() {
        let child = summarize("sleep 1000 & echo $!").unwrap();
        let ended = std::process::Command::new("kill").arg(child.trim()).status().unwrap();
        assert!(
            ended.success(),
            "the child is not there any more: it was waited for, or ended with its parent"
        );
    }

    #[test]
    fn its_exit_code_and_last_words_are_told() {
        let expected = "not available: `sh` exited with code 3: no luck";
        check("cat > /dev/null; echo half; echo one >&2; echo no luck >&2; exit 3", Err(expected));
        check("kill -9 $$", Err("not available: `sh` was terminated by a signal"));
    }

    #[test]
    fn what_is_no_text_or_too_much_of_it_is_refused() {
        check("printf '\\377'", Err("not readable: `sh` wrote invalid UTF-8"));
        check("yes | head -c 1100000", Err("not readable: `sh` wrote more than 1 MiB"));
        check("yes", Err("not readable: `sh` wrote more than 1 MiB"));
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let program = SummaryProgram::parse("no-such-program-here -x", None).unwrap();
        let request = SummaryRequest { prompt: "p".into(), model: None, temperature: None, max_tokens: None };
        let error = runtime().block_on(program.summarize(&request)).unwrap_err();
        assert_eq!(error.to_string(), "not found: `no-such-program-here`: no such program");
    }

    #[test]
    fn a_program_that_is_given_up_ends_with_its_children() {
        let script = "sh -c 'echo begun; exec sleep 1000' & wait";
        let program =
            SummaryProgram { words: ["sh", "-c", script].map(OsString::from).to_vec(), window: None };
        let request = SummaryRequest { prompt: "p".into(), model: None, temperature: None, max_tokens: None };
        runtime().block_on(async {
            let mut running = program.start(&request).unwrap();
            let mut stdout = running.0.stdout.take().unwrap();
            stdout.read_exact(&mut [0_u8; 5]).await.unwrap();
            running.end();
            // The output ends when nobody is left who could write to it.
            stdout.read_to_end(&mut Vec::new()).await.unwrap();
            assert_eq!(running.0.wait().await.unwrap().signal(), Some(9));
        });
    }

    #[test]
    fn commands_are_split_as_in_a_shell() {
        let words = |command| {
            SummaryProgram::parse(command, None)
                .map(|program| program.words)
                .map_err(|error| error.to_string())
        };
        let expected = ["python3", "a b.py", "-m", "x"].map(OsString::from).to_vec();
        assert_eq!(words("python3 'a b.py' -m x"), Ok(expected));
        assert_eq!(
            words("python3 'a b.py"),
            Err("`--summarizer cmd:python3 'a b.py` has an unclosed quotation mark".to_owned())
        );
    }
}
