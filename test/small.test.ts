/** Runs the quick tests of HTTP, its documents and small parts of the program in one process. */
import { runInTurn } from './support/together.ts';

await runInTurn(
  'test/contract',
  'test/docs',
  'test/config',
  'test/charts',
  'test/web',
  'test/webhooks',
  'test/wiring',
  'test/base',
  'test/bench',
  'test/bus',
  'test/chatbot',
  'test/chatwoot',
  'test/metrics',
  'test/tracing',
  'test/users',
);
