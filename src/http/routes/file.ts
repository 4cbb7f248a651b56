/** Files by their unguessable names. A name is the right to read its file; there is no list of them. */
import { isKnown, rangeHeader, rangeOf, sendFile, sendUnchanged } from '../file-answer.ts';
import { refuse, type Route, route } from '../route.ts';
import { FileBytes, FileParams } from '../schemas/common.ts';

const noFile = refuse('notFound', 'there is no such file; it may have been removed, ask POST /message/download for it again');

export const fileRoutes: readonly Route[] = [
  route({
    on: ['GET /files/:name'],
    operationId: 'readFile',
    credential: 'none',
    tag: 'message',
    summary: 'Read a file; ranges and conditions of HTTP are understood',
    params: FileParams,
    answer: FileBytes,
    produces: 'application/octet-stream',
    headers: { ETag: 'The hash of the bytes' },
    refusals: {
      notFound: { text: noFile.refusal.message },
      invalid: { status: 416, example: 'the range is outside of the file' },
    },
    run: async ({ gateway, params, request, reply }) => {
      const file = await gateway.file(params.name);
      if (file === null) return noFile;
      if (isKnown(request.headers, file)) {
        sendUnchanged(reply, file);
        return null;
      }
      const range = rangeOf(rangeHeader(request.headers, file), file.size);
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${file.size}`);
        return refuse('invalid', 'the range is outside of the file');
      }
      const bytes = request.method === 'HEAD' ? null : await gateway.readFile(file, range ?? undefined);
      if (bytes === null && request.method !== 'HEAD') return noFile;
      await sendFile(reply, { file, range, bytes });
      return null;
    },
  }),
];
