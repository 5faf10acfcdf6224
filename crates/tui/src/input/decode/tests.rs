use super::*;

fn keys(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<TerminalInput> {
    decoder.feed(bytes, ExpectedInput::Keys)
}

fn paste(text: &str) -> TerminalInput {
    TerminalInput::Paste(PastedText { bytes: text.as_bytes().to_vec(), truncated: false })
}

#[test]
fn single_keys_are_keys() {
    let cases: [(&[u8], InputKey); 9] = [
        (b"u", InputKey::Char('u')),
        ("ß".as_bytes(), InputKey::Char('ß')),
        (b"\r", InputKey::Enter),
        (b"\n", InputKey::Enter),
        (b"\x7f", InputKey::Backspace),
        (b"\x15", InputKey::Ctrl('u')),
        (b"\x1b[A", InputKey::Other),
        (b"\x1bOP", InputKey::Other),
        (b"\x1b[1;5D", InputKey::Other),
    ];
    for (bytes, key) in cases {
        assert_eq!(keys(&mut InputDecoder::default(), bytes), [TerminalInput::Key(key)], "{bytes:?}");
    }
    let mut decoder = InputDecoder::default();
    assert_eq!(keys(&mut decoder, b"\x1b"), []);
    assert_eq!(decoder.pending_timeout(), Some(BURST_TIMEOUT));
    assert_eq!(decoder.finish_pending(), Some(TerminalInput::Key(InputKey::Escape)));
}

#[test]
fn what_is_marked_as_pasted_is_no_key_however_it_is_cut_into_pieces() {
    let bytes = b"\x1b[200~u\rq\r\ny\x1b[201~";
    for at in 0..=bytes.len() {
        let mut decoder = InputDecoder::default();
        let mut found = keys(&mut decoder, &bytes[..at]);
        found.extend(keys(&mut decoder, &bytes[at..]));
        found.extend(decoder.finish_pending());
        assert_eq!(found, [paste("u\nq\ny")], "cut at {at}");
    }
}

#[test]
fn what_stands_behind_a_paste_in_the_same_burst_was_not_typed() {
    let mut decoder = InputDecoder::default();
    assert_eq!(keys(&mut decoder, b"\x1b[200~text\x1b[201~y\ru"), []);
    // Also when it is read later, unless some time has passed.
    assert_eq!(keys(&mut decoder, b"y\r"), []);
    assert_eq!(
        (decoder.pending_timeout(), decoder.finish_pending()),
        (Some(PASTE_END_TIMEOUT), Some(paste("text")))
    );
    assert_eq!(keys(&mut decoder, b"y"), [TerminalInput::Key(InputKey::Char('y'))]);
    // Two pastes stay two, however close.
    let both = b"\x1b[200~a\x1b[201~y\r\x1b[200~b\x1b[201~";
    for at in 0..=both.len() {
        let mut found = keys(&mut decoder, &both[..at]);
        found.extend(keys(&mut decoder, &both[at..]));
        found.extend(decoder.finish_pending());
        assert_eq!(found, [paste("a"), paste("b")], "cut at {at}");
    }
}

#[test]
fn the_end_of_a_paste_whose_beginning_was_lost_is_no_key() {
    for expect in [ExpectedInput::Keys, ExpectedInput::Line] {
        let mut decoder = InputDecoder::default();
        assert_eq!(decoder.feed(b"y\r\x1b[201~", expect), []);
        assert_eq!(decoder.feed(b"y\r", expect), []);
        assert_eq!(
            decoder.finish_pending(),
            Some(TerminalInput::Paste(PastedText { bytes: Vec::new(), truncated: true }))
        );
    }
    // Nor is a burst with an escape in it.
    assert_eq!(keys(&mut InputDecoder::default(), b"q\x1b[A"), []);
}

#[test]
fn what_is_forgotten_was_typed_and_a_paste_goes_on() {
    let mut decoder = InputDecoder::default();
    keys(&mut decoder, b"\x1b[200~te");
    assert_eq!(decoder.discard_typed(), None);
    keys(&mut decoder, b"xt\x1b[201~");
    assert_eq!(decoder.discard_typed(), Some(paste("text")));
    keys(&mut decoder, b"yes\r");
    assert_eq!((decoder.discard_typed(), decoder.pending_timeout()), (None, None));
    keys(&mut decoder, b"one\rtwo\r");
    assert_eq!(decoder.discard_typed(), Some(paste("one\ntwo\n")));
    keys(&mut decoder, b"\x1b[2");
    assert_eq!(decoder.discard_typed(), None);
    keys(&mut decoder, b"00~a\x1b[201~");
    assert_eq!(decoder.finish_pending(), Some(paste("a")));
}

#[test]
fn a_burst_without_marks_is_a_paste() {
    let mut decoder = InputDecoder::default();
    assert_eq!(keys(&mut decoder, b"Here is the change\ru\r"), []);
    assert_eq!(keys(&mut decoder, b"q"), []);
    assert_eq!(decoder.finish_pending(), Some(paste("Here is the change\nu\nq")));
    // A held key is not a paste.
    assert_eq!(keys(&mut decoder, b"uuu").len(), 3);
    // A line that comes at once may have been typed; two have not.
    assert_eq!(decoder.feed(b"n too long\r", ExpectedInput::Line).len(), 11);
    assert_eq!(decoder.feed(b"no\ry\r", ExpectedInput::Line), []);
    assert_eq!(decoder.finish_pending(), Some(paste("no\ny\n")));
}

#[test]
fn a_paste_is_bounded_and_its_end_is_still_found() {
    let mut decoder = InputDecoder::default();
    keys(&mut decoder, PASTE_BEGIN);
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..6 {
        assert_eq!(keys(&mut decoder, &piece), []);
    }
    assert_eq!(keys(&mut decoder, b"tail\x1b[201~"), []);
    let Some(TerminalInput::Paste(paste)) = decoder.finish_pending() else { panic!("no paste") };
    assert!(paste.truncated && paste.bytes.len() == PASTE_BYTES);
    assert_eq!(keys(&mut decoder, b"q"), [TerminalInput::Key(InputKey::Char('q'))]);
}
