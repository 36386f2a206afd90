//! A pseudo-terminal for the program, and an emulator that interprets what is written to it.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, WaitOptions, waitpid};
use vt100::{Parser, Screen};

/// Far longer than any expected change takes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct PseudoTerminal {
    emulator: Parser,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    /// Everything that was written to it.
    pub(crate) bytes: Vec<u8>,
}

impl PseudoTerminal {
    /// Starts a command in a terminal with these columns and 40 rows.
    pub(crate) fn run(command: &Command, columns: u16) -> Self {
        Self::run_sized(command, columns, 40)
    }

    pub(crate) fn run_sized(command: &Command, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(pty_size(columns, rows)).unwrap();
        let child = pair.slave.spawn_command(terminal_command(command)).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // reading from a terminal that no process has open ends with an error
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let emulator = Parser::new(non_zero(rows), non_zero(columns), 0);
        Self { emulator, master: pair.master, keyboard, child, output, bytes: Vec::new() }
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.emulator.screen()
    }

    /// Waits until the screen meets a condition.
    pub(crate) fn wait_until(&mut self, condition: impl Fn(&Screen) -> bool) {
        while !condition(self.screen()) {
            match self.output.recv_timeout(WAIT_TIMEOUT) {
                Ok(chunk) => self.process_output(&chunk),
                Err(_) => {
                    panic!("the screen never met the condition:\n{}", self.screen().contents())
                }
            }
        }
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.emulator.set_size(non_zero(rows), non_zero(columns));
        self.master.resize(pty_size(columns, rows)).unwrap();
    }

    pub(crate) fn press_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn send_signal(&self, signal: &str) {
        let process = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    }

    /// Waits until the program is suspended.
    pub(crate) fn wait_until_stopped(&self) {
        let process = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (_, status) = waitpid(process, WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Waits for the end of the program, and returns its exit code.
    pub(crate) fn wait_for_exit(&mut self) -> u32 {
        loop {
            match self.output.recv_timeout(WAIT_TIMEOUT) {
                Ok(chunk) => self.process_output(&chunk),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the program did not end"),
            }
        }
        self.child.wait().unwrap().exit_code()
    }

    fn process_output(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.emulator.process(chunk);
    }
}

impl Drop for PseudoTerminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Builds the command with a capable `TERM`, unless it sets one.
fn terminal_command(command: &Command) -> CommandBuilder {
    let mut built = CommandBuilder::new(command.get_program());
    built.args(command.get_args());
    built.cwd(std::env::current_dir().unwrap());
    built.env("TERM", "xterm-256color");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => built.env(name, value),
            None => built.env_remove(name),
        }
    }
    built
}

fn pty_size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn non_zero(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}
