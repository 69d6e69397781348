//! A limit of the length of files (`ulimit -f`) is a disk that is full, and no reason to be killed.

/// A file that is as long as this process may make one is written no further (EFBIG), which kills nobody (SIGXFSZ), from now on.
pub fn outlive_the_file_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    let too_long = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    // Without it the process does what it would have done: whoever has no file left for this has other worries.
    if let Ok(runtime) = runtime {
        let _in_it = runtime.enter();
        // Nobody waits for it. That it is caught lasts as long as the process.
        let _ = signal(too_long);
    }
}
