/** The interface and its documents, and small parts of the program: their files are quick and share a process. */
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
