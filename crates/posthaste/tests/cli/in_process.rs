//! A queue manager inside this test's process, and the commands in processes of their own around it.

use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo};
use posthaste_server::{DataDir, Exit, InProcess, InProcessOptions, LocalConnection};

use crate::place::Place;

fn queue(connection: &mut LocalConnection) -> Hobj {
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let options = MQOO_OUTPUT | MQOO_INPUT_SHARED;
    connection.open_object(&mut od, options).unwrap().value
}

#[test]
fn commands_work_on_it_and_its_files_have_one_owner() {
    let place = Place::new();
    // Made by `run`, with what a developer needs.
    place.serving("QM1").end();
    let data = DataDir::at(place.data());
    let open = || InProcess::open(&data, "QM1", &InProcessOptions::default());

    let qm = open().unwrap();
    place.line("run QM1 --port 0").failed_with(5, "AMQ2021E");
    place.line("start QM1").failed_with(5, "AMQ2021E");
    place.line("delete QM1").failed_with(5, "AMQ2021E");
    assert!(place.line("list").good().out.contains("Running"));
    place.fed("from outside\n", "put DEV.QUEUE.1 QM1").good();
    let mut connection = qm.connect("application").unwrap();
    let handle = queue(&mut connection);
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT,
        ..Gmo::default()
    };
    let got = connection.get(handle, &mut Md::default(), &mut gmo, 100);
    assert_eq!(got.unwrap().value.data, "from outside");
    let mut md = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    let put = connection.put(handle, &mut md, &mut pmo, b"from inside");
    put.unwrap();
    let shown = place.mqsc("DISPLAY CONN(*) APPLTAG", "QM1").good();
    assert!(shown.out.contains("APPLTAG(application)"), "{shown:?}");
    place.line("stop -i QM1").good();
    let late = connection.put(handle, &mut md, &mut pmo, b"too late");
    assert_eq!(late.unwrap_err().0, 2009);
    drop(qm);
    assert!(place.line("list").good().out.contains("Ended immediately"));

    let serving = place.serving("QM1");
    let refused = open().unwrap_err();
    assert_eq!((refused.exit, refused.id), (Exit::InUse, "AMQ2007E"));
    let got = place.line("get DEV.QUEUE.1 QM1").good();
    assert_eq!(got.out, "from inside\n");
    serving.end();
}
