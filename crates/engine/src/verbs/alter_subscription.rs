//! MQSO_ALTER: what of a subscription a descriptor changes, and what it may not.
//!
//! Sources: MQI reference, "MQSO_ALTER", its table of attributes; "Subscription security" (MQSO_SET_IDENTITY_CONTEXT): without that
//! option an altered subscription has the default identity context, whatever it had before; "MQSO_ANY_USERID subscription option",
//! "MQSO_FIXED_USERID": whoever alters one of any user takes it over, and who fixes it is its owner. One that several share at a
//! time is nobody's as long as it is any user's: who joins it, which a client asks for with MQSO_ALTER, leaves it the user that it has.

use posthaste_mqi::constants::*;
use posthaste_mqi::{Reason, Sd};

use super::subscription_options::{Given, identity};
use crate::session::SessionInner;
use crate::topics::subscription::{Destination, Subscription, expires};

/// Refuses to change what makes a subscription what it is.
fn check(
    session: &SessionInner,
    (sd, given): (&Sd, Given),
    before: &Subscription,
    destination: Option<&Destination>,
) -> Result<(), Reason> {
    let is = |option: i32| sd.options & option != 0;
    let goes = |to: &Destination| (to.queue, to.queue_manager);
    let moves = destination.is_some_and(|to| goes(to) != goes(&before.destination));
    if is(MQSO_DURABLE) != before.durable {
        return Err(Reason::DURABILITY_NOT_ALTERABLE);
    }
    if is(MQSO_MANAGED) != before.managed {
        return Err(Reason::DEST_CLASS_NOT_ALTERABLE);
    }
    if session.filter_of(sd)? != before.filter {
        return Err(Reason::TOPIC_NOT_ALTERABLE);
    }
    let identifies = is(MQSO_SET_CORREL_ID) && sd.sub_correl_id != before.correl_id;
    if is(MQSO_GROUP_SUB) != before.grouped || before.grouped && (identifies || moves) {
        return Err(Reason::GROUPING_NOT_ALTERABLE);
    }
    if sd.sub_level != before.level {
        return Err(Reason::SUBLEVEL_NOT_ALTERABLE);
    }
    // The same one again is no change. MQSUB without one says nothing of it; a client of JMS asks for what it says, and for a subscription
    // without a selector if it says none: where that is refused it makes the subscription anew.
    let says = given.is_spi || !sd.selection_string.is_empty();
    if says && sd.selection_string != before.selection {
        return Err(Reason::SELECTOR_NOT_ALTERABLE);
    }
    Ok(())
}

/// The subscription that a descriptor makes of one that there is; none: it stays as it is.
///
/// # Errors
/// 2509 durability, 2533 class of destination, 2510 topic, 2512 level, 2515 what makes its group, and 2524 selection string are not alterable; 2085,
/// 2425 what is said of the topic.
pub(super) fn altered(
    session: &SessionInner,
    (sd, given): (&Sd, Given),
    before: &Subscription,
    destination: Option<Destination>,
) -> Result<Option<Subscription>, Reason> {
    check(session, (sd, given), before, destination.as_ref())?;
    let now = session.qm.clock.now();
    let is = |option: i32| sd.options & option != 0;
    let mut after = before.clone();
    if let Some(destination) = destination {
        after.destination = destination;
    }
    if is(MQSO_SET_CORREL_ID) {
        after.correl_id = sd.sub_correl_id;
    }
    (after.accounting_token, after.application_identity) = identity(sd);
    if is(MQSO_ANY_USERID | MQSO_FIXED_USERID) {
        after.any_user = is(MQSO_ANY_USERID);
    }
    if !before.shared || is(MQSO_FIXED_USERID) {
        after.user = session.subscriber(sd);
    }
    after.user_data.clone_from(&sd.sub_user_data);
    after.priority = sd.pub_priority;
    after.on_request = is(MQSO_PUBLICATIONS_ON_REQUEST);
    after.expiry = sd.sub_expiry;
    let same = after.object() == before.object();
    // A time to live begins again, even if it is as long as before.
    if same && sd.sub_expiry == MQEI_UNLIMITED {
        return Ok(None);
    }
    after.expires = expires(sd.sub_expiry, now);
    after.altered = now;
    Ok(Some(after))
}
