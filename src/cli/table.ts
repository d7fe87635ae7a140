// Columns of text.

/**
 * Rows under a head, columns two spaces apart; the last column is not padded.
 * @param paint colours a cell after it was padded
 */
export function tableLines(head: readonly string[], rows: ReadonlyArray<readonly string[]>, paint: (text: string, row: number, column: number) => string = (text) => text): string[] {
  const widths = columnWidths(head, rows);
  const line = (cells: readonly string[], row: number) =>
    cells.map((cell, column) => paint(column === cells.length - 1 ? cell : cell.padEnd(widths[column] as number), row, column)).join('  ').trimEnd();
  return [line(head, -1), ...rows.map((row, index) => line(row, index))];
}

/** How wide these columns become, the spaces between them included. */
export function tableWidth(head: readonly string[], rows: ReadonlyArray<readonly string[]>): number {
  return columnWidths(head, rows).reduce((sum, width) => sum + width + 2, -2);
}

function columnWidths(head: readonly string[], rows: ReadonlyArray<readonly string[]>): number[] {
  return head.map((title, column) => rows.reduce((width, row) => Math.max(width, (row[column] ?? '').length), title.length));
}
