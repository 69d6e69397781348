//! Who stops channels and starts them again, and looks that nothing is left of their instances.

use std::rc::Rc;

use super::clients::APP;
use super::conversation::GONE;
use super::line::within;
use super::site::Site;

/// How often he looks, in nanoseconds.
const LOOK: u64 = 1_000_000;
/// How long the channel stays stopped, at most.
const STOPPED: u64 = 5_000_000;

/// Stops the channel of the applications now and then, until everything comes to an end.
pub(crate) async fn operator(site: Rc<Site>) {
    loop {
        site.sleep(1 + site.below(site.plan.stop_micros * 1000))
            .await;
        if site.stopping() {
            return;
        }
        let force = site.below(3) == 0;
        stop_and_look(&site, APP, force).await;
    }
}

/// STOP CHANNEL: within its time no instance, no connection of the queue manager and no wait of it is left. Then START.
pub(crate) async fn stop_and_look(site: &Rc<Site>, channel: &str, force: bool) {
    site.met(["stop quiesce", "stop force"][usize::from(force)]);
    if site.shared.borrow().waiting > 0 {
        site.met("stop while a get waits");
    }
    site.shared.borrow_mut().channel_stops += 1;
    site.note_end(Some(channel));
    let Ok(_) = site.registry.stop(channel, force) else {
        return site.stuck(format!("{channel} is not there to be stopped"));
    };
    let gone = async {
        while left(site, channel) != (0, 0) {
            site.sleep(LOOK).await;
        }
    };
    let gone = within(&*site.clock, GONE, gone).await;
    if gone.is_none() && site.qm.stopped().is_none() {
        let (instances, sessions) = left(site, channel);
        site.stuck(format!(
            "long after STOP CHANNEL({channel}) {instances} instances and {sessions} of their connections are left"
        ));
    }
    // Who comes meanwhile is refused.
    site.sleep(site.below(STOPPED)).await;
    if site.registry.start(channel).is_err() {
        site.stuck(format!("{channel} is not there to be started"));
    }
}

/// Instances of a channel, and connections of the queue manager that came by it.
fn left(site: &Site, channel: &str) -> (usize, usize) {
    let instances = site.registry.status();
    let sessions = site.qm.connection_status();
    (
        instances.iter().filter(|i| i.channel == channel).count(),
        sessions
            .iter()
            .filter(|s| s.application.channel == channel)
            .count(),
    )
}
