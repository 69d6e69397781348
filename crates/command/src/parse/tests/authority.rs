//! Commands about authority records, as they are read.

use super::*;
use crate::authority::{AuthorityCommand, Matching, RecordName};
use posthaste_authority::{Authorities, Authority, Entity, ObjectType, Profile};

fn read(text: &str) -> AuthorityCommand {
    match parse(text) {
        Ok(Some(Command::Authority(command))) => command,
        other => panic!("{text}: {other:?}"),
    }
}

fn record(profile: &str, object_type: ObjectType, entity: Entity) -> RecordName {
    RecordName {
        profile: Profile::new(profile).unwrap(),
        object_type,
        entity,
    }
}

#[test]
fn records_are_set_and_deleted() {
    let staff = record("DEV.**", ObjectType::Queue, Entity::group("staff"));
    assert_eq!(
        read(
            "SET AUTHREC PROFILE('DEV.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET,PUT) AUTHRMV(BROWSE)"
        ),
        AuthorityCommand::Set {
            record: staff.clone(),
            add: Authorities::of(&[Authority::Get, Authority::Put]),
            remove: Authority::Browse.into(),
        }
    );
    assert_eq!(
        read("delete authrec profile(dev.**) objtype(queue) group('staff')"),
        AuthorityCommand::Delete { record: staff }
    );
    let AuthorityCommand::Set {
        record: of, add, ..
    } = read(
        "SET AUTHREC PROFILE(QM1) OBJTYPE(QMGR) PRINCIPAL(FRED) AUTHADD(ALLMQI,DSP) SERVCOMP('MQSeries.UNIX.auth.service')",
    )
    else {
        panic!("not a SET");
    };
    assert_eq!(
        of,
        record("self", ObjectType::QueueManager, Entity::principal("FRED"))
    );
    let mqi = Authorities::ALL_MQI & ObjectType::QueueManager.applicable();
    assert_eq!(add, mqi | Authority::Display.into());
    // What is left of a group of authorities is what applies, if that is nothing.
    let AuthorityCommand::Set { add, .. } =
        read("SET AUTHREC PROFILE(C) OBJTYPE(CHANNEL) GROUP(G) AUTHADD(ALLMQI)")
    else {
        panic!("not a SET");
    };
    assert!(add.is_empty());
    let AuthorityCommand::Set { record: of, .. } =
        read("SET AUTHREC PROFILE('@class') OBJTYPE(QUEUE) GROUP(G) AUTHADD(CRT)")
    else {
        panic!("not a SET");
    };
    assert_eq!(of.profile.text(), "@class");
}

#[test]
fn records_are_displayed() {
    assert_eq!(
        read("DISPLAY AUTHREC"),
        AuthorityCommand::Records {
            profile: None,
            object_type: None,
            entity: None,
            matching: Matching::Profile,
            show: Vec::new(),
        }
    );
    assert_eq!(
        read(
            "DIS AUTHREC PROFILE(A.B) OBJTYPE(TOPIC) PRINCIPAL('jane') MATCH(MEMBERSHIP) ENTITY AUTHLIST"
        ),
        AuthorityCommand::Records {
            profile: Some(Profile::new("A.B").unwrap()),
            object_type: Some(ObjectType::Topic),
            entity: Some(Entity::principal("jane")),
            matching: Matching::Membership,
            show: vec!["ENTITY", "AUTHLIST"],
        }
    );
    assert_eq!(
        read("DIS ENTAUTH OBJNAME(A.B) OBJTYPE(QUEUE) GROUP('g') ALL"),
        AuthorityCommand::Entity {
            record: record("A.B", ObjectType::Queue, Entity::group("g")),
            show: Vec::new(),
        }
    );
    let show = vec!["UIDSUPP"];
    assert_eq!(
        read("DIS AUTHSERV UIDSUPP"),
        AuthorityCommand::Service { show }
    );
}

#[test]
fn groups_are_asked_anew() {
    for text in ["REFRESH SECURITY", "REFRESH SECURITY(*) TYPE(AUTHSERV)"] {
        assert_eq!(read(text), AuthorityCommand::Refresh, "{text}");
    }
}
