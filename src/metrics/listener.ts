/** `/metrics` at an address of its own, without a token: for a network that only the collector reaches. */
import { createServer } from 'node:http';
import type { Metrics } from './metrics.ts';

/** Answers with what closes it. Rejects when the address is taken. */
export const listenForMetrics = async (
  metrics: Metrics,
  host: string,
  port: number,
): Promise<{ readonly port: number; close(): Promise<void> }> => {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"only GET /metrics is here"}');
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"Internal server error"}'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
