// The entry point. `main.ts` is a symbolic link to this file. The file is plain JavaScript, so that an old version of Node can run it and names the required
// version. Such a version cannot load a TypeScript file.
'use strict';

const needed = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major < needed) {
  process.stderr.write(
    `Dormouse needs Node ${needed} or later, and this is Node ${process.versions.node}.\n` +
      'Run "npm ci" once, then "npm start": the scripts use a Node of their own.\n',
  );
  process.exitCode = 1;
} else {
  // V8 lets the heap of a steadily loaded gateway grow by a tenth between two collections of the whole heap. Each collection takes two cores for some 100 ms.
  // With this setting the heap may double, so that collections are rare. An idle process still returns memory to the system.
  require('node:v8').setFlagsFromString('--heap-growing-percent=100');
  // Compiled code is kept beside the dependencies. With this cache a start needs half the processor time. If the folder is not writable, no code is kept.
  require('node:module').enableCompileCache(require('node:path').join(__dirname, '..', 'node_modules', '.cache', 'dormouse'));
  import('./start.ts')
    .then(({ start }) => start(process.argv.slice(2)))
    .catch((error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    });
}
