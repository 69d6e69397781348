//! Entry points for fuzzing: any bytes, no panic, and what is accepted survives being written.

use crate::ini::RawConfig;
use crate::ini::stanza;

/// `qm.ini`: parses, resolves, writes what was read and reads it again.
pub fn qm_ini(bytes: &[u8]) {
    let Ok(raw) = RawConfig::parse("qm.ini", bytes) else {
        return;
    };
    let text = raw.to_text();
    let again = RawConfig::parse("qm.ini", text.as_bytes());
    assert!(again.is_ok(), "what was written is not readable:\n{text}");
    if let Ok(again) = again {
        assert_eq!(again.to_text(), text, "writing is not stable");
        assert_eq!(again.resolve().ok(), raw.resolve().ok());
    }
}

/// Stanza files in general (`mqs.ini` among them).
pub fn stanzas(bytes: &[u8]) {
    let (stanzas, faults) = stanza::read(bytes);
    if !faults.is_empty() {
        return;
    }
    let text = stanza::write(&stanzas);
    let (again, faults) = stanza::read(text.as_bytes());
    assert!(faults.is_empty(), "what was written is not readable");
    assert_eq!(stanza::write(&again), text, "writing is not stable");
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_entry_points_accept_anything() {
        let corpus: [&[u8]; 8] = [
            b"",
            b"Log:\n LogFilePages=64\n",
            b"Log:\n LogFilePages=\xff\n",
            b"=\n:\n",
            b"a:\nb:=c\n",
            b"a:\n b:c=d\n",
            b"Service:\n Name=a\nService:\n Name=b\n",
            "Log:\u{2028} LogPath=/\u{a0}x\n".as_bytes(),
        ];
        for bytes in corpus {
            super::qm_ini(bytes);
            super::stanzas(bytes);
        }
    }
}
