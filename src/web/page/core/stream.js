/**
 * Server-sent events, by `fetch` and not by `EventSource`. With `fetch` a stream can name an instance in a header, and a refusal can be read.
 * A view has one stream, and none while its window is hidden or other windows of the browser have all seats (`seats.js`).
 */
import { send } from './api.js';
import { hasAnswered, isSilent } from './contact.js';
import { keepSeat } from './seats.js';

const shortestPause = 1_000;
const longestPause = 15_000;
/** The server writes to an open stream every 15 s. After this time without a byte the connection counts as lost. */
const silenceMs = 40_000;

/**
 * @typedef {object} StreamOptions
 * @property {string} [instance] The id of the instance in whose name the stream is opened.
 * @property {(type: string, data: unknown, id: string) => void} onEvent `data` is parsed.
 * @property {(state: 'open' | 'lost' | 'paused') => void} [onState] `open`: connected or reconnected. The caller loads the data that the stream does not repeat. `paused`: other windows have the seats.
 * @property {(status: number) => void} [onRefused] The server refused the stream with 400, 401, 403 or 404. The page does not open the stream again.
 */

/**
 * @typedef {{ type: string, data: string[], id: string | null }} Frame
 */

/**
 * Reads frames until the stream ends.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(type: string, data: string, id: string | null) => void} onFrame
 */
const readFrames = async (body, onFrame) => {
  const reader = body.pipeThrough(/** @type {TransformStream<Uint8Array, string>} */ (new TextDecoderStream())).getReader();
  let rest = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let watchdog;
  const watch = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      isSilent();
      void reader.cancel();
    }, silenceMs);
  };
  /** @type {Frame} */
  let frame = { type: 'message', data: [], id: null };
  for (;;) {
    watch();
    const { value, done } = await reader.read().finally(() => clearTimeout(watchdog));
    if (done) return;
    hasAnswered();
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, field = '', text = ''] = /^(\w*): ?(.*?)\r?$/.exec(line) ?? [];
      if (field === 'event') frame.type = text;
      else if (field === 'data') frame.data.push(text);
      else if (field === 'id') frame.id = text;
      else if (line === '' || line === '\r') {
        if (frame.data.length > 0) onFrame(frame.type, frame.data.join('\n'), frame.id);
        frame = { type: 'message', data: [], id: null };
      }
    }
  }
};

const final = new Set([400, 401, 403, 404]);

/**
 * Follows a stream until the returned function is called. Reconnects after a loss, with `Last-Event-ID`.
 * @param {string} path
 * @param {StreamOptions} options
 * @returns {() => void}
 */
export const follow = (path, { instance, onEvent, onState = () => undefined, onRefused = () => undefined }) => {
  let lastId = '';
  let pause = shortestPause;
  let over = false;
  let hasSeat = false;
  let leave = () => {};
  /** @type {AbortController | null} */
  let connection = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const open = async () => {
    if (over || !hasSeat || connection !== null) return;
    const own = new AbortController();
    connection = own;
    try {
      const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
      const response = await send('GET', path, { signal: own.signal, headers, ...(instance === undefined ? {} : { instance }) });
      if (response.ok && response.body !== null) {
        pause = shortestPause;
        onState('open');
        await readFrames(response.body, (type, data, id) => {
          if (id !== null) lastId = id;
          if (!own.signal.aborted) onEvent(type, JSON.parse(data), id ?? '');
        });
      } else if (final.has(response.status)) {
        over = true;
        leave();
        onRefused(response.status);
      }
    } catch {
      // The connection was lost, or the page closed it. The code below handles both cases.
    }
    if (own.signal.aborted) return;
    connection = null;
    if (over) return;
    onState('lost');
    timer = setTimeout(open, pause);
    pause = Math.min(pause * 2, longestPause);
  };

  const close = () => {
    clearTimeout(timer);
    connection?.abort();
    connection = null;
  };

  leave = keepSeat((seat) => {
    hasSeat = seat === 'taken';
    if (hasSeat) void open();
    else close();
    if (seat === 'waiting') onState('paused');
  });
  return () => {
    over = true;
    leave();
    close();
  };
};
