//! Reports panics as bugs in highwater.

use std::panic::PanicHookInfo;

use super::print_status_lines;
use crate::report;

/// Installs a hook that reports a panic in any thread and ends the process.
///
/// Stored data is consistent at any point, so no cleanup is needed first.
pub(crate) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        print_status_lines(&format_panic(info));
        report::exit_after_panic();
    }));
}

fn format_panic(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("unknown panic");
    let location = info
        .location()
        .map_or_else(String::new, |location| format!(" ({}:{})", location.file(), location.line()));
    format!(
        "Error: this is a bug in highwater\n  caused by: {message}{location}\n\
         hint: your data is safe; run it again, and report this if it happens again\n"
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    const CHILD: &str = "HIGHWATER_TEST_PANICS";

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the variable marks the child process of this test"
    )]
    fn panic_is_reported_masked_and_exits_with_three() {
        if std::env::var_os(CHILD).is_some() {
            super::install_panic_hook();
            super::super::update_mask(|mask| mask.hide_token("t0ken-of-this-run"));
            let thread = std::thread::spawn(|| panic!("\u{1b}[2J no t0ken-of-this-run"));
            drop(thread.join());
            return;
        }
        let name = "terminal::panic_hook::tests::panic_is_reported_masked_and_exits_with_three";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        let expected = "Error: this is a bug in highwater\n  caused by: [2J no [masked] (";
        assert!(stderr.starts_with(expected), "{stderr}");
    }
}
