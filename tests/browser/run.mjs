// Drives Chromium through highwater's pages.
//
//   node tests/browser/run.mjs [WORDS…]     runs only the tests whose names contain these words
//
// HIGHWATER_PROGRAM is the program, HIGHWATER_SIMULATOR hw-sim's example `github`, HIGHWATER_BROWSER_TOOLS the folder
// in which package.json was installed. HIGHWATER_UPDATE_DOCS=1 also writes the pictures in docs/screens.

import { end, run, say } from './runner.mjs';

for (const name of ['search', 'keys', 'filters', 'states', 'live', 'threads', 'queries', 'access', 'health', 'watches', 'pictures']) {
  await import(`./${name}.mjs`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => end().finally(() => process.exit(1)));
}
let passed = false;
try {
  passed = await run(process.argv.slice(2));
} catch (error) {
  say(`not ok: ${error.stack}`);
} finally {
  await end();
}
process.exit(passed ? 0 : 1);
