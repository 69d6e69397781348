//! A subscription as an object, and back.
//!
//! Invariants:
//! * The attributes of a durable subscription say all that a restart needs, so that what is read back is the same. Its
//!   topic object has no part in that: what it gave was given when the subscription was made.
//! * Those that no command shows have numbers below [`PRIVATE`], which no selector of MQ has. They keep their meaning for
//!   ever.

use std::sync::Arc;

use posthaste_command::{Attrs, Object, ObjectKind, Value};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Name, Reason};
use posthaste_selector::Selector;
use posthaste_topic::{Filter, Scheme};

use super::subscription::{
    Destination, Maker, PublicationCount, PublishProperties, SubId, Subscription,
};

/// Selectors of attributes that no command shows lie below this.
const PRIVATE: i32 = -1000;
/// When it ends, microseconds since 1970.
const EXPIRES: i32 = PRIVATE - 1;
/// 1: several connections may use it at a time.
const SHARED: i32 = PRIVATE - 2;
/// When it was made, and altered, microseconds since 1970.
const CREATED: i32 = PRIVATE - 3;
const ALTERED: i32 = PRIVATE - 4;
/// The whole topic string; TOPICSTR is only what follows that of TOPICOBJ.
const TOPIC: i32 = PRIVATE - 5;
/// 1: it is of a group. Absent where it is of none.
const GROUPED: i32 = PRIVATE - 8;
/// Texts whose trailing blanks count, which attributes that are text do not keep.
const USER_DATA: i32 = PRIVATE - 6;
const SELECTION: i32 = PRIVATE - 7;

/// Sets a text and, where it ends with blanks, also the bytes of it.
fn set_exact(attrs: &mut Attrs, shown: i32, exact: i32, text: &str) {
    attrs.set_text(shown, text);
    let kept = match text.ends_with(' ') {
        true => Value::Bytes(text.as_bytes().to_vec()),
        false => Value::Blank,
    };
    attrs.set(exact, kept);
}

/// The text that [`set_exact`] has set, or another one that has been given since.
fn exact(attrs: &Attrs, shown: i32, exact: i32) -> String {
    let text = attrs.text(shown);
    let kept = match attrs.get(exact) {
        Some(Value::Bytes(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    };
    let same = kept.filter(|kept| kept.trim_end_matches(' ') == text);
    same.unwrap_or(text).to_owned()
}

/// Bytes of a fixed width; shorter ones are filled with zeros.
fn fixed<const N: usize>(attrs: &Attrs, selector: i32) -> [u8; N] {
    let mut fixed = [0; N];
    if let Some(Value::Bytes(bytes)) = attrs.get(selector) {
        let length = bytes.len().min(N);
        fixed[..length].copy_from_slice(&bytes[..length]);
    }
    fixed
}

/// The selection string of a subscription, compiled; `None`: it selects everything, as none does.
///
/// # Errors
/// 2459 it is malformed, 2504 it can never be true, 2519 it is too long.
pub(crate) fn compile(selection: &str) -> Result<Option<Arc<Selector>>, Reason> {
    if selection.is_empty() {
        return Ok(None);
    }
    if selection.len() > MQ_SELECTOR_LENGTH as usize {
        return Err(Reason::SELECTION_STRING_ERROR);
    }
    let selector = Selector::new(selection).map_err(|_| Reason::SELECTOR_SYNTAX_ERROR)?;
    match selector.constant() {
        Some(true) => Ok(None),
        Some(false) => Err(Reason::SELECTOR_ALWAYS_FALSE),
        None => Ok(Some(Arc::new(selector))),
    }
}

/// What the queue manager adds to the attributes of a subscription that is defined or altered: `before` are those it
/// had. An expiry that is given begins now. The whole topic string stays what it was, whatever became of its topic object.
pub(crate) fn complete(attrs: &mut Attrs, before: Option<&Attrs>, new_id: SubId, now: i64) {
    let kept = before.and_then(|before| before.get(MQBACF_SUB_ID));
    let id = kept.cloned().unwrap_or(Value::Bytes(new_id.to_vec()));
    attrs.set(MQBACF_SUB_ID, id);
    if attrs
        .get(MQBACF_DESTINATION_CORREL_ID)
        .is_none_or(Value::is_blank)
    {
        attrs.set(MQBACF_DESTINATION_CORREL_ID, Value::Bytes(new_id.to_vec()));
    }
    let expiry = attrs.int(MQIACF_EXPIRY);
    let same = before.is_some_and(|before| before.int(MQIACF_EXPIRY) == expiry);
    if !same {
        attrs.remove(EXPIRES);
        if let Some(expires) = super::subscription::expires(expiry, now) {
            attrs.set_int(EXPIRES, expires);
        }
    }
    if let Some(topic) = before.and_then(|before| before.get(TOPIC)) {
        attrs.set(TOPIC, topic.clone());
    }
    let created = before.and_then(|before| before.get(CREATED));
    attrs.set(CREATED, created.cloned().unwrap_or(Value::Int(now)));
    attrs.set_int(ALTERED, now);
    let selection = match attrs.text(MQCACF_SUB_SELECTOR) {
        "" => MQSELTYPE_NONE,
        _ => MQSELTYPE_STANDARD,
    };
    attrs.set_int(MQIACF_SELECTOR_TYPE, selection);
}

/// The identifier that a definition says.
pub(crate) fn id_of(attrs: &Attrs) -> Option<SubId> {
    match attrs.get(MQBACF_SUB_ID) {
        Some(Value::Bytes(id)) => SubId::try_from(id.as_slice()).ok(),
        _ => None,
    }
}

/// Whether a definition says the whole topic string itself: its topic object is asked no more.
pub(crate) fn has_whole_topic(attrs: &Attrs) -> bool {
    matches!(attrs.get(TOPIC), Some(Value::Bytes(_)))
}

/// The whole topic string that a definition says. `of_object`: that of its topic object, where that is asked.
pub(crate) fn whole_topic(attrs: &Attrs, of_object: &str) -> String {
    match attrs.get(TOPIC) {
        Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        _ => posthaste_topic::join(of_object, attrs.text(MQCA_TOPIC_STRING)),
    }
}

/// What of that stands before the first wildcard: by it whoever subscribes is checked.
pub(crate) fn branch(attrs: &Attrs, of_object: &str) -> String {
    let whole = whole_topic(attrs, of_object);
    match Filter::new(&whole, scheme(attrs)) {
        Ok(filter) => filter.branch().to_owned(),
        // Nobody can subscribe to it.
        Err(_) => String::new(),
    }
}

/// How a definition means wildcards.
fn scheme(attrs: &Attrs) -> Scheme {
    match attrs.int(MQIACF_WILDCARD_SCHEMA) {
        MQWS_CHAR => Scheme::Character,
        _ => Scheme::Topic,
    }
}

/// Says the whole topic string in a definition.
pub(crate) fn set_whole_topic(attrs: &mut Attrs, topic: &str) {
    attrs.set(TOPIC, Value::Bytes(topic.as_bytes().to_vec()));
}

impl Subscription {
    /// Its definition.
    pub(crate) fn object(&self) -> Object {
        let mut attrs = Attrs::defaults(ObjectKind::Sub);
        let either = |yes: bool, then: i32, otherwise: i32| if yes { then } else { otherwise };
        attrs.set(MQBACF_SUB_ID, Value::Bytes(self.id.to_vec()));
        attrs.set_text(MQCA_TOPIC_STRING, self.topic());
        set_whole_topic(&mut attrs, self.topic());
        attrs.set_text(MQCA_TOPIC_NAME, &*self.topic_object);
        let scheme = match self.filter.scheme() {
            Scheme::Topic => MQWS_TOPIC,
            Scheme::Character => MQWS_CHAR,
        };
        attrs.set_int(MQIACF_WILDCARD_SCHEMA, scheme);
        set_exact(&mut attrs, MQCACF_SUB_SELECTOR, SELECTION, &self.selection);
        let class = either(self.managed, MQDC_MANAGED, MQDC_PROVIDED);
        attrs.set_int(MQIACF_DESTINATION_CLASS, class);
        attrs.set_text(MQCACF_DESTINATION, self.destination.queue.text());
        let manager = self.destination.queue_manager.text();
        attrs.set_text(MQCACF_DESTINATION_Q_MGR, manager);
        let correl_id = Value::Bytes(self.correl_id.to_vec());
        attrs.set(MQBACF_DESTINATION_CORREL_ID, correl_id);
        attrs.set_int(MQIACF_EXPIRY, self.expiry);
        let properties = match self.properties {
            PublishProperties::None => MQPSPROP_NONE,
            PublishProperties::MessageProperties => MQPSPROP_MSGPROP,
            PublishProperties::Rfh2 => MQPSPROP_RFH2,
            PublishProperties::Compatibility => MQPSPROP_COMPAT,
        };
        attrs.set_int(MQIACF_PUBSUB_PROPERTIES, properties);
        if self.accounting_token != MQACT_NONE {
            let token = Value::Bytes(self.accounting_token.to_vec());
            attrs.set(MQBACF_ACCOUNTING_TOKEN, token);
        }
        attrs.set_text(MQCACF_APPL_IDENTITY_DATA, &*self.application_identity);
        attrs.set_int(MQIACF_PUB_PRIORITY, self.priority);
        let request = either(self.on_request, MQRU_PUBLISH_ON_REQUEST, MQRU_PUBLISH_ALL);
        attrs.set_int(MQIACF_REQUEST_ONLY, request);
        attrs.set_int(MQIACF_SUB_LEVEL, self.level);
        let scope = either(self.local_scope, MQTSCOPE_QMGR, MQTSCOPE_ALL);
        attrs.set_int(MQIACF_SUBSCRIPTION_SCOPE, scope);
        attrs.set_text(MQCACF_SUB_USER_ID, &*self.user);
        set_exact(&mut attrs, MQCACF_SUB_USER_DATA, USER_DATA, &self.user_data);
        let users = either(self.any_user, MQVU_ANY_USER, MQVU_FIXED_USER);
        attrs.set_int(MQIACF_VARIABLE_USER_ID, users);
        let maker = match self.maker {
            Maker::Api => MQSUBTYPE_API,
            Maker::Administrator => MQSUBTYPE_ADMIN,
        };
        attrs.set_int(MQIACF_SUB_TYPE, maker);
        let durable = either(self.durable, MQSUB_DURABLE_YES, MQSUB_DURABLE_NO);
        attrs.set_int(MQIACF_DURABLE_SUBSCRIPTION, durable);
        let selection = either(
            self.selection.is_empty(),
            MQSELTYPE_NONE,
            MQSELTYPE_STANDARD,
        );
        attrs.set_int(MQIACF_SELECTOR_TYPE, selection);
        if let Some(expires) = self.expires {
            attrs.set_int(EXPIRES, expires);
        }
        self.set_company(&mut attrs);
        attrs.set_int(CREATED, self.created);
        attrs.set_int(ALTERED, self.altered);
        Object {
            kind: ObjectKind::Sub,
            name: self.name.clone(),
            attrs,
        }
    }

    /// Says who may use it beside whom, and with whom it is of a group.
    fn set_company(&self, attrs: &mut Attrs) {
        attrs.set_int(SHARED, i32::from(self.shared));
        if self.grouped {
            attrs.set_int(GROUPED, 1);
        }
    }

    /// The subscription that an object defines. `topic_string`: the topic string of its topic object, where that counts.
    ///
    /// # Errors
    /// 2425 its topic string, 2459, 2504, 2519 its selection string.
    pub(crate) fn of(
        object: &Object,
        queue_manager: &str,
        topic_string: &str,
    ) -> Result<Subscription, Reason> {
        let attrs = &object.attrs;
        let whole = whole_topic(attrs, topic_string);
        let filter = Filter::new(&whole, scheme(attrs)).map_err(|_| Reason::TOPIC_STRING_ERROR)?;
        let selection = exact(attrs, MQCACF_SUB_SELECTOR, SELECTION);
        let manager = match attrs.text(MQCACF_DESTINATION_Q_MGR) {
            "" => queue_manager,
            named => named,
        };
        let queue = Name::new(attrs.text(MQCACF_DESTINATION));
        Ok(Subscription {
            id: fixed(attrs, MQBACF_SUB_ID),
            name: object.name.clone(),
            topic_object: attrs.text(MQCA_TOPIC_NAME).to_owned(),
            filter,
            destination: Destination::new(queue, Name::new(manager), None),
            managed: attrs.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED,
            durable: attrs.int(MQIACF_DURABLE_SUBSCRIPTION) != MQSUB_DURABLE_NO,
            shared: attrs.int(SHARED) == 1,
            grouped: attrs.int(GROUPED) == 1,
            maker: match attrs.int(MQIACF_SUB_TYPE) {
                MQSUBTYPE_API => Maker::Api,
                _ => Maker::Administrator,
            },
            correl_id: fixed(attrs, MQBACF_DESTINATION_CORREL_ID),
            user_data: exact(attrs, MQCACF_SUB_USER_DATA, USER_DATA),
            selector: compile(&selection)?,
            selection,
            level: attrs.int(MQIACF_SUB_LEVEL),
            priority: attrs.int(MQIACF_PUB_PRIORITY),
            accounting_token: fixed(attrs, MQBACF_ACCOUNTING_TOKEN),
            application_identity: attrs.text(MQCACF_APPL_IDENTITY_DATA).to_owned(),
            user: attrs.text(MQCACF_SUB_USER_ID).to_owned(),
            any_user: attrs.int(MQIACF_VARIABLE_USER_ID) == MQVU_ANY_USER,
            properties: match attrs.int(MQIACF_PUBSUB_PROPERTIES) {
                MQPSPROP_NONE => PublishProperties::None,
                MQPSPROP_COMPAT => PublishProperties::Compatibility,
                MQPSPROP_RFH2 => PublishProperties::Rfh2,
                _ => PublishProperties::MessageProperties,
            },
            on_request: attrs.int(MQIACF_REQUEST_ONLY) == MQRU_PUBLISH_ON_REQUEST,
            local_scope: attrs.int(MQIACF_SUBSCRIPTION_SCOPE) == MQTSCOPE_QMGR,
            expiry: attrs.int(MQIACF_EXPIRY),
            expires: attrs.get(EXPIRES).map(|_| attrs.long(EXPIRES)),
            created: attrs.long(CREATED),
            altered: attrs.long(ALTERED),
            deliveries: Arc::new(PublicationCount::default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::tests::subscription;

    fn there_and_back(subscription: &Subscription) -> Subscription {
        let mut bytes = Vec::new();
        subscription.object().attrs.encode(&mut bytes);
        let (attrs, _) = Attrs::decode(&bytes).unwrap();
        let object = Object {
            kind: ObjectKind::Sub,
            name: subscription.name.clone(),
            attrs,
        };
        Subscription::of(&object, "QM1", "").unwrap()
    }

    /// There were no limits when it was made.
    #[test]
    fn a_subscription_beyond_the_limits_is_there_again() {
        let many = format!("{}a", "#/x/".repeat(300));
        let stored = (*subscription(1, "S", &many)).clone();
        assert!(stored.filter.check_limits().is_err());
        assert_eq!(there_and_back(&stored).filter, stored.filter);
    }

    #[test]
    fn what_is_read_back_is_the_same() {
        let plain = (*subscription(1, "S", "a/#")).clone();
        let full = Subscription {
            topic_object: "T".to_owned(),
            filter: Filter::new("a /*b ", Scheme::Character).unwrap(),
            destination: Destination::new(Name::new("Q2"), Name::new("QM2"), None),
            managed: true,
            durable: true,
            shared: true,
            grouped: true,
            maker: Maker::Administrator,
            correl_id: [0; 24],
            user_data: "data  ".to_owned(),
            selection: "a = ' ' ".to_owned(),
            selector: compile("a = ' ' ").unwrap(),
            level: 9,
            priority: 4,
            accounting_token: [7; 32],
            application_identity: "identity".to_owned(),
            user: "user".to_owned(),
            any_user: true,
            properties: PublishProperties::Rfh2,
            on_request: true,
            local_scope: true,
            expiry: 10,
            expires: Some(1 << 50),
            created: 1 << 49,
            altered: (1 << 49) + 1,
            ..plain.clone()
        };
        for before in [plain, full] {
            let after = there_and_back(&before);
            assert_eq!(after.object(), before.object());
            assert_eq!(after.topic(), before.topic());
            assert_eq!(after.group(), before.group());
            assert_eq!(after.user_data, before.user_data);
            assert_eq!(after.selection, before.selection);
            assert_eq!(after.selector.is_some(), before.selector.is_some());
        }
    }

    #[test]
    fn an_expiry_that_is_given_begins_when_it_is_given() {
        let mut attrs = Attrs::defaults(ObjectKind::Sub);
        complete(&mut attrs, None, [7; 24], 1_000);
        assert_eq!(attrs.get(EXPIRES), None);
        let first = attrs.clone();
        attrs.set_int(MQIACF_EXPIRY, 10);
        complete(&mut attrs, Some(&first), [8; 24], 2_000);
        assert_eq!(attrs.long(EXPIRES), 1_002_000);
        assert_eq!(fixed::<24>(&attrs, MQBACF_SUB_ID), [7; 24]);
        assert_eq!(fixed::<24>(&attrs, MQBACF_DESTINATION_CORREL_ID), [7; 24]);
        let second = attrs.clone();
        attrs.set_text(MQCACF_SUB_USER_DATA, "other");
        complete(&mut attrs, Some(&second), [8; 24], 9_000);
        assert_eq!(attrs.long(EXPIRES), 1_002_000);
        assert_eq!((attrs.long(CREATED), attrs.long(ALTERED)), (1_000, 9_000));
    }
}
