//! Why a change was not made: the engine's typed errors, and what is answered to each.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use posthaste_admin::Admin;
use posthaste_command::{Attrs, Command, Deletion, ObjectKind, Reply};
use posthaste_engine::{ChangeError, Held, HeldBy, Holder, NewDefinition, Session, Vote, Xid};
use posthaste_env::block_on;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

fn define(w: &World, kind: ObjectKind, name: &str, like: Option<&str>) -> Result<(), ChangeError> {
    define_with(w, kind, name, like, &Attrs::default())
}

fn define_with(
    w: &World,
    kind: ObjectKind,
    name: &str,
    like: Option<&str>,
    attrs: &Attrs,
) -> Result<(), ChangeError> {
    let definition = NewDefinition {
        kind,
        name,
        replace: false,
        decided_new: false,
        like,
        attrs,
        maker: "",
    };
    block_on(w.qm().define(&definition))
}

/// The number of the first message.
fn number(reply: &Reply) -> &str {
    &reply.messages[0].0
}

#[test]
fn a_definition_is_refused_for_a_reason() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let local = ObjectKind::QLocal;
    assert_eq!(
        define(&w, local, "NOT A NAME", None),
        Err(ChangeError::BadName)
    );
    assert_eq!(
        define(&w, local, "Q", None),
        Err(ChangeError::Exists(local))
    );
    assert_eq!(
        define(&w, ObjectKind::QAlias, "Q", None),
        Err(ChangeError::Exists(local))
    );
    assert_eq!(
        define(&w, local, "NEW", Some("NO.SUCH")),
        Err(ChangeError::NotFound)
    );
    let mut asked = Attrs::default();
    asked.set_text(MQCA_PARENT, "CHECK");
    asked.set_text(MQCA_SSL_KEY_REPO_PASSWORD, "secret");
    let refused = block_on(w.qm().alter(ObjectKind::Qmgr, "", &asked, false));
    let Err(ChangeError::NotSupported(mut selectors)) = refused else {
        panic!("{refused:?}");
    };
    selectors.sort_unstable();
    let mut expected = [MQCA_PARENT, MQCA_SSL_KEY_REPO_PASSWORD];
    expected.sort_unstable();
    assert_eq!(selectors, expected);
    let wrong = block_on(w.qm().delete(ObjectKind::QModel, "Q", Deletion::default()));
    assert_eq!(wrong, Err(ChangeError::WrongKind(local)));
    assert_eq!(define(&w, local, "NEW", Some("Q")), Ok(()));
    // A command that was not made by the parser is answered, too.
    let command = Command::Define {
        kind: local,
        name: "NOT A NAME".to_owned(),
        replace: false,
        like: None,
        attrs: Attrs::default(),
    };
    let reply = block_on(Admin::alone(w.qm()).execute(&command));
    assert_eq!(number(&reply), "AMQ8424E");
    assert_eq!(reply.reason, Reason::OBJECT_NAME_ERROR);
}

#[test]
fn who_is_in_the_way_is_named_with_what_they_have() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let holder = |session: &Session, held| Holder {
        who: HeldBy::Connection {
            application: "test".to_owned(),
            user: "tester".to_owned(),
            number: session.status().number,
        },
        held,
    };
    let one = |handles, puts, gets| Held {
        handles,
        puts,
        gets,
    };
    let clear = || block_on(w.qm().clear("Q"));
    let delete = |purge| {
        let how = Deletion::purging(purge);
        block_on(w.qm().delete(ObjectKind::QLocal, "Q", how))
    };
    let open = vec![holder(&s, one(1, 0, 0))];
    assert_eq!(clear(), Err(ChangeError::InUse(open.clone())));
    assert_eq!(delete(true), Err(ChangeError::InUse(open)));
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"1");
    put(&s, h, PERSISTENT, 0, b"2");
    get(&s, h, MQGMO_SYNCPOINT).unwrap();
    close(&s, h, 0).unwrap();
    let held = vec![holder(&s, one(0, 1, 1))];
    assert_eq!(clear(), Err(ChangeError::Uncommitted(held.clone())));
    assert_eq!(delete(true), Err(ChangeError::Uncommitted(held)));
    let reply = w.mqsc("CLEAR QLOCAL(Q)");
    assert_eq!(number(&reply), "AMQ8148E");
    assert_eq!(reply.messages[1].0, "AMQ2403I");
    commit(&s);
    assert_eq!(delete(false), Err(ChangeError::NotEmpty));
    assert_eq!(clear(), Ok(()));
    assert_eq!(delete(false), Ok(()));
    assert_eq!(delete(false), Err(ChangeError::NotFound));
}

/// It was named as an application without a user.
#[test]
fn a_branch_in_doubt_that_is_in_the_way_is_named_as_one() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"1");
    let xid = Xid::new(1, b"global", b"branch").unwrap();
    assert_eq!(block_on(s.prepare(&xid)), Ok(Vote::Prepared));
    close(&s, h, 0).unwrap();
    let reply = w.mqsc("DELETE QLOCAL(Q) PURGE");
    let [_, (id, text)] = &reply.messages[..] else {
        panic!("{reply:?}");
    };
    let expected = format!("The branch in doubt {xid} has one uncommitted put.");
    assert_eq!((id.as_str(), text), ("AMQ2416I", &expected));
}

#[test]
fn what_nobody_could_ever_meet_is_refused_to_channels() {
    let w = World::light();
    let wrong = [
        ("SSLCIPH(TLS_RSA_WITH_NULL)", "AMQ8242E", 4092),
        ("SSLCIPH(ANY_TLS13) SSLPEER('PHONE=1')", "AMQ8243E", 4093),
        ("SSLPEER('CN')", "AMQ8243E", 4093),
        // Only blanks around what is named mean nothing.
        ("SSLCIPH('ANY_TLS13\u{a0}')", "AMQ8242E", 4092),
        ("SSLCIPH('\u{a0}')", "AMQ8242E", 4092),
        ("SSLPEER('\u{a0}CN=a')", "AMQ8243E", 4093),
        ("SSLPEER('\u{2003}')", "AMQ8243E", 4093),
    ];
    w.run("DEFINE CHANNEL(IS.THERE) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12) SSLPEER('CN=a')");
    for (attributes, id, reason) in wrong {
        for command in [
            format!("DEFINE CHANNEL(NEW) CHLTYPE(SVRCONN) {attributes}"),
            format!("DEFINE CHANNEL(NEW) CHLTYPE(CLNTCONN) CONNAME(a) {attributes}"),
            format!("ALTER CHANNEL(IS.THERE) CHLTYPE(SVRCONN) {attributes}"),
        ] {
            let reply = w.mqsc(&command);
            assert_eq!((number(&reply), reply.reason.0), (id, reason), "{command}");
        }
    }
    assert_eq!(number(&w.mqsc("DISPLAY CHANNEL(NEW)")), "AMQ8147E");
    for unchanged in ["SSLCIPH EQ ANY_TLS12", "SSLPEER EQ 'CN=a'"] {
        let shown = w.mqsc(&format!("DISPLAY CHANNEL(*) WHERE({unchanged})"));
        assert_eq!(shown.rows.len(), 1, "{unchanged}");
    }
    w.run("ALTER CHANNEL(IS.THERE) CHLTYPE(SVRCONN) SSLCIPH(' ') SSLPEER('')");
}
