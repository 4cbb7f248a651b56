/** The proxy of one session: the route of the next connection, and the reaction to failures. */
import { noProxy, unreadableIn, type InstancePatch, type InstanceRecord, type ProxySettings, type Route } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import { failuresBeforeFallback, type ProxyPolicy, routeOf } from '../policy/proxy-choice.ts';
import type { Policy } from '../policy/policy.ts';
import type { Log, Ports } from '../ports.ts';

interface ProxyingInput {
  readonly instance: string;
  readonly policy: ProxyPolicy;
  readonly log: Log;
  /** The shortest duration of a connection that resets the number of failures. In milliseconds. */
  readonly stable: number;
  settings(): ProxySettings | null;
  /** Returns true if the stored settings cannot be decrypted. */
  isUnreadable(): boolean;
  /** Returns another managed proxy of the same region; '' if there is none. */
  another(settings: ProxySettings): string;
  note(patch: InstancePatch): void;
  now(): number;
}

export class Proxying {
  readonly #input: ProxyingInput;
  /** The number of consecutive failures of the current proxy. */
  #failures = 0;
  /** The time of the last attempt with the owner's proxy while the fallback is in use. In Unix milliseconds. */
  #primaryTriedAt = 0;
  /** True if the current connection uses the owner's proxy although the fallback is in use. */
  #onPrimary = false;
  #viaProxy = false;
  #liveAt: number | null = null;

  constructor(input: ProxyingInput) {
    this.#input = input;
  }

  /** Returns the route of the next connection. */
  route(): Route {
    const { policy, now, isUnreadable } = this.#input;
    // The session must not use a route that the owner did not choose.
    if (isUnreadable()) return { via: 'unreadable' };
    const settings = this.#settings;
    const { fallbackSince } = settings;
    this.#onPrimary = fallbackSince !== null && now() - Math.max(fallbackSince, this.#primaryTriedAt) >= policy.primaryEvery;
    if (this.#onPrimary) this.#primaryTriedAt = now();
    const route = routeOf(settings, policy.direct, this.#onPrimary);
    this.#viaProxy = route.via === 'proxy';
    return route;
  }

  /** Resets the failures after a change of the settings. */
  changed(): void {
    this.#failures = 0;
    this.#primaryTriedAt = 0;
  }

  live(): void {
    this.#liveAt = this.#input.now();
    if (!this.#viaProxy) return;
    const back = this.#onPrimary ? { fallbackSince: null, fallbackReason: '' } : {};
    if (this.#settings.lastTestError !== '' || this.#onPrimary) this.#note({ lastTestAt: this.#liveAt, lastTestError: '', ...back });
  }

  closed({ cause, sentence }: Verdict): void {
    const { now, stable } = this.#input;
    if (this.#liveAt !== null && now() - this.#liveAt >= stable) this.#failures = 0;
    this.#liveAt = null;
    if (cause !== 'proxyFailed') return;
    this.#failures += 1;
    this.#note({ lastTestAt: now(), lastTestError: sentence });
    if (this.#failures >= failuresBeforeFallback && !this.#onPrimary) this.#resort(sentence);
  }

  get #settings(): ProxySettings {
    return this.#input.settings() ?? noProxy;
  }

  #resort(reason: string): void {
    const { instance, log, now, another } = this.#input;
    const settings = this.#settings;
    const { mode, fallback, fallbackSince, managedUrl } = settings;
    if (mode === 'custom' && fallback && fallbackSince === null) {
      this.#failures = 0;
      log.warn({ instance, reason }, 'proxy.fallback');
      return this.#note({ fallbackSince: now(), fallbackReason: `custom_failed_internal:${reason}` });
    }
    const next = managedUrl === '' ? '' : another(settings);
    if (next === '' || next === managedUrl) return;
    this.#failures = 0;
    log.warn({ instance, reason }, 'proxy.rotated');
    this.#note({ managedUrl: next });
  }

  #note(patch: Partial<ProxySettings>): void {
    this.#input.note({ proxy: { ...this.#settings, ...patch } });
  }
}

/** The parts of `CellInput` that proxying needs. */
interface Surroundings {
  readonly ports: Pick<Ports, 'log' | 'time'>;
  readonly policy: Pick<Policy, 'proxies' | 'reconnect'>;
  readonly anotherProxy: ProxyingInput['another'];
}

export const proxyingOf = (
  { ports, policy, anotherProxy }: Surroundings,
  record: () => InstanceRecord,
  keeper: { note(patch: InstancePatch): void },
): Proxying =>
  new Proxying({
    instance: record().id,
    policy: policy.proxies,
    log: ports.log,
    stable: policy.reconnect.stable,
    settings: () => record().proxy,
    isUnreadable: () => unreadableIn(record(), 'proxy'),
    another: anotherProxy,
    note: (patch) => keeper.note(patch),
    now: () => ports.time.now(),
  });
