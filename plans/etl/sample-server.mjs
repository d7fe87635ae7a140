// A service to try etl.yaml with: 11 orders in 3 pages, and every page answers 503 the first time.
//   node plans/etl/sample-server.mjs [PORT]
import { createServer } from 'node:http';

const PER_PAGE = 4;
const customers = ['Ada', 'Grace', 'Linus', 'Barbara'];
const orders = Array.from({ length: 11 }, (_, i) => ({ id: 100 + i, customer: customers[i % customers.length], amount: `${10 + 3 * i}.${String((i * 7) % 100).padStart(2, '0')}` }));
orders[6].amount = 'soon'; // what real data is like
const seen = new Set();

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const page = Number(url.searchParams.get('page') ?? '1');
  const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (url.pathname !== '/orders') return answer(404, { error: 'no such path' });
  if (!seen.has(page)) {
    seen.add(page);
    return answer(503, { error: 'busy, try again' });
  }
  return answer(200, { page, pages: Math.ceil(orders.length / PER_PAGE), total: orders.length, items: orders.slice((page - 1) * PER_PAGE, page * PER_PAGE) });
});
server.listen(Number(process.argv[2] ?? 8901), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
