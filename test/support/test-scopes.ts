/**
 * Tells the test runner which test the running code belongs to, without following every promise. The runner uses an async hook for this, which took half of
 * the processor time of tests on simulated time. Here an `AsyncLocalStorage` keeps the test, so that only tests are registered. Loaded before `node:test`.
 */
import { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks';

/** The async id of the running test, suite or hook. */
const running = new AsyncLocalStorage<number>();

/** The functions with which the runner registers a test. */
const listeners: NonNullable<HookCallbacks['init']>[] = [];

/** The base class of tests, suites and hooks of the runner. */
class Scope extends AsyncResource {
  constructor(type: string) {
    super(type);
    for (const listen of listeners) listen(this.asyncId(), type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(fn: (this: This, ...args: unknown[]) => Result, thisArg?: This, ...args: unknown[]): Result {
    return super.runInAsyncScope(() => running.run(this.asyncId(), () => Reflect.apply(fn, thisArg as This, args)));
  }
}

const parts = process.getBuiltinModule('node:async_hooks') as unknown as Record<string, unknown>;
const own: Readonly<Record<string, unknown>> = {
  AsyncResource: Scope,
  executionAsyncId: () => running.getStore() ?? 0,
  createHook: ({ init }: HookCallbacks) => {
    if (init) listeners.push(init);
    return { enable: () => undefined, disable: () => undefined };
  },
};
const original = Object.fromEntries(Object.keys(own).map((name) => [name, parts[name]]));
// The runner reads these functions once, when it is loaded. All other modules get the original ones.
Object.assign(parts, own);
process.getBuiltinModule('node:test');
Object.assign(parts, original);
