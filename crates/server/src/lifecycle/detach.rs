//! A process that goes on when the terminal it was started from is gone.

/// Puts this process into a session of its own, away from the terminal's signals, and off the folder
/// it was started in, so that this can be unmounted.
pub fn leave_the_terminal() {
    // Refused only to a process that leads its group already, which then is in a session of its own.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
}
