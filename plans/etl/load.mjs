// Replaces the rows of one day in one transaction: node load.mjs DATABASE DAY < rows.json
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

const [file, day] = process.argv.slice(2);
const orders = JSON.parse(readFileSync(0, 'utf8'));
mkdirSync(dirname(file), { recursive: true });
const database = new Database(file);
database.exec('create table if not exists orders (id integer primary key, customer text not null, day text not null, cents integer not null)');
const insert = database.prepare('insert or replace into orders (id, customer, day, cents) values (@id, @customer, @day, @cents)');
database.transaction(() => {
  database.prepare('delete from orders where day = ?').run(day);
  for (const order of orders) insert.run(order);
})();
const { n } = database.prepare('select count(*) as n from orders where day = ?').get(day);
database.close();
appendFileSync(process.env.PLAN_OUTPUT, `rows_in_table=${n}\n`);
console.log(`${file} has ${n} orders of ${day}`);
