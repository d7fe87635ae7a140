// Lines by language, of the committed text files; the language comes from the name of the file.
import { gitFields } from './git.mjs';
import { languageOf } from './language-of.mjs';
import { step } from './step.mjs';
import { plural } from './text.mjs';

await step(async ({ repo, head }) => {
  const totals = { entries: 0, text_files: 0, empty_or_binary_files: 0, links: 0, submodules: 0, lines: 0 };
  const byLanguage = new Map();
  if (head === '') return { ...totals, languages: [] };

  const files = new Map(); // path → lines; 0 until git grep says otherwise
  for await (const entry of gitFields(repo, ['ls-tree', '-r', '-z', '--full-tree', head])) {
    totals.entries += 1;
    const mode = entry.slice(0, entry.indexOf(' '));
    if (mode === '160000') totals.submodules += 1;
    else if (mode === '120000') totals.links += 1;
    else files.set(entry.slice(entry.indexOf('\t') + 1), 0);
  }
  // An empty pattern matches every line; -I leaves binary files out. Exit code 1: no file has a line.
  const grep = ['grep', '-I', '-c', '-z', '-F', '--no-color', '--no-textconv', '--no-recurse-submodules', '-e', '', head];
  let path;
  for await (const field of gitFields(repo, grep, { ends: '\0\n', allow: [1] })) {
    if (path === undefined) path = field.slice(head.length + 1);
    else {
      files.set(path, Number(field));
      path = undefined;
    }
  }
  for (const [file, lines] of files) {
    if (lines === 0) {
      totals.empty_or_binary_files += 1;
      continue;
    }
    totals.text_files += 1;
    totals.lines += lines;
    const name = languageOf(file);
    const language = byLanguage.get(name) ?? { language: name, files: 0, lines: 0 };
    language.files += 1;
    language.lines += lines;
    byLanguage.set(name, language);
  }
  const languages = [...byLanguage.values()].sort((a, b) => b.lines - a.lines || (a.language < b.language ? -1 : 1));
  return { ...totals, languages };
}, ({ lines, languages }) => `${plural(lines, 'line')} in ${plural(languages.length, 'language')}`);
