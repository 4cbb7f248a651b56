/**
 * Loaded before every test file. A file that hangs ends with a report of its open handles, so that a run of the suite names the file and continues. Each test
 * has its own limit (`--test-timeout`). This limit covers the rest: a hook, a process or a connection that is left open.
 */
// oxlint-disable-next-line import/no-unassigned-import -- It registers its hooks.
import './support/resolutions.ts';

/** The limit in milliseconds. The slowest file takes two minutes on a busy machine. */
const limit = Number(process.env['TEST_FILE_LIMIT_MS'] ?? 600_000);

setTimeout(() => {
  process.stderr.write(`${process.argv[1]} did not end in ${limit} ms; still open: ${process.getActiveResourcesInfo().join(', ')}\n`);
  // The hooks of `exit` end the processes that it started.
  process.exit(1);
}, limit).unref();
