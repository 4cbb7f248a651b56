/**
 * libsignal prints session objects with private keys through the console. Its output is dropped by what it says and by what it carries;
 * everybody else's passes.
 */

const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** The beginnings of everything that libsignal 6.0.0 prints. */
const sentences = [
  'V1 session storage migration error',
  'Migrating session to:',
  'Session already closed',
  'Closing session:',
  'Session already open',
  'Opening session:',
  'Removing old closed session:',
  'Closing open session in favor of incoming prekey bundle',
  'WARNING: Expected pubkey of length 33',
  'Unhandled bucket type',
  'Failed to decrypt message with any known session',
  'Session error:',
  'Decrypted message with closed session',
];

const carriesSession = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value.constructor?.name === 'SessionEntry' || value.constructor?.name === 'SessionRecord');

const isLibsignal = (args: readonly unknown[]): boolean => {
  const [first] = args;
  return (typeof first === 'string' && sentences.some((sentence) => first.startsWith(sentence))) || args.some(carriesSession);
};

let quiet = false;

/** Once per process; later calls do nothing. */
export const quietConsole = (target: Record<(typeof levels)[number], (...args: unknown[]) => void> = console): void => {
  if (target === console && quiet) return;
  if (target === console) quiet = true;
  for (const level of levels) {
    const print = target[level].bind(target);
    target[level] = (...args) => {
      if (!isLibsignal(args)) print(...args);
    };
  }
};
