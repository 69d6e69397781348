//! A queue manager inside this program: `posthaste create QM1`, then
//! `cargo run --release -p posthaste-server --example in_process`.

use posthaste_mqi::constants::{
    MQGMO_SYNCPOINT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Md, Mqi, Name, Od, Pmo};
use posthaste_server::{DataDir, EndMode, InProcess, InProcessOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = DataDir::find(None)?;
    let qm = InProcess::open(&data, "QM1", &InProcessOptions::default())?;
    let mut connection = qm.connect("example")?;
    let mut od = Od {
        object_name: Name::new("SYSTEM.DEFAULT.LOCAL.QUEUE"),
        ..Od::default()
    };
    let queue = connection
        .open_object(&mut od, MQOO_OUTPUT | MQOO_INPUT_SHARED)?
        .value;

    let mut md = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    connection.put(queue, &mut md, &mut pmo, b"Hello")?; // in the log when it returns
    let mut gmo = Gmo {
        options: MQGMO_SYNCPOINT,
        ..Gmo::default()
    };
    let got = connection
        .get(queue, &mut Md::default(), &mut gmo, 100)?
        .value;
    connection.commit()?;
    println!("{}", String::from_utf8_lossy(&got.data));

    Box::new(connection).disconnect()?;
    qm.end(EndMode::Controlled)?;
    Ok(())
}
