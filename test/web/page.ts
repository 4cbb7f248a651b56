/** Loads modules of the dashboard outside a browser, with the globals that they use while they load. A file that imports this module has a process of its own. */
import { afterEach, type MockTimers } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

const nothing = (): void => undefined;
const target = { addEventListener: nothing, removeEventListener: nothing };

class SilentChannel {
  readonly addEventListener = nothing;
  readonly postMessage = nothing;
}

Object.assign(globalThis, {
  ...target,
  document: { ...target, hidden: false, documentElement: { dataset: {} }, title: '' },
  history: { state: null },
  location: { pathname: '/admin', origin: 'http://dormouse.example' },
  BroadcastChannel: SilentChannel,
  requestAnimationFrame: (draw: () => void) => setTimeout(draw, 16),
  cancelAnimationFrame: (timer: NodeJS.Timeout) => clearTimeout(timer),
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
  return answer instanceof ReadableStream ? new Response(answer) : Response.json(answer, { status });
};

afterEach(() => {
  server.calls = [];
  server.answer = () => ({ body: {} });
});

/** Imports a module of the page. Its name is no literal, because the types of the page include those of the browser, which would hide types of Node. */
export const pageModule = async <Module>(name: string): Promise<Module> => (await import(`#src/web/page/${name}`)) as Module;

interface Library {
  h(component: () => null, properties: null): unknown;
  render(element: unknown, root: object): void;
}

/** Shows a component that draws nothing, so its hooks run. Returns a function that removes the component. */
export const shown = async (component: () => null): Promise<() => void> => {
  const name = 'preact';
  const { h, render } = (await import(name)) as Library;
  const root = { childNodes: [], firstChild: null };
  render(h(component, null), root);
  return () => render(null, root);
};

/** Lets simulated time pass, in milliseconds. The page handles what became due, every 50 ms. */
export const pass = async (timers: MockTimers, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 50) {
    timers.tick(Math.min(50, left));
    await turn();
  }
};
