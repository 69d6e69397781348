//! The queue manager's certificates, looked at while it runs, so that their end surprises nobody.

use std::sync::Arc;
use std::time::Duration;

use posthaste_channel::Security;
use posthaste_env::Clock;

/// How often they are looked at; what is told is told once a day.
const PAUSE: Duration = Duration::from_secs(60 * 60);

/// Looks at them once, so that it is told before anybody is served; then every hour, for ever.
pub(crate) async fn watch(security: &Arc<Security>, clock: &Arc<dyn Clock>) {
    look(security, clock).await;
    let (security, clock) = (Arc::clone(security), Arc::clone(clock));
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            look(&security, &clock).await;
        }
    });
}

async fn look(security: &Arc<Security>, clock: &Arc<dyn Clock>) {
    let (security, now) = (Arc::clone(security), clock.wall_micros() / 1_000_000);
    // It reads files. One that panics has said so, and the next hour is another try.
    let _ = tokio::task::spawn_blocking(move || security.look_after_certificates(now)).await;
}
