//! The index against a plain list, its memory, and what following its links costs.

use super::*;

fn new(seq: u64, list: u8, msg: u32, correl: u32) -> NewSlot {
    NewSlot {
        seq,
        body: Body::Resident(0),
        list,
        priority: list,
        persistent: false,
        expires_s: 0,
        backout_count: 0,
        msg_tag: msg,
        correl_tag: correl,
        group: None,
    }
}

fn order(index: &Index) -> Vec<u64> {
    let mut out = Vec::new();
    let mut at = index.first();
    while at != NIL {
        out.push(index.slot(at).seq);
        at = index.next(at);
    }
    out
}

fn tagged(index: &Index, chain: Chain, tag: u32) -> Vec<u64> {
    let mut out = Vec::new();
    let mut at = index.first_tagged(chain, tag);
    while at != NIL {
        out.push(index.slot(at).seq);
        at = index.next_tagged(chain, tag, at);
    }
    out
}

#[test]
fn delivery_is_by_priority_then_number_whatever_the_order_of_listing() {
    let mut index = Index::new();
    for (seq, list) in [(5, 0), (1, 0), (3, 9), (2, 9), (4, 0)] {
        let id = index.add(new(seq, list, 0, 0));
        index.list(id, NIL);
    }
    assert_eq!(order(&index), [2, 3, 1, 4, 5]);
    assert_eq!(index.slot(index.after_key((0, 3))).seq, 1);
    assert_eq!(index.slot(index.after_key((9, 2))).seq, 4);
    assert_eq!(index.after_key((9, 5)), NIL);
}

/// Random listing, holding and relisting against a plain sorted list.
#[test]
fn agrees_with_a_plain_list() {
    let mut index = Index::new();
    let mut plain: Vec<(u8, u64, SlotId, u32)> = Vec::new();
    let mut held: Vec<(u8, u64, SlotId, u32)> = Vec::new();
    let mut random = 12345u64;
    for seq in 1..6000u64 {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let dice = (random >> 33) as u32;
        let tag = (dice % 7) * 2 + 1;
        let list = (dice % 3) as u8;
        let id = index.add(new(seq, list, tag, (seq as u32) * 2 + 1));
        if dice.is_multiple_of(5) {
            held.push((list, seq, id, tag));
        } else {
            index.list(id, NIL);
            plain.push((list, seq, id, tag));
        }
        if dice % 4 == 1 && !plain.is_empty() {
            let gone = plain.swap_remove(dice as usize % plain.len());
            index.hold(gone.2);
            if dice.is_multiple_of(2) {
                index.remove(gone.2);
            } else {
                held.push(gone);
            }
        }
        if dice % 6 == 2 && !held.is_empty() {
            let back = held.swap_remove(dice as usize % held.len());
            index.list(back.2, NIL);
            plain.push(back);
        }
    }
    plain.sort_by_key(|(list, seq, _, _)| (9 - list, *seq));
    let expected: Vec<u64> = plain.iter().map(|p| p.1).collect();
    assert_eq!(order(&index), expected);
    for tag in (0..7).map(|t| t * 2 + 1) {
        let expected: Vec<u64> = plain.iter().filter(|p| p.3 == tag).map(|p| p.1).collect();
        assert_eq!(tagged(&index, Chain::Msg, tag), expected, "tag {tag}");
    }
    for p in &plain {
        assert_eq!(tagged(&index, Chain::Correl, (p.1 as u32) * 2 + 1), [p.1]);
    }
    assert_eq!(index.used() as usize, plain.len() + held.len());
}

#[test]
fn a_message_costs_at_most_64_bytes() {
    let mut index = Index::new();
    for seq in 1..=1_000_000u64 {
        let place = Place {
            block: seq as u32,
            length: 2048,
        };
        let id = index.add(NewSlot {
            body: Body::Filed(place),
            ..new(seq, 0, seq as u32 * 2 + 1, seq as u32 * 2 + 1)
        });
        index.list(id, NIL);
    }
    let each = index.bytes() as f64 / 1_000_000.0;
    assert!(each <= 64.0, "{each} bytes");
    assert_eq!(
        index.slot(index.first()).body(),
        Body::Filed(Place {
            block: 1,
            length: 2048
        })
    );
}

/// Memory follows the messages, whatever their order of coming and going.
#[test]
fn memory_is_given_back() {
    let slots = |n: usize| n * size_of::<Slot>();
    let mut index = Index::new();
    let mut seq = 0;
    let mut fill = |index: &mut Index, count: usize| -> Vec<SlotId> {
        let one = |_| {
            seq += 1;
            let id = index.add(new(seq, 0, 1, 3));
            index.list(id, NIL);
            id
        };
        (0..count).map(one).collect()
    };
    let drain = |index: &mut Index, ids: &[SlotId]| {
        for id in ids {
            index.hold(*id);
            index.remove(*id);
        }
    };
    let one = fill(&mut index, 1);
    assert!(index.bytes() < 1200, "{}", index.bytes());
    drain(&mut index, &one);
    let small = index.bytes();
    let ids = fill(&mut index, 10 * CHUNK);
    assert!(index.bytes() >= slots(10 * CHUNK));
    // Every second message of the chunks goes: nothing can be given back.
    let (even, odd): (Vec<_>, Vec<_>) = ids.iter().partition(|id| **id % 2 == 0);
    drain(&mut index, &even);
    assert!(index.bytes() >= slots(10 * CHUNK));
    // All but one of each of the first nine, then those too, but for the last.
    drain(&mut index, &odd[..odd.len() - 1]);
    let left = slots(2 * CHUNK) + (index.msg_buckets.len() + index.correl_buckets.len()) * 4;
    assert!(index.bytes() <= left, "{} of {left}", index.bytes());
    drain(&mut index, &odd[odd.len() - 1..]);
    assert!(index.bytes() <= small, "{} of {small}", index.bytes());
    // It works on as before.
    let ids = fill(&mut index, 3 * CHUNK);
    assert_eq!(order(&index).len(), 3 * CHUNK);
    drain(&mut index, &ids);
    assert!(index.bytes() <= small);
}

/// However many messages share one identifier, one is found, taken out and put back by the other
/// at once.
#[test]
fn a_shared_identifier_makes_nothing_slow() {
    let count = 20_000u32;
    for shared in [Chain::Msg, Chain::Correl] {
        let mut index = Index::new();
        let own = |n: u32| {
            let mut id = [1; 24];
            id[20..].copy_from_slice(&n.to_be_bytes());
            tag_of(&id, 7)
        };
        for n in 1..=count {
            let (msg, correl) = match shared {
                Chain::Msg => (99, own(n)),
                Chain::Correl => (own(n), 99),
            };
            let id = index.add(new(u64::from(n), 0, msg, correl));
            index.list(id, NIL);
        }
        let other = match shared {
            Chain::Msg => Chain::Correl,
            Chain::Correl => Chain::Msg,
        };
        let before = index.steps();
        for n in (1..=count).step_by(7) {
            let both = match shared {
                Chain::Msg => (99, own(n)),
                Chain::Correl => (own(n), 99),
            };
            let id = index.first_tagged(other, own(n));
            assert_eq!(index.slot(id).seq, u64::from(n));
            assert_eq!(index.next_tagged_both(both, None), id);
            assert_eq!(index.next_tagged_both(both, Some(id)), NIL);
            index.hold(id);
            index.list(id, NIL);
        }
        let each = (index.steps() - before) / u64::from(count / 7);
        assert!(each < 40, "{each} steps");
        let tagged = tagged(&index, shared, 99);
        assert!(tagged.is_sorted() && tagged.len() == count as usize);
    }
}

#[test]
fn null_identifiers_are_not_indexed() {
    assert_eq!(tag_of(&[0; 24], 99), 0);
    assert_ne!(tag_of(&[1; 24], 99), 0);
}

/// Identifiers that count, in whichever bytes, fill the buckets evenly.
#[test]
fn counting_identifiers_spread() {
    for at in [0, 4, 8, 12, 16, 20] {
        for big in [false, true] {
            let mut buckets = vec![0u32; 1 << 14];
            for n in 0..(1u32 << 14) {
                let mut id = *b"AMQ QM1         \0\0\x01\0\0\0\0\0";
                let bytes = if big {
                    n.to_be_bytes()
                } else {
                    n.to_le_bytes()
                };
                id[at..at + 4].copy_from_slice(&bytes);
                let tag = tag_of(&id, 0x1234_5678_9ABC_DEF0);
                buckets[(tag >> 1) as usize & ((1 << 14) - 1)] += 1;
            }
            let longest = buckets.iter().max();
            assert!(longest < Some(&12), "{at} {big}: {longest:?}");
        }
    }
}

#[test]
fn an_index_that_contradicts_itself_is_seen() {
    let corruptions: [fn(&mut Index); 8] = [
        |index| index.slot_mut(2).prev = 0,
        |index| index.slot_mut(2).seq = 1,
        |index| index.tails[0] = 1,
        |index| index.listed[0] += 1,
        |index| index.slot_mut(1).msg_next = 3,
        |index| index.slot_mut(3).flags &= !LISTED,
        |index| index.used += 1,
        |index| index.chunks[0].free = 0,
    ];
    for (at, corrupt) in corruptions.into_iter().enumerate() {
        let mut index = Index::new();
        for seq in 1..=5 {
            let slot = index.add(new(seq, 0, 7, 9));
            index.list(slot, NIL);
        }
        assert_eq!(index.check(), Ok(()));
        corrupt(&mut index);
        assert!(index.check().is_err(), "corruption {at} is not seen");
    }
}
