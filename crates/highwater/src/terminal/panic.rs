//! What is said when something that must never happen did.

use std::panic::PanicHookInfo;

use super::tell_lines;
use crate::report;

/// From now on a panic, in whatever thread, is told in our own words and ends the process.
///
/// What was kept is whole at any point, so nothing needs to be put in order first.
pub(crate) fn end_with_a_report() {
    std::panic::set_hook(Box::new(|info| {
        tell_lines(&told(info));
        report::leave_by_a_bug();
    }));
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("something that cannot be told");
    let place =
        info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    format!(
        "Error: this is a bug in highwater\n  because {message}{place}\n\
         hint: what was kept is whole; run it again, and report this if it stays\n"
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    const CHILD: &str = "HIGHWATER_TEST_PANICS";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test starts itself, and asks who it is")]
    fn a_panic_is_ours_is_masked_and_ends_with_three() {
        if std::env::var_os(CHILD).is_some() {
            super::end_with_a_report();
            super::super::hide(|mask| mask.hide_token("t0ken-of-this-run"));
            let thread = std::thread::spawn(|| panic!("\u{1b}[2J no t0ken-of-this-run"));
            drop(thread.join());
            return;
        }
        let name = "terminal::panic::tests::a_panic_is_ours_is_masked_and_ends_with_three";
        let mut again = Command::new(std::env::current_exe().unwrap());
        let again = again.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
        let told = String::from_utf8(again.stderr).unwrap();
        assert_eq!(again.status.code(), Some(3), "{told}");
        let expected = "Error: this is a bug in highwater\n  because [2J no [masked] (";
        assert!(told.starts_with(expected), "{told}");
    }
}
