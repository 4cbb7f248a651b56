/** Passes committed events to the current listeners of an instance. The feed keeps no events. */
import type { GatewayEvent } from '../model.ts';

interface Listener {
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onEnd: () => void;
}

export class Feed {
  readonly #listeners = new Set<Listener>();
  readonly #failed: (error: unknown) => void;

  /** Takes a callback for the error of a listener that threw. All other listeners still get the event. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  subscribe(onEvent: Listener['onEvent'], onEnd: Listener['onEnd']): () => void {
    const listener = { onEvent, onEnd };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  publish(event: GatewayEvent): void {
    for (const listener of this.#listeners) this.#call(() => listener.onEvent(event));
  }

  /** Ends all listeners, because the token changed, the instance is gone, or the process stops. */
  end(): void {
    const all = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of all) this.#call(listener.onEnd);
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#failed(error);
    }
  }
}
