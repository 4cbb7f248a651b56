/** Runs in its own thread and returns the compressed script of the API reference. */
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';

const app = fastify();
await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } });
const { rawPayload } = await app.inject('/reference/js/scalar.js');
const bytes = new Uint8Array(gzipSync(rawPayload));
parentPort?.postMessage(bytes, [bytes.buffer]);
