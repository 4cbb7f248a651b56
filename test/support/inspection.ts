/**
 * Counts the live objects of a running process over the inspector of Node. The program itself stays unchanged. The process needs the arguments `inspectable`.
 */
import { readdirSync } from 'node:fs';
import { until } from './until.ts';

/** The arguments of Node that open the inspector. */
export const inspectable = ['--inspect=127.0.0.1:0'] as const;

/** Counts that grow with a leak, after garbage collection. */
export interface Census {
  /** The used heap. In bytes. */
  readonly heap: number;
  /** Referenced event emitters: sockets, streams, connections. */
  readonly emitters: number;
  /** The listeners of all emitters. */
  readonly listeners: number;
  /** Armed or referenced timers, including those that keep no process alive. */
  readonly timers: number;
  /** Open handles and requests that keep the event loop alive. */
  readonly resources: number;
  /** The number of open files and sockets, or 0 if the system does not provide the number. */
  readonly descriptors: number;
}

interface RemoteObject {
  readonly objectId?: string;
  readonly value?: unknown;
}
interface Result {
  readonly result?: RemoteObject;
  readonly objects?: RemoteObject;
  readonly exceptionDetails?: unknown;
}
interface Reply {
  readonly id: number;
  readonly result?: Result;
  readonly error?: { readonly message: string };
}

class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(String(data)) as Reply;
      const waiter = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (result === undefined || result.exceptionDetails) waiter?.reject(new Error(JSON.stringify(error ?? result)));
      else waiter?.resolve(result);
    });
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the inspected process went away'));
    });
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('the inspector does not answer')));
    });
    return new Inspector(socket);
  }

  ask(method: string, params: object = {}): Promise<Result> {
    const waiter = Promise.withResolvers<Result>();
    this.#waiting.set((this.#asked += 1), waiter);
    this.#socket.send(JSON.stringify({ id: this.#asked, method, params }));
    return waiter.promise;
  }

  async value(expression: string): Promise<number> {
    return Number((await this.ask('Runtime.evaluate', { expression, returnByValue: true })).result?.value);
  }

  /** Collects garbage, then runs a function in the process. Its `this` is the list of all objects with the prototype. Returns its result. */
  async all<T>(prototype: string, functionDeclaration: string): Promise<T> {
    const objectGroup = 'census';
    const { result } = await this.ask('Runtime.evaluate', { expression: prototype, objectGroup });
    const { objects } = await this.ask('Runtime.queryObjects', { prototypeObjectId: result?.objectId, objectGroup });
    const said = await this.ask('Runtime.callFunctionOn', { objectId: objects?.objectId, functionDeclaration, returnByValue: true });
    await this.ask('Runtime.releaseObjectGroup', { objectGroup });
    return said.result?.value as T;
  }

  close(): void {
    this.#socket.close();
  }
}

const emitters = 'process.getBuiltinModule("node:events").prototype';
const timers = 'Object.getPrototypeOf(setTimeout(() => undefined))';
// Prototypes that inherit from `EventEmitter.prototype` are found too, and have no listeners.
const countEmitters = `function () {
  const on = (one) => Object.hasOwn(one, '_events') ? one.eventNames().map((name) => one.listenerCount(name)) : [];
  return { emitters: this.length, listeners: this.flatMap(on).reduce((sum, listeners) => sum + listeners, 0) };
}`;
const countTimers = 'function () { return { timers: this.length }; }';

/** Counts the live objects of a process. `printed` is the output of the process, which has the address of its inspector. */
export const takeCensus = async (pid: number, printed: string): Promise<Census> => {
  const url = await until(() => /ws:\/\/127\.0\.0\.1:\d+\/\S+/.exec(printed)?.[0], 'the process can be inspected');
  const inspector = await Inspector.connect(url);
  try {
    return {
      descriptors: process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0,
      resources: await inspector.value('process.getActiveResourcesInfo().length'),
      ...(await inspector.all<Pick<Census, 'timers'>>(timers, countTimers)),
      ...(await inspector.all<Pick<Census, 'emitters' | 'listeners'>>(emitters, countEmitters)),
      heap: await inspector.value('process.memoryUsage().heapUsed'),
    };
  } finally {
    inspector.close();
  }
};
