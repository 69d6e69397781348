//! What comes of records: tables of the manual's examples, and properties of precedence.

use super::*;
use crate::pattern::Pattern;
use crate::peer_name::PeerPattern;
use proptest::prelude::*;

/// A record from a few words: profile, type, whom, address, what for.
fn record(profile: &str, whom: &str, address: &str, source: &str) -> Record {
    let whom = match whom.split_once(':') {
        Some(("user", name)) => Whom::User(name.to_owned()),
        Some(("qmgr", name)) => Whom::QueueManager(Pattern::new(name)),
        Some(("peer", names)) => {
            let (name, issuer) = names.split_once('/').unwrap_or((names, ""));
            let issuer = Some(issuer).filter(|text| !text.is_empty());
            let issuer = issuer.map(|text| PeerPattern::parse(text).unwrap());
            Whom::Peer(PeerPattern::parse(name).unwrap(), issuer)
        }
        _ => Whom::Anybody,
    };
    let address = Some(address).filter(|text| !text.is_empty());
    let (source, warn) = match source.strip_prefix("warn ") {
        Some(source) => (source, true),
        None => (source, false),
    };
    Record {
        profile: Pattern::new(profile),
        rule: Rule::Map(Map {
            whom,
            address: address.map(|text| AddressPattern::parse(text).unwrap()),
            source: match source {
                "CHANNEL" => UserSource::Channel,
                "NOACCESS" => UserSource::NoAccess,
                user => UserSource::Map(user.to_owned()),
            },
            check: CheckClient::AsQueueManager,
        }),
        warn,
    }
}

fn block_users(profile: &str, users: &[&str], warn: bool) -> Record {
    let users = users.iter().map(|&user| user.to_owned());
    Record {
        profile: Pattern::new(profile),
        rule: Rule::BlockUsers(users.collect()),
        warn,
    }
}

fn block_addresses(addresses: &[&str], warn: bool) -> Record {
    let addresses = addresses.iter().map(|&a| AddressPattern::parse(a).unwrap());
    Record {
        profile: Pattern::new("*"),
        rule: Rule::BlockAddresses(addresses.collect()),
        warn,
    }
}

/// The records of a new queue manager.
fn defaults() -> Vec<Record> {
    vec![
        block_users("*", &[ADMINISTRATORS], false),
        record("SYSTEM.*", "", "*", "NOACCESS"),
        record("SYSTEM.ADMIN.SVRCONN", "", "*", "CHANNEL"),
    ]
}

fn named(cn: &str) -> DistinguishedName {
    DistinguishedName {
        serial: String::new(),
        parts: vec![
            ("O".to_owned(), "IBM".to_owned()),
            ("CN".to_owned(), cn.to_owned()),
        ],
    }
}

/// What comes of it, in a word: a user, or `!` and why it is blocked; a `?` before it for each warning.
fn outcome(records: &[Record], channel: &str, address: &str, user: &str, cn: &str) -> String {
    let rules = Rules::new(true, records.iter().cloned());
    let peer = named(cn);
    let partner = Partner {
        channel,
        address: address.parse().unwrap(),
        user: Some(user).filter(|user| !user.is_empty()),
        queue_manager: None,
        peer: Some(&peer).filter(|_| !cn.is_empty()),
        issuer: Some(&peer).filter(|_| !cn.is_empty()),
    };
    let otherwise = if channel == "MAPPED" { "mcauser" } else { user };
    let decision = rules.decide(&partner, otherwise, |user| user == "mqm");
    let warnings = "?".repeat(decision.warnings.len());
    match decision.blocked {
        Some(objection) => format!("{warnings}!{:?}", objection.why),
        None => format!("{warnings}{}", decision.user),
    }
}

#[test]
fn the_default_records_let_no_administrator_in_and_close_the_system_channels() {
    let records = defaults();
    for (channel, user, expected) in [
        ("DEV.APP.SVRCONN", "alice", "alice"),
        ("DEV.APP.SVRCONN", "mqm", "!User"),
        ("DEV.APP.SVRCONN", "", "!User"),
        ("SYSTEM.DEF.SVRCONN", "alice", "!NoAccess"),
        ("SYSTEM.ADMIN.SVRCONN", "alice", "alice"),
        ("SYSTEM.ADMIN.SVRCONN", "mqm", "!User"),
        ("MAPPED", "mqm", "mcauser"),
    ] {
        let is = outcome(&records, channel, "192.0.2.1", user, "");
        assert_eq!(is, expected, "{channel} {user}");
    }
}

/// The manual's scenario: nobody but one user on a channel, who may be an administrator.
#[test]
fn a_more_specific_list_of_blocked_users_replaces_the_others() {
    let mut records = defaults();
    records.push(block_users("MY.SVRCONN", &["nobody"], false));
    records.push(record("MY.SVRCONN", "", "*", "NOACCESS"));
    records.push(record("MY.SVRCONN", "user:mqm", "", "CHANNEL"));
    for (user, expected) in [("mqm", "mqm"), ("alice", "!NoAccess"), ("", "!NoAccess")] {
        assert_eq!(outcome(&records, "MY.SVRCONN", "::1", user, ""), expected);
    }
    records.push(record("MY.SVRCONN", "user:alice", "", "nobody"));
    assert_eq!(outcome(&records, "MY.SVRCONN", "::1", "alice", ""), "!User");
}

#[test]
fn names_come_before_users_and_these_before_addresses_within_a_profile() {
    let records = [
        record("A.*", "", "*", "any"),
        record("A.*", "", "192.0.2.*", "network"),
        record("A.*", "", "192.0.2.1-9", "range"),
        record("A.*", "", "192.0.2.7", "address"),
        record("A.*", "user:alice", "", "user"),
        record("A.*", "user:alice", "192.0.2.*", "user-network"),
        record("A.*", "peer:O=IBM", "", "peer"),
        record("A.*", "peer:CN=alice", "", "peer-name"),
        record("A.*", "peer:CN=alice", "192.0.2.7", "peer-name-address"),
        record("A.*", "peer:CN=bob/O=IBM", "", "issued"),
        record("A.*", "peer:CN=bob", "", "not-issued"),
        record("A.B", "", "*", "channel"),
        record("*", "peer:CN=alice,O=IBM", "192.0.2.7", "wide"),
    ];
    for (channel, address, user, cn, expected) in [
        ("A.C", "10.0.0.1", "", "", "any"),
        ("A.C", "2001:db8::1", "", "", "any"),
        ("A.C", "192.0.2.200", "", "", "network"),
        ("A.C", "192.0.2.9", "bob", "", "range"),
        ("A.C", "192.0.2.7", "", "", "address"),
        ("A.C", "10.0.0.1", "alice", "", "user"),
        ("A.C", "192.0.2.7", "alice", "", "user-network"),
        ("A.C", "192.0.2.7", "alice", "carol", "peer"),
        ("A.C", "192.0.2.8", "alice", "alice", "peer-name"),
        ("A.C", "192.0.2.7", "alice", "alice", "peer-name-address"),
        ("A.C", "192.0.2.8", "", "bob", "issued"),
        // The profile comes first.
        ("A.B", "192.0.2.7", "alice", "alice", "channel"),
        ("X", "192.0.2.7", "alice", "alice", "wide"),
        ("X", "192.0.2.8", "alice", "alice", "alice"),
    ] {
        let is = outcome(&records, channel, address, user, cn);
        assert_eq!(is, expected, "{channel} {address} {user} {cn}");
    }
}

#[test]
fn what_only_warns_goes_on() {
    let records = [
        record("A", "", "*", "warn NOACCESS"),
        block_users("A", &["alice"], true),
        block_addresses(&["192.0.2.1", "10.*"], true),
        record("B", "", "*", "NOACCESS"),
    ];
    for (channel, address, user, expected) in [
        ("A", "192.0.2.2", "bob", "?bob"),
        ("A", "192.0.2.2", "alice", "??alice"),
        ("A", "192.0.2.1", "alice", "???alice"),
        ("A", "10.1.1.1", "bob", "??bob"),
        ("B", "10.1.1.1", "bob", "?!NoAccess"),
    ] {
        assert_eq!(outcome(&records, channel, address, user, ""), expected);
    }
    let records = [block_addresses(&["192.0.2.1", "10.*"], false)];
    for (address, expected) in [
        ("192.0.2.1", "!Address"),
        ("::ffff:192.0.2.1", "!Address"),
        ("10.9.8.7", "!Address"),
        ("192.0.2.2", "bob"),
    ] {
        assert_eq!(outcome(&records, "A", address, "bob", ""), expected);
    }
}

/// Whatever maps a partner, or blocks nobody, does not open what nobody understands.
#[test]
fn a_record_that_is_not_understood_closes_its_channels() {
    let records = vec![
        record("A.B", "user:alice", "", "app"),
        record("A.B", "", "10.0.0.1", "app"),
    ];
    let mut rules = Rules::new(true, records);
    rules.close(Pattern::new("A.*"));
    let partner = |channel| Partner {
        channel,
        address: "10.0.0.1".parse().unwrap(),
        user: Some("alice"),
        queue_manager: None,
        peer: None,
        issuer: None,
    };
    let decision = rules.decide(&partner("A.B"), "alice", |_| false);
    assert_eq!(decision.blocked.unwrap().why, Why::NotUnderstood);
    assert_eq!(decision.mapping, None);
    let decision = rules.decide(&partner("B"), "alice", |_| false);
    assert_eq!(decision.blocked, None);
    let mut rules = Rules::new(false, Vec::new());
    rules.close(Pattern::new("*"));
    let decision = rules.decide(&partner("B"), "alice", |_| false);
    assert_eq!(decision.blocked, None);
}

#[test]
fn disabled_records_say_nothing() {
    let mut records = defaults();
    records.push(block_addresses(&["*"], false));
    let rules = Rules::new(false, records);
    let address = "192.0.2.1".parse().unwrap();
    assert_eq!(rules.address(address), None);
    let partner = Partner {
        channel: "SYSTEM.DEF.SVRCONN",
        address,
        user: Some("mqm"),
        queue_manager: None,
        peer: None,
        issuer: None,
    };
    let decision = rules.decide(&partner, "mqm", |_| true);
    assert_eq!((decision.user.as_str(), decision.blocked), ("mqm", None));
}

#[test]
fn queue_managers_are_mapped_by_generic_names() {
    let rules = Rules::new(
        true,
        [
            record("TO.*", "qmgr:QM*", "", "partner"),
            record("TO.*", "qmgr:QM1", "", "first"),
        ],
    );
    for (name, expected) in [("QM1", "first"), ("QM2", "partner"), ("X", "")] {
        let partner = Partner {
            channel: "TO.US",
            address: "::1".parse().unwrap(),
            user: None,
            queue_manager: Some(name),
            peer: None,
            issuer: None,
        };
        assert_eq!(rules.decide(&partner, "", |_| false).user, expected);
    }
}

#[test]
fn keys_tell_records_apart() {
    let keys = [
        (
            record("A", "", "192.0.2.1", "x"),
            "CHLAUTH('A') ADDRESS('192.0.2.1') TYPE(ADDRESSMAP)",
        ),
        (
            record("A", "user:o'neill", "", "x"),
            "CHLAUTH('A') CLNTUSER('o''neill') TYPE(USERMAP)",
        ),
        (
            record("A", "qmgr:QM*", "::1", "x"),
            "CHLAUTH('A') QMNAME('QM*') ADDRESS('::1') TYPE(QMGRMAP)",
        ),
        (
            record("A", "peer:cn=b/o=c", "", "x"),
            "CHLAUTH('A') SSLPEER('CN=\"b\"') SSLCERTI('O=\"c\"') TYPE(SSLPEERMAP)",
        ),
        (
            block_users("A", &["u"], false),
            "CHLAUTH('A') TYPE(BLOCKUSER)",
        ),
        (
            block_addresses(&["*"], true),
            "CHLAUTH('*') TYPE(BLOCKADDR)",
        ),
    ];
    for (record, expected) in keys {
        assert_eq!(record.key(), expected);
    }
    let other = record("A", "user:u", "192.0.2.5-20", "x");
    assert!(record("A", "user:u", "192.0.2.1-9", "x").conflicts(&other));
    assert!(!record("B", "user:u", "192.0.2.1-9", "x").conflicts(&other));
    assert!(!record("A", "user:v", "192.0.2.1-9", "x").conflicts(&other));
}

fn any_record() -> impl Strategy<Value = Record> {
    let profile = prop::sample::select(vec!["*", "A*", "*B", "A.*", "A.B", "A.*C", "*.*"]);
    let whom = prop::sample::select(vec![
        "",
        "user:u",
        "user:v",
        "peer:CN=u",
        "peer:CN=u*",
        "peer:O=IBM",
        "peer:CN=u/O=IBM",
    ]);
    let address = prop::sample::select(vec!["", "*", "10.*", "10.0.0.*", "10.0.0.1-5", "10.0.0.2"]);
    (profile, whom, address, "[a-z]{1,2}").prop_map(|(profile, whom, address, source)| {
        let address = if whom.is_empty() && address.is_empty() {
            "*"
        } else {
            address
        };
        record(profile, whom, address, &source)
    })
}

proptest! {
    /// The order in which records were set means nothing.
    #[test]
    fn what_counts_does_not_depend_on_the_order(
        records in prop::collection::vec(any_record(), 0..8),
        turn in 0..8usize,
        channel in prop::sample::select(vec!["A.B", "A.XC", "X"]),
        address in prop::sample::select(vec!["10.0.0.2", "10.0.0.9", "192.0.2.1"]),
        user in prop::sample::select(vec!["u", "v"]),
    ) {
        // Of records with one key there is only one.
        let mut records = records;
        records.sort_by_key(Record::key);
        records.dedup_by_key(|record| record.key());
        let mut turned = records.clone();
        turned.rotate_left(turn.min(records.len()));
        turned.reverse();
        prop_assert_eq!(
            outcome(&records, channel, address, user, user),
            outcome(&turned, channel, address, user, user)
        );
    }

    #[test]
    fn precedence_is_a_total_order(a in any_record(), b in any_record(), c in any_record()) {
        prop_assert_eq!(precedence(&a, &b), precedence(&b, &a).reverse());
        prop_assert_eq!(precedence(&a, &b).is_eq(), a.key() == b.key());
        if precedence(&a, &b).is_le() && precedence(&b, &c).is_le() {
            prop_assert!(precedence(&a, &c).is_le());
        }
    }

    /// What counts matches, and nothing else that matches has a more specific profile, nor, with the same one, a name where
    /// it has none.
    #[test]
    fn nothing_more_specific_is_passed_over(
        records in prop::collection::vec(any_record(), 0..8),
        channel in prop::sample::select(vec!["A.B", "A.XC", "X"]),
        address in prop::sample::select(vec!["10.0.0.2", "10.0.0.9", "192.0.2.1"]),
    ) {
        let rules = Rules::new(true, records.clone());
        let peer = named("u");
        let partner = Partner {
            channel, address: address.parse().unwrap(), user: Some("u"),
            queue_manager: None, peer: Some(&peer), issuer: Some(&peer),
        };
        let matches = |record: &&Record| {
            record.profile.matches(channel) && fits(record.map().unwrap(), &partner)
        };
        let counts = rules.mapping(&partner);
        prop_assert_eq!(counts.is_some(), records.iter().any(|record| matches(&record)));
        let Some(counts) = counts else { return Ok(()) };
        prop_assert!(matches(&counts));
        let rank = |record: &Record| match record.map().unwrap().whom {
            Whom::Peer(..) => 2,
            Whom::User(_) => 1,
            _ => 0,
        };
        for other in records.iter().filter(matches) {
            let profile = counts.profile.specificity(&other.profile);
            prop_assert!(profile.is_ge());
            prop_assert!(profile.is_gt() || rank(counts) >= rank(other));
        }
    }
}

/// A channel is closed to clients if whoever comes is blocked: a record that lets one user or address in opens it, unless another
/// that counts before it has everybody.
#[test]
fn a_channel_that_lets_somebody_in_is_not_closed() {
    let closed = |enabled, more: Vec<Record>, channel: &str| {
        let all = defaults().into_iter().chain(more);
        Rules::new(enabled, all).lets_nobody_in(channel)
    };
    const DEF: &str = "SYSTEM.DEF.SVRCONN";
    assert!(closed(true, Vec::new(), DEF));
    assert!(!closed(false, Vec::new(), DEF), "they say nothing");
    assert!(!closed(true, Vec::new(), "SYSTEM.ADMIN.SVRCONN"));
    assert!(!closed(true, Vec::new(), "DEV.APP.SVRCONN"));
    for (profile, whom, address, source, expected) in [
        (DEF, "user:alice", "", "CHANNEL", false),
        (DEF, "user:alice", "", "bob", false),
        (DEF, "", "10.0.0.*", "bob", false),
        (DEF, "peer:CN=a", "", "CHANNEL", false),
        (DEF, "user:alice", "", "NOACCESS", true),
        (DEF, "user:alice", "", "warn NOACCESS", false),
        ("SYSTEM.*", "user:alice", "10.0.0.1", "bob", false),
        ("SYSTEM.DEF.*", "", "*", "warn NOACCESS", false),
        // No client is a queue manager.
        (DEF, "qmgr:QM2", "", "CHANNEL", true),
        // What everybody meets first blocks him.
        ("*", "user:alice", "", "bob", true),
        ("SYSTEM.ADMIN.*", "user:alice", "", "bob", true),
    ] {
        let more = vec![record(profile, whom, address, source)];
        let is = closed(true, more, DEF);
        assert_eq!(is, expected, "{profile} {whom} {address} {source}");
    }
    for (address, source) in [("192.0.2.*", "NOACCESS"), ("*", "warn NOACCESS")] {
        let some = vec![record("SYSTEM.*", "", address, source)];
        assert!(
            !Rules::new(true, some).lets_nobody_in(DEF),
            "{address} {source}"
        );
    }
    let mut rules = Rules::new(true, vec![record(DEF, "", "*", "CHANNEL")]);
    rules.close(Pattern::new("SYSTEM.*"));
    assert!(rules.lets_nobody_in(DEF), "not understood");
}

/// What a channel whose MCAUSER is nobody is opened by.
#[test]
fn a_record_that_gives_a_user_maps_somebody() {
    for (profile, whom, address, source, expected) in [
        ("CH", "user:alice", "", "bob", true),
        ("*", "", "10.0.0.*", "bob", true),
        ("CH", "peer:CN=a", "", "warn bob", true),
        ("CH", "user:alice", "", "CHANNEL", false),
        ("CH", "user:alice", "", "NOACCESS", false),
        ("CH", "qmgr:QM2", "", "bob", false),
        ("OTHER", "user:alice", "", "bob", false),
    ] {
        let records = || vec![record(profile, whom, address, source)];
        let is = Rules::new(true, records()).maps_somebody("CH");
        assert_eq!(is, expected, "{profile} {whom} {address} {source}");
        assert!(!Rules::new(false, records()).maps_somebody("CH"));
    }
    let shadowed = ["CHANNEL", "bob"].map(|source| {
        let profile = if source == "bob" { "*" } else { "CH" };
        record(profile, "", "*", source)
    });
    assert!(!Rules::new(true, shadowed).maps_somebody("CH"));
}
