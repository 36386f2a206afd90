//! Formats a table of Markdown whose columns are aligned in the text, too.

/// Formats rows of cells below their heads. The first and the last column hold texts, the others numbers.
pub(crate) fn format_table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let heads = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut table: Vec<Vec<String>> = vec![heads];
    table.extend(rows.iter().cloned());
    let widths: Vec<usize> = (0..table[0].len())
        .map(|column| table.iter().map(|row| row[column].chars().count()).max().unwrap())
        .collect();
    let mut lines: Vec<String> = table.iter().map(|row| format_line(row, &widths)).collect();
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    lines.insert(1, format!("|-{}-|", rules.join("-|-")));
    lines.join("\n")
}

fn format_line(row: &[String], widths: &[usize]) -> String {
    let last = row.len() - 1;
    let cells: Vec<String> = row
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (text, width))| {
            if column == 0 || column == last {
                format!("{text:<width$}")
            } else {
                format!("{text:>width$}")
            }
        })
        .collect();
    format!("| {} |", cells.join(" | "))
}
