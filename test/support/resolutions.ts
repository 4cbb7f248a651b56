/**
 * Remembers where the imports of modules lead, for all processes of a run. A gateway loads some 2,300 modules, and Node needs a third of the processor
 * time of such a load to search folders and package.json files for them. What is remembered holds for one package-lock.json, at one place.
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

/** Milliseconds after which a process has loaded what it needs. */
const loadedMs = 4_000;

/** File below the root, and its format. */
type Found = readonly [path: string, format: string];

const stamp = createHash('sha256').update(process.version).update(base);
for (const name of ['package.json', 'package-lock.json']) stamp.update(readFileSync(join(root, name)));
const file = join(folder, `${stamp.digest('hex').slice(0, 16)}.json`);

const read = (): Map<string, Found> => {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Found>));
  } catch {
    // There is none yet.
    return new Map();
  }
};

const known = read();
const added = new Map<string, Found>();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions } = context;
    // The code of tests may lie anywhere; only what is below the root stays where it is.
    if (!parentURL.startsWith(base) || specifier.startsWith('node:')) return next(specifier, context);
    const key = `${conditions.includes('import') ? 'i' : 'r'} ${parentURL.slice(base.length)} ${specifier}`;
    const found = known.get(key);
    if (found) return { url: base + found[0], format: found[1], shortCircuit: true };
    const answer = next(specifier, context);
    if (answer.url.startsWith(base) && answer.format) added.set(key, [answer.url.slice(base.length), answer.format]);
    return answer;
  },
});

/** Adds what this process found to what others wrote. Two processes that write at once lose one's findings, which the next process finds again. */
const write = (): void => {
  if (added.size === 0) return;
  try {
    mkdirSync(folder, { recursive: true });
    const own = `${file}.${process.pid}`;
    writeFileSync(own, JSON.stringify(Object.fromEntries([...read(), ...added])));
    renameSync(own, file);
    added.clear();
  } catch {
    // A full disk, or a folder that this user may not write: the next run searches again.
  }
};
if (isMainThread) {
  process.once('exit', write);
  // Most gateways are killed. By now they have loaded what a session needs, and its code is compiled.
  setTimeout(() => {
    write();
    flushCompileCache();
  }, loadedMs).unref();
}
