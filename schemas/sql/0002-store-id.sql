-- Which store this is, whatever path leads to it: processes that it starts are marked with it. A copy of the file has it too.
CREATE TABLE store_id (
  id  TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO store_id (id) VALUES (lower(hex(randomblob(8))));
