// Raw orders → rows that the table takes. An order without an id, a customer or a whole amount is rejected.

/** @param {{ date: string; items: Array<{ id?: unknown; customer?: unknown; amount?: unknown }> }} args */
export function transform({ date, items }, { log }) {
  const orders = [];
  let rejected = 0;
  for (const raw of items) {
    const cents = typeof raw.amount === 'string' ? toCents(raw.amount) : undefined;
    if (!Number.isInteger(raw.id) || typeof raw.customer !== 'string' || raw.customer.trim() === '' || cents === undefined) {
      rejected += 1;
      log(`rejected: ${JSON.stringify(raw)}`);
      continue;
    }
    orders.push({ id: raw.id, customer: raw.customer.trim(), day: date, cents });
  }
  orders.sort((a, b) => a.id - b.id);
  return { rows: orders.length, rejected, revenue_cents: orders.reduce((sum, order) => sum + order.cents, 0), orders };
}

// "19.90" → 1990, without the rounding of decimals.
function toCents(amount) {
  const match = /^(\d+)\.(\d\d)$/.exec(amount);
  return match === null ? undefined : Number(match[1]) * 100 + Number(match[2]);
}
