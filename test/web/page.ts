/** Loads modules of the dashboard outside a browser, with the globals that they use while they load. A file that imports this module has a process of its own. */
import { afterEach } from 'node:test';

const nothing = (): void => undefined;
const target = { addEventListener: nothing, removeEventListener: nothing };

class SilentChannel {
  readonly addEventListener = nothing;
  readonly postMessage = nothing;
}

Object.assign(globalThis, {
  ...target,
  document: { ...target, hidden: false, documentElement: {}, title: '' },
  history: { state: null },
  location: { pathname: '/admin', origin: 'http://dormouse.example' },
  BroadcastChannel: SilentChannel,
  requestAnimationFrame: (draw: () => void) => setTimeout(draw, 16),
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** The requests of the page, and the function that answers them. */
export const server = { calls: [] as Call[], answer: (_call: Call): Answer | Promise<Answer> => ({ body: {} }) };

globalThis.fetch = async (path, { method = 'GET', body } = {}) => {
  const call = { method, path: String(path), body: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined };
  server.calls.push(call);
  const { status = 200, body: answer } = await server.answer(call);
  return Response.json(answer, { status });
};

afterEach(() => {
  server.calls = [];
  server.answer = () => ({ body: {} });
});

/** Imports a module of the page. Its name is no literal, because the types of the page include those of the browser, which would hide types of Node. */
export const pageModule = async <Module>(name: string): Promise<Module> => (await import(`#src/web/page/${name}`)) as Module;
