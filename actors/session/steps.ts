/**
 * The last steps of one instance through its charts, for the inspector. Ten thousand instances keep their steps, so a step takes 16 bytes of a
 * growing buffer. Names are made when steps are read. The cell owns the buffer, which survives the actors.
 *
 * A step begins with the time in whole milliseconds (6 bytes) and the detail of the cause (2). The old state, the new state, the event and the
 * reaction to a close follow (1 each). The close code and the delay in tenths of a second are last (2 each).
 */
import { origins, type Origin, type Step, type StepCause } from '../views/inspector.ts';
import { closeTexts, reactions, sentenceOf, type Reaction, type Verdict } from '../policy/close-cause.ts';
import { charts, edgeOf, nameOfEvent, stateText } from './charts.ts';
import { chartNames, type ChartName } from '../views/inspector.ts';
import type { Move } from './host.ts';

const stepBytes = 16;
const firstSteps = 8;
const mostSteps = 100;

/** Every state of both charts. A step stores the index. */
const states = chartNames.flatMap((chart) => charts[chart].states.map(({ id }) => ({ chart, state: id })));
const indexOf = new Map(states.map(({ chart, state }, index) => [`${chart} ${state}`, index]));
/** The index for the start of the root machine, before its first state. */
const nowhere = 255;

const events = [...new Set(chartNames.flatMap((chart) => charts[chart].events.map(({ name }) => name)))];
const eventOf = new Map(events.map((name, index) => [name, index]));

const texts = [...closeTexts.keys()];
/** Reactions with a delayed retry. */
const delayed: ReadonlySet<Reaction> = new Set(['backOff', 'contest', 'gate']);

/** Names of the errors behind crashes. A step stores the index. At most 255 names are kept, which is more than a program has error classes. */
const errorNames: string[] = [];

/** Events that leave a state and enter the same state again. Such a transition is a step. */
const anew = new Set(
  chartNames.flatMap((chart) =>
    charts[chart].transitions
      .filter(({ reenter, from, leaf }) => reenter && from === leaf)
      .map(({ leaf, event }) => `${chart} ${leaf} ${event}`),
  ),
);

const isUnder = (state: string, parent: string): boolean => state === parent || state.startsWith(`${parent}.`);

/** The data that events of a chart may carry. */
interface Carried {
  readonly type: string;
  readonly by?: Origin;
  readonly error?: unknown;
  readonly close?: { readonly code: number | null };
}

interface Detail {
  readonly detail: number;
  /** The index of the reaction to a close. */
  readonly reaction: number;
  readonly code: number;
  readonly delayMs: number;
}

const none: Detail = { detail: 0, reaction: 0, code: 0, delayMs: 0 };

const closeDetail = (code: number | null, context: object): Detail => {
  const { verdict, retryInMs } = context as { readonly verdict?: Verdict | null; readonly retryInMs?: number };
  if (!verdict) return none;
  const { sentence, reaction } = verdict;
  const said = code === null ? sentence : sentence.slice(sentence.indexOf(': ') + 2);
  const text = texts.findIndex((known) => said === known || said.startsWith(`${known}: `));
  const delayMs = delayed.has(reaction) ? (retryInMs ?? 0) : 0;
  return { detail: Math.max(0, text), reaction: reactions.indexOf(reaction), code: code ?? 0, delayMs };
};

const crashDetail = (error: unknown): Detail => {
  const name = error instanceof Error ? error.name : typeof error;
  if (!errorNames.includes(name) && errorNames.length < 255) errorNames.push(name);
  return { ...none, detail: Math.max(0, errorNames.indexOf(name)) };
};

const isCrash = (name: string): boolean => name === 'failed.lifecycle' || name === 'link.surprised';

export class Steps {
  readonly #now: () => number;
  #bytes = new DataView(new ArrayBuffer(firstSteps * stepBytes));
  /** The number of all steps. Only the newest steps are kept. */
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The number of the last step, or 0 before the first. */
  get count(): number {
    return this.#count;
  }

  /** Adds the move if it is a step, and returns true in this case. */
  add({ chart, before, event, after }: Move): boolean {
    const to = stateText(after.value);
    const from = before === null ? (chart === 'lifecycle' ? 'beginning' : '') : stateText(before.value);
    const name = nameOfEvent.get(event.type) ?? event.type;
    if (from === '' && this.#count <= 1) return false; // The first start of the root is no step.
    if (from === to && !anew.has(`${chart} ${to} ${name}`)) return false;
    if (!eventOf.has(name)) return false; // XState reports the end of an actor with an event that is not in the charts.
    this.#push(
      indexOf.get(`${chart} ${from}`) ?? nowhere,
      indexOf.get(`${chart} ${to}`) ?? nowhere,
      name,
      this.#detail(chart, from, name, event, after.context),
    );
    return true;
  }

  /** Returns the kept steps with a number greater than `n`, oldest first. */
  after(n: number): readonly Step[] {
    const first = Math.max(n, this.#count - this.#held) + 1;
    return Array.from({ length: Math.max(0, this.#count - first + 1) }, (_, index) => this.#read(first + index));
  }

  /** Returns the time at which the chart entered its current state, or null if that step is no longer kept. In Unix milliseconds. */
  enteredAt(chart: ChartName): number | null {
    for (let n = this.#count; n > this.#count - this.#held; n -= 1) if (states[this.#byte(n, 9)]?.chart === chart) return this.#at(n);
    return null;
  }

  /** Yields the kept steps without the names of events, newest first. The cost is low enough to read many instances. */
  *backwards(): Generator<{ readonly at: number; readonly chart: ChartName; readonly from: string; readonly to: string }> {
    for (let n = this.#count; n > this.#count - this.#held; n -= 1) {
      const to = states[this.#byte(n, 9)];
      if (to) yield { at: this.#at(n), chart: to.chart, from: states[this.#byte(n, 8)]?.state ?? '', to: to.state };
    }
  }

  get #held(): number {
    return Math.min(this.#count, mostSteps);
  }

  #detail(chart: ChartName, from: string, name: string, event: Carried, context: object): Detail {
    if (name === 'platform.closed') return closeDetail(event.close?.code ?? null, context);
    if (name.startsWith('instance.')) return { ...none, detail: Math.max(0, origins.indexOf(event.by ?? 'api')) };
    if (isCrash(name)) return crashDetail(event.error);
    return name.startsWith('after.') ? { ...none, delayMs: this.#sinceEntry(chart, from, name) } : none;
  }

  /** Returns the milliseconds since the chart entered the state whose timer fired. That state may be a parent of `from`. */
  #sinceEntry(chart: ChartName, from: string, name: string): number {
    const owner = charts[chart].transitions.find(({ event, from: own }) => event === name && isUnder(from, own))?.from ?? from;
    for (const step of this.backwards()) {
      if (step.chart === chart && isUnder(step.to, owner) && (!isUnder(step.from, owner) || step.to === owner))
        return this.#now() - step.at;
    }
    return 0;
  }

  #push(from: number, to: number, name: string, { detail, reaction, code, delayMs }: Detail): void {
    const at = this.#offset((this.#count += 1));
    const bytes = this.#bytes;
    const now = Math.floor(this.#now());
    bytes.setUint16(at, Math.floor(now / 2 ** 32));
    bytes.setUint32(at + 2, now % 2 ** 32);
    bytes.setUint16(at + 6, detail);
    bytes.setUint8(at + 8, from);
    bytes.setUint8(at + 9, to);
    bytes.setUint8(at + 10, eventOf.get(name) ?? 0);
    bytes.setUint8(at + 11, reaction);
    bytes.setUint16(at + 12, code);
    bytes.setUint16(at + 14, Math.min(65_535, Math.round(delayMs / 100)));
  }

  /** Returns the byte offset of step `n`. The buffer grows if the step does not fit. */
  #offset(n: number): number {
    const size = this.#bytes.byteLength / stepBytes;
    if (n > size && size < mostSteps) {
      const larger = new Uint8Array(Math.min(mostSteps, size * 2) * stepBytes);
      larger.set(new Uint8Array(this.#bytes.buffer));
      this.#bytes = new DataView(larger.buffer);
    }
    return ((n - 1) % mostSteps) * stepBytes;
  }

  #at(n: number): number {
    const at = this.#offset(n);
    return this.#bytes.getUint16(at) * 2 ** 32 + this.#bytes.getUint32(at + 2);
  }

  #byte(n: number, field: number): number {
    return this.#bytes.getUint8(this.#offset(n) + field);
  }

  #read(n: number): Step {
    const [from, to] = [states[this.#byte(n, 8)], states[this.#byte(n, 9)]];
    const chart = to?.chart ?? 'lifecycle';
    const event = events[this.#byte(n, 10)] ?? '';
    const [left, entered] = [from?.state ?? '', to?.state ?? ''];
    const edge = edgeOf(chart, left, entered, event)?.id ?? `${left}>${entered}`;
    return { n, at: this.#at(n), chart, from: left, to: entered, event, edge, cause: this.#cause(n, event) };
  }

  #cause(n: number, event: string): StepCause {
    const detail = this.#bytes.getUint16(this.#offset(n) + 6);
    const ms = this.#bytes.getUint16(this.#offset(n) + 14) * 100;
    if (event === 'platform.closed') return closeCause(detail, this.#byte(n, 11), this.#bytes.getUint16(this.#offset(n) + 12), ms);
    if (event === 'start') return { kind: 'start' };
    if (isCrash(event)) return { kind: 'crash', error: errorNames[detail] ?? 'Error' };
    const [word = '', name = ''] = event.split('.');
    if (word === 'instance') return { kind: 'command', by: origins[detail] ?? 'api' };
    if (word === 'after') return { kind: 'timer', delay: name, ms };
    return word === 'platform' ? { kind: 'platform' } : { kind: 'worker', src: name, ok: word === 'done' };
  }
}

function closeCause(detail: number, reaction: number, code: number, retryInMs: number): StepCause {
  const text = texts[detail] ?? '';
  const known = code === 0 ? null : code;
  return {
    kind: 'close',
    code: known,
    cause: closeTexts.get(text) ?? 'unknownError',
    reaction: reactions[reaction] ?? 'backOff',
    sentence: sentenceOf(known, text),
    retryInMs,
  };
}
