/** A real client of the event stream, which reads frames from a fetch. */
import type { TestContext } from 'node:test';
import { token, until } from './setup.ts';

export interface Frame {
  readonly event: string;
  readonly data: { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
  readonly id: string;
}

export interface StreamClient {
  readonly status: number;
  readonly headers: Headers;
  readonly frames: readonly Frame[];
  readonly comments: readonly string[];
  /** Returns the received text. */
  text(): string;
  /** Waits for `count` frames. Returns the received frames. */
  frame(count: number): Promise<readonly Frame[]>;
  /** A promise that resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  leave(): void;
}

const fieldOf = (block: string, name: string): string =>
  block
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2) ?? '';

const frameOf = (block: string): Frame => ({
  event: fieldOf(block, 'event'),
  data: JSON.parse(fieldOf(block, 'data')),
  id: fieldOf(block, 'id'),
});

export const openStream = async (
  t: TestContext,
  address: string,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamClient> => {
  const abort = new AbortController();
  t.after(() => abort.abort());
  const response = await fetch(`${address}/sse?token=${token}&${query}`, { headers, signal: abort.signal });
  const frames: Frame[] = [];
  const comments: string[] = [];
  let text = '';

  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      const part = decoder.decode(chunk, { stream: true });
      text += part;
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks)
        if (block.startsWith(':')) comments.push(block);
        else frames.push(frameOf(block));
    }
  };
  const ended = read().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });

  return {
    status: response.status,
    headers: response.headers,
    frames,
    comments,
    text: () => text,
    async frame(count) {
      await until(() => frames.length >= count);
      return frames;
    },
    ended,
    leave: () => abort.abort(),
  };
};
