//! Connections: every byte once and in order, in any pieces, up to the byte after which they break.
#![allow(missing_docs, clippy::unwrap_used)]

use std::future::poll_fn;
use std::io;

use posthaste_env_sim::{Break, Cut, PipeEnd, Shape, Side, SimWorld};

const SHAPE: Shape = Shape {
    delay: (1_000, 400_000),
    piece: 7,
    window: 20,
    cut: None,
};

async fn write_all(end: &mut PipeEnd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|cx| end.poll_write(cx, bytes)).await?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Reads to the end, or to an error.
async fn read_all(end: &mut PipeEnd) -> (Vec<u8>, io::Result<()>) {
    let (mut all, mut buffer) = (Vec::new(), [0; 64]);
    loop {
        match poll_fn(|cx| end.poll_read(cx, &mut buffer)).await {
            Ok(0) => return (all, Ok(())),
            Ok(length) => all.extend_from_slice(&buffer[..length]),
            Err(error) => return (all, Err(error)),
        }
    }
}

fn bytes() -> Vec<u8> {
    (0..200).collect()
}

#[test]
fn every_byte_arrives_once_and_in_order() {
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let (mut client, mut server, wire) = world.network().connect(SHAPE);
        let writing = world.executor().spawn("client", async move {
            write_all(&mut client, &bytes()).await.unwrap();
            client.shut_down();
            read_all(&mut client).await.0
        });
        let read = world.executor().block_on(async move {
            let (all, end) = read_all(&mut server).await;
            end.unwrap();
            write_all(&mut server, b"seen").await.unwrap();
            all
        });
        assert_eq!(read.unwrap(), bytes());
        world.executor().run_until_idle();
        assert_eq!(writing.take().unwrap(), b"seen", "the other way is open");
        assert_eq!(
            (wire.read_of(Side::Client), wire.queued_of(Side::Client)),
            (200, 0)
        );
    }
}

#[test]
fn a_connection_breaks_after_every_byte() {
    for after in 0..200 {
        for how in [Break::Reset, Break::HalfClose] {
            let world = SimWorld::new(after);
            let cut = Cut {
                writer: Side::Client,
                after,
                how,
            };
            let shape = Shape {
                cut: Some(cut),
                ..SHAPE
            };
            let (mut client, mut server, wire) = world.network().connect(shape);
            world.executor().spawn("client", async move {
                // It may learn of the break, or be done before.
                let _ = write_all(&mut client, &bytes()).await;
                read_all(&mut client).await
            });
            let (read, end) = world
                .executor()
                .block_on(async move { read_all(&mut server).await })
                .unwrap();
            assert_eq!(read, &bytes()[..after as usize], "{how:?}");
            assert_eq!(end.is_err(), how == Break::Reset);
            assert_eq!(wire.is_broken(), how == Break::Reset);
            assert_eq!(wire.cut(), Some(Side::Client));
        }
    }
}

#[test]
fn in_a_silence_nobody_learns_anything_and_writers_wait() {
    let world = SimWorld::new(1);
    let (mut client, mut server, wire) = world.network().connect(SHAPE);
    let writing =
        world.executor().spawn(
            "client",
            async move { write_all(&mut client, &bytes()).await },
        );
    let reading = world
        .executor()
        .spawn("server", async move { read_all(&mut server).await });
    world.executor().run_for(300_000);
    wire.sever(Break::Silence);
    world.executor().run_until_idle();
    assert!(!writing.is_finished() && !reading.is_finished());
    assert_eq!(wire.queued_of(Side::Client), SHAPE.window);
    wire.sever(Break::Reset);
    world.executor().run_until_idle();
    assert!(
        !writing.is_finished(),
        "broken already: the first break counts"
    );
}

#[test]
fn who_goes_away_is_noticed_by_both_directions() {
    let world = SimWorld::new(2);
    let (mut client, server, _) = world.network().connect(SHAPE);
    let seen = world.executor().spawn("client", async move {
        let rest = read_all(&mut client).await;
        (rest.0, write_all(&mut client, b"x").await)
    });
    drop(server);
    world.executor().run_until_idle();
    let (rest, written) = seen.take().unwrap();
    assert_eq!(rest, b"");
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn a_writer_is_held_by_a_reader_that_does_not_read() {
    let world = SimWorld::new(3);
    let (mut client, server, wire) = world.network().connect(SHAPE);
    let writing =
        world.executor().spawn(
            "client",
            async move { write_all(&mut client, &bytes()).await },
        );
    world.executor().run_until_idle();
    assert!(!writing.is_finished());
    assert_eq!(wire.queued_of(Side::Client), SHAPE.window);
    drop(server);
    world.executor().run_until_idle();
    assert!(writing.take().unwrap().is_err());
}
