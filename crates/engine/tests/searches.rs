//! Searches by selector that remember what they have judged, against searches that remember nothing; and consumers with
//! selectors, against what is on the queue.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::time::{Duration, Instant};

use posthaste_engine::{Consumer, Session};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Od, PointerSize, Reason, Rfh2};
use world::*;

/// Of several shapes: those who wait are found by a value, by one of two, or by none; some look at what a backout changes.
const SELECTORS: [&str; 12] = [
    "color = 'red'",
    "n = 3",
    "n = 3 OR color = 'blue'",
    "color <> 'red'",
    "JMSXDeliveryCount > 1",
    "JMSRedelivered = FALSE AND color = 'red'",
    "w = 2",
    "w = 2.0 AND color = 'blue'",
    "JMSPriority = 5 AND color = 'red'",
    "NOT (color = 'red' AND n = 1)",
    "color = 'red'",
    "2 = JMSXDeliveryCount AND n = 1",
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

fn selecting(selection: &str) -> Od {
    Od {
        version: MQOD_VERSION_4,
        selection_string: selection.to_owned(),
        ..object("Q")
    }
}

/// An application: its connection, a handle without a selector and one for each selector.
struct App {
    s: Session,
    plain: Hobj,
    selecting: Vec<Hobj>,
    consumers: Vec<Option<Consumer>>,
}

impl App {
    fn new(w: &World) -> App {
        let s = w.connect();
        let options = MQOO_INPUT_SHARED | MQOO_BROWSE;
        let open_selecting = |selection: &&str| open_od(&s, &mut selecting(selection), options);
        App {
            plain: open(&s, "Q", IN_OUT | MQOO_BROWSE),
            selecting: (SELECTORS.iter().map(open_selecting).map(Result::unwrap)).collect(),
            consumers: SELECTORS.iter().map(|_| None).collect(),
            s,
        }
    }

    fn put(&self, random: &mut Random, options: i32) {
        let color = random.one(&["red", "blue", "green"]);
        let (n, w) = (random.below(4), random.below(3));
        let dt = random.one(&["i4", "i8", "r8", "string"]);
        let usr =
            format!("<usr><color>{color}</color><n dt='i4'>{n}</n><w dt='{dt}'>{w}</w></usr>");
        let header = Rfh2 {
            folders: vec![usr],
            ..Rfh2::default()
        };
        let mut data = Vec::new();
        header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
        data.resize(data.len() + random.below(100), b'-');
        let md = Md {
            format: Chars::new("MQHRF2"),
            encoding: MQENC_INTEGER_NORMAL,
            priority: random.one(&[0, 4, 5, 5, 5, 9]),
            ..md(random.one(&[PERSISTENT, NOT_PERSISTENT]))
        };
        send(&self.s, self.plain, md, options, &data);
    }

    /// What a look that remembers nothing sees first.
    fn seen(&self, at: usize) -> Result<[u8; 16], Reason> {
        let h = open_od(&self.s, &mut selecting(SELECTORS[at]), MQOO_BROWSE).unwrap();
        let seen = token(&self.s, h, MQGMO_BROWSE_FIRST);
        close(&self.s, h, 0).unwrap();
        seen
    }

    fn get(&self, at: usize, options: i32) {
        let seen = self.seen(at);
        let got = token(&self.s, self.selecting[at], options);
        assert_eq!(got, seen, "{}", SELECTORS[at]);
    }

    /// A consumer is given something, or there is nothing for it.
    fn consume(&mut self, at: usize, how: usize) {
        let (s, h) = (&self.s, self.selecting[at]);
        let consumer = self.consumers[at].get_or_insert_with(|| {
            let consumer = s.consumer(h, &md(0), &gmo(0)).unwrap();
            consumer.credit(1);
            consumer
        });
        let deadline = Instant::now() + Duration::from_secs(30);
        let came = loop {
            let came = Call::attempt(consumer.next());
            if came.is_some() || consumer.has_looked() {
                break came;
            }
            assert!(Instant::now() < deadline, "a look does not end");
            std::thread::yield_now();
        };
        let delivery = match came {
            Some(Ok(delivery)) => delivery,
            Some(Err(reason)) => panic!("{reason}"),
            None => {
                let why = match consumer.is_inhibited() {
                    true => Reason::GET_INHIBITED,
                    false => Reason::NO_MSG_AVAILABLE,
                };
                assert_eq!(self.seen(at), Err(why), "{}", SELECTORS[at]);
                return;
            }
        };
        match how {
            0 => posthaste_env::block_on(delivery.accept()).unwrap(),
            1 => posthaste_env::block_on(delivery.accept_in_unit()).unwrap(),
            _ => drop(delivery),
        }
        consumer.credit(1);
    }
}

fn token(s: &Session, h: Hobj, options: i32) -> Result<[u8; 16], Reason> {
    let gmo = Gmo {
        version: MQGMO_VERSION_3,
        ..gmo(options)
    };
    take(s, h, md(0), gmo, 1 << 20).map(|taken| taken.gmo.msg_token)
}

fn step(w: &World, apps: &mut [App], random: &mut Random) {
    let (at, which) = (random.below(apps.len()), random.below(SELECTORS.len()));
    let app = &mut apps[at];
    let synced = random.one(&[0, MQGMO_SYNCPOINT]);
    match random.below(100) {
        0..25 => app.put(random, 0),
        25..40 => app.put(random, MQPMO_SYNCPOINT),
        40..60 => app.get(which, synced),
        60..78 => app.consume(which, random.below(3)),
        78..83 => commit(&app.s),
        83..89 => backout(&app.s),
        89..93 => {
            let how = random.one(&[MQGMO_BROWSE_FIRST, MQGMO_BROWSE_NEXT]);
            let _ = next(&app.s, app.plain, how | MQGMO_LOCK);
        }
        93..95 => drop(next(&app.s, app.plain, MQGMO_UNLOCK)),
        95..97 => app.consumers[which] = None,
        97 => {
            let order = random.one(&["PRIORITY", "FIFO"]);
            w.mqsc(&format!("ALTER QLOCAL(Q) MSGDLVSQ({order})"));
        }
        98 if random.below(4) == 0 => {
            w.run("ALTER QLOCAL(Q) GET(DISABLED)");
            w.run("ALTER QLOCAL(Q) GET(ENABLED)");
        }
        99 if random.below(40) == 0 => {
            // More than a queue notes for those who remember.
            (0..1_100).for_each(|_| app.put(random, MQPMO_SYNCPOINT));
        }
        _ => drop(token(&app.s, app.plain, 0)),
    }
    if w.depth("Q") > 3_000 {
        while w.depth("Q") > 1_500 && token(&app.s, app.plain, 0).is_ok() {}
    }
}

#[test]
fn what_is_remembered_hides_nothing() {
    let seed = std::env::var("SEARCHES_SEED").map_or(1, |seed| seed.parse().unwrap());
    let steps = std::env::var("SEARCHES_STEPS").map_or(4_000, |steps| steps.parse().unwrap());
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (3_000, 3_000));
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000) MSGDLVSQ(PRIORITY)");
    let mut random = Random(seed);
    let mut apps: Vec<App> = (0..3).map(|_| App::new(&w)).collect();
    for n in 0..steps {
        step(&w, &mut apps, &mut random);
        if n % 200 == 199 {
            // The log is not long enough for units of work that never end.
            apps.iter().for_each(|app| commit(&app.s));
        }
    }
    w.qm().check().unwrap();
}
