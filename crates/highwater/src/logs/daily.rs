//! One file a day, in UTC, for its owner alone; the oldest go.
//!
//! Our own, because the usual crate for this, tracing-appender, opens its files with whatever mode the umask
//! leaves (as of 0.2.5 it has no setting for it), and ours are 0600 from the start.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hw_rules::time::Mark;
use hw_sync::clock::{Clock as _, MachineClock};

use super::line;
use crate::config::Format;
use crate::{private, report, terminal};

/// How many files are kept: one for each day on which something was said.
const KEPT: usize = 14;

pub(super) struct Daily {
    folder: PathBuf,
    format: Format,
    today: Mutex<Today>,
}

/// The file that is open, with its day.
#[derive(Default)]
struct Today {
    day: String,
    /// None while it cannot be opened.
    file: Option<File>,
    is_trouble_told: bool,
}

impl Daily {
    pub(super) fn new(folder: PathBuf, format: Format) -> Self {
        Self { folder, format, today: Mutex::default() }
    }

    /// Nothing is made before there is something to say.
    fn keep(&self, event: &[u8], now_ms: i64) {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", line(self.format, event));
        let written =
            today.open(&self.folder, &day(now_ms)).and_then(|file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            today.tell_trouble(&self.folder, &error);
        }
    }
}

impl Today {
    fn open(&mut self, folder: &Path, day: &str) -> io::Result<&mut File> {
        if self.day != day || self.file.is_none() {
            private::folder(folder)?;
            self.file = Some(private::append(&folder.join(name(day)))?);
            day.clone_into(&mut self.day);
            forget_old(folder)?;
        }
        self.file.as_mut().ok_or_else(|| io::Error::other("no file is open"))
    }

    /// Work does not stop because nobody writes it down. Without a home directory the work itself has more
    /// to say about that.
    fn tell_trouble(&mut self, folder: &Path, error: &io::Error) {
        let has_home = folder.parent().is_some_and(Path::is_dir);
        if has_home && !self.is_trouble_told {
            let why = report::without_number(&error.to_string());
            terminal::warn(&format!("cannot log to {}: {why}", folder.display()));
        }
        self.is_trouble_told = true;
    }
}

/// The writer of one event.
impl Write for &Daily {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.keep(event, MachineClock.now_ms());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn day(now_ms: i64) -> String {
    let time = Mark(now_ms).to_string();
    time.get(..10).unwrap_or(&time).to_owned()
}

fn name(day: &str) -> String {
    format!("highwater-{day}.log")
}

fn forget_old(folder: &Path) -> io::Result<()> {
    let names = std::fs::read_dir(folder)?.filter_map(|it| it.ok()?.file_name().into_string().ok());
    let mut logs: Vec<String> = names.filter(|it| is_log(it)).collect();
    logs.sort_unstable();
    let old = logs.len().saturating_sub(KEPT);
    logs.iter().take(old).try_for_each(|old| std::fs::remove_file(folder.join(old)))
}

fn is_log(name: &str) -> bool {
    let day = name.strip_prefix("highwater-").and_then(|it| it.strip_suffix(".log"));
    day.is_some_and(|day| day.len() == 10 && day.chars().all(|c| c.is_ascii_digit() || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn each_day_has_a_file_and_only_the_last_fortnight_stays() {
        let folder = tempfile::tempdir().unwrap();
        let daily = Daily::new(folder.path().join("logs"), Format::Text);
        assert!(!folder.path().join("logs").exists(), "nothing was said yet");
        for number in 0..20 {
            daily.keep(b"said\n", number * DAY_MS);
            daily.keep(b"said\n again\n", number * DAY_MS + 1);
        }
        std::fs::write(folder.path().join("logs/highwater-mine.log"), "").unwrap();
        daily.keep(b"said\n", 20 * DAY_MS);
        let names = std::fs::read_dir(folder.path().join("logs")).unwrap();
        let mut names: Vec<_> =
            names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names.len(), KEPT + 1);
        assert_eq!(names[0], "highwater-1970-01-08.log");
        assert_eq!(names[KEPT], "highwater-mine.log");
        let text = std::fs::read_to_string(folder.path().join("logs").join(&names[0])).unwrap();
        assert_eq!(text, "said\nsaid  again\n");
    }
}
