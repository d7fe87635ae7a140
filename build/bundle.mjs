// The command line as few files: reading hundreds of modules is most of a start. The library is not bundled.
import { build } from 'vite';

export async function bundleCommand() {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, external: ['better-sqlite3'] },
    build: {
      ssr: true,
      target: 'node20',
      outDir: 'dist/bundle',
      minify: false,
      rollupOptions: {
        input: { plan: 'dist/cli/main.js', 'module-host': 'dist/actions/module-host.js' },
        // Flat: modules look for their neighbours and for schemas/ from their own place, one folder below dist/.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', format: 'es' },
      },
    },
  });
}
