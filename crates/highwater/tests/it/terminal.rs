//! A terminal for the program to run in: a pseudo-terminal, and an emulator that tells what is on it.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, WaitOptions, waitpid};
use vt100::{Parser, Screen};

/// Far longer than anything that is waited for takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Terminal {
    emulator: Parser,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    /// Everything that was written to it.
    pub(crate) bytes: Vec<u8>,
}

impl Terminal {
    /// Starts a command in a terminal of so many columns and 40 rows.
    pub(crate) fn run(command: &Command, columns: u16) -> Self {
        Self::sized(command, columns, 40)
    }

    pub(crate) fn sized(command: &Command, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let child = pair.slave.spawn_command(built(command)).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // a terminal that nobody has open any more ends with an error
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let emulator = Parser::new(some(rows), some(columns), 0);
        Self { emulator, master: pair.master, keyboard, child, output, bytes: Vec::new() }
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.emulator.screen()
    }

    /// Waits until the screen is as wished.
    pub(crate) fn until(&mut self, is_so: impl Fn(&Screen) -> bool) {
        while !is_so(self.screen()) {
            match self.output.recv_timeout(PATIENCE) {
                Ok(chunk) => self.take(&chunk),
                Err(_) => panic!("it never came to that:\n{}", self.screen().contents()),
            }
        }
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.emulator.set_size(some(rows), some(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: &str) {
        let process = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    }

    /// Waits until the program has stopped for a while.
    pub(crate) fn until_stopped(&self) {
        let process = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (_, status) = waitpid(process, WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Waits for the end of the program; its exit code.
    pub(crate) fn end(&mut self) -> u32 {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(chunk) => self.take(&chunk),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it never ended"),
            }
        }
        self.child.wait().unwrap().exit_code()
    }

    fn take(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.emulator.process(chunk);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The same command, with the name of an able terminal unless it names one.
fn built(command: &Command) -> CommandBuilder {
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

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn some(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}
