// Language of a file, by its name.
const BY_EXTENSION = new Map(
  Object.entries({
    Assembly: 'asm s', Astro: 'astro', Batch: 'bat cmd', C: 'c h', 'C#': 'cs', 'C++': 'cc cpp cxx hh hpp hxx', Clojure: 'clj cljs edn',
    CSS: 'css', CSV: 'csv tsv', Dart: 'dart', Diff: 'diff patch', Elixir: 'ex exs', Elm: 'elm', Erlang: 'erl hrl', Fortran: 'f f90 f95',
    'F#': 'fs fsx', Go: 'go', GraphQL: 'graphql gql', Groovy: 'groovy gradle', Haskell: 'hs lhs', HCL: 'tf hcl', HTML: 'html htm xhtml',
    INI: 'ini cfg conf properties', Java: 'java', JavaScript: 'js mjs cjs jsx', JSON: 'json jsonc json5 jsonl geojson', Julia: 'jl', Kotlin: 'kt kts', Less: 'less',
    Lisp: 'lisp el scm', Lua: 'lua', Makefile: 'mk mak', Markdown: 'md mdx markdown', Nix: 'nix', 'Objective-C': 'm mm', OCaml: 'ml mli',
    Pascal: 'pas pp', Perl: 'pl pm t', PHP: 'php', PowerShell: 'ps1 psm1', Protobuf: 'proto', Python: 'py pyi pyx', R: 'r rmd', reStructuredText: 'rst',
    Ruby: 'rb rake gemspec', Rust: 'rs', Sass: 'scss sass', Scala: 'scala sc', Shell: 'sh bash zsh fish ksh', SQL: 'sql', Svelte: 'svelte', SVG: 'svg',
    Swift: 'swift', TeX: 'tex sty bib', Text: 'txt text', TOML: 'toml', TypeScript: 'ts mts cts tsx', Vue: 'vue', XML: 'xml xsd xsl xslt plist', YAML: 'yaml yml', Zig: 'zig',
  }).flatMap(([language, extensions]) => extensions.split(' ').map((extension) => [extension, language])),
);
const BY_NAME = new Map(
  Object.entries({
    makefile: 'Makefile', gnumakefile: 'Makefile', dockerfile: 'Dockerfile', containerfile: 'Dockerfile', 'cmakelists.txt': 'CMake', 'go.mod': 'Go module',
    'go.sum': 'Go module', gemfile: 'Ruby', rakefile: 'Ruby', jenkinsfile: 'Groovy', license: 'Text', licence: 'Text', copying: 'Text', readme: 'Text', authors: 'Text',
  }),
);

/** Name of the language, or "Other". */
export function languageOf(path) {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  return BY_NAME.get(name) ?? (dot < 1 ? undefined : BY_EXTENSION.get(name.slice(dot + 1))) ?? 'Other';
}
