//! Remarks in other languages that stand for code which was left out.

/// Remarks that say so where they begin, perhaps below an article.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    // French
    "reste du code", "reste du fichier", "reste de la", "reste inchangé", "reste sans changement", "code existant",
    "code inchangé", "code omis",
    // Spanish
    "resto del código", "resto del codigo", "resto del archivo", "resto sin cambios", "resto permanece", "resto igual",
    "código existente", "codigo existente", "código sin cambios", "código omitido",
    // German
    "rest des codes", "rest der datei", "rest bleibt", "rest unverändert", "rest wie", "restlicher code", "restliche code",
    "restliche datei", "restlichen code", "bestehender code", "vorhandener code", "übriger code", "code unverändert",
    // Portuguese
    "resto do código", "resto do codigo", "resto do arquivo", "restante do código", "restante do codigo",
    "restante do arquivo", "resto permanece", "restante permanece", "código sem alterações",
    // Russian
    "остальной код", "остальная часть", "остальное без", "существующий код", "прежний код", "код без изменений",
    // Chinese
    "其余代码", "其他代码", "其它代码", "剩余代码", "现有代码", "原有代码", "代码不变", "代码保持不变", "代码省略", "省略代码",
    "其余部分", "其余不变", "其他不变", "此处省略", "省略其",
    // Japanese
    "既存のコード", "既存コード", "残りのコード", "残りは", "以下同じ", "以下省略", "以下、省略", "コードは変更なし",
];

/// Remarks that say so alone.
#[rustfmt::skip]
const ALONE: &[&str] = &[
    "inchangé", "inchangée", "sans changement", "sans changements", "sin cambios", "sin cambio", "igual que antes",
    "unverändert", "wie bisher", "wie zuvor", "wie vorher", "sem alterações", "sem alteração", "sem mudanças", "inalterado",
    "без изменений", "как раньше", "保持不变", "不变", "省略", "无变化", "未更改", "変更なし", "省略", "以下略", "同上",
];

const ARTICLES: &[&str] =
    &["le ", "la ", "les ", "el ", "los ", "o ", "os ", "der ", "die ", "das ", "den ", "... "];

/// Longer remarks are explanations, in words and, where words are not divided, in characters.
const WORDS: usize = 9;
const CHARACTERS: usize = 60;

/// Whether a remark, in lower case and without dots around it, stands for code.
pub(super) fn stands_for_code(said: &str) -> bool {
    if said.split_whitespace().count() > WORDS || said.chars().count() > CHARACTERS {
        return false;
    }
    let bare = ARTICLES.iter().find_map(|article| said.strip_prefix(article)).unwrap_or(said);
    ALONE.contains(&bare) || BEGINNINGS.iter().any(|start| bare.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_in_other_languages_are_told_from_explanations() {
        for said in [
            "le reste du code reste inchangé",
            "resto del código sin cambios",
            "der restliche code bleibt unverändert",
            "restante do código sem alterações",
            "остальной код без изменений",
            "其余代码不变",
            "既存のコード",
            "unverändert",
        ] {
            assert!(stands_for_code(said), "{said}");
        }
        for said in [
            "der wert bleibt unverändert",
            "保持不变量",
            "resto de la división entera",
            "sin cambios en la sesión se sale",
            "restzeit in sekunden",
            "код ошибки",
            "",
        ] {
            assert!(!stands_for_code(said), "{said}");
        }
    }
}
