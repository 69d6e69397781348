//! The hidden door for fuzzers: every decoder of bytes that come from a disk.

/// Decodes a log record; re-encodes nothing, must not panic. One that can be read has its bodies somewhere, if it has any.
pub fn record(bytes: &[u8]) {
    let decoded = crate::record::decode(bytes).is_some();
    assert!(!decoded || crate::record::before_bodies(bytes).is_some());
}

/// Decodes a message as a queue file holds it; what decodes must encode to something that decodes
/// to the same.
pub fn stored_message(bytes: &[u8]) {
    if let Some(message) = crate::message::decode_stored(bytes.to_vec()) {
        let mut again = Vec::new();
        crate::message::encode_head(&message, &mut again);
        again.extend_from_slice(&message.data.stored_parts().concat());
        assert_eq!(crate::message::decode_stored(again), Some(message));
    }
}

/// Decodes the sections of a checkpoint image and a saved index chunk.
pub fn image(bytes: &[u8]) {
    let _ = crate::recovery::image::decode_catalogue(bytes);
    let _ = crate::recovery::image::decode_queues(bytes);
    let _ = crate::unit::carried::rows(bytes);
    let _ = crate::recovery::image::Header::decode(bytes);
    let _ = crate::recovery::image::Anchor::decode(bytes);
    let _ = crate::queue::saved::read_chunk(bytes);
}
