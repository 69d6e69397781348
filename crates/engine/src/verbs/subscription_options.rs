//! What MQSUB is asked for: which options and fields of a descriptor go together, and what comes back in it.
//!
//! Source: MQI reference, "Options (MQLONG) for MQSD", "Rules for validating MQI options", and the fields of MQSD.

use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Reason, Sd};
use posthaste_topic::Scheme;

use crate::topics::Beside;
use crate::topics::subscription::Subscription;

/// What a client says of a subscription that its descriptor cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// Several connections may use the subscription at a time (shared subscriptions of JMS).
    pub shared: bool,
    /// It uses the subscription that has this identifier, beside others that use it: a session of a connection consumer
    /// gets what that was shown.
    pub joins: Option<[u8; 24]>,
    /// Open options (MQOO_) for the handle of the messages; 0: as MQSUB opens it.
    pub open_options: i32,
}

/// The same, checked.
#[derive(Clone, Copy, Default)]
pub(super) struct Given {
    pub(super) shared: bool,
    pub(super) joins: Option<[u8; 24]>,
    /// It is not by MQSUB itself.
    pub(super) is_spi: bool,
    open_options: Option<i32>,
}

const INPUT: i32 = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
/// What the handle of a subscription's messages may be opened for.
const OPENED_FOR: i32 = INPUT
    | MQOO_BROWSE
    | MQOO_CO_OP
    | MQOO_INQUIRE
    | MQOO_SAVE_ALL_CONTEXT
    | MQOO_FAIL_IF_QUIESCING
    | MQOO_NO_READ_AHEAD
    | MQOO_READ_AHEAD;

impl Given {
    /// # Errors
    /// 2046 the handle cannot be opened so.
    pub(super) fn of(with: SubscribeOptions) -> Result<Self, Reason> {
        let options = with.open_options;
        let reads = options & (INPUT | MQOO_BROWSE) != 0;
        let inputs = (options & INPUT).count_ones();
        let shares = options & (MQOO_BROWSE | MQOO_CO_OP) == MQOO_CO_OP;
        if shares || options & !OPENED_FOR != 0 || (options != 0 && !reads) || inputs > 1 {
            return Err(Reason::OPTIONS_ERROR);
        }
        Ok(Given {
            shared: with.shared,
            joins: with.joins,
            is_spi: true,
            open_options: (options != 0).then_some(options),
        })
    }

    /// What a subscription may be used beside. One of JMS has one consumer, and is ended when it has none.
    pub(super) fn beside(&self) -> Beside {
        match (self.joins, self.shared) {
            (Some(_), _) => Beside::Anybody,
            (None, true) => Beside::Sharers,
            (None, false) if self.is_spi => Beside::Nobody,
            (None, false) => Beside::Itself,
        }
    }
}

/// Options that are served.
const KNOWN: i32 = MQSO_ALTER
    | MQSO_CREATE
    | MQSO_RESUME
    | MQSO_DURABLE
    | MQSO_MANAGED
    | MQSO_SET_IDENTITY_CONTEXT
    | MQSO_NO_MULTICAST
    | MQSO_FIXED_USERID
    | MQSO_ANY_USERID
    | MQSO_PUBLICATIONS_ON_REQUEST
    | MQSO_NEW_PUBLICATIONS_ONLY
    | MQSO_FAIL_IF_QUIESCING
    | MQSO_ALTERNATE_USER_AUTHORITY
    | MQSO_WILDCARD_CHAR
    | MQSO_WILDCARD_TOPIC
    | MQSO_SET_CORREL_ID
    | MQSO_GROUP_SUB
    | MQSO_SCOPE_QMGR
    | MQSO_NO_READ_AHEAD
    | MQSO_READ_AHEAD;

/// Options of which at most one may be given.
const EITHER: [i32; 4] = [
    MQSO_ANY_USERID | MQSO_FIXED_USERID,
    MQSO_NEW_PUBLICATIONS_ONLY | MQSO_PUBLICATIONS_ON_REQUEST,
    MQSO_WILDCARD_CHAR | MQSO_WILDCARD_TOPIC,
    MQSO_READ_AHEAD | MQSO_NO_READ_AHEAD,
];

fn check_options(options: i32) -> Result<(), Reason> {
    let is = |option: i32| options & option != 0;
    let contradicts = |group: &i32| (options & group).count_ones() > 1;
    if options & !KNOWN != 0
        || !is(MQSO_CREATE | MQSO_ALTER | MQSO_RESUME)
        || EITHER.iter().any(contradicts)
        || is(MQSO_NEW_PUBLICATIONS_ONLY) && !is(MQSO_CREATE)
        || is(MQSO_NO_MULTICAST) && !is(MQSO_MANAGED)
        || is(MQSO_GROUP_SUB) && (is(MQSO_MANAGED) || !is(MQSO_SET_CORREL_ID))
    {
        return Err(Reason::OPTIONS_ERROR);
    }
    Ok(())
}

/// Whether a descriptor can be served.
///
/// # Errors
/// 2046 its options, 2562 grouping, 2440 name, 2431 user data, 2013 expiry, 2050 priority, 2424 level.
pub(super) fn check(sd: &Sd, given: Given) -> Result<(), Reason> {
    check_options(sd.options)?;
    let name = sd.sub_name.trim_end_matches(' ');
    let named = sd.options & (MQSO_DURABLE | MQSO_RESUME | MQSO_ALTER) != 0 || given.shared;
    let by_id = given.joins.is_some();
    if by_id && sd.options & (MQSO_CREATE | MQSO_ALTER) != 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if name.len() > MQ_SUB_NAME_LENGTH as usize || (named && name.is_empty() && !by_id) {
        return Err(Reason::SUB_NAME_ERROR);
    }
    if sd.options & MQSO_GROUP_SUB != 0 {
        if given.shared {
            return Err(Reason::GROUPING_NOT_ALLOWED);
        }
        if sd.sub_correl_id == MQCI_NONE {
            return Err(Reason::OPTIONS_ERROR);
        }
    }
    // A resume looks at nothing else.
    if sd.options & (MQSO_CREATE | MQSO_ALTER) == 0 {
        return Ok(());
    }
    if sd.sub_user_data.len() > MQ_USER_DATA_LENGTH as usize {
        return Err(Reason::SUB_USER_DATA_ERROR);
    }
    if sd.sub_expiry <= 0 && sd.sub_expiry != MQEI_UNLIMITED {
        return Err(Reason::EXPIRY_ERROR);
    }
    let special = [MQPRI_PRIORITY_AS_PUBLISHED, MQPRI_PRIORITY_AS_Q_DEF];
    if !(0..=9).contains(&sd.pub_priority) && !special.contains(&sd.pub_priority) {
        return Err(Reason::PRIORITY_ERROR);
    }
    match (0..=9).contains(&sd.sub_level) {
        true => Ok(()),
        false => Err(Reason::SD_ERROR),
    }
}

/// Accounting token and application identity data of a subscription's messages: those of the descriptor where it is to
/// set them, else the default ones.
pub(super) fn identity(sd: &Sd) -> ([u8; 32], String) {
    match sd.options & MQSO_SET_IDENTITY_CONTEXT != 0 {
        true => {
            let identity = sd.pub_appl_identity_data.text().into_owned();
            (sd.pub_accounting_token, identity)
        }
        false => (MQACT_NONE, String::new()),
    }
}

/// How the handle of the messages is opened.
pub(super) fn open_options(sd: &Sd, given: Given) -> i32 {
    let as_mqsub = MQOO_INPUT_AS_Q_DEF | MQOO_BROWSE | MQOO_INQUIRE | MQOO_FAIL_IF_QUIESCING;
    let mut options = given.open_options.unwrap_or(as_mqsub);
    for (asked, opened) in [
        (MQSO_READ_AHEAD, MQOO_READ_AHEAD),
        (MQSO_NO_READ_AHEAD, MQOO_NO_READ_AHEAD),
    ] {
        if sd.options & asked != 0 {
            options &= !(MQOO_READ_AHEAD | MQOO_NO_READ_AHEAD);
            options |= opened;
        }
    }
    options
}

/// As much of a text as there is room for.
fn fitting(text: &str, size: i32) -> String {
    let size = usize::try_from(size).unwrap_or(0);
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| *end <= size).last();
    text[..end.unwrap_or(0)].to_owned()
}

/// What a descriptor says of a subscription when the call is done. `created`: it was made as the descriptor said.
pub(super) fn describe(sd: &mut Sd, of: &Subscription, created: bool) {
    sd.sub_correl_id = of.correl_id;
    if sd.res_object_string_size > 0 {
        sd.res_object_string = fitting(of.topic(), sd.res_object_string_size);
    }
    if created {
        return;
    }
    let asked = MQSO_CREATE
        | MQSO_ALTER
        | MQSO_RESUME
        | MQSO_FAIL_IF_QUIESCING
        | MQSO_ALTERNATE_USER_AUTHORITY
        | MQSO_READ_AHEAD
        | MQSO_NO_READ_AHEAD
        | MQSO_SET_CORREL_ID
        | MQSO_SET_IDENTITY_CONTEXT;
    let characters = of.filter.scheme() == Scheme::Character;
    let says = [
        (of.durable, MQSO_DURABLE),
        (of.managed, MQSO_MANAGED),
        (of.any_user, MQSO_ANY_USERID),
        (!of.any_user, MQSO_FIXED_USERID),
        (of.on_request, MQSO_PUBLICATIONS_ON_REQUEST),
        (of.local_scope, MQSO_SCOPE_QMGR),
        (of.grouped, MQSO_GROUP_SUB),
        (characters, MQSO_WILDCARD_CHAR),
        (!characters, MQSO_WILDCARD_TOPIC),
    ];
    let says = says.iter().filter(|(says, _)| *says);
    sd.options = says.fold(sd.options & asked, |all, (_, option)| all | option);
    sd.sub_expiry = of.expiry;
    sd.pub_priority = of.priority;
    sd.pub_accounting_token = of.accounting_token;
    sd.pub_appl_identity_data = Chars::new(&of.application_identity);
    sd.sub_level = of.level;
    if sd.sub_user_data_size > 0 {
        sd.sub_user_data = fitting(&of.user_data, sd.sub_user_data_size);
    }
    if sd.selection_string_size > 0 {
        sd.selection_string = fitting(&of.selection, sd.selection_string_size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options_of(options: i32) -> Result<(), Reason> {
        let sd = Sd {
            options,
            sub_name: "S".to_owned(),
            ..Sd::default()
        };
        check(&sd, Given::default())
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let create = MQSO_CREATE | MQSO_MANAGED;
        for options in [
            0,
            MQSO_MANAGED,
            create | MQSO_ANY_USERID | MQSO_FIXED_USERID,
            create | MQSO_NEW_PUBLICATIONS_ONLY | MQSO_PUBLICATIONS_ON_REQUEST,
            create | MQSO_WILDCARD_CHAR | MQSO_WILDCARD_TOPIC,
            create | MQSO_READ_AHEAD | MQSO_NO_READ_AHEAD,
            MQSO_RESUME | MQSO_NEW_PUBLICATIONS_ONLY,
            MQSO_CREATE | MQSO_NO_MULTICAST,
            create | MQSO_GROUP_SUB | MQSO_SET_CORREL_ID,
            create | 0x400,
        ] {
            assert_eq!(
                options_of(options),
                Err(Reason::OPTIONS_ERROR),
                "{options:#x}"
            );
        }
        for options in [create, MQSO_RESUME, create | MQSO_ALTER, 0x0020_222B, 0x22C] {
            assert_eq!(options_of(options), Ok(()), "{options:#x}");
        }
    }

    #[test]
    fn fields_that_cannot_be_served_are_refused_with_their_reasons() {
        let refused = |change: &dyn Fn(&mut Sd)| {
            let mut sd = Sd {
                options: MQSO_CREATE | MQSO_MANAGED | MQSO_DURABLE,
                sub_name: "S".to_owned(),
                ..Sd::default()
            };
            change(&mut sd);
            check(&sd, Given::default()).err()
        };
        let long = "x".repeat(10_241);
        assert_eq!(refused(&|_| ()), None);
        let name = Some(Reason::SUB_NAME_ERROR);
        assert_eq!(refused(&|sd| sd.sub_name = " ".to_owned()), name);
        assert_eq!(refused(&|sd| sd.sub_name = long.clone()), name);
        let data = Some(Reason::SUB_USER_DATA_ERROR);
        assert_eq!(refused(&|sd| sd.sub_user_data = long.clone()), data);
        for expiry in [0, -2] {
            let reason = Some(Reason::EXPIRY_ERROR);
            assert_eq!(refused(&|sd| sd.sub_expiry = expiry), reason);
        }
        for priority in [-4, -2, 10] {
            let reason = Some(Reason::PRIORITY_ERROR);
            assert_eq!(refused(&|sd| sd.pub_priority = priority), reason);
        }
        for level in [-1, 10] {
            assert_eq!(refused(&|sd| sd.sub_level = level), Some(Reason::SD_ERROR));
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(fitting("aé", 2), "a");
        assert_eq!(fitting("aé", 3), "aé");
        assert_eq!(fitting("aé", -1), "");
    }
}
