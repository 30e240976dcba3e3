use std::collections::HashMap;

use crate::layout::{Merge, ROW, TOKEN_BITS, Token, row_and_tag};

/// Tables of little-endian numbers.
pub(crate) struct Tables {
    pub(crate) tokens: Vec<u8>,
    pub(crate) merges: Vec<u8>,
}

type Numbers<'a> = HashMap<&'a [u8], u32>;

pub(crate) fn build(texts: &[Vec<u8>]) -> Result<Tables, String> {
    if texts.len() >= 1 << TOKEN_BITS {
        return Err(format!("{} tokens do not fit into {TOKEN_BITS} bits", texts.len()));
    }
    let numbers: Numbers<'_> = texts.iter().map(Vec::as_slice).zip(0..).collect();
    let mut tokens: Vec<_> = texts
        .iter()
        .zip(0..)
        .map(|(text, number)| token(text, number, &numbers))
        .collect::<Result<_, _>>()?;
    mark_parts(&mut tokens);
    Ok(Tables {
        tokens: tokens.iter().flat_map(|token| token.pack().to_le_bytes()).collect(),
        merges: merges(&tokens),
    })
}

fn token(text: &[u8], number: u32, numbers: &Numbers<'_>) -> Result<Token, String> {
    let parts = match text.len() {
        0 => return Err(format!("token {number} is empty")),
        1 => (number, number),
        _ => parts(text, number, numbers)?,
    };
    let mut prefixes = (1..text.len()).rev();
    let shorter = prefixes.find_map(|length| numbers.get(&text[..length]));
    let length = u8::try_from(text.len()).map_err(|_| format!("token {number} is too long"))?;
    let shorter = shorter.copied().unwrap_or(number);
    Ok(Token { parts, shorter, length: length.into(), is_part: (false, false) })
}

/// Merges the bytes of a token by lower ranks. Exactly two parts must remain, which merge to the token.
fn parts(text: &[u8], number: u32, numbers: &Numbers<'_>) -> Result<(u32, u32), String> {
    let mut borders: Vec<usize> = (0..=text.len()).collect();
    let merge_rank =
        |from: usize, to: usize| numbers.get(&text[from..to]).copied().filter(|rank| *rank < number);
    loop {
        let first = (0..borders.len() - 2)
            .filter_map(|index| Some((merge_rank(borders[index], borders[index + 2])?, index)))
            .min();
        let Some((_, index)) = first else { break };
        borders.remove(index + 1);
    }
    match borders[..] {
        [start, middle, end] => merge_rank(start, middle).zip(merge_rank(middle, end)),
        _ => None,
    }
    .ok_or_else(|| format!("no merge makes token {number}"))
}

fn mark_parts(tokens: &mut [Token]) {
    let merged: Vec<_> = tokens.iter().filter(|token| token.length > 1).map(|token| token.parts).collect();
    for (left, right) in merged {
        tokens[left as usize].is_part.0 = true;
        tokens[right as usize].is_part.1 = true;
    }
}

/// At most half full: most searches end in the first row.
fn merges(tokens: &[Token]) -> Vec<u8> {
    let rows = (tokens.len() * 2).next_power_of_two().max(2 * ROW) / ROW;
    let mut table = vec![[0_u32; ROW]; rows];
    for (token, number) in tokens.iter().zip(0..).filter(|(token, _)| token.length > 1) {
        let (row, tag) = row_and_tag(token.parts.0, token.parts.1, rows.trailing_zeros());
        let free = (row..rows).chain(0..row).find_map(|row| {
            let slot = table[row].iter().position(|slot| *slot == 0)?;
            Some((row, slot))
        });
        if let Some((row, slot)) = free {
            table[row][slot] = Merge { token: number, tag }.pack();
        }
    }
    table.as_flattened().iter().flat_map(|merge| merge.to_le_bytes()).collect()
}
