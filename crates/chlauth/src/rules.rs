//! All records of a queue manager, and what comes of them for a partner.
//!
//! | in this order | what | source (manual: "Channel authentication records") |
//! | --- | --- | --- |
//! | 0 | a record that is not understood, as another release may have set it, blocks whoever comes by its channels | what is not understood is not taken for permission |
//! | 1 | an address of a BLOCKADDR record is blocked, whatever the channel | "Blocking specific IP addresses" |
//! | 2 | of the records that say as whom partners run and match, one counts: the one with the most specific profile; of these TLS names come before users and queue managers, and these before addresses alone; then the most specific name or address | "Interaction between channel authentication records" |
//! | 3 | NOACCESS blocks; MAP gives its user; CHANNEL, and no record at all, leaves the user that the partner would run as without records | SET CHLAUTH, USERSRC |
//! | 4 | of the BLOCKUSER records that match the channel the one with the most specific profile counts: its users are blocked | SET CHLAUTH, USERLIST |
//!
//! What WARN(YES) would block is told, and goes on as if the record said CHANNEL.
//!
//! Invariant: records are sorted when they are made to rules, the most specific first, so that the first that matches counts; the
//! order is total, so that it does not depend on when they were set.

use core::net::IpAddr;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::address::AddressPattern;
use crate::pattern::Pattern;
use crate::peer_name::DistinguishedName;
use crate::record::{ADMINISTRATORS, CheckClient, Map, Record, Rule, UserSource, Whom};

/// Who wants to come in.
#[derive(Clone, Copy, Debug)]
pub struct Partner<'a> {
    /// The channel.
    pub channel: &'a str,
    /// From where.
    pub address: IpAddr,
    /// A client's user.
    pub user: Option<&'a str>,
    /// A queue manager's name.
    pub queue_manager: Option<&'a str>,
    /// The name of its certificate.
    pub peer: Option<&'a DistinguishedName>,
    /// Who issued that.
    pub issuer: Option<&'a DistinguishedName>,
}

/// Why a record blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// BLOCKADDR has the address.
    Address,
    /// BLOCKUSER has the user.
    User,
    /// USERSRC(NOACCESS).
    NoAccess,
    /// A record of another release.
    NotUnderstood,
}

/// A record that blocks, or would if it did not only warn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objection<'a> {
    /// The record.
    pub record: &'a Record,
    /// Why.
    pub why: Why,
}

/// What comes of all records for a partner.
#[derive(Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// As whom it runs, or would.
    pub user: String,
    /// The record that says so, if one does.
    pub mapping: Option<&'a Record>,
    /// What warns of it.
    pub warnings: Vec<Objection<'a>>,
    /// What blocks it.
    pub blocked: Option<Objection<'a>>,
}

impl<'a> Decision<'a> {
    /// Whether the partner must give a password, by the record that says as whom it runs.
    pub fn check(&self) -> CheckClient {
        let map = self.mapping.and_then(Record::map);
        map.map_or(CheckClient::AsQueueManager, |map| map.check)
    }

    fn object(&mut self, objection: Objection<'a>) {
        match objection.record.warn {
            true => self.warnings.push(objection),
            false => self.blocked = Some(objection),
        }
    }
}

/// The records of a queue manager.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// CHLAUTH(ENABLED); otherwise they say nothing.
    enabled: bool,
    /// Each with a BLOCKADDR record: its addresses that are one, and the others.
    addresses: Vec<(BTreeSet<IpAddr>, Vec<AddressPattern>, Record)>,
    users: Vec<Record>,
    maps: Vec<Record>,
    /// Those that are not understood, as records that let nobody in.
    closed: Vec<Record>,
}

impl Rules {
    /// The rules that records make.
    pub fn new(enabled: bool, records: impl IntoIterator<Item = Record>) -> Rules {
        let mut rules = Rules {
            enabled,
            ..Rules::default()
        };
        for record in records {
            match &record.rule {
                Rule::BlockUsers(_) => rules.users.push(record),
                Rule::Map(_) => rules.maps.push(record),
                Rule::BlockAddresses(patterns) => {
                    let single = patterns.iter().filter_map(AddressPattern::single).collect();
                    let several = patterns.iter().filter(|one| one.single().is_none());
                    let several = several.cloned().collect();
                    rules.addresses.push((single, several, record));
                }
            }
        }
        rules.users.sort_by(|a, b| precedence(b, a));
        rules.maps.sort_by(|a, b| precedence(b, a));
        rules
    }

    /// Closes the channels of a profile, whatever the records say: one of them is not understood.
    pub fn close(&mut self, profile: Pattern) {
        self.closed.push(Record {
            profile,
            rule: Rule::Map(Map {
                whom: Whom::Anybody,
                address: None,
                source: UserSource::NoAccess,
                check: CheckClient::AsQueueManager,
            }),
            warn: false,
        });
    }

    /// The record that is not understood of a channel.
    fn closed(&self, channel: &str) -> Option<Objection<'_>> {
        let mut all = self.closed.iter().filter(|_| self.enabled);
        let record = all.find(|record| record.profile.matches(channel))?;
        let why = Why::NotUnderstood;
        Some(Objection { record, why })
    }

    /// Whether they are in force: CHLAUTH(ENABLED).
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// The record that objects to an address, whatever the channel.
    pub fn address(&self, address: IpAddr) -> Option<Objection<'_>> {
        let address = address.to_canonical();
        let mut all = self.addresses.iter().filter(|_| self.enabled);
        let found = all.find(|(single, several, _)| {
            single.contains(&address) || several.iter().any(|pattern| pattern.matches(address))
        });
        found.map(|(_, _, record)| Objection {
            record,
            why: Why::Address,
        })
    }

    /// The record that says as whom a partner runs.
    fn mapping(&self, partner: &Partner<'_>) -> Option<&Record> {
        let mut all = self.maps.iter().filter(|_| self.enabled);
        all.find(|record| {
            let map = record.map();
            record.profile.matches(partner.channel) && map.is_some_and(|map| fits(map, partner))
        })
    }

    /// The record that objects to a user at a channel. `is_administrator` says whether a user is one.
    fn user(
        &self,
        channel: &str,
        user: &str,
        is_administrator: impl Fn(&str) -> bool,
    ) -> Option<Objection<'_>> {
        let mut all = self.users.iter().filter(|_| self.enabled);
        let record = all.find(|record| record.profile.matches(channel))?;
        let Rule::BlockUsers(users) = &record.rule else {
            return None;
        };
        let blocked = users.iter().any(|one| match one.as_str() {
            // Nobody knows who that is who does not say.
            ADMINISTRATORS => user.is_empty() || is_administrator(user),
            one => one == user,
        });
        blocked.then_some(Objection {
            record,
            why: Why::User,
        })
    }

    /// The records one of which says as whom a client runs that comes by a channel, as far as one does: those behind a record of
    /// everybody count for nobody. No client is a queue manager.
    fn of_clients(&self, channel: &str) -> Vec<(&Record, &Map)> {
        let mut found = Vec::new();
        for record in self.maps.iter().filter(|_| self.enabled) {
            let Some(map) = record.map() else { continue };
            if matches!(map.whom, Whom::QueueManager(_)) || !record.profile.matches(channel) {
                continue;
            }
            found.push((record, map));
            if is_of_everybody(map) {
                break;
            }
        }
        found
    }

    /// Whether every client that comes by a channel is blocked, whoever it is and wherever it comes from.
    pub fn lets_nobody_in(&self, channel: &str) -> bool {
        let found = self.of_clients(channel);
        let blocks =
            |(record, map): &(&Record, &Map)| map.source == UserSource::NoAccess && !record.warn;
        let has_everybody = found.last().is_some_and(|(_, map)| is_of_everybody(map));
        self.closed(channel).is_some() || has_everybody && found.iter().all(blocks)
    }

    /// Whether a client that comes by a channel may run as a user of a record, and not as the channel says.
    pub fn maps_somebody(&self, channel: &str) -> bool {
        let found = self.of_clients(channel);
        let maps = |(_, map): &(&Record, &Map)| matches!(map.source, UserSource::Map(_));
        self.closed(channel).is_none() && found.iter().any(maps)
    }

    /// What comes of them for a partner that would run as the user `otherwise` without them. `is_administrator` says whether a
    /// user is one.
    pub fn decide<'a>(
        &'a self,
        partner: &Partner<'_>,
        otherwise: &str,
        is_administrator: impl Fn(&str) -> bool,
    ) -> Decision<'a> {
        let closed = self.closed(partner.channel);
        let mapping = self.mapping(partner).filter(|_| closed.is_none());
        let mut decision = Decision {
            user: otherwise.to_owned(),
            mapping,
            warnings: Vec::new(),
            blocked: closed,
        };
        if decision.blocked.is_some() {
            return decision;
        }
        if let Some(objection) = self.address(partner.address) {
            decision.object(objection);
        }
        if let Some((record, map)) = mapping.and_then(|record| Some((record, record.map()?))) {
            match &map.source {
                UserSource::Map(user) => decision.user.clone_from(user),
                UserSource::Channel => {}
                UserSource::NoAccess if decision.blocked.is_none() => {
                    let why = Why::NoAccess;
                    decision.object(Objection { record, why });
                }
                UserSource::NoAccess => {}
            }
        }
        if decision.blocked.is_none() {
            let objection = self.user(partner.channel, &decision.user, is_administrator);
            if let Some(objection) = objection {
                decision.object(objection);
            }
        }
        decision
    }
}

/// Whether a record is about every partner, apart from the channel.
fn is_of_everybody(map: &Map) -> bool {
    let everywhere = map.address.as_ref().is_some_and(AddressPattern::is_any);
    everywhere && map.whom == Whom::Anybody
}

/// Whether a record is about a partner, apart from the channel.
fn fits(map: &Map, partner: &Partner<'_>) -> bool {
    let from_there = map.address.as_ref();
    let from_there = from_there.is_none_or(|address| address.matches(partner.address));
    from_there
        && match &map.whom {
            Whom::Anybody => map.address.is_some(),
            Whom::User(user) => partner.user == Some(user),
            Whom::QueueManager(name) => partner.queue_manager.is_some_and(|is| name.matches(is)),
            Whom::Peer(name, issuer) => {
                partner.peer.is_some_and(|is| name.matches(is))
                    && issuer
                        .as_ref()
                        .is_none_or(|issuer| partner.issuer.is_some_and(|is| issuer.matches(is)))
            }
        }
}

/// Which of two records counts where both match: that one is greater.
fn precedence(a: &Record, b: &Record) -> Ordering {
    let profile = a.profile.specificity(&b.profile);
    let (Some(ours), Some(theirs)) = (a.map(), b.map()) else {
        return profile;
    };
    let rank = |whom: &Whom| match whom {
        Whom::Anybody => 0,
        Whom::User(_) | Whom::QueueManager(_) => 1,
        Whom::Peer(..) => 2,
    };
    let names = || match (&ours.whom, &theirs.whom) {
        (Whom::Peer(a, ours), Whom::Peer(b, theirs)) => {
            let issuers = || match (ours, theirs) {
                (Some(a), Some(b)) => a.specificity(b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            a.specificity(b).then_with(issuers)
        }
        (Whom::QueueManager(a), Whom::QueueManager(b)) => a.specificity(b),
        _ => Ordering::Equal,
    };
    let addresses = || match (&ours.address, &theirs.address) {
        (Some(a), Some(b)) => a.specificity(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    profile
        .then_with(|| rank(&ours.whom).cmp(&rank(&theirs.whom)))
        .then_with(names)
        .then_with(addresses)
        // No partner has both, or they are about the same: the order does not depend on when they were set.
        .then_with(|| a.key().cmp(&b.key()))
}

#[cfg(test)]
mod tests;
