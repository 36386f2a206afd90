//! Runs a consumer's program on one event: JSON on its stdin, an exit code, and the text that it prints.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use hw_rules::format::format_duration;
use hw_sync::clock::{Clock as _, MachineClock};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::terminal::print_status;

/// Bytes of stdout that are stored with the delivery.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Bytes of stderr that are printed as one line.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// The time that a finished program's output may take to arrive: a process that it left behind can hold it open.
const DRAIN_MS: i64 = 1_000;
/// `EX_TEMPFAIL` of sysexits.h: the program asks for the event later.
const EXIT_RETRY_LATER: i32 = 75;

/// A program that handles events, one per run.
pub(crate) struct ConsumerProgram {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// The longest time that a run may take.
    pub(crate) timeout_ms: i64,
}

/// How a program's run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramRun {
    pub(crate) verdict: ProgramVerdict,
    /// None if a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// What it printed on stdout; the beginning of it if that was too long.
    pub(crate) output: String,
    pub(crate) is_output_cut: bool,
}

/// What a program says about its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramVerdict {
    Acknowledged,
    RetryLater,
    /// The run failed, for this reason.
    Failed(String),
}

impl ConsumerProgram {
    /// Runs the program on one event. Its stderr is printed as it arrives. Fails if the program cannot be started.
    ///
    /// A run that is dropped ends its process, and those that it started.
    pub(crate) async fn run(&self, event_json: &str) -> std::io::Result<ProgramRun> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // a group of its own, so that a time-out also ends the processes that it started
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = ProcessGroup::of_child(&child);
        let output = Arc::new(Mutex::new(CappedOutput::default()));
        let pipes = tokio::spawn(connect_pipes(&mut child, event_json, &output));
        let finished = tokio::select! {
            status = child.wait() => Some(status?),
            () = MachineClock.sleep_until(MachineClock.now_ms().saturating_add(self.timeout_ms)) => None,
        };
        let exit_code = finished.and_then(|status| status.code());
        let verdict = match finished {
            Some(status) => judge_exit(status),
            None => {
                group.end();
                child.wait().await?;
                let limit = format_duration(self.timeout_ms);
                ProgramVerdict::Failed(format!("did not end within {limit}"))
            }
        };
        group.release();
        let abort = pipes.abort_handle();
        tokio::select! {
            _ended = pipes => {}
            () = MachineClock.sleep_until(MachineClock.now_ms() + DRAIN_MS) => abort.abort(),
        }
        let output = std::mem::take(&mut *output.lock().unwrap_or_else(PoisonError::into_inner));
        let (output, is_output_cut) = output.into_text();
        Ok(ProgramRun { verdict, exit_code, output, is_output_cut })
    }
}

/// Feeds a program its event, and reads what it prints, until it has closed all three pipes.
fn connect_pipes(
    child: &mut Child,
    event_json: &str,
    output: &Arc<Mutex<CappedOutput>>,
) -> impl Future<Output = ()> + use<> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (event_line, output) = (format!("{event_json}\n"), Arc::clone(output));
    async move {
        tokio::join!(
            write_event(stdin, &event_line),
            read_output(stdout, &output),
            print_errors(stderr)
        );
    }
}

/// Writes the event. A program that ends without reading it is judged by its exit code.
async fn write_event(stdin: Option<ChildStdin>, line: &str) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(line.as_bytes()).await.ok();
    }
}

/// Reads stdout to its end, also beyond the bytes that are stored, so that the program never waits for a reader.
async fn read_output(stdout: Option<ChildStdout>, output: &Mutex<CappedOutput>) {
    let Some(mut stdout) = stdout else { return };
    let mut chunk = [0; 8 * 1024];
    while let Ok(count @ 1..) = stdout.read(&mut chunk).await {
        output.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..count]);
    }
}

async fn print_errors(stderr: Option<ChildStderr>) {
    let Some(stderr) = stderr else { return };
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        print_status(String::from_utf8_lossy(&line).trim_end());
    }
}

/// The beginning of what a program printed.
#[derive(Default)]
struct CappedOutput {
    kept: Vec<u8>,
    is_cut: bool,
}

impl CappedOutput {
    fn push(&mut self, bytes: &[u8]) {
        let room = MAX_OUTPUT_BYTES - self.kept.len();
        let fitting = &bytes[..bytes.len().min(room)];
        self.kept.extend_from_slice(fitting);
        self.is_cut |= fitting.len() < bytes.len();
    }

    /// Returns the text, and true if more was printed. A character that the limit splits is left out.
    fn into_text(mut self) -> (String, bool) {
        if let Err(error) = std::str::from_utf8(&self.kept)
            && self.is_cut
            && error.error_len().is_none()
        {
            self.kept.truncate(error.valid_up_to());
        }
        (String::from_utf8_lossy(&self.kept).into_owned(), self.is_cut)
    }
}

fn judge_exit(status: ExitStatus) -> ProgramVerdict {
    match status.code() {
        Some(0) => ProgramVerdict::Acknowledged,
        Some(EXIT_RETRY_LATER) => ProgramVerdict::RetryLater,
        Some(code) => ProgramVerdict::Failed(format!("exit code {code}")),
        None => ProgramVerdict::Failed(describe_signal(status)),
    }
}

#[cfg(unix)]
fn describe_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map_or("no exit code".to_owned(), |signal| format!("ended by signal {signal}"))
}

#[cfg(not(unix))]
fn describe_signal(_: ExitStatus) -> String {
    "no exit code".to_owned()
}

/// The processes of a running program. They are ended if it is dropped before its program has ended.
struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of_child(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    fn end(&self) {
        if let Some(leader) = self.leader {
            // it may have ended by itself
            rustix::process::kill_process_group(leader, rustix::process::Signal::KILL).ok();
        }
    }

    /// Leaves the processes alone. The program has ended, so its number may soon be that of another one.
    fn release(mut self) {
        self.leader = None;
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    fn of_child(_: &Child) -> Self {
        Self {}
    }

    fn end(&self) {}

    fn release(self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const MINUTE_MS: i64 = 60_000;

    #[tokio::test]
    async fn program_reads_the_event_and_its_exit_code_is_the_verdict() {
        let run = run_shell("cat; exit 0", MINUTE_MS).await;
        assert_eq!(run.output, "{\"id\":1}\n");
        assert_eq!((run.verdict, run.is_output_cut), (ProgramVerdict::Acknowledged, false));
        assert_eq!(run_shell("exit 75", MINUTE_MS).await.verdict, ProgramVerdict::RetryLater);
        for (script, reason) in
            [("exit 3", "exit code 3"), ("kill -TERM $$; read never", "ended by signal 15")]
        {
            let run = run_shell(script, MINUTE_MS).await;
            assert_eq!(run.verdict, ProgramVerdict::Failed(reason.to_owned()), "{script}");
        }
    }

    #[tokio::test]
    async fn program_that_prints_too_much_is_read_to_its_end() {
        let script = "read event; head -c 200000 /dev/zero | tr '\\0' x";
        let run = run_shell(script, MINUTE_MS).await;
        assert_eq!(run.verdict, ProgramVerdict::Acknowledged);
        assert_eq!((run.output.len(), run.is_output_cut), (MAX_OUTPUT_BYTES, true));
    }

    #[tokio::test]
    async fn program_that_does_not_end_in_time_is_ended_with_its_children() {
        // the child holds stdout open and would never end
        let run = run_shell("echo begun; tail -f /dev/null & wait", 300).await;
        assert_eq!(run.verdict, ProgramVerdict::Failed("did not end within 1s".to_owned()));
        assert_eq!(run.output, "begun\n");
    }

    #[tokio::test]
    async fn program_that_cannot_be_started_is_an_error() {
        let program = ConsumerProgram {
            program: "/no/such/program".into(),
            arguments: Vec::new(),
            timeout_ms: MINUTE_MS,
        };
        assert_eq!(program.run("{}").await.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn output_is_cut_between_characters() {
        let mut output = CappedOutput::default();
        output.push(&vec![b'x'; MAX_OUTPUT_BYTES - 1]);
        output.push("é".as_bytes());
        let (text, is_cut) = output.into_text();
        assert_eq!((text.len(), is_cut), (MAX_OUTPUT_BYTES - 1, true));
    }

    async fn run_shell(script: &str, timeout_ms: i64) -> ProgramRun {
        let program = ConsumerProgram {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            timeout_ms,
        };
        program.run(r#"{"id":1}"#).await.expect("a shell can be run")
    }
}
