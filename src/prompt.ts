/** Asks for a secret at the terminal, without showing it. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { readFile } from 'node:fs/promises';

/** Null where nobody sits at a terminal. */
export const askSecret = async (question: string): Promise<string | null> => {
  if (!process.stdin.isTTY) return null;
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return (await terminal.question('')).trim();
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
};

/** A secret out of a file, without the end of its line. */
export const secretIn = async (path: string): Promise<string> => (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
