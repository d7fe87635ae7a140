// Measures a CSV file (RFC 4180: quotes, line ends in quotes) and gives the numbers as outputs.
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';

const bytes = readFileSync(process.argv[2]);
const [columns = [], ...rows] = parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
const column = (name) => {
  const at = columns.indexOf(name);
  return rows.map((row) => (at < 0 ? '' : (row[at] ?? '').trim()));
};
const ids = column('id');
const amounts = column('amount');
const outputs = {
  rows: rows.length,
  columns,
  duplicate_ids: ids.length - new Set(ids).size,
  missing_amounts: amounts.filter((amount) => amount === '' || Number.isNaN(Number(amount))).length,
  negative_amounts: amounts.filter((amount) => Number(amount) < 0).length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
};
appendFileSync(process.env.PLAN_OUTPUT, `${JSON.stringify(outputs)}\n`);
console.log(`${outputs.rows} rows, ${outputs.duplicate_ids} duplicate ids, ${outputs.missing_amounts} missing and ${outputs.negative_amounts} negative amounts`);

function parse(text) {
  const records = [];
  let record = [];
  let cell = '';
  let quoted = false;
  const endCell = () => {
    record.push(cell);
    cell = '';
  };
  const endRecord = () => {
    endCell();
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  };
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') cell += text[(i += 1)];
      else quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === ',') endCell();
    else if (char === '\n') endRecord();
    else if (char !== '\r') cell += char;
  }
  if (cell !== '' || record.length > 0) endRecord();
  return records;
}
