// npm run build: types and modules by tsc into dist/, the plan schema as code, and the command line as one bundle.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { bundleCommand } from './bundle.mjs';
import { writeValidator } from './validator.mjs';

process.chdir(new URL('..', import.meta.url).pathname);
rmSync('dist', { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
await writeValidator();
await bundleCommand();
