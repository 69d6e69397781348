//! The attribute table keeps its own rules, and has the numbers of the manual.

use super::*;
use crate::attribute::{Effect, Set, ValueKind};
use crate::statuses::{
    STATUSES, all_keywords, groups, is_not_here, status_keywords, types_of_keyword, where_keyword,
};
use crate::value::Value;
use posthaste_mqi::constants as mq;
use std::collections::BTreeSet;

#[test]
fn no_keyword_and_no_selector_twice() {
    for kind in ObjectKind::ALL {
        let mut keywords = BTreeSet::new();
        let mut selectors = BTreeSet::new();
        for attribute in attributes(kind) {
            let mut names: BTreeSet<&str> = attribute.also.iter().copied().collect();
            names.insert(attribute.keyword);
            if attribute.is_switch() {
                names.extend(attribute.words().iter().map(|(word, _)| *word));
            }
            for name in names {
                assert!(keywords.insert(name), "{kind}: {name} twice");
                assert_eq!(name, name.to_uppercase());
            }
            let selector = attribute.selector;
            assert!(
                selectors.insert(selector),
                "{kind}: {} twice",
                attribute.keyword
            );
        }
        assert!(keywords.len() >= 6, "{kind} has almost no attributes");
    }
}

#[test]
fn every_default_is_accepted_by_its_row() {
    for kind in ObjectKind::ALL {
        for attribute in attributes(kind) {
            match attribute.default.value() {
                Some(value) => {
                    assert!(attribute.accepts(&value), "{kind} {}", attribute.keyword);
                    assert!(attribute.takes(&value), "{kind} {}", attribute.keyword);
                }
                None => assert_eq!(attribute.set, Set::ReadOnly, "{kind} {}", attribute.keyword),
            }
        }
    }
}

/// The numbers that a row takes are ones that it knows.
#[test]
fn what_is_taken_is_accepted() {
    for kind in ObjectKind::ALL {
        for attribute in attributes(kind) {
            if let Effect::Only(codes) = attribute.effect {
                let known = |code: &i32| attribute.accepts(&Value::from(*code));
                assert!(codes.iter().all(known), "{kind} {}", attribute.keyword);
                assert!(attribute.taken().is_some_and(|taken| !taken.is_empty()));
            }
        }
    }
}

#[test]
fn every_row_is_complete() {
    for kind in ObjectKind::ALL {
        for attribute in attributes(kind) {
            let what = format!("{kind} {}", attribute.keyword);
            assert!(attribute.help.len() > 4, "{what}: help");
            assert!(!attribute.help.ends_with('.'), "{what}: help is a phrase");
            match attribute.kind {
                ValueKind::Int { min, max } | ValueKind::IntOrKeyword { min, max, .. } => {
                    assert!(min <= max, "{what}: range");
                }
                ValueKind::Keyword(words) | ValueKind::Keywords(words) => {
                    assert!(!words.is_empty(), "{what}: words");
                    let names: BTreeSet<_> = words.iter().map(|(name, _)| name).collect();
                    let codes: BTreeSet<_> = words.iter().map(|(_, code)| code).collect();
                    assert_eq!(names.len(), words.len(), "{what}: word twice");
                    assert_eq!(codes.len(), words.len(), "{what}: number twice");
                }
                ValueKind::Text { max, .. }
                | ValueKind::Name { max }
                | ValueKind::Names { max, .. } => {
                    assert_eq!(attribute.char_length, max, "{what}: width");
                }
                ValueKind::Bytes { max } => assert!(max > 0, "{what}: width"),
                ValueKind::Date => assert_eq!(attribute.char_length, 12, "{what}: width"),
                ValueKind::Time => assert_eq!(attribute.char_length, 8, "{what}: width"),
                ValueKind::Ints | ValueKind::Bits(_) => panic!("{what}: objects have no such"),
            }
            if attribute.is_int() {
                assert_eq!(attribute.char_length, 0, "{what}: width");
            }
            assert!(
                !attribute.mqset || attribute.set == Set::Always,
                "{what}: MQSET"
            );
            assert!(
                !attribute.mqset || attribute.inquire,
                "{what}: MQSET without MQINQ"
            );
        }
    }
}

/// MQINQ takes selectors of MQIA_ and MQCA_ only.
#[test]
fn inquired_selectors_are_in_range() {
    for kind in ObjectKind::ALL {
        for attribute in attributes(kind).filter(|attribute| attribute.inquire) {
            let range = match attribute.is_int() {
                true => mq::MQIA_FIRST..=mq::MQIA_LAST,
                false => mq::MQCA_FIRST..=mq::MQCA_LAST,
            };
            let selector = attribute.selector;
            assert!(range.contains(&selector), "{kind} {}", attribute.keyword);
        }
    }
    let unknown = [
        ObjectKind::SvrConn,
        ObjectKind::ClntConn,
        ObjectKind::Listener,
        ObjectKind::AuthIdpwOs,
        ObjectKind::CommInfo,
        ObjectKind::Service,
    ];
    for kind in unknown {
        assert!(attributes(kind).all(|attribute| !attribute.inquire));
    }
}

/// What the manual says MQSET may change, and nothing else.
#[test]
fn mqset_attributes() {
    let settable: BTreeSet<_> = attributes(ObjectKind::QLocal)
        .filter(|attribute| attribute.mqset)
        .map(|attribute| attribute.selector)
        .collect();
    let documented = BTreeSet::from([
        mq::MQCA_TRIGGER_DATA,
        mq::MQIA_DIST_LISTS,
        mq::MQIA_INHIBIT_GET,
        mq::MQIA_INHIBIT_PUT,
        mq::MQIA_TRIGGER_CONTROL,
        mq::MQIA_TRIGGER_DEPTH,
        mq::MQIA_TRIGGER_MSG_PRIORITY,
        mq::MQIA_TRIGGER_TYPE,
    ]);
    assert_eq!(settable, documented);
    for kind in [ObjectKind::QRemote, ObjectKind::Qmgr] {
        let count = attributes(kind).filter(|attribute| attribute.mqset).count();
        assert_eq!(count, usize::from(kind == ObjectKind::QRemote), "{kind}");
    }
}

/// The manual's numbers and defaults, spelt out.
#[test]
fn documented_numbers_and_defaults() {
    use ObjectKind::{Listener, QAlias, QLocal, QModel, QRemote, Qmgr, SvrConn};
    let int = |n: i32| Some(Value::from(n));
    let text = |t: &str| Some(Value::Text(t.to_owned()));
    for (kind, keyword, selector, default) in [
        (QLocal, "MAXDEPTH", 15, int(5000)),
        (QLocal, "MAXMSGL", 13, int(4_194_304)),
        (QLocal, "GET", 9, int(0)),
        (QLocal, "PUT", 10, int(0)),
        (QLocal, "SHARE", 23, int(1)),
        (QModel, "SHARE", 23, int(0)),
        (QLocal, "DEFSOPT", 4, int(2)),
        (QModel, "DEFSOPT", 4, int(4)),
        (QLocal, "HARDENBO", 8, int(1)),
        (QLocal, "TRIGGER", 24, int(0)),
        (QLocal, "TRIGTYPE", 28, int(1)),
        (QLocal, "TRIGDPTH", 29, int(1)),
        (QLocal, "NPMCLASS", 78, int(0)),
        (QLocal, "MSGDLVSQ", 16, int(0)),
        (QLocal, "BOTHRESH", 22, int(0)),
        (QLocal, "BOQNAME", 2019, text("")),
        (QLocal, "DESCR", 2013, text("")),
        (QLocal, "DEFTYPE", 7, int(1)),
        (QModel, "DEFTYPE", 7, int(3)),
        (QLocal, "IMGRCOVQ", 272, int(2)),
        (QLocal, "MONQ", 123, int(-3)),
        (QLocal, "CURDEPTH", 3, None),
        (QAlias, "TARGET", 2002, text("")),
        (QAlias, "TARGQ", 2002, text("")),
        (QRemote, "RNAME", 2018, text("")),
        (QRemote, "RQMNAME", 2017, text("")),
        (QRemote, "XMITQ", 2024, text("")),
        (Qmgr, "MAXHANDS", 11, int(256)),
        (Qmgr, "MAXUMSGS", 33, int(10_000)),
        (Qmgr, "MAXPRTY", 14, int(9)),
        (Qmgr, "MARKINT", 68, int(5000)),
        (Qmgr, "TRIGINT", 25, int(999_999_999)),
        (Qmgr, "CCSID", 2, int(1208)),
        (Qmgr, "PLATFORM", 32, int(3)),
        (Qmgr, "DEADQ", 2006, text("")),
        (Qmgr, "STATINT", 131, int(1800)),
        (SvrConn, "SHARECNV", 1615, int(10)),
        (SvrConn, "HBINT", 1563, int(300)),
        (SvrConn, "KAINT", 1566, int(-1)),
        (SvrConn, "MAXINST", 1618, int(999_999_999)),
        (SvrConn, "MAXINSTC", 1619, int(999_999_999)),
        (SvrConn, "CHLTYPE", 1511, int(7)),
        (SvrConn, "MCAUSER", 3527, text("")),
        (SvrConn, "COMPMSG", 1576, Some(Value::Ints(vec![0]))),
        (Listener, "PORT", 1522, int(1414)),
        (Listener, "BACKLOG", 1602, int(0)),
        (Listener, "CONTROL", 1601, int(2)),
    ] {
        let attribute = by_keyword(kind, keyword).unwrap_or_else(|| panic!("{kind} {keyword}"));
        assert_eq!(attribute.selector, selector, "{kind} {keyword}");
        assert_eq!(attribute.default.value(), default, "{kind} {keyword}");
        assert_eq!(
            by_selector(kind, selector),
            Some(attribute),
            "{kind} {keyword}"
        );
    }
}

#[test]
fn looked_up_in_any_case_and_by_either_form_of_a_switch() {
    let share = by_keyword(ObjectKind::QLocal, "share");
    assert!(share.is_some());
    assert_eq!(by_keyword(ObjectKind::QLocal, "NoShare"), share);
    assert_eq!(by_keyword(ObjectKind::QRemote, "SHARE"), None);
    assert_eq!(by_keyword(ObjectKind::QLocal, "NODESCR"), None);
    assert_eq!(
        by_selector(ObjectKind::QLocal, mq::MQCA_REMOTE_Q_NAME),
        None
    );
}

#[test]
fn words_and_numbers() {
    let compmsg = by_keyword(ObjectKind::SvrConn, "COMPMSG").expect("in the table");
    assert_eq!(
        compmsg.parsed("ZLIBFAST,RLE"),
        Some(Value::Ints(vec![2, 1]))
    );
    assert_eq!(compmsg.parsed("ZLIBFAST,BZIP"), None);
    assert!(compmsg.accepts(&Value::Ints(vec![2, 1])));
    assert!(!compmsg.accepts(&Value::Ints(vec![2, 99])));
    assert!(!compmsg.accepts(&Value::Ints(Vec::new())));
    let kaint = by_keyword(ObjectKind::SvrConn, "KAINT").expect("in the table");
    assert!(kaint.accepts(&Value::Int(-1)) && kaint.accepts(&Value::Int(99_999)));
    assert!(!kaint.accepts(&Value::Int(-2)) && !kaint.accepts(&Value::Int(100_000)));
    let boqname = by_keyword(ObjectKind::QLocal, "BOQNAME").expect("in the table");
    assert!(boqname.accepts(&Value::Text("A.b/c_d%9".into())));
    assert!(!boqname.accepts(&Value::Text("A B".into())));
    assert!(!boqname.accepts(&Value::Text("A".repeat(49))));
    assert!(!boqname.accepts(&Value::Int(1)));
}

/// DISPLAY finds what it can show, and nothing else.
#[test]
fn keywords_of_display() {
    use crate::command::DisplayWhat as W;
    for (what, word, expected) in [
        (W::Queue, "curdepth", Some("CURDEPTH")),
        (W::Queue, "RQMNAME", Some("RQMNAME")),
        (W::Queue, "QTYPE", Some("TYPE")),
        (W::Queue, "NOSHARE", Some("SHARE")),
        (W::Object(ObjectKind::QAlias), "TARGQ", Some("TARGET")),
        (W::Object(ObjectKind::QAlias), "CURDEPTH", None),
        (W::QStatus, "curmaxfs", Some("CURMAXFS")),
        (W::QStatus, "TRANSID", None),
        (W::QStatus, "MAXDEPTH", None),
        (W::Conn, "uowlogda", Some("UOWLOGDA")),
        (W::ChStatus, "CURSHCNV", Some("CURSHCNV")),
        (W::QMStatus, "LOGTYPE", Some("LOGTYPE")),
        (W::Object(ObjectKind::Qmgr), "LOGTYPE", None),
        (W::LsStatus, "PORT", Some("PORT")),
        (W::Object(ObjectKind::SvrConn), "SHARECNV", Some("SHARECNV")),
        (W::Object(ObjectKind::Listener), "BACKLOG", Some("BACKLOG")),
    ] {
        assert_eq!(where_keyword(what, word), expected, "{what:?} {word}");
        let listed = expected.is_none_or(|keyword| all_keywords(what).contains(&keyword));
        assert!(listed, "{what:?} {word}");
    }
}

/// A group asks for what there is, and all of the queue manager's attributes are in one.
#[test]
fn groups_of_display() {
    use crate::command::DisplayWhat as W;
    let kinds = ObjectKind::ALL.into_iter().map(W::Object);
    let statuses = STATUSES.iter().map(|status| status.what);
    let mut count = 0;
    for what in kinds.chain(statuses) {
        for (group, keywords) in groups(what) {
            assert_eq!(where_keyword(what, group), None, "{group} is a keyword too");
            for keyword in keywords {
                assert_eq!(where_keyword(what, keyword), Some(*keyword), "{group}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 8);
    let groups = groups(W::Object(ObjectKind::Qmgr));
    for attribute in attributes(ObjectKind::Qmgr) {
        let keyword = attribute.keyword;
        let is_in = groups
            .iter()
            .any(|(_, keywords)| keywords.contains(&keyword));
        assert!(is_in, "{keyword} is in no group");
    }
}

/// A keyword is answered or refused, not both, and in the rows of one TYPE or of all.
#[test]
fn keywords_of_state_are_answered_or_not_here() {
    use crate::command::DisplayType as T;
    use crate::command::DisplayWhat as W;
    let mut answered = 0;
    for what in STATUSES.iter().map(|status| status.what) {
        for type_ in [T::Conn, T::Handle] {
            let keywords = status_keywords(what, type_);
            let all: BTreeSet<_> = keywords.iter().collect();
            assert_eq!(all.len(), keywords.len(), "{what:?}: a keyword twice");
            answered += all.len();
            for keyword in keywords {
                assert!(!is_not_here(what, keyword), "{what:?} {keyword}");
                assert_eq!(where_keyword(what, keyword), Some(keyword));
            }
        }
        assert!(!is_not_here(what, "COLOUR"));
    }
    assert!(answered > 130, "{answered}");
    assert_eq!(types_of_keyword(W::QStatus, "BROWSE"), [T::Handle]);
    assert_eq!(types_of_keyword(W::QStatus, "CURDEPTH"), [T::Queue]);
    assert_eq!(types_of_keyword(W::Conn, "PID"), [T::Conn]);
    assert_eq!(types_of_keyword(W::Conn, "ASTATE"), []);
    assert_eq!(types_of_keyword(W::ChStatus, "HBINT"), []);
    assert_eq!(types_of_keyword(W::TpStatus, "PUBCOUNT"), [T::Queue]);
    let both = [T::Handle, T::Pub];
    assert_eq!(types_of_keyword(W::TpStatus, "ACTCONN"), both);
    assert_eq!(types_of_keyword(W::TpStatus, "NUMPUBS"), [T::Pub]);
}

/// The attributes of a kind: those that act, that describe, that are kept only, and that are refused but for some values.
type Effects = (
    ObjectKind,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const EFFECTS: [Effects; 25] = [
    (
        ObjectKind::Qmgr,
        "AUTHOREV CCSID CERTLABL CHLAUTH CHLEV CMDEV CONFIGEV CONNAUTH DEADQ DEFXMITQ MARKINT MAXHANDS \
             MAXMSGL MAXUMSGS PSMODE SSLEV SSLFIPS SSLKEYR STRSTPEV SUITEB TRIGINT",
        "DESCR",
        "ACCTINT CLWLLEN CLWLMRUC CLWLUSEQ IMGINTVL IMGLOGLN IMGRCOVO IMGRCOVQ IMGSCHED IPADDRV PSCLUS \
             PSNPMSG PSNPRES PSRTYCNT PSSYNCPT REVDNS STATINT TREELIFE",
        "ACCTCONO ACCTMQI ACCTQ ACTCHL ACTIVREC ACTVCONO ACTVTRC CERTVPOL CHAD CHADEV CHADEXIT CLWLDATA \
             CLWLEXIT CUSTOM DEFCLXQ INHIBTEV INITKEY KEYRPWD LOCALEV LOGGEREV MAXPROPL MONACLS MONCHL MONQ \
             PARENT PERFMEV REMOTEEV REPOS REPOSNL ROUTEREC SCHINIT SCMDSERV SSLCRLNL SSLCRYP SSLRKEYC STATACLS \
             STATCHL STATMQI STATQ",
    ),
    (
        ObjectKind::QLocal,
        "DEFPRESP DEFPRTY DEFPSIST DEFREADA DEFSOPT GET HARDENBO INITQ MAXDEPTH MAXMSGL MSGDLVSQ NPMCLASS \
             PROCESS PROPCTL PUT SHARE TRIGDATA TRIGDPTH TRIGGER TRIGMPRI TRIGTYPE USAGE",
        "BOQNAME BOTHRESH DESCR RETINTVL",
        "CLWLPRTY CLWLRANK CLWLUSEQ DEFBIND DISTL IMGRCOVQ QDEPTHHI QDEPTHLO QDPHIEV QDPLOEV QDPMAXEV QSVCIEV \
             QSVCINT STRMQOS",
        "ACCTQ CAPEXPRY CLCHNAME CLUSNL CLUSTER CUSTOM MAXFSIZE MONQ SCOPE STATQ STREAMQ",
    ),
    (
        ObjectKind::QModel,
        "DEFPRESP DEFPRTY DEFPSIST DEFREADA DEFSOPT DEFTYPE GET HARDENBO INITQ MAXDEPTH MAXMSGL MSGDLVSQ \
             NPMCLASS PROCESS PROPCTL PUT SHARE TRIGDATA TRIGDPTH TRIGGER TRIGMPRI TRIGTYPE USAGE",
        "BOQNAME BOTHRESH DESCR RETINTVL",
        "DEFBIND DISTL IMGRCOVQ QDEPTHHI QDEPTHLO QDPHIEV QDPLOEV QDPMAXEV QSVCIEV QSVCINT STRMQOS",
        "ACCTQ CAPEXPRY CLCHNAME CUSTOM MAXFSIZE MONQ STATQ STREAMQ",
    ),
    (
        ObjectKind::QAlias,
        "DEFPRESP DEFPRTY DEFPSIST DEFREADA GET PROPCTL PUT TARGET TARGTYPE",
        "DESCR",
        "CLWLPRTY CLWLRANK DEFBIND",
        "CAPEXPRY CLUSNL CLUSTER CUSTOM SCOPE",
    ),
    (
        ObjectKind::QRemote,
        "DEFPRESP DEFPRTY DEFPSIST PUT RNAME RQMNAME XMITQ",
        "DESCR",
        "CLWLPRTY CLWLRANK DEFBIND",
        "CAPEXPRY CLUSNL CLUSTER CUSTOM SCOPE",
    ),
    (
        ObjectKind::SvrConn,
        "CERTLABL DISCINT HBINT MAXINST MAXINSTC MAXMSGL MCAUSER RCVEXIT SCYEXIT SENDEXIT SHARECNV SSLCAUTH \
             SSLCIPH SSLPEER",
        "DESCR",
        "RCVDATA SCYDATA SENDDATA",
        "CHLTYPE COMPHDR COMPMSG KAINT MONCHL TRPTYPE",
    ),
    (
        ObjectKind::ClntConn,
        "",
        "CHLTYPE DESCR",
        "AFFINITY CERTLABL CLNTWGHT COMPHDR COMPMSG CONNAME DEFRECON HBINT KAINT LOCLADDR MAXMSGL MODENAME \
             QMNAME RCVDATA RCVEXIT SCYDATA SCYEXIT SENDDATA SENDEXIT SHARECNV SSLCIPH SSLPEER TPNAME USERID",
        "PASSWORD TRPTYPE",
    ),
    (
        ObjectKind::Listener,
        "BACKLOG CONTROL IPADDR PORT",
        "DESCR",
        "",
        "TRPTYPE",
    ),
    (ObjectKind::Namelist, "", "DESCR NAMES", "", ""),
    (
        ObjectKind::Process,
        "APPLICID APPLTYPE ENVRDATA USERDATA",
        "DESCR",
        "",
        "",
    ),
    (
        ObjectKind::AuthCrlLdap,
        "",
        "AUTHTYPE DESCR",
        "CONNAME LDAPUSER",
        "LDAPPWD",
    ),
    (ObjectKind::AuthOcsp, "", "AUTHTYPE DESCR", "OCSPURL", ""),
    (
        ObjectKind::AuthIdpwOs,
        "ADOPTCTX AUTHENMD CHCKCLNT CHCKLOCL FAILDLAY",
        "AUTHTYPE DESCR",
        "",
        "",
    ),
    (
        ObjectKind::AuthIdpwLdap,
        "ADOPTCTX BASEDNU CHCKCLNT CHCKLOCL CLASSUSR CONNAME FAILDLAY LDAPUSER SECCOMM SHORTUSR USRFIELD",
        "AUTHTYPE DESCR",
        "BASEDNG CLASSGRP FINDGRP GRPFIELD NESTGRP",
        "AUTHORMD LDAPPWD",
    ),
    (
        ObjectKind::CommInfo,
        "",
        "DESCR TYPE",
        "BRIDGE CCSID ENCODING GRPADDR MCHBINT MCPROP MONINT MSGHIST NSUBHIST PORT",
        "COMMEV",
    ),
    (
        ObjectKind::Service,
        "CONTROL SERVTYPE STARTARG STARTCMD STDERR STDOUT STOPARG STOPCMD",
        "DESCR",
        "",
        "",
    ),
    (
        ObjectKind::Topic,
        "DEFPRESP DEFPRTY DEFPSIST DURSUB MDURMDL MNDURMDL NPMSGDLV PMSGDLV PUB SUB TOPICSTR USEDLQ WILDCARD",
        "DESCR TYPE",
        "CLROUTE COMMINFO PROXYSUB PUBSCOPE SUBSCOPE",
        "CAPEXPRY CLUSTER CUSTOM MCAST",
    ),
    (
        ObjectKind::Sub,
        "DEST DESTCLAS DESTCORL DESTQMGR EXPIRY PSPROP PUBACCT PUBAPPID PUBPRTY REQONLY SELECTOR SUBLEVEL \
             SUBUSER TOPICOBJ TOPICSTR USERDATA VARUSER WSCHEMA",
        "",
        "SUBSCOPE",
        "",
    ),
    (
        ObjectKind::ChlBlockUser,
        "USERLIST WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::ChlBlockAddr,
        "ADDRLIST WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::ChlSslPeerMap,
        "ADDRESS CHCKCLNT MCAUSER SSLCERTI SSLPEER USERSRC WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::ChlAddressMap,
        "ADDRESS CHCKCLNT MCAUSER USERSRC WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::ChlUserMap,
        "ADDRESS CHCKCLNT CLNTUSER MCAUSER USERSRC WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::ChlQmgrMap,
        "ADDRESS MCAUSER QMNAME USERSRC WARN",
        "DESCR TYPE",
        "CUSTOM",
        "",
    ),
    (
        ObjectKind::AuthRec,
        "AUTHLIST ENTITY ENTTYPE OBJTYPE PROFILE",
        "",
        "",
        "",
    ),
];

/// Every attribute that can be set, by what its value does. A new one is put where it belongs, or this fails.
#[test]
fn the_effect_of_every_attribute() {
    let of = |kind, wanted: fn(&Effect) -> bool| {
        let settable = attributes(kind).filter(|attribute| attribute.set != Set::ReadOnly);
        let mut keywords: Vec<&str> = settable
            .filter(|attribute| wanted(&attribute.effect))
            .map(|attribute| attribute.keyword)
            .collect();
        keywords.sort_unstable();
        keywords.join(" ")
    };
    for (kind, acts, describes, kept, only) in EFFECTS {
        assert_eq!(of(kind, |effect| *effect == Effect::Acts), acts, "{kind}");
        assert_eq!(
            of(kind, |effect| *effect == Effect::Describes),
            describes,
            "{kind}"
        );
        assert_eq!(of(kind, |effect| *effect == Effect::Kept), kept, "{kind}");
        assert_eq!(
            of(kind, |effect| matches!(effect, Effect::Only(_))),
            only,
            "{kind}"
        );
    }
    let all = ObjectKind::ALL.into_iter().chain(ObjectKind::RECORDS);
    let all: Vec<_> = all.filter(|kind| kind.noun() != "SAMPLE").collect();
    assert_eq!(EFFECTS.map(|(kind, ..)| kind).to_vec(), all);
}
