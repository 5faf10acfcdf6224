//! What was shown folded and can still be shown whole: the last few, bounded in bytes.

use std::collections::VecDeque;

use relaycode_tools::CardBody;

use crate::cards::{CallCard, CardExtent, CardLook};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Cards and thoughts.
const MAX_KEPT: usize = 30;
const MAX_BYTES: usize = 4 << 20;
/// Lines of a thought.
const MAX_THOUGHT_LINES: usize = 2_000;

pub(super) enum KeptBlock {
    Call(Box<CallCard>),
    Thought(String),
}

#[derive(Default)]
pub(super) struct KeptBlocks {
    blocks: VecDeque<(usize, KeptBlock)>,
    bytes: usize,
}

impl KeptBlock {
    fn bytes(&self) -> usize {
        match self {
            KeptBlock::Thought(text) => text.len(),
            KeptBlock::Call(call) => match &call.card.body {
                CardBody::Text { text, .. } => text.len(),
                CardBody::Diff { files } => files.iter().map(|file| file.diff.len() + file.path.len()).sum(),
                CardBody::Json { value } => value.to_string().len(),
                CardBody::Todo { .. } | CardBody::Image(_) | CardBody::None => 0,
            },
        }
    }

    fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        match self {
            KeptBlock::Call(call) => {
                call.lines(&CardLook { extent: CardExtent::Full, expand_key: None }, style, width)
            }
            KeptBlock::Thought(text) => {
                let indent = SpanLine::plain("  ");
                let wrap = |line: &str| {
                    let text = shown(&style.output, line).into_owned();
                    indent.clone().with(ThemeToken::ThinkingText, text).wrap(width, &indent)
                };
                let lines = text.lines().flat_map(wrap).take(MAX_THOUGHT_LINES);
                lines.map(|line| line.clip(width, &style.output).paint(style)).collect()
            }
        }
    }
}

impl KeptBlocks {
    pub(super) fn keep(&mut self, block: KeptBlock) {
        let bytes = block.bytes();
        if bytes > MAX_BYTES {
            return;
        }
        self.bytes += bytes;
        self.blocks.push_back((bytes, block));
        while self.blocks.len() > MAX_KEPT || self.bytes > MAX_BYTES {
            let Some((bytes, _)) = self.blocks.pop_front() else { break };
            self.bytes -= bytes;
        }
    }

    /// The last `count`, oldest first, each after an empty line.
    pub(super) fn lines(&self, count: usize, style: &ThemeStyle, width: usize) -> Vec<String> {
        let from = self.blocks.len().saturating_sub(count);
        let mut lines = Vec::new();
        for (_, block) in self.blocks.iter().skip(from) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(block.lines(style, width));
        }
        lines
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
