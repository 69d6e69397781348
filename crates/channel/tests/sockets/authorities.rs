//! Authorities of whoever connects: what a client is told where nobody can say who it is, and that nobody waits for whoever
//! has gone.

use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_authority::{Entity, Identity};
use posthaste_engine::{Looking, Users};
use posthaste_mqi::{Hobj, Reason};
use tokio::net::TcpStream;

use crate::client::{Client, conn};
use crate::connauth::Given;
use crate::world::World;

type Raw = Client<TcpStream>;

/// Knows `boss`, cannot find out who `unable` is, and is asked in vain about everybody else.
#[derive(Default)]
struct Slow {
    asked: Mutex<Vec<String>>,
}

impl Users for Slow {
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>> {
        self.asked.lock().push(user.to_owned());
        match user {
            "boss" | "unable" => Box::pin(std::future::ready(self.known_identity(user))),
            _ => Box::pin(std::future::pending()),
        }
    }

    fn known_identity(&self, user: &str) -> Option<Arc<Identity>> {
        (user == "boss").then(|| {
            Arc::new(Identity {
                user: user.into(),
                privileged: true,
                ..Identity::default()
            })
        })
    }

    fn is_known<'a>(&'a self, _: &'a Entity) -> Looking<'a, Option<bool>> {
        Box::pin(std::future::ready(Some(false)))
    }

    fn refresh(&self) {}
}

#[tokio::test]
async fn who_nobody_could_say_who_he_is_hears_2063_and_who_has_gone_is_not_waited_for() {
    let users = Arc::new(Slow::default());
    let world = World::authorising(users.clone()).await;
    for (user, expected) in [
        ("unable", Reason::SECURITY_ERROR),
        ("boss", Reason::NONE),
        // It is not kept.
        ("unable", Reason::SECURITY_ERROR),
    ] {
        let offer = Raw::offer("CH");
        let mut client = Client::agreed(world.socket().await, &offer).await.unwrap();
        let reason = Given::Userid(user, "").connect(&mut client).await;
        assert_eq!(reason, expected, "{user}");
    }
    let offer = Raw::offer("CH");
    let mut client = Client::agreed(world.socket().await, &offer).await.unwrap();
    Given::Userid("nobody", "").state(&mut client);
    client.send(Hobj::NONE, &conn("QM1"));
    client.flush().await;
    let asked = async {
        while !users.asked.lock().iter().any(|user| user == "nobody") {
            tokio::task::yield_now().await;
        }
    };
    let in_time = std::time::Duration::from_secs(60);
    tokio::time::timeout(in_time, asked)
        .await
        .expect("it is asked about");
    drop(client);
    let gone = tokio::time::timeout(in_time, world.admission.empty()).await;
    gone.expect("its place is free again");
}
