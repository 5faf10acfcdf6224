//! A colour, and the nearest one that a terminal with fewer colours has.

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorDepth {
    None,
    Ansi16,
    Ansi256,
    TrueColor,
}

/// A resolved colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeColor {
    /// What the terminal uses by itself.
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The steps of the 6×6×6 cube of 256 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl ThemeColor {
    /// `#RRGGBB`.
    pub(super) fn from_hex(text: &str) -> Option<ThemeColor> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        Some(ThemeColor::Rgb(part(0)?, part(2)?, part(4)?))
    }

    /// `#RRGGBB` of what a terminal with its usual palette shows; nothing for its own colour.
    pub fn hex(self) -> Option<String> {
        self.rgb().map(|(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}"))
    }

    /// As a terminal with its usual palette shows it.
    pub(super) fn rgb(self) -> Option<(u8, u8, u8)> {
        match self {
            ThemeColor::Default => None,
            ThemeColor::Rgb(red, green, blue) => Some((red, green, blue)),
            ThemeColor::Indexed(index @ 0..=15) => Some(USUAL_16[usize::from(index)]),
            ThemeColor::Indexed(index @ 16..=231) => {
                let cell = usize::from(index - 16);
                Some((CUBE[cell / 36], CUBE[cell / 6 % 6], CUBE[cell % 6]))
            }
            ThemeColor::Indexed(index) => {
                let grey = 8 + 10 * (index - 232);
                Some((grey, grey, grey))
            }
        }
    }

    /// The parameters of the control sequence that sets this colour, for text or behind it. Nothing if the terminal
    /// cannot show it, or if it is the terminal's own.
    pub(super) fn sgr(self, depth: ColorDepth, behind: bool) -> Option<String> {
        let sixteen = |index: u8| {
            let base = if behind { 40 } else { 30 };
            let code = if index < 8 { base + index } else { base + 60 + (index - 8) };
            code.to_string()
        };
        let kind = if behind { 48 } else { 38 };
        match (self, depth) {
            (ThemeColor::Default, _) | (_, ColorDepth::None) => None,
            (ThemeColor::Indexed(index @ 0..=15), _) => Some(sixteen(index)),
            (color, ColorDepth::Ansi16) => color.rgb().map(|rgb| sixteen(nearest_16(rgb))),
            (ThemeColor::Rgb(red, green, blue), ColorDepth::TrueColor) => {
                Some(format!("{kind};2;{red};{green};{blue}"))
            }
            (ThemeColor::Rgb(red, green, blue), ColorDepth::Ansi256) => {
                Some(format!("{kind};5;{}", nearest_256((red, green, blue))))
            }
            (ThemeColor::Indexed(index), _) => Some(format!("{kind};5;{index}")),
        }
    }

    /// Green becomes bluish; only exact colours are changed, since a palette's are the user's choice.
    pub(super) fn shifted_to_blue(self) -> ThemeColor {
        let ThemeColor::Rgb(red, green, blue) = self else { return self };
        let (hue, saturation, value) = hsv((red, green, blue));
        let (red, green, blue) = from_hsv((hue + BLUE_SHIFT) % 360.0, saturation, value);
        ThemeColor::Rgb(red, green, blue)
    }
}

/// Degrees from green towards blue.
const BLUE_SHIFT: f32 = 80.0;

#[rustfmt::skip]
const USUAL_16: [(u8, u8, u8); 16] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
];

/// The nearest of the cube and the greys.
fn nearest_256(rgb: (u8, u8, u8)) -> u8 {
    (16..=255)
        .min_by_key(|index| ThemeColor::Indexed(*index).rgb().map_or(u32::MAX, |other| distance(rgb, other)))
        .unwrap_or(16)
}

fn distance(one: (u8, u8, u8), other: (u8, u8, u8)) -> u32 {
    let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    part(one.0, other.0) + part(one.1, other.1) + part(one.2, other.2)
}

/// By hue rather than by distance: what these sixteen look like is up to the terminal, only their names are certain.
fn nearest_16(rgb: (u8, u8, u8)) -> u8 {
    let (hue, saturation, value) = hsv(rgb);
    if value < 0.2 {
        return 0;
    }
    if saturation < 0.2 {
        return match value {
            ..0.7 => 8,
            ..0.9 => 7,
            _ => 15,
        };
    }
    let base = match hue {
        ..20.0 => 1,
        ..70.0 => 3,
        ..160.0 => 2,
        ..200.0 => 6,
        ..255.0 => 4,
        ..320.0 => 5,
        _ => 1,
    };
    if value > 0.75 { base + 8 } else { base }
}

/// Hue in degrees, saturation and value from 0 to 1.
fn hsv((red, green, blue): (u8, u8, u8)) -> (f32, f32, f32) {
    let [red, green, blue] = [red, green, blue].map(|part| f32::from(part) / 255.0);
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let range = most - least;
    if range <= 0.0 {
        return (0.0, 0.0, most);
    }
    let hue = if most <= red {
        (green - blue) / range
    } else if most <= green {
        2.0 + (blue - red) / range
    } else {
        4.0 + (red - green) / range
    };
    ((hue * 60.0 + 360.0) % 360.0, range / most, most)
}

fn from_hsv(hue: f32, saturation: f32, value: f32) -> (u8, u8, u8) {
    let part = |offset: f32| {
        let k = (offset + hue / 60.0) % 6.0;
        let share = value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0);
        // In range by construction.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
        let byte = (share * 255.0).round() as u8;
        byte
    };
    (part(5.0), part(3.0), part(1.0))
}

/// How bright a colour looks, from 0 to 1.
pub(super) fn luminance((red, green, blue): (u8, u8, u8)) -> f32 {
    let [red, green, blue] = [red, green, blue].map(|part| {
        let part = f32::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
