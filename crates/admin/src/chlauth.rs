//! Channel authentication records: SET and DISPLAY CHLAUTH, and what MATCH(RUNCHECK) would find.
//!
//! Invariant: RUNCHECK asks the rules that channels ask, whether or not they are in force.

use core::net::IpAddr;

use posthaste_chlauth::{CheckClient, Decision, DistinguishedName, Partner, Pattern, Record, Why};
use posthaste_command::{
    ChlAuthCommand, ChlAuthMatch, Object, ObjectKind, Reply, Row, RunCheck, Where, is_relevant,
    removal_of, row_of, where_matches, whole_mqsc_of,
};
use posthaste_engine::{ChlAuthError, QueueManager};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use crate::beside::Components;
use crate::change;

/// Carries out a command about channel authentication records.
pub(crate) async fn execute(
    qm: &QueueManager,
    beside: Option<&dyn Components>,
    command: &ChlAuthCommand,
) -> Reply {
    match command {
        ChlAuthCommand::Set {
            kind,
            action,
            attrs,
        } => match qm.set_chlauth(*kind, *action, attrs).await {
            Ok(()) => {
                let mut reply = Reply::done(kind.row().message_ids.changed, &[]);
                change::say_what_is_kept(*kind, attrs, &mut reply);
                reply
            }
            Err(error) => change::refused_record(qm, *kind, attrs, error),
        },
        ChlAuthCommand::Display {
            profile,
            kind,
            how,
            show,
            all,
            filter,
        } => {
            let request = Request {
                kind: *kind,
                show,
                all: *all,
                filter: filter.as_ref(),
            };
            display(qm, beside, profile, how, &request)
        }
    }
}

/// The commands that make every record again, behind those that remove the default records that are not here any more: a new
/// queue manager has them.
pub(crate) fn script(qm: &QueueManager) -> Vec<String> {
    let removed = qm.removed_chlauth_defaults().into_iter();
    let removed = removed.map(|object| removal_of(&object));
    let records = qm.chlauth_records().into_iter();
    let records = records.map(|(object, _)| whole_mqsc_of(&object));
    removed.chain(records).collect()
}

/// What a DISPLAY shows of the records that it finds.
struct Request<'a> {
    kind: Option<ObjectKind>,
    show: &'a [String],
    all: bool,
    filter: Option<&'a Where>,
}

/// What is shown of a record when only that was not asked for.
const UNUSUAL: [&str; 4] = ["DESCR", "CUSTOM", "ALTDATE", "ALTTIME"];

impl Request<'_> {
    fn add(&self, reply: &mut Reply, object: &Object) {
        let whole = row_of(object, &[], true);
        let wanted = self.kind.is_none_or(|kind| object.kind == kind)
            && self
                .filter
                .is_none_or(|filter| where_matches(filter, &whole));
        if wanted {
            reply.add_row(object.kind.row().message_ids.shown, self.cut(object, whole));
        }
    }

    fn cut(&self, object: &Object, mut row: Row) -> Row {
        let relevant: Vec<bool> = row
            .cells()
            .iter()
            .map(|cell| is_relevant(object, cell.attribute().selector))
            .collect();
        let asked = |keyword: &str| {
            self.show.iter().any(|shown| shown == keyword)
                || self.filter.is_some_and(|filter| filter.keyword == keyword)
        };
        row.keep(|at, keyword| {
            let usual = !UNUSUAL.contains(&keyword) && relevant.get(at) == Some(&true);
            usual || asked(keyword) || (self.all && relevant.get(at) == Some(&true))
        });
        row
    }
}

fn display(
    qm: &QueueManager,
    beside: Option<&dyn Components>,
    profile: &str,
    how: &ChlAuthMatch,
    request: &Request<'_>,
) -> Reply {
    let records = qm.chlauth_records();
    let mut reply = Reply::default();
    match how {
        ChlAuthMatch::RunCheck(partner) => {
            match run_check(qm, beside, profile, partner, &records) {
                Ok(found) => found.show(profile, request, &mut reply),
                Err(refusal) => return refusal,
            }
        }
        how => {
            let pattern = Pattern::new(profile);
            for (object, _) in &records {
                let is = object.attrs.text(MQCACH_CHANNEL_NAME);
                let found = match how {
                    ChlAuthMatch::Generic => pattern.matches(is),
                    ChlAuthMatch::All => pattern.meets(&Pattern::new(is)),
                    _ => is == profile,
                };
                if found {
                    request.add(&mut reply, object);
                }
            }
        }
    }
    if reply.rows.is_empty() && reply.messages.is_empty() {
        return Reply::failed("AMQ8884E", &[], Reason::CCF_CHLAUTH_NOT_FOUND);
    }
    if !qm.chlauth().enabled() {
        reply.add_message("AMQ2445W", &[]);
    }
    reply
}

/// What a partner meets.
struct Found<'a> {
    /// A record that blocks it, warns of it, or gives it a user.
    record: Option<&'a Object>,
    /// As whom it runs; none if it is blocked.
    runs_as: Option<String>,
    /// What demands a password of it, if anything does.
    demands: Option<String>,
}

impl Found<'_> {
    fn show(self, channel: &str, request: &Request<'_>, reply: &mut Reply) {
        if let Some(object) = self.record {
            request.add(reply, object);
        }
        match self.runs_as {
            // As this nobody runs.
            Some(user) if user.eq_ignore_ascii_case(NOBODY) => {
                return reply.add_message("AMQ2451I", &[channel.to_owned()]);
            }
            Some(user) if self.record.is_none() => reply.add_message("AMQ9783I", &[user]),
            _ => {}
        }
        if let Some(by) = self.demands {
            reply.add_message("AMQ2450I", &[by]);
        }
    }
}

/// MCAUSER of a channel that is closed.
const NOBODY: &str = "*NOACCESS";

/// What demands a password of clients that come to run as a user: a record, or the object that CONNAUTH names.
fn demands(
    qm: &QueueManager,
    decision: &Decision<'_>,
    is_administrator: impl Fn(&str) -> bool,
) -> Option<String> {
    let administers = || is_administrator(&decision.user);
    match (decision.check(), decision.mapping) {
        (CheckClient::Required, Some(record)) => return Some(record.key()),
        (CheckClient::RequiredOfAdministrators, Some(record)) if administers() => {
            return Some(record.key());
        }
        _ => {}
    }
    let name = qm.object(ObjectKind::Qmgr, qm.name())?;
    let name = name.attrs.name(MQCA_CONN_AUTH).to_owned();
    let mut kinds = [ObjectKind::AuthIdpwOs, ObjectKind::AuthIdpwLdap].into_iter();
    let object = kinds.find_map(|kind| qm.object(kind, &name))?;
    let demanded = match object.attrs.int(MQIA_CHECK_CLIENT_BINDING) {
        MQCHK_REQUIRED => true,
        MQCHK_REQUIRED_ADMIN => administers(),
        _ => false,
    };
    demanded.then(|| format!("AUTHINFO({name})"))
}

fn run_check<'a>(
    qm: &QueueManager,
    beside: Option<&dyn Components>,
    channel: &str,
    asked: &RunCheck,
    records: &'a [(Object, Option<Record>)],
) -> Result<Found<'a>, Reply> {
    let Ok(address) = asked.address.parse::<IpAddr>() else {
        let error = ChlAuthError::Address(asked.address.clone(), "it is not one".to_owned());
        return Err(change::refused_chlauth(error));
    };
    let name = |text: &Option<String>| {
        let parsed = text.as_deref().map(DistinguishedName::parse).transpose();
        parsed.map_err(|why| {
            let text = text.clone().unwrap_or_default();
            change::refused_chlauth(ChlAuthError::Peer(text, why.to_string()))
        })
    };
    let (peer, issuer) = (name(&asked.peer)?, name(&asked.issuer)?);
    let partner = Partner {
        channel,
        address,
        user: asked.user.as_deref(),
        queue_manager: asked.queue_manager.as_deref(),
        peer: peer.as_ref(),
        issuer: issuer.as_ref(),
    };
    let rules = qm.chlauth_in_force();
    let definition = qm.object(ObjectKind::SvrConn, channel);
    let mca_user =
        definition.map(|definition| definition.attrs.name(MQCACH_MCA_USER_ID).to_owned());
    let mca_user = mca_user.filter(|user| !user.is_empty());
    let otherwise = mca_user.or_else(|| asked.user.clone()).unwrap_or_default();
    let is_administrator = |user: &str| beside.is_some_and(|beside| beside.is_administrator(user));
    let decision = rules.decide(&partner, &otherwise, is_administrator);
    let maps = |record: &&Record| {
        let source = record.map().map(|map| &map.source);
        matches!(source, Some(posthaste_chlauth::UserSource::Map(_)))
    };
    let blocks = decision.blocked.map(|objection| objection.record);
    let warns = decision.warnings.first().map(|objection| objection.record);
    let found = blocks.or(warns).or(decision.mapping.filter(maps));
    let not_understood = matches!(&decision.blocked, Some(one) if one.why == Why::NotUnderstood);
    let object = found.and_then(|found| {
        let key = found.key();
        let is = |(object, record): &&(Object, Option<Record>)| match not_understood {
            true => {
                let profile = Pattern::new(object.attrs.text(MQCACH_CHANNEL_NAME));
                record.is_none() && profile == found.profile
            }
            false => object.name == key,
        };
        records.iter().find(is)
    });
    let is_blocked = decision.blocked.is_some();
    let client = asked.queue_manager.is_none() && !is_blocked;
    Ok(Found {
        record: object.map(|(object, _)| object),
        demands: client
            .then(|| demands(qm, &decision, is_administrator))
            .flatten(),
        runs_as: Some(decision.user).filter(|_| !is_blocked),
    })
}
