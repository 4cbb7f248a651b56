/**
 * Caches the results of module resolution for all processes of a run. A gateway loads about 2,300 modules, and Node needs a third of the processor time of
 * the load to search folders and package.json files. The cache is valid for one package-lock.json and one folder of the project.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { flushCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const root = join(import.meta.dirname, '..', '..');
const base = pathToFileURL(`${root}/`).href;
const folder = join(root, 'node_modules', '.cache', 'resolutions');

/** The time after which a process has loaded its modules. In milliseconds. */
const loadedMs = 4_000;

/** A resolved module: its path below the root, and its format. */
type Found = readonly [path: string, format: string];

const stamp = createHash('sha256').update(process.version).update(base);
for (const name of ['package.json', 'package-lock.json']) stamp.update(readFileSync(join(root, name)));
const file = join(folder, `${stamp.digest('hex').slice(0, 16)}.json`);

const read = (): Map<string, Found> => {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Found>));
  } catch {
    // There is no cache yet.
    return new Map();
  }
};

const known = read();
const added = new Map<string, Found>();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions } = context;
    // Modules of tests may be anywhere. Only those below the root have stable paths.
    if (!parentURL.startsWith(base) || specifier.startsWith('node:')) return next(specifier, context);
    const key = `${conditions.includes('import') ? 'i' : 'r'} ${parentURL.slice(base.length)} ${specifier}`;
    const found = known.get(key);
    if (found) return { url: base + found[0], format: found[1], shortCircuit: true };
    const answer = next(specifier, context);
    if (answer.url.startsWith(base) && answer.format) added.set(key, [answer.url.slice(base.length), answer.format]);
    return answer;
  },
});

/** Adds the resolutions of this process to the file. If two processes write at once, one set is lost, and a later process adds it again. */
const write = (): void => {
  if (added.size === 0) return;
  try {
    mkdirSync(folder, { recursive: true });
    const own = `${file}.${process.pid}`;
    writeFileSync(own, JSON.stringify(Object.fromEntries([...read(), ...added])));
    renameSync(own, file);
    added.clear();
  } catch {
    // The disk is full or the folder is not writable. The next run searches again.
  }
};
if (isMainThread) {
  process.once('exit', write);
  // Most gateways are killed, so the cache is written early. By now a session has loaded its modules and compiled its code. The write of compiled code takes
  // a tenth of the processor time of a start, so only the first processes make it.
  setTimeout(() => {
    if (added.size > 0) flushCompileCache();
    write();
  }, loadedMs).unref();
}
