//! Writes one log file per UTC day, readable only by its owner, and removes the oldest.
//!
//! The usual crate for this, tracing-appender, creates its files with whatever mode the umask leaves (0.2.5 has no
//! setting for it). These files are 0600 from the start.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hw_rules::source_time::SourceInstant;
use hw_sync::clock::{Clock as _, MachineClock};

use super::format_event;
use crate::config::LogFormat;
use crate::{private_files, report, terminal};

/// The number of files to keep, one for each day on which something was logged.
const MAX_FILES: usize = 14;

pub(super) struct DailyLog {
    folder: PathBuf,
    format: LogFormat,
    today: Mutex<OpenLogFile>,
}

/// The open file, and its day.
#[derive(Default)]
struct OpenLogFile {
    day: String,
    /// `None` while it cannot be opened.
    file: Option<File>,
    has_warned: bool,
}

impl DailyLog {
    pub(super) fn new(folder: PathBuf, format: LogFormat) -> Self {
        Self { folder, format, today: Mutex::default() }
    }

    /// Writes an event, and creates folder and file for the first one.
    fn write_event(&self, event: &[u8], now_ms: i64) {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", format_event(self.format, event));
        let written = today
            .open_file(&self.folder, &format_day(now_ms))
            .and_then(|file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            today.warn_once(&self.folder, &error);
        }
    }
}

impl OpenLogFile {
    fn open_file(&mut self, folder: &Path, day: &str) -> io::Result<&mut File> {
        if self.day != day || self.file.is_none() {
            private_files::create_folder(folder)?;
            self.file = Some(private_files::open_append(&folder.join(log_file_name(day)))?);
            day.clone_into(&mut self.day);
            remove_old_logs(folder)?;
        }
        self.file.as_mut().ok_or_else(|| io::Error::other("no file is open"))
    }

    /// Warns of the first error; logging never stops the work. Without a home directory, the work itself fails with a
    /// better message.
    fn warn_once(&mut self, folder: &Path, error: &io::Error) {
        let has_home = folder.parent().is_some_and(Path::is_dir);
        if has_home && !self.has_warned {
            let reason = report::strip_os_error_number(&error.to_string());
            terminal::print_warning(&format!("cannot log to {}: {reason}", folder.display()));
        }
        self.has_warned = true;
    }
}

impl Write for &DailyLog {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.write_event(event, MachineClock.now_ms());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn format_day(now_ms: i64) -> String {
    let time = SourceInstant(now_ms).to_string();
    time.get(..10).unwrap_or(&time).to_owned()
}

fn log_file_name(day: &str) -> String {
    format!("highwater-{day}.log")
}

fn remove_old_logs(folder: &Path) -> io::Result<()> {
    let entries = std::fs::read_dir(folder)?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut logs: Vec<String> = names.filter(|name| is_log_name(name)).collect();
    logs.sort_unstable();
    let old = logs.len().saturating_sub(MAX_FILES);
    logs.iter().take(old).try_for_each(|old| std::fs::remove_file(folder.join(old)))
}

fn is_log_name(name: &str) -> bool {
    let day = name.strip_prefix("highwater-").and_then(|rest| rest.strip_suffix(".log"));
    day.is_some_and(|day| day.len() == 10 && day.chars().all(|c| c.is_ascii_digit() || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn daily_log_has_a_file_per_day_and_keeps_the_last_14() {
        let folder = tempfile::tempdir().unwrap();
        let daily = DailyLog::new(folder.path().join("logs"), LogFormat::Text);
        assert!(!folder.path().join("logs").exists(), "nothing is logged yet");
        for number in 0..20 {
            daily.write_event(b"event\n", number * DAY_MS);
            daily.write_event(b"event\n again\n", number * DAY_MS + 1);
        }
        std::fs::write(folder.path().join("logs/highwater-mine.log"), "").unwrap();
        daily.write_event(b"event\n", 20 * DAY_MS);
        let entries = std::fs::read_dir(folder.path().join("logs")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names.len(), MAX_FILES + 1);
        assert_eq!(names[0], "highwater-1970-01-08.log");
        assert_eq!(names[MAX_FILES], "highwater-mine.log");
        let text = std::fs::read_to_string(folder.path().join("logs").join(&names[0])).unwrap();
        assert_eq!(text, "event\nevent  again\n");
    }
}
