//! Every step of the table, and every mode of CONNAUTH.

use super::*;
use crate::connauth::Checks;
use posthaste_authentication::Unable;

const CLAIM: Claim<'static> = Claim {
    channel: "CH",
    conname: "127.0.0.1",
    local: false,
    mca_user: "",
    credentials: None,
    process: None,
    owner: None,
};

/// An application that gives a password as alice, and runs as the process of somebody else.
const ALICE: Claim<'static> = Claim {
    credentials: Some("alice"),
    process: Some("process"),
    ..CLAIM
};

fn checked(client: Check, adopt: bool) -> Policy {
    Policy::Checked(Checks::test(client, Check::Required, adopt))
}

fn right() -> Answer {
    Answer::Credentials(Verdict::Right("alice".to_owned()))
}

fn decided(claim: &Claim<'_>, policy: &Policy, answer: Answer) -> Result<Authenticated, Refusal> {
    claim.run_as(claim.weigh(policy, answer)?.user)
}

fn user(claim: &Claim<'_>, policy: &Policy, answer: Answer) -> String {
    decided(claim, policy, answer)
        .map(|who| who.user)
        .expect("somebody")
}

fn refused(claim: &Claim<'_>, policy: &Policy, answer: Answer) -> (&'static str, Reason) {
    let refusal = decided(claim, policy, answer).expect_err("refused");
    assert_eq!(refusal.inserts[..2], ["CH", "127.0.0.1"]);
    (refusal.id, refusal.reason)
}

#[test]
fn unchecked_mcauser_comes_before_credentials_and_these_before_what_the_process_says() {
    let process = Claim {
        process: Some("process"),
        ..CLAIM
    };
    let channel = Claim {
        mca_user: "mqapp",
        ..ALICE
    };
    let local = Claim {
        local: true,
        ..ALICE
    };
    for (claim, expected) in [
        (local, "process"),
        (CLAIM, ""),
        (process, "process"),
        (ALICE, "alice"),
        (channel, "mqapp"),
    ] {
        assert_eq!(claim.demand(&Policy::Unchecked), Demand::Nothing);
        assert_eq!(user(&claim, &Policy::Unchecked, Answer::Nothing), expected);
    }
}

#[test]
fn nobody_is_noaccess_by_whatever_says_so() {
    let closed = Claim {
        mca_user: "*NOACCESS",
        ..ALICE
    };
    let by_process = Claim {
        process: Some("*noAccess"),
        ..CLAIM
    };
    let given = Claim {
        credentials: Some("*noAccess"),
        ..CLAIM
    };
    for claim in [closed, by_process, given] {
        let expected = ("AMQ9557E", Reason::NOT_AUTHORIZED);
        assert_eq!(
            refused(&claim, &Policy::Unchecked, Answer::Nothing),
            expected
        );
    }
    // A channel that is closed is so for whoever gives a right password, too.
    for adopt in [false, true] {
        let policy = checked(Check::Required, adopt);
        assert_eq!(closed.demand(&policy), Demand::Credentials);
        assert_eq!(refused(&closed, &policy, right()).0, "AMQ9557E");
    }
    let nobody = Answer::Credentials(Verdict::Right("*NOACCESS".to_owned()));
    assert_eq!(
        refused(&ALICE, &checked(Check::Required, true), nobody).0,
        "AMQ9557E"
    );
}

#[test]
fn the_context_of_right_credentials_is_adopted_only_where_adoptctx_says_so() {
    let channel = Claim {
        mca_user: "mqapp",
        ..ALICE
    };
    for check in [Check::Optional, Check::Administrators, Check::Required] {
        for (claim, adopt, expected) in [
            (ALICE, true, "alice"),
            (channel, true, "alice"),
            (ALICE, false, "process"),
            (channel, false, "mqapp"),
        ] {
            let policy = checked(check, adopt);
            assert_eq!(claim.demand(&policy), Demand::Credentials);
            assert_eq!(user(&claim, &policy, right()), expected);
        }
    }
    // As whoever checked them knows the user.
    let known = Answer::Credentials(Verdict::Right("ALICE2".to_owned()));
    assert_eq!(
        user(&ALICE, &checked(Check::Required, true), known),
        "ALICE2"
    );
    let long = || Answer::Credentials(Verdict::Right("thirteen-long".to_owned()));
    let policy = checked(Check::Required, true);
    assert_eq!(refused(&ALICE, &policy, long()).0, "AMQ2603E");
    assert_eq!(
        user(&ALICE, &checked(Check::Required, false), long()),
        "process"
    );
}

#[test]
fn an_audit_hears_why_a_token_or_a_check_failed() {
    let policy = checked(Check::Required, true);
    for (verdict, message, because) in [
        (
            Verdict::BadToken("its time is over"),
            "AMQ2605E",
            "its time is over",
        ),
        (
            Verdict::NoName("no field".to_owned()),
            "AMQ2607E",
            "no field",
        ),
        (
            Verdict::Unable(Unable("gone".to_owned())),
            "AMQ2602E",
            "gone",
        ),
        (Verdict::Wrong, "AMQ5534E", ""),
    ] {
        let answer = Answer::Credentials(verdict);
        let refusal = decided(&ALICE, &policy, answer).expect_err("refused");
        let event = ALICE.refused(&refusal, &Application::default());
        assert_eq!((event.message, &*event.because), (message, because));
    }
}

#[test]
fn wrong_credentials_are_refused_wherever_they_are_looked_at() {
    for check in [Check::Optional, Check::Administrators, Check::Required] {
        let policy = checked(check, true);
        let mut answers = Vec::new();
        for verdict in [
            Verdict::Wrong,
            Verdict::TooMany(None),
            Verdict::NoName("without a name".to_owned()),
            Verdict::BadToken("its time is over"),
            Verdict::Unable(Unable("gone".to_owned())),
        ] {
            answers.push(refused(&ALICE, &policy, Answer::Credentials(verdict)));
        }
        let expected = [
            ("AMQ5534E", Reason::NOT_AUTHORIZED),
            ("AMQ2601E", Reason::NOT_AUTHORIZED),
            ("AMQ2607E", Reason::NOT_AUTHORIZED),
            ("AMQ2605E", Reason::NOT_AUTHORIZED),
            ("AMQ2602E", Reason::SECURITY_ERROR),
        ];
        assert_eq!(answers, expected);
    }
    let policy = checked(Check::None, true);
    assert_eq!(ALICE.demand(&policy), Demand::Nothing);
    assert_eq!(
        user(&ALICE, &policy, Answer::Nothing),
        "process",
        "nor adopted"
    );
}

#[test]
fn who_gives_no_password_is_let_in_where_none_is_demanded() {
    let claim = Claim {
        credentials: None,
        ..ALICE
    };
    for check in [Check::None, Check::Optional] {
        let policy = checked(check, true);
        assert_eq!(claim.demand(&policy), Demand::Nothing);
        assert_eq!(user(&claim, &policy, Answer::Nothing), "process");
    }
    let policy = checked(Check::Required, true);
    let expected = ("AMQ5540E", Reason::NOT_AUTHORIZED);
    assert_eq!(refused(&claim, &policy, Answer::Nothing), expected);
}

#[test]
fn an_administrator_gives_a_password_and_others_need_not() {
    let policy = checked(Check::Administrators, true);
    let process = Claim {
        credentials: None,
        ..ALICE
    };
    let channel = Claim {
        mca_user: "mqm",
        ..process
    };
    for (claim, expected) in [(process, "process"), (channel, "mqm")] {
        assert_eq!(
            claim.demand(&policy),
            Demand::Privilege(expected.to_owned())
        );
        let answer = |is| Answer::Privilege(is);
        assert_eq!(user(&claim, &policy, answer(Some(false))), expected);
        assert_eq!(refused(&claim, &policy, answer(Some(true))).0, "AMQ5541E");
        let unknown = ("AMQ2602E", Reason::SECURITY_ERROR);
        assert_eq!(refused(&claim, &policy, answer(None)), unknown);
    }
}

#[test]
fn nobody_comes_in_without_the_answer_that_was_demanded() {
    let nothing = Claim {
        credentials: None,
        ..ALICE
    };
    let required = checked(Check::Required, true);
    let administrators = checked(Check::Administrators, true);
    for (claim, policy, answer) in [
        (&ALICE, &required, Answer::Nothing),
        (&ALICE, &required, Answer::Privilege(Some(false))),
        (&nothing, &administrators, Answer::Nothing),
        (&nothing, &administrators, right()),
        (&nothing, &required, right()),
        (&nothing, &required, Answer::Privilege(Some(false))),
    ] {
        let expected = ("AMQ2602E", Reason::SECURITY_ERROR);
        assert_eq!(refused(claim, policy, answer), expected);
    }
}

#[test]
fn applications_of_this_machine_have_a_check_of_their_own() {
    let local = Claim {
        local: true,
        credentials: None,
        ..ALICE
    };
    let optional = Policy::Checked(Checks::test(Check::Required, Check::Optional, true));
    assert_eq!(user(&local, &optional, Answer::Nothing), "process");
    let required = Policy::Checked(Checks::test(Check::None, Check::Required, true));
    assert_eq!(refused(&local, &required, Answer::Nothing).0, "AMQ5540E");
    // What is broken closes the queue manager to the network, and lets its owner put it right.
    let broken = Policy::Broken("there is no such object".to_owned());
    assert_eq!(user(&local, &broken, Answer::Nothing), "process");
    let expected = ("AMQ2602E", Reason::SECURITY_ERROR);
    assert_eq!(refused(&ALICE, &broken, Answer::Nothing), expected);
}

/// Records and messages see one name: what is cut off of a longer one does not hide whose it is.
#[test]
fn a_name_is_what_a_message_can_carry_of_it() {
    for (name, carried) in [
        ("root        x", "root"),
        ("root ", "root"),
        ("root\0x", "root"),
        ("applicationuser", "applicationu"),
        (" root", " root"),
    ] {
        let process = Claim {
            process: Some(name),
            ..CLAIM
        };
        let given = Claim {
            credentials: Some(name),
            ..CLAIM
        };
        for claim in [process, given] {
            assert_eq!(user(&claim, &Policy::Unchecked, Answer::Nothing), carried);
        }
        let adopted = Answer::Credentials(Verdict::Right(name.to_owned()));
        let adopts = ALICE.weigh(&checked(Check::Required, true), adopted);
        assert_eq!(adopts.is_ok(), name == carried, "{name:?}");
        // As a record may say.
        assert_eq!(ALICE.run_as(name.to_owned()).is_ok(), name == carried);
    }
}

/// A connection over loopback stands for whom qm.ini names, whatever the application, the channel or ADOPTCTX say.
#[test]
fn the_owner_over_loopback_runs_as_one_user_only() {
    let owner = Claim {
        owner: Some("app"),
        process: Some("root"),
        ..CLAIM
    };
    let channel = Claim {
        mca_user: "mqm",
        ..owner
    };
    let closed = Claim {
        mca_user: "*NOACCESS",
        ..owner
    };
    let checks = [
        Check::None,
        Check::Optional,
        Check::Administrators,
        Check::Required,
    ];
    for (check, adopt) in checks.into_iter().zip([true, false, true, false]) {
        let policy = checked(check, adopt);
        for claim in [owner, channel] {
            assert_eq!(claim.demand(&policy), Demand::Nothing);
            let weighed = claim.weigh(&policy, Answer::Nothing).unwrap();
            assert_eq!(weighed.user, "app");
            assert_eq!(weighed.client.as_deref(), Some("app"), "for records, too");
            assert!(!weighed.verified, "it has given no password");
        }
        let refused = refused(&closed, &policy, Answer::Nothing);
        assert_eq!(refused.0, "AMQ9557E");
    }
    // Credentials are looked at all the same, and nobody is checked where nothing is.
    let given = Claim {
        credentials: Some("alice"),
        ..owner
    };
    let required = checked(Check::Required, true);
    assert_eq!(given.demand(&required), Demand::Credentials);
    let wrong = Answer::Credentials(Verdict::Wrong);
    assert_eq!(refused(&given, &required, wrong).0, "AMQ5534E");
    assert_eq!(user(&given, &required, right()), "alice");
    assert_eq!(user(&owner, &Policy::Unchecked, Answer::Nothing), "root");
}
