/** Counters and histograms as plain numbers. A scrape makes the series from them. */
import type { Meter, Totals } from '#actors/ports.ts';

/** Upper bounds of the buckets of each histogram, in seconds. */
export const secondsBounds = {
  request: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
  delivery: [0.05, 0.25, 1, 5, 30, 300, 3600],
  model: [0.5, 1, 2.5, 5, 10, 30, 60],
  reconnect: [0.5, 2, 10, 60, 300, 1800],
  frame: [5, 15, 30, 60, 120, 300],
} as const;

/** The largest number of names in a set of counters. Further names, which outside callers can cause, are counted together. */
const mostNames = 500;
const others = 'other';

export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    const known = this.#counts.has(name) || this.#counts.size < mostNames ? name : others;
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + by);
  }

  get entries(): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts];
  }
}

export class Histogram {
  readonly bounds: readonly number[];
  readonly #parts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#parts = bounds.map(() => 0);
  }

  /** Adds a value in milliseconds. */
  add(ms: number): void {
    const seconds = ms / 1000;
    const part = this.bounds.findIndex((bound) => seconds <= bound);
    if (part >= 0) this.#parts[part] = (this.#parts[part] ?? 0) + 1;
    this.sum += seconds;
    this.count += 1;
  }

  /** The cumulative number of values for each bound. */
  get upTo(): readonly number[] {
    let all = 0;
    return this.#parts.map((part) => (all += part));
  }
}

/** The metrics of this process. */
export class ProcessMeter implements Meter {
  readonly closes = new Counts();
  readonly events = new Counts();
  readonly posts = new Counts();
  readonly crashes = new Counts();
  readonly models = new Counts();
  readonly modelTimes = new Histogram(secondsBounds.model);
  modelTokens = 0;
  readonly recipients = new Counts();
  readonly leasesTaken = new Counts();
  readonly leasesEnded = new Counts();
  readonly leasesAstray = new Counts();
  /** HTTP answers by `<method> <route> <class of status>`, such as `GET /status 2xx`. */
  readonly answers = new Counts();
  readonly routes = new Map<string, Histogram>();
  readonly reconnects = new Histogram(secondsBounds.reconnect);
  readonly postTimes = new Histogram(secondsBounds.request);
  readonly deliveries = new Histogram(secondsBounds.delivery);
  attempts = 0;
  readonly entries = { lost: 0, refused: 0 };
  readonly forgeries = new Counts();
  readonly streams = { open: 0, cut: 0 };
  readonly messages = { received: 0, sent: 0 };
  readonly #outcomes = { delivered: 0, failed: 0 };

  attempted(): void {
    this.attempts += 1;
  }

  closed(cause: string): void {
    this.closes.add(cause);
  }

  reconnected(ms: number): void {
    this.reconnects.add(ms);
  }

  event(type: string, fromMe?: boolean): void {
    this.events.add(type);
    if (fromMe !== undefined) this.messages[fromMe ? 'sent' : 'received'] += 1;
  }

  posted(outcome: string, ms: number, sinceEvent: number | null): void {
    this.posts.add(outcome);
    this.#outcomes[outcome === 'delivered' ? 'delivered' : 'failed'] += 1;
    this.postTimes.add(ms);
    if (sinceEvent !== null) this.deliveries.add(sinceEvent);
  }

  modelAsked(outcome: string, ms: number, tokens: number): void {
    this.models.add(outcome);
    this.modelTimes.add(ms);
    this.modelTokens += tokens;
  }

  campaigned(outcome: string): void {
    this.recipients.add(outcome);
  }

  leases(what: 'taken' | 'ended' | 'astray', cause: string, count: number): void {
    const counts = { taken: this.leasesTaken, ended: this.leasesEnded, astray: this.leasesAstray };
    counts[what].add(cause, count);
  }

  unstored(outcome: 'lost' | 'refused', count: number): void {
    this.entries[outcome] += count;
  }

  forged(what: string): void {
    this.forgeries.add(what);
  }

  crashed(part: string): void {
    this.crashes.add(part);
  }

  get totals(): Totals {
    return { ...this.messages, ...this.#outcomes, reconnects: this.reconnects.count };
  }

  stream(what: 'opened' | 'closed' | 'cut'): void {
    if (what === 'cut') this.streams.cut += 1;
    else this.streams.open += what === 'opened' ? 1 : -1;
  }

  /** Counts an HTTP answer. `route`: the pattern of the route; '' if no route matched. */
  answered(method: string, route: string, status: number, ms: number): void {
    const of = route === '' ? 'none' : route;
    this.answers.add(`${route === '' ? '' : method} ${of} ${Math.floor(status / 100)}xx`);
    let times = this.routes.get(of);
    if (times === undefined) {
      if (this.routes.size >= mostNames) return;
      this.routes.set(of, (times = new Histogram(secondsBounds.request)));
    }
    times.add(ms);
  }
}
