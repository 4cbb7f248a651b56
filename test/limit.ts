/**
 * Loaded before every test file. A file that stands still ends with what it waits for, so that a run of the suite says which one it was and goes on.
 * Each test has a limit of its own (`--test-timeout`); this one is for what no test waits for: a hook, a process or a connection that is left open.
 */
// oxlint-disable-next-line import/no-unassigned-import -- It registers its hooks.
import './support/resolutions.ts';

/** Milliseconds: the slowest file takes two minutes on a busy machine. */
const limit = Number(process.env['TEST_FILE_LIMIT_MS'] ?? 600_000);

setTimeout(() => {
  process.stderr.write(`${process.argv[1]} did not end in ${limit} ms; still open: ${process.getActiveResourcesInfo().join(', ')}\n`);
  // The hooks of `exit` end the processes that it started.
  process.exit(1);
}, limit).unref();
