//! Channel authentication records: kept as objects are, made into rules.
//!
//! Invariants: a record's name is the key of what it is about ([`Record::key`]), so that what is about the same partners is one
//! record; a record was read before it was stored. One that cannot be read all the same, as another release may have stored it,
//! lets nobody in at its channels, whatever others say: what is not understood is not taken for permission.

use std::sync::Arc;

use posthaste_chlauth::{
    ADMINISTRATORS, AddressPattern, CheckClient, Map, Pattern, PeerPattern, Record, Rule, Rules,
    UserSource, Whom,
};
use posthaste_command::{
    Attrs, ChlAuthAction, Deletion, Object, ObjectKind, SOURCE_CHANNEL, SOURCE_MAP, Value,
    ValueKind, by_selector, is_chlauth,
};
use posthaste_mqi::constants::*;
use posthaste_recovery_log::Lsn;

use super::change::{ChlAuthError, start};
use super::{Catalogue, ChangeError};
use crate::manager::Inner;
use crate::queue_manager::QueueManager;

/// What MCAUSER says of whom nobody may be.
const NOBODY: &str = "*NOACCESS";

/// What a record is about and what it says.
pub(crate) fn read(object: &Object) -> Result<Record, ChlAuthError> {
    let attrs = &object.attrs;
    let rule = match object.kind {
        ObjectKind::ChlBlockUser => Rule::BlockUsers(attrs.texts(MQCACH_MCA_USER_ID_LIST).to_vec()),
        ObjectKind::ChlBlockAddr => {
            let texts = attrs.texts(MQCACH_CONNECTION_NAME_LIST).iter();
            let patterns = texts.map(|text| address(text));
            Rule::BlockAddresses(patterns.collect::<Result<_, _>>()?)
        }
        kind => Rule::Map(Map {
            whom: whom(kind, attrs)?,
            address: match attrs.text(MQCACH_CONNECTION_NAME) {
                "" => None,
                text => Some(address(text)?),
            },
            source: match attrs.int(MQIACH_USER_SOURCE) {
                SOURCE_MAP => UserSource::Map(attrs.text(MQCACH_MCA_USER_ID).to_owned()),
                SOURCE_CHANNEL => UserSource::Channel,
                _ => UserSource::NoAccess,
            },
            check: match attrs.int(MQIA_CHECK_CLIENT_BINDING) {
                MQCHK_REQUIRED => CheckClient::Required,
                MQCHK_REQUIRED_ADMIN => CheckClient::RequiredOfAdministrators,
                _ => CheckClient::AsQueueManager,
            },
        }),
    };
    Ok(Record {
        profile: Pattern::new(attrs.text(MQCACH_CHANNEL_NAME)),
        rule,
        warn: attrs.int(MQIACH_WARNING) != 0,
    })
}

fn whom(kind: ObjectKind, attrs: &Attrs) -> Result<Whom, ChlAuthError> {
    Ok(match kind {
        ObjectKind::ChlUserMap => Whom::User(attrs.text(MQCACH_CLIENT_USER_ID).to_owned()),
        ObjectKind::ChlQmgrMap => {
            Whom::QueueManager(Pattern::new(attrs.text(MQCA_REMOTE_Q_MGR_NAME)))
        }
        ObjectKind::ChlSslPeerMap => {
            let issuer = match attrs.text(MQCA_SSL_CERT_ISSUER_NAME) {
                "" => None,
                text => Some(peer(text)?),
            };
            Whom::Peer(peer(attrs.text(MQCACH_SSL_PEER_NAME))?, issuer)
        }
        _ => Whom::Anybody,
    })
}

fn address(text: &str) -> Result<AddressPattern, ChlAuthError> {
    let wrong = |error| ChlAuthError::Address(text.to_owned(), format!("{error}"));
    AddressPattern::parse(text).map_err(wrong)
}

fn peer(text: &str) -> Result<PeerPattern, ChlAuthError> {
    let wrong = |error| ChlAuthError::Peer(text.to_owned(), format!("{error}"));
    PeerPattern::parse(text).map_err(wrong)
}

/// What objects come to.
fn rules(enabled: bool, objects: &[Object]) -> Rules {
    let read = objects.iter().map(read);
    let mut rules = Rules::new(enabled, read.filter_map(Result::ok));
    for object in objects.iter().filter(|object| self::read(object).is_err()) {
        rules.close(Pattern::new(object.attrs.text(MQCACH_CHANNEL_NAME)));
    }
    rules
}

/// What was given, as it is kept: no asterisk behind another, and what stands for administrators as it is understood.
///
/// # Errors
/// It names users who are nobody, to whom nothing is to be set.
fn canonical(kind: ObjectKind, action: ChlAuthAction, given: &Attrs) -> Result<Attrs, ChangeError> {
    let mut attrs = given.clone();
    let profile = Pattern::new(given.text(MQCACH_CHANNEL_NAME));
    attrs.set_text(MQCACH_CHANNEL_NAME, profile.text());
    if kind == ObjectKind::ChlBlockUser && given.get(MQCACH_MCA_USER_ID_LIST).is_some() {
        let kept = |user: &String| match user.eq_ignore_ascii_case(ADMINISTRATORS) {
            true => ADMINISTRATORS.to_owned(),
            false => user.clone(),
        };
        let users = given.texts(MQCACH_MCA_USER_ID_LIST).iter().map(kept);
        attrs.set(MQCACH_MCA_USER_ID_LIST, Value::Texts(users.collect()));
    }
    // What an earlier release has taken can be removed.
    let sets = matches!(action, ChlAuthAction::Add | ChlAuthAction::Replace);
    match check_users(kind, &attrs).filter(|_| sets) {
        Some(error) => Err(ChangeError::ChlAuth(error)),
        None => Ok(attrs),
    }
}

/// What is wrong about users that are named: an asterisk makes no name generic, and who is nobody would be blocked in vain.
fn check_users(kind: ObjectKind, attrs: &Attrs) -> Option<ChlAuthError> {
    let wrong = |keyword, name: &str| ChlAuthError::User(keyword, name.to_owned());
    if kind == ObjectKind::ChlBlockUser {
        let mut users = attrs.texts(MQCACH_MCA_USER_ID_LIST).iter();
        let nobody = users.find(|user| user.contains('*') && *user != ADMINISTRATORS);
        return nobody.map(|user| wrong("USERLIST", user));
    }
    let user = attrs.text(MQCACH_MCA_USER_ID);
    let nobody = user.contains('*') && !user.eq_ignore_ascii_case(NOBODY);
    nobody.then(|| wrong("MCAUSER", user))
}

/// The attribute that is the list of a kind of record, if its records are lists.
fn list(kind: ObjectKind) -> Option<i32> {
    match kind {
        ObjectKind::ChlBlockUser => Some(MQCACH_MCA_USER_ID_LIST),
        ObjectKind::ChlBlockAddr => Some(MQCACH_CONNECTION_NAME_LIST),
        _ => None,
    }
}

/// What becomes of a list.
fn changed_list(
    kind: ObjectKind,
    selector: i32,
    action: ChlAuthAction,
    before: &[String],
    given: &[String],
) -> Result<Vec<String>, ChangeError> {
    let mut after = match action {
        ChlAuthAction::Replace => Vec::new(),
        _ => before.to_vec(),
    };
    if action == ChlAuthAction::Remove {
        if given.iter().any(|item| !before.contains(item)) {
            return Err(ChangeError::NotFound);
        }
        after.retain(|item| !given.contains(item));
        return Ok(after);
    }
    for item in given {
        if !after.contains(item) {
            after.push(item.clone());
        }
    }
    match by_selector(kind, selector).map(|row| row.kind) {
        Some(ValueKind::Names { most, .. }) if after.len() > most => {
            Err(ChangeError::ChlAuth(ChlAuthError::TooMany(most)))
        }
        _ => Ok(after),
    }
}

/// The default records of a queue manager (manual: "Channel authentication records"): no administrator comes in by a channel, nobody by
/// a system channel, but for the one of administrators' tools.
pub(super) fn default_records() -> [Object; 3] {
    let record = |kind: ObjectKind, profile: &str, change: &dyn Fn(&mut Attrs)| {
        let mut object = Object::new(kind, "");
        object.attrs.set_text(MQCACH_CHANNEL_NAME, profile);
        change(&mut object.attrs);
        object.name = read(&object).map(|record| record.key()).unwrap_or_default();
        object
    };
    let from_anywhere = |source: i32| {
        move |attrs: &mut Attrs| {
            attrs.set_text(MQCACH_CONNECTION_NAME, "*");
            attrs.set_int(MQIACH_USER_SOURCE, source);
        }
    };
    let users = |attrs: &mut Attrs| {
        let users = vec![ADMINISTRATORS.to_owned()];
        attrs.set(MQCACH_MCA_USER_ID_LIST, Value::Texts(users));
        attrs.set_text(MQCA_CHLAUTH_DESC, "Default rule: no administrators");
    };
    let (system, admin) = ("SYSTEM.*", "SYSTEM.ADMIN.SVRCONN");
    let no_access = from_anywhere(posthaste_command::SOURCE_NO_ACCESS);
    [
        record(ObjectKind::ChlBlockUser, "*", &users),
        record(ObjectKind::ChlAddressMap, system, &no_access),
        record(
            ObjectKind::ChlAddressMap,
            admin,
            &from_anywhere(SOURCE_CHANNEL),
        ),
    ]
}

impl Catalogue {
    /// Every channel authentication record, by its name.
    pub(crate) fn chlauth_records(&self) -> Vec<Object> {
        let kinds = ObjectKind::CHLAUTH.into_iter();
        kinds.flat_map(|kind| self.objects(kind)).collect()
    }

    /// What the records come to, made when it is first asked for after a change.
    pub(crate) fn chlauth(&self) -> Arc<Rules> {
        if let Some(rules) = &*self.chlauth.read() {
            return rules.clone();
        }
        // Whoever changes a record says so when it has changed: what is read here is the newest, or is thrown away again.
        let mut rules = self.chlauth.write();
        let enabled = self.qmgr().chlauth;
        let records = self.chlauth_records();
        let made = Arc::new(self::rules(enabled, &records));
        rules.insert(made).clone()
    }

    /// Forgets what the records came to, after a change of one, or of CHLAUTH.
    pub(super) fn chlauth_changed(&self, kind: ObjectKind) {
        if is_chlauth(kind) || kind == ObjectKind::Qmgr {
            *self.chlauth.write() = None;
        }
    }

    /// Carries out SET CHLAUTH.
    fn set_chlauth(
        &self,
        qm: &Arc<Inner>,
        kind: ObjectKind,
        action: ChlAuthAction,
        given: &Attrs,
    ) -> Result<Option<Lsn>, ChangeError> {
        let _order = self.order.lock();
        let given = &canonical(kind, action, given)?;
        if action == ChlAuthAction::RemoveAll {
            let profile = given.text(MQCACH_CHANNEL_NAME);
            let mut end = None;
            for object in self.objects(kind) {
                if object.attrs.text(MQCACH_CHANNEL_NAME) == profile {
                    end = self.remove_record(qm, &object)?.or(end);
                }
            }
            return Ok(end);
        }
        let mut object = Object::new(kind, "");
        object.attrs.merge(given);
        let record = read(&object).map_err(ChangeError::ChlAuth)?;
        object.name = record.key();
        let known = self.object(kind, &object.name);
        if let Some(selector) = list(kind) {
            if action == ChlAuthAction::Add
                && let Some(known) = &known
            {
                object.attrs = known.attrs.clone();
                object.attrs.merge(given);
            }
            if action == ChlAuthAction::Remove {
                let Some(known) = &known else {
                    return Err(ChangeError::NotFound);
                };
                object.attrs = known.attrs.clone();
            }
            let before = known
                .as_ref()
                .map_or(&[][..], |known| known.attrs.texts(selector));
            let after = changed_list(kind, selector, action, before, given.texts(selector))?;
            if after.is_empty() {
                return match &known {
                    Some(known) => self.remove_record(qm, known),
                    None => Ok(None),
                };
            }
            object.attrs.set(selector, Value::Texts(after));
        } else {
            match (action, &known) {
                (ChlAuthAction::Remove, Some(known)) => return self.remove_record(qm, known),
                (ChlAuthAction::Remove, None) => return Err(ChangeError::NotFound),
                (ChlAuthAction::Add, Some(_)) => {
                    return Err(ChangeError::ChlAuth(ChlAuthError::Exists(object.name)));
                }
                _ => {}
            }
            let others = self.objects(kind).into_iter();
            let mut others = others.filter(|other| other.name != object.name);
            let overlaps = |other: &Object| read(other).is_ok_and(|other| record.conflicts(&other));
            if let Some(other) = others.find(overlaps) {
                return Err(ChangeError::ChlAuth(ChlAuthError::Overlap(other.name)));
            }
        }
        let logged = self.log_object(qm, &mut object, 0)?;
        self.applied(object, 0, start(logged));
        Ok(logged.map(|logged| logged.end))
    }

    /// Adds a record that is not there.
    pub(super) fn add_record(
        &self,
        qm: &Arc<Inner>,
        mut object: Object,
    ) -> Result<Option<Lsn>, ChangeError> {
        let _order = self.order.lock();
        let logged = self.log_object(qm, &mut object, 0)?;
        self.applied(object, 0, start(logged));
        Ok(logged.map(|logged| logged.end))
    }

    /// Deletes a record; the caller holds `order`.
    fn remove_record(&self, qm: &Arc<Inner>, object: &Object) -> Result<Option<Lsn>, ChangeError> {
        match self.find(object.kind, &object.name) {
            Some(known) => self.delete_known(qm, &known, Deletion::default(), false),
            None => Ok(None),
        }
    }
}

impl QueueManager {
    /// What the channel authentication records come to.
    pub fn chlauth(&self) -> Arc<Rules> {
        self.inner().catalogue.chlauth()
    }

    /// What the records would come to if they were in force.
    pub fn chlauth_in_force(&self) -> Rules {
        rules(true, &self.inner().catalogue.chlauth_records())
    }

    /// The default records that somebody has removed.
    pub fn removed_chlauth_defaults(&self) -> Vec<Object> {
        let catalogue = &self.inner().catalogue;
        let defaults = default_records().into_iter();
        let is_gone = |one: &Object| catalogue.object(one.kind, &one.name).is_none();
        defaults.filter(is_gone).collect()
    }

    /// Every channel authentication record with what it is read as; that is none for one of another release that cannot be read.
    pub fn chlauth_records(&self) -> Vec<(Object, Option<Record>)> {
        let records = self.inner().catalogue.chlauth_records().into_iter();
        records
            .map(|object| (object.clone(), read(&object).ok()))
            .collect()
    }

    /// Sets, changes or removes channel authentication records of one type and profile; durable when it returns.
    ///
    /// # Errors
    /// Why nothing was changed.
    pub async fn set_chlauth(
        &self,
        kind: ObjectKind,
        action: ChlAuthAction,
        given: &Attrs,
    ) -> Result<(), ChangeError> {
        let inner = self.inner();
        let set = || inner.catalogue.set_chlauth(inner, kind, action, given);
        let end = inner.with_log_room(set).await?;
        inner.settled(end).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_chlauth::{Partner, Why};

    /// An address that only another release understands; what it says of administrators' tools does not open it.
    #[test]
    fn a_record_that_cannot_be_read_closes_its_channels() {
        let mut records = default_records().to_vec();
        let mut strange = records.remove(1);
        strange
            .attrs
            .set_text(MQCACH_CONNECTION_NAME, "[a later pattern]");
        read(&strange).unwrap_err();
        records.push(strange);
        let rules = rules(true, &records);
        let partner = |channel| Partner {
            channel,
            address: std::net::IpAddr::from([192, 0, 2, 1]),
            user: Some("alice"),
            queue_manager: None,
            peer: None,
            issuer: None,
        };
        let decision = rules.decide(&partner("SYSTEM.ADMIN.SVRCONN"), "alice", |_| false);
        assert_eq!(decision.blocked.unwrap().why, Why::NotUnderstood);
        let decision = rules.decide(&partner("A"), "alice", |_| false);
        assert_eq!(decision.blocked, None);
    }
}
