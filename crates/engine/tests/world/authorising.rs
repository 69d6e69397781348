//! A queue manager that checks authorities, and whose users a test knows.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use posthaste_admin::Admin;
use posthaste_authority::{Entity, EntityKind, Identity};
use posthaste_command::Reply;
use posthaste_engine::{
    Application, Authorization, Binding, CreateOptions, Looking, Session, Users,
};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Md, Od, Reason, Sd};

use super::*;

/// Users and groups that a test knows.
#[derive(Default)]
pub struct Known {
    /// Nobody is answered about.
    pub silent: Mutex<bool>,
    /// Whoever asks about these waits for ever.
    pub hung: Mutex<Vec<&'static str>>,
    users: Mutex<Vec<(String, Vec<String>)>>,
    pub refreshed: Mutex<usize>,
}

impl Known {
    pub fn set(&self, user: &str, groups: &[&str]) {
        let mut users = self.users.lock();
        users.retain(|(known, _)| known != user);
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        users.push((user.to_owned(), groups));
    }

    fn groups(&self, user: &str) -> Option<Vec<String>> {
        let users = self.users.lock();
        let known = users.iter().find(|(known, _)| known == user);
        known.map(|(_, groups)| groups.clone())
    }
}

impl Users for Known {
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>> {
        if self.hung.lock().contains(&user) {
            return Box::pin(std::future::pending());
        }
        let identity = self.known_identity(user);
        Box::pin(async move { identity })
    }

    fn known_identity(&self, user: &str) -> Option<Arc<Identity>> {
        if *self.silent.lock() || self.hung.lock().contains(&user) {
            return None;
        }
        let groups = self.groups(user).unwrap_or_default();
        let groups: Vec<Box<str>> = groups.iter().map(|group| group.as_str().into()).collect();
        let identity = Identity {
            user: user.into(),
            privileged: groups.iter().any(|group| &**group == "mqm"),
            groups: groups.into(),
        };
        Some(Arc::new(identity))
    }

    fn is_known<'a>(&'a self, entity: &'a Entity) -> Looking<'a, Option<bool>> {
        if *self.silent.lock() {
            return Box::pin(async { None });
        }
        let users = self.users.lock();
        let known = match entity.kind {
            EntityKind::Principal => users.iter().any(|(user, _)| *user == *entity.name),
            EntityKind::Group => {
                let mut groups = users.iter().flat_map(|(_, groups)| groups);
                groups.any(|group| **group == *entity.name) || &*entity.name == "nobody"
            }
        };
        Box::pin(async move { Some(known) })
    }

    fn refresh(&self) {
        *self.refreshed.lock() += 1;
    }
}

/// A queue manager with authorities, where `app` is in the group `staff` and `boss` in `mqm`.
pub fn world(by_user: bool) -> (World, Arc<Known>) {
    let users = Arc::new(Known::default());
    users.set("app", &["staff", "extra"]);
    users.set("other", &["others"]);
    users.set("boss", &["mqm"]);
    let options = CreateOptions::default();
    let w = World::made(&options, |config| {
        config.log_config.file_pages = 64;
        config.authorization = Some(Authorization {
            users: users.clone(),
            by_user,
            enforced: true,
        });
    });
    (w, users)
}

pub fn admit(w: &World, user: &str) -> Result<Session, Reason> {
    block_on(w.qm().admit(Application {
        user: user.to_owned(),
        binding: Binding::Shared,
        ..who("test")
    }))
}

pub fn command(w: &World, user: &str, text: &str) -> Reply {
    let issuer = block_on(w.qm().issuer(Application {
        user: user.to_owned(),
        ..who("admin")
    }))
    .unwrap();
    block_on(Admin::alone(w.qm()).run_for(&issuer, text))
}

/// What is granted: type of object, profile, authority.
pub type Grant = (&'static str, &'static str, &'static str);

/// The records of the group `staff` are these.
pub fn grant(w: &World, grants: &[Grant]) {
    for record in w.qm().authority_records() {
        let (of, name) = (record.object_type.word(), &record.entity.name);
        w.run(&format!(
            "DELETE AUTHREC PROFILE('{}') OBJTYPE({of}) GROUP('{name}')",
            record.profile
        ));
    }
    for (of, profile, authority) in grants {
        w.run(&format!(
            "SET AUTHREC PROFILE('{profile}') OBJTYPE({of}) GROUP('staff') AUTHADD({authority})"
        ));
    }
}

pub fn opens(s: &Session, name: &str, options: i32) -> Result<(), Reason> {
    let handle = try_open(s, name, options)?;
    close(s, handle, MQCO_NONE).map(drop)
}

pub fn sd(options: i32, name: &str) -> Sd {
    Sd {
        options,
        sub_name: name.to_owned(),
        object_string: "news/today/sports".to_owned(),
        ..Sd::default()
    }
}

pub fn authorities(w: &World, group: &str, queue: &str) -> String {
    let command = format!("DISPLAY ENTAUTH GROUP('{group}') OBJTYPE(QUEUE) OBJNAME({queue})");
    let reply = w.mqsc(&command);
    reply.rows[0].2.shown("AUTHLIST").unwrap()
}

pub fn opens_od(s: &Session, od: &mut Od, options: i32) -> Result<(), Reason> {
    let handle = open_od(s, od, options)?;
    close(s, handle, MQCO_NONE).map(drop)
}

pub fn puts1(s: &Session, mut od: Od, options: i32) -> Result<(), Reason> {
    let (mut md, mut pmo) = (Md::default(), pmo(options));
    let put = s.put1(&mut od, &mut md, &mut pmo, Bytes::new());
    block_on(put).map(drop)
}

pub fn subscribes(s: &Session, mut sd: Sd, hobj: Hobj) -> Result<(), Reason> {
    let (hobj_made, hsub) = block_on(s.subscribe(&mut sd, hobj))?.value;
    let _ = close(s, hsub, MQCO_NONE);
    if hobj == Hobj::NONE {
        let _ = close(s, hobj_made, MQCO_NONE);
    }
    Ok(())
}

pub fn for_other(mut od: Od) -> Od {
    od.alternate_user_id = Chars::new("app");
    od
}
