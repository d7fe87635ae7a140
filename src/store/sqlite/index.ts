// The entry `planwright/sqlite`: a store in one SQLite file.
export { openSqliteStore, type SqliteStoreOptions } from './open-sqlite-store.js';
