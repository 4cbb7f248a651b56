/**
 * Loaded before every test file. A file that hangs ends with a report of its open handles, so that a run of the suite names the file and continues. Each test
 * has its own limit (`--test-timeout`). This limit covers the rest: a hook, a process or a connection that is left open.
 */
// oxlint-disable-next-line import/no-unassigned-import -- It registers its hooks.
import './support/resolutions.ts';
// oxlint-disable-next-line import/no-unassigned-import -- It replaces parts of the runner.
import './support/test-scopes.ts';

/** The time limit of a file. The slowest file installs the program four times, and needs ten minutes on a slow machine beside other tests. In milliseconds. */
const limit = Number(process.env['TEST_FILE_LIMIT_MS'] ?? 1_200_000);

setTimeout(() => {
  process.stderr.write(`${process.argv[1]} did not end in ${limit} ms; still open: ${process.getActiveResourcesInfo().join(', ')}\n`);
  // The `exit` hooks end the processes that the test file started.
  process.exit(1);
}, limit).unref();
