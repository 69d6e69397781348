//! Restart: image, log, undo, and a new incarnation.
//!
//! Nothing is thrown away before the new state is as durable as the old one: the restart itself
//! writes only to free places of queue files and to the end of the log, so it can be interrupted
//! and repeated at any point.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use posthaste_env::{Env, PAGE};
use posthaste_recovery_log::{Class, LogError, RecoveryLog, Restart, Writer};
use posthaste_store::{Place, QueueFile, StoreError, image_number, read_image};

use super::checkpoint::{index_bytes, interval};
use super::checkpoint_state::CheckpointState;
use super::identity::FolderIdentity;
use super::image::{self, Anchor, Header, SavedObject, SavedQueue, nonsense};
use super::locks::Locks;
use super::replay::Replay;
use crate::bodies::{BodyCipher, open_record};
use crate::catalogue::{self, Catalogue};
use crate::config::EngineConfig;
use crate::file_service::FileService;
use crate::manager::{Inner, Parts};
use crate::mark::{Mark, mark};
use crate::meter::Counters;
use crate::numbers::{self, Numbers};
use crate::operator::{Operator, in_short};
use crate::plant::{Bug, planted};
use crate::queue::damage;
use crate::queue::index::NewSlot;
use crate::queue::saved::{Places, load_chunk};
use crate::queue::{Queue, QueueHome, names_queue_file};
use crate::queue_manager::{QueueManager, Started};
use crate::record::{self, QueueId};
use crate::room::{Needs, Room};
use crate::stop::StartError;
use crate::unit::carried::{self, Row};

/// What an image holds, decoded.
struct Image {
    bytes: u64,
    header: Header,
    catalogue: Vec<SavedObject>,
    queues: Vec<SavedQueue>,
    /// What it carries of units of work in doubt.
    units: Vec<u8>,
}

fn load_image(env: &Env, config: &EngineConfig, number: u64) -> Result<Image, StartError> {
    let mut sections = match read_image(&env.disk, &config.data, number) {
        Err(StoreError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(without_image(env, config, number, error));
        }
        read => read?,
    };
    let section = |kind: u32| {
        let found = sections.iter().find(|(k, _)| *k == kind);
        found.map(|(_, bytes)| bytes.as_slice())
    };
    let header = section(image::HEADER).map(Header::decode).transpose()?;
    let catalogue = section(image::CATALOGUE).and_then(image::decode_catalogue);
    let queues = section(image::QUEUES).and_then(image::decode_queues);
    let bytes = sections.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let units = sections
        .iter_mut()
        .find(|(kind, _)| *kind == image::UNITS)
        .map(|(_, bytes)| std::mem::take(bytes));
    match (header, catalogue, queues, units) {
        (Some(header), Some(catalogue), Some(queues), Some(units)) => Ok(Image {
            bytes,
            header,
            catalogue,
            queues,
            units,
        }),
        _ => Err(nonsense("the checkpoint image lacks a part")),
    }
}

/// The log's control file names an image that is not there. If there is a newer one, the image was removed because the
/// control file named that one: what was read is an old copy, and the queue files are not to blame.
fn without_image(
    env: &Env,
    config: &EngineConfig,
    number: u64,
    error: std::io::Error,
) -> StartError {
    let names = env.disk.list(&config.data).unwrap_or_default();
    let newest = names.iter().filter_map(|name| image_number(name)).max();
    match newest {
        Some(newest) if newest > number => StartError::Log(LogError::old_control(
            &config.log,
            format!("it names checkpoint {number}, but checkpoint {newest} is there"),
        )),
        _ => StartError::Store(StoreError::Io(error)),
    }
}

/// Loads a queue's saved messages as held slots. Without `keep_np`, the non-persistent messages in
/// it (of an earlier controlled shutdown) are left out. What units of work in doubt have in the file is theirs
/// (`in_doubt`), unless it is among the saved messages: it was committed then.
fn load_queue(
    queue: &Queue,
    saved: &SavedQueue,
    keep_np: bool,
    in_doubt: &Places,
) -> Result<(), StartError> {
    if saved.chunks.iter().all(Option::is_none) && in_doubt.is_empty() {
        return Ok(());
    }
    let file = queue.open_saved_file()?;
    let mut in_doubt = in_doubt.clone();
    let mut chunks = Vec::with_capacity(saved.chunks.len());
    let mut places: Vec<Place> = Vec::new();
    let mut dirty = Vec::new();
    for (number, chunk) in saved.chunks.iter().enumerate() {
        let mut entries = match chunk {
            Some(chunk) => load_chunk(&file, *chunk)?,
            None => Vec::new(),
        };
        if entries.iter().any(|e| !e.persistent) {
            // The next image must not have them: they survive this restart only.
            dirty.push(number);
            if !keep_np {
                entries.retain(|e| e.persistent);
            }
        }
        places.extend(chunk.map(|chunk| chunk.place));
        places.extend(entries.iter().filter_map(NewSlot::place));
        for entry in &entries {
            in_doubt.remove(&entry.seq);
        }
        chunks.push((*chunk, entries));
    }
    places.extend(in_doubt.into_values());
    file.rebuild(places.into_iter())?;
    let mut state = queue.lock();
    state.index.restore(chunks);
    for number in dirty {
        state.index.chunk_states[number].dirty = true;
    }
    Ok(())
}

/// Loads a queue's saved messages; if its file is damaged, what can be read of them, and the queue is marked. The
/// queue manager starts in any case.
fn load_or_mark(
    queue: &Queue,
    saved: &SavedQueue,
    keep_np: bool,
    in_doubt: &Places,
    operator: &dyn Operator,
) -> Result<(), StartError> {
    match load_queue(queue, saved, keep_np, in_doubt) {
        Err(StartError::Store(error))
            if damage::is_damage(&error) && !planted(Bug::RefuseDamaged) =>
        {
            let inserts = [queue.name.text().to_string(), error.to_string()];
            operator.message("AMQ7472E", &inserts);
            Ok(damage::load(queue, saved, keep_np, in_doubt)?)
        }
        loaded => loaded,
    }
}

fn load_queues(
    catalogue: &Catalogue,
    saved: &[SavedQueue],
    keep_np: bool,
    in_doubt: &BTreeMap<QueueId, Places>,
    operator: &dyn Operator,
) -> Result<(), StartError> {
    let none = Places::default();
    let queues: HashMap<_, _> = {
        let queues = catalogue.local_queues().into_iter();
        queues.map(|queue| (queue.id, queue)).collect()
    };
    for saved in saved {
        if let Some(queue) = queues.get(&saved.queue) {
            let in_doubt = in_doubt.get(&saved.queue).unwrap_or(&none);
            load_or_mark(queue, saved, keep_np, in_doubt, operator)?;
        }
    }
    Ok(())
}

/// The files of queues that the image does not know are leftovers of deleted queues. What is not the file of a queue,
/// by its name and by its first bytes, is somebody else's and stays. One that cannot be removed stays too, and is told:
/// nothing needs it, nor that it be gone.
fn remove_strays(
    env: &Env,
    home: &QueueHome,
    catalogue: &Catalogue,
    operator: &dyn Operator,
) -> Result<(), StartError> {
    let io = |error| StartError::Io {
        what: format!("reading {}", home.directory.display()),
        error,
    };
    let known: HashSet<String> = catalogue
        .local_queues()
        .iter()
        .map(|queue| queue.file_name())
        .collect();
    let (mut removed, mut left, mut why) = (Vec::new(), Vec::new(), String::new());
    for name in env.disk.list(&home.directory).map_err(io)? {
        let path = home.directory.join(&name);
        if known.contains(&name) || !names_queue_file(&name) || !QueueFile::is_one(&env.disk, &path)
        {
            continue;
        }
        match env.disk.remove_file(&path) {
            Ok(()) => removed.push(name),
            Err(error) => {
                left.push(name);
                why = error.to_string();
            }
        }
    }
    if !removed.is_empty() {
        let inserts = [removed.len().to_string(), in_short(&removed)];
        operator.message("AMQ2064I", &inserts);
    }
    if !left.is_empty() {
        let inserts = [left.len().to_string(), in_short(&left), why];
        operator.message("AMQ2068W", &inserts);
    }
    Ok(())
}

fn home_of(env: &Env, config: &EngineConfig, tag_seed: u64) -> Arc<QueueHome> {
    Arc::new(QueueHome {
        disk: env.disk.clone(),
        directory: config.data.join("queues"),
        tag_seed,
        q_buffer: config.q_buffer,
        pq_buffer: config.pq_buffer,
        counters: Counters::default(),
        triggered: Default::default(),
        room: Room::new(&env.disk, &config.data),
        files: FileService::default(),
        cipher: config.cipher.clone(),
    })
}

/// Makes what is missing of the reserve for checkpoints, before the replay files anything: what room there is may be
/// needed for the next one. `image`, `index`: bytes of the last one's.
fn keep_room(
    catalogue: &Catalogue,
    home: &QueueHome,
    config: &EngineConfig,
    image: u64,
    index: u64,
) -> Result<(), StoreError> {
    let shape = &config.log_config;
    let primary = u64::from(shape.primary_files) * u64::from(shape.file_pages) * PAGE as u64;
    home.room.set_needs(Needs {
        image,
        index,
        interval: interval(primary),
        buffers: catalogue.local_queues().len() as u64 * config.pq_buffer as u64,
    });
    home.room.make().map(drop)
}

/// Loads what an image says of messages, and makes the reserve; returns what it carries of units of work in doubt.
fn load_messages<'a>(
    catalogue: &Catalogue,
    home: &QueueHome,
    config: &EngineConfig,
    image: &'a Image,
    keep_np: bool,
    operator: &dyn Operator,
) -> Result<Vec<Row<'a>>, StartError> {
    let carried = carried::rows(&image.units)
        .ok_or_else(|| nonsense("the checkpoint image has units of work that cannot be read"))?;
    let in_doubt = carried::places(&carried, keep_np);
    load_queues(catalogue, &image.queues, keep_np, &in_doubt, operator)?;
    let index = index_bytes(&image.queues) + image.units.len() as u64;
    keep_room(catalogue, home, config, image.bytes, index)?;
    Ok(carried)
}

/// Makes damaged queues usable that the log says were cleared.
fn begin_anew(catalogue: &Catalogue, operator: &dyn Operator) {
    for queue in catalogue.local_queues() {
        // Should it fail, the next checkpoint tries again, and says what is wrong.
        if let Ok(true) = queue.begin_anew() {
            operator.message("AMQ2061I", &[queue.name.text().to_string()]);
        }
    }
}

/// A queue file that cannot be written refuses the start: the queue manager could not go on.
fn expect_filed(home: &QueueHome) -> Result<(), StartError> {
    match home.room.broken() {
        None => Ok(()),
        Some(why) => Err(StartError::Io {
            what: "moving messages to a queue file".to_owned(),
            error: std::io::Error::other(why),
        }),
    }
}

/// Notes in the log what was undone. A log without room for that has to do without: what has no end in it is
/// undone again by the next restart, so nothing is refused for want of these records.
fn note_undone(
    log: &RecoveryLog,
    undone: &[(record::UowId, Vec<record::BackoutCount>)],
) -> Result<(), StartError> {
    for (uow, counts) in undone {
        mark(Mark::UndoneAtRestart);
        match log.append(Class::Promised, &[&record::backout(*uow, counts)]) {
            Err(LogError::Full) if !planted(Bug::SpendReserve) => break,
            appended => drop(appended?),
        }
    }
    Ok(())
}

/// A new incarnation, durable before anything else is written, and known in the data folder.
fn begin_run(
    env: &Env,
    log: &RecoveryLog,
    restart: posthaste_recovery_log::Lsn,
    (anchor, mut folder): (Anchor, FolderIdentity),
    (highest, reserve): (u64, u64),
    next_queue: QueueId,
) -> Result<Numbers, StartError> {
    let incarnation = anchor.incarnation + 1;
    if incarnation >> (64 - numbers::COUNTER_BITS) != 0 {
        return Err(nonsense(
            "the queue manager has been started 16 million times",
        ));
    }
    let first = numbers::first(anchor.numbers, highest, incarnation)
        .ok_or_else(|| nonsense("the numbers for messages have run out"))?;
    let anchor = Anchor {
        incarnation,
        numbers: first.saturating_add(reserve),
        identity: folder.prepare(env, &anchor)?,
        ..anchor
    };
    // To both copies in the control file, so that the loss of one never brings the run before back.
    for _ in 0..2 {
        log.advance(restart, &anchor.encode(), false)?;
    }
    folder.begun(env, &anchor)?;
    let marks = (first, anchor.numbers, reserve);
    let run = (incarnation, anchor.identity);
    Ok(Numbers::new(marks, run, next_queue))
}

/// A log that stops, for a failed write or because its writer has gone, stops the queue manager: not only when the
/// next commit waits for it.
fn stop_with_log(inner: &Arc<Inner>) {
    let weak = Arc::downgrade(inner);
    inner.log.on_stop(Box::new(move || {
        if let Some(qm) = weak.upgrade()
            && let Some(error) = qm.log.stopped()
        {
            qm.log_failed(&error);
        }
    }));
}

/// See [`catalogue::add_missing`]. Without them only publish/subscribe is missing something, and the next start tries
/// again: that is no reason not to start.
fn add_missing_objects(inner: &Arc<Inner>) {
    if let Err((name, error)) = catalogue::add_missing(inner) {
        inner
            .operator
            .message("AMQ2035W", &[name, format!("{error:?}")]);
    }
}

/// What publish/subscribe has to find again. `order`: of retained publications, where the log decides about them.
fn recover_topics(inner: &Arc<Inner>, order: &HashMap<u64, u64>) {
    add_missing_objects(inner);
    inner.recover_subscriptions();
    inner.recover_retained(order);
}

fn check_image(header: &Header, anchor: Anchor) -> Result<(), StartError> {
    match header.sealed == anchor.sealed {
        true => Ok(()),
        false => Err(nonsense("the checkpoint image is of another queue manager")),
    }
}

/// A queue manager has one name from its creation on: the one that it is asked for by.
fn check_name(catalogue: &Catalogue, config: &EngineConfig) -> Result<(), StartError> {
    match catalogue.qmgr_definition() {
        Some(own) if own.name() != config.name => Err(StartError::OtherName(own.name().to_owned())),
        _ => Ok(()),
    }
}

/// Redoes what the log holds behind the restart point.
fn redo_log(
    restart: &mut Restart,
    replay: &mut Replay<'_>,
    cipher: Option<&Arc<dyn BodyCipher>>,
) -> Result<(), StartError> {
    while let Some(mut read) = restart.next()? {
        let unknown = || nonsense("a log record has an unknown shape");
        match open_record(cipher, &mut read.payload) {
            Ok(true) => {}
            Ok(false) => return Err(unknown()),
            Err(why) => return Err(StartError::NotOpened(read.start.0, why)),
        }
        let decoded = record::decode(&read.payload).ok_or_else(unknown)?;
        replay.record(read.start, decoded)?;
    }
    Ok(())
}

/// Whether bodies are sealed was decided at the creation.
fn check_cipher(sealed: bool, cipher: bool) -> Result<(), StartError> {
    match (sealed, cipher) {
        (true, false) => Err(StartError::NeedsCipher),
        (false, true) => Err(StartError::NotSealed),
        _ => Ok(()),
    }
}

impl QueueManager {
    /// Starts a queue manager: recovers whatever the last run left, and is ready when it returns.
    /// The caller drives the writer and [`QueueManager::maintain`].
    ///
    /// # Errors
    /// See [`StartError`]; nothing on disk is changed for the worse by a start that fails.
    pub fn start(
        env: &Env,
        config: EngineConfig,
        operator: Arc<dyn Operator>,
    ) -> Result<Started, StartError> {
        let locks = Locks::take(env, &config)?;
        Self::start_locked(env, config, operator, locks)
    }

    /// The same for whoever has the locks.
    ///
    /// # Errors
    /// As of [`QueueManager::start`].
    pub fn start_locked(
        env: &Env,
        config: EngineConfig,
        operator: Arc<dyn Operator>,
        locks: Locks,
    ) -> Result<Started, StartError> {
        let env = &locks.fenced(env);
        let mut restart = posthaste_recovery_log::open(env, &config.log, &config.log_config)?;
        let anchor = Anchor::decode(restart.anchor())?;
        let clean = restart.clean();
        let point = restart.restart();
        check_cipher(anchor.sealed, config.cipher.is_some())?;
        let folder = FolderIdentity::of(env, &config, &anchor)?;
        let mut loaded = load_image(env, &config, anchor.image)?;
        check_image(&loaded.header, anchor)?;
        let home = home_of(env, &config, loaded.header.tag_seed);
        let catalogue = Catalogue::of(home.clone(), &config);
        for SavedObject { changed, stored } in std::mem::take(&mut loaded.catalogue) {
            catalogue.restore(stored.object, stored.queue, changed);
        }
        check_name(&catalogue, &config)?;
        remove_strays(env, &home, &catalogue, &*operator)?;
        restart.harden()?;
        let keep_np = (clean && loaded.header.clean) || planted(Bug::Resurrect);
        let carried = load_messages(&catalogue, &home, &config, &loaded, keep_np, &*operator)?;
        let mut replay = Replay::new(&catalogue, loaded.header.next_queue);
        replay.carried(carried, keep_np)?;
        redo_log(&mut restart, &mut replay, home.cipher.as_ref())?;
        let undone = replay.undo();
        let units = carried::restore(replay.in_doubt());
        replay.list_all();
        let order = replay.retained_order();
        let (next_queue, highest, retired, records) = (
            replay.next_queue,
            replay.highest,
            std::mem::take(&mut replay.retired),
            replay.records,
        );
        drop(replay);
        expect_filed(&home)?;
        let (log, writer): (RecoveryLog, Writer) = restart.finish()?;
        let ends = (highest, config.numbers);
        let numbers = begin_run(env, &log, point, (anchor, folder), ends, next_queue)?;
        operator.message("AMQ7229I", &[records.to_string(), config.name.clone()]);
        note_undone(&log, &undone)?;
        begin_anew(&catalogue, &*operator);
        operator.message("AMQ7230I", std::slice::from_ref(&config.name));
        let all = undone.len().to_string();
        operator.message("AMQ7233I", &[all.clone(), all, config.name.clone()]);
        let inner = Inner::new(Parts {
            config,
            env: env.clone(),
            log,
            operator,
            catalogue,
            home,
            locks,
            numbers,
            retired,
            units,
            checkpoint: CheckpointState::of_image(anchor.image, loaded.header.begin),
        });
        inner.plan_checkpoint();
        inner.look_at_room();
        let inner = Arc::new(inner);
        stop_with_log(&inner);
        recover_topics(&inner, &order);
        let qm = QueueManager::new(inner);
        Ok(Started { qm, writer })
    }
}
