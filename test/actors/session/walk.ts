/** Walks a real chart along a path of events. Each event of the path is caused by the fake link, the clock or a command. */
import { FakeLink, identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import type { LifecycleInput } from '#actors/session/chart-setup.ts';
import { Chart, passkeyAssertion, passkeyOptions } from './chart.ts';

/** A step: the type of an event. A close also has the code of the platform. */
export interface Step {
  readonly type: string;
  readonly code?: number;
  readonly expire?: string;
  /** The phone number of a connect that asks for a pairing code. */
  readonly phone?: string;
  /** True if the step fails because the storage is away. */
  readonly away?: boolean;
  /** The last answer of the link. After a close: a pairing exists. After a logout: the platform was told. After a suspension: there is room. */
  readonly answer?: boolean;
}

type Taken = object;

export class Walk {
  readonly chart: Chart;
  /** The transitions that were taken, from the tables of the machine. */
  readonly taken = new Set<Taken>();
  #hold = Promise.withResolvers<void>();
  #closing = 0;
  #acknowledged = true;
  #requests = 0;

  constructor(begin: LifecycleInput['begin'] = 'offline') {
    this.chart = new Chart(begin, { handshakes: { atOnce: 1, perSecond: 1000 } }, 1, (event) => {
      if (event.type === '@xstate.microstep') for (const transition of event._transitions) this.taken.add(transition);
    });
    const { link } = this.chart;
    link.close = () => this.#held(() => FakeLink.prototype.close.call(link));
    link.logout = () => link.close().then(() => this.#acknowledged);
    const discard = link.discard.bind(link);
    link.discard = (how, reason) => this.#held(() => discard(how, reason));
    this.#occupy();
  }

  async take(step: Step): Promise<void> {
    await this.#cause(step);
    await settle();
    this.#occupy();
    await settle();
  }

  /** True while a close or a discard is under way. */
  get held(): boolean {
    return this.#closing > 0;
  }

  /** Fills the only place of the gate until the walk says that the chart is admitted. */
  #occupy(): void {
    if (!this.chart.state.endsWith('.admission') || this.chart.gate.waiting === 0) this.chart.gate.release('other');
    void this.chart.gate.admit('other', new AbortController().signal);
  }

  async #held(end: () => Promise<void>): Promise<void> {
    this.#closing += 1;
    try {
      await this.#hold.promise;
    } finally {
      this.#closing -= 1;
      await end();
    }
  }

  async #cause({ type, code, expire, phone, answer, away }: Step): Promise<void> {
    const { chart } = this;
    if (answer !== undefined) chart.link.hasCredentials = this.#acknowledged = chart.room = answer;
    if (type === 'operation.ended') return this.#request(async () => 1);
    if (type.endsWith('admission')) return this.#admit();
    if (type.startsWith('xstate.done') || type.startsWith('xstate.error'))
      return this.#letGo(type.startsWith('xstate.done') ? null : away ? new StorageUnavailable('away') : new Error('no'));
    if (type.startsWith('xstate.after.unlinkLimit')) return chart.time.pass(chart.time.rings.at(-1) ?? 0);
    if (type.startsWith('xstate.after')) return chart.time.pass(chart.time.rings[0] ?? 0);
    if (type === 'instance.request') return this.#request(async () => 1);
    if (type === 'instance.connect') return chart.connect(phone === undefined ? {} : { phone });
    if (type === 'passkey.assert') return chart.assertPasskey(passkeyAssertion);
    if (type.startsWith('instance.') || type.startsWith('passkey.')) return chart.do(type as 'instance.stop');
    if (type === 'platform.closed') return chart.end(code ?? null, expire === undefined ? undefined : { expire });
    // Computed paths do not know which kind of pairing was requested.
    if (type === 'platform.qr' || type === 'platform.code')
      chart.link.codes.splice(0, Infinity, ...(type === 'platform.code' ? ['55'] : []));
    chart.link.say(factOf(type, answer));
  }

  /** Admits the chart. Other sessions may have asked before. */
  async #admit(): Promise<void> {
    for (let n = 0; n < 10 && this.chart.state.endsWith('.admission'); n += 1) {
      this.chart.gate.release('other');
      await settle();
    }
  }

  #request(run: () => Promise<unknown>): Promise<void> {
    return this.chart.request((this.#requests += 1), run);
  }

  #letGo(failure: Error | null): void {
    const { resolve, reject } = this.#hold;
    this.#hold = Promise.withResolvers<void>();
    if (failure === null) resolve();
    else reject(failure);
  }
}

const factOf = (type: string, answer?: boolean) => {
  if (type === 'platform.passkeyRequested') return { type, options: passkeyOptions } as const;
  if (type === 'platform.passkeyCode') return { type, code: 'ABCD-1234', handedOff: answer ?? false } as const;
  if (type === 'platform.qr') return { type, qr: 'text' } as const;
  if (type === 'platform.code') return { type, code: 'ABCD1234' } as const;
  if (type === 'platform.identity') return { type, patch: { profileName: 'New' } } as const;
  if (type === 'platform.paired' || type === 'platform.opened') return { type, identity } as const;
  return { type: 'platform.handshaken' } as const;
};
