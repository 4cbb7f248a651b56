/**
 * Traces for the collector that OTLP_ENDPOINT names. A trace leads from an HTTP request to the platform's answer, or from the arrival of a message to the
 * receiver's answer. The spans are made around the ports. Names and attributes contain ids and codes, never phone numbers, addresses or texts.
 */
import { type SpanContext, SpanKind, TraceFlags } from '@opentelemetry/api';
import type { Entry } from '#actors/model.ts';
import type { Journal, LinkHost, Platform, PlatformLink, Receiver } from '#actors/ports.ts';
import type { RequestTracing } from '#src/http/options.ts';
import { Spans, type SpansInput } from './spans.ts';

interface TracedPorts {
  readonly platform: Platform;
  readonly journal: Journal;
  readonly receiver: Receiver;
}

export interface Tracing {
  readonly requests: RequestTracing;
  /** Returns the same ports, with spans around their calls. */
  around<P extends TracedPorts>(ports: P): P;
  close(): Promise<void>;
}

/** Parses a `traceparent` header (W3C Trace Context). Returns null for an invalid header. */
const parentOf = (traceparent: string | undefined): SpanContext | null => {
  const [, traceId, spanId, flags = ''] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isRemote: true, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
};

const tracedRequests = (spans: Spans): RequestTracing => ({
  begin({ method, route, traceparent }, next) {
    const attributes = { 'http.request.method': method, 'http.route': route };
    const finish = spans.begin(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parentOf(traceparent), next);
    return (status) => finish({ attributes: { 'http.response.status_code': status }, failed: status >= 500 });
  },
});

/** Arrival times of entries, in Unix milliseconds. */
type Arrivals = WeakMap<Entry, number>;

const tracedHost = (host: LinkHost, arrivals: Arrivals): LinkHost => ({
  id: host.id,
  get epoch() {
    return host.epoch;
  },
  record(entries) {
    const now = Date.now();
    for (const entry of entries) arrivals.set(entry, now);
    host.record(entries);
  },
  recorded: () => host.recorded(),
  mayAct: () => host.mayAct(),
  route: () => host.route(),
  accountOf: (owner) => host.accountOf(owner),
  beginAnew: (identity, isCurrent) => host.beginAnew(identity, isCurrent),
  pictureChanged: (id) => host.pictureChanged(id),
  forged: (what) => host.forged(what),
  surprise: (error) => host.surprise(error),
});

const tracedPlatform = (spans: Spans, platform: Platform, arrivals: Arrivals): Platform => ({
  picture: (instance) => platform.picture(instance),
  clientVersion: () => platform.clientVersion(),
  heardTime: () => platform.heardTime(),
  link(host) {
    const link = platform.link(tracedHost(host, arrivals));
    const perform: PlatformLink['perform'] = (operation, control) =>
      spans.during(
        `platform ${operation.name}`,
        { kind: SpanKind.CLIENT, attributes: { 'dormouse.instance': host.id } },
        () => link.perform(operation, control),
        (outcome) => (outcome.ok ? { failed: false } : { failed: true, attributes: { 'error.type': outcome.refusal.reason } }),
      );
    return {
      open: (options, emit) => spans.outside(() => link.open(options, emit)),
      pair: (phone) => link.pair(phone),
      timeLock: () => link.timeLock(),
      passkey: (step) => link.passkey(step),
      passkeyProblem: (assertion, options) => link.passkeyProblem(assertion, options),
      close: () => link.close(),
      logout: () => link.logout(),
      paired: () => link.paired(),
      discard: (how, reason) => link.discard(how, reason),
      forgetKeys: () => link.forgetKeys(),
      chatOf: (number) => link.chatOf(number),
      draft: (send, account) => link.draft(send, account),
      lastFrameAt: () => link.lastFrameAt(),
      perform,
    };
  },
});

/** Wraps the journal. Entries are committed in groups, so the span of an event begins with the first arrival of its group. */
const tracedJournal = (spans: Spans, journal: Journal, arrivals: Arrivals): Journal => ({
  forget: (instance) => journal.forget(instance),
  addArchived: (claim, rows) => journal.addArchived(claim, rows),
  async commit(instance, entries, targets, again) {
    const began = Date.now();
    const committed = await journal.commit(instance, entries, targets, again);
    const at = Math.min(began, ...entries.flatMap((entry) => arrivals.get(entry) ?? []));
    for (const { id, type, messageType } of committed.events) {
      const attributes = { 'dormouse.instance': instance.id, 'dormouse.event': id, 'dormouse.message_type': messageType };
      spans.event(id, `event ${type}`, { at, attributes });
    }
    return committed;
  },
});

const tracedReceiver = (spans: Spans, receiver: Receiver): Receiver => ({
  objection: (url) => receiver.objection(url),
  post(url, body, headers, cuts) {
    const attributes = { 'http.request.method': 'POST' };
    return spans.ofEvent(
      headers['webhook-id'] ?? '',
      'webhook POST',
      { kind: SpanKind.CLIENT, attributes },
      (traceparent) => receiver.post(url, body, { ...headers, traceparent }, cuts),
      ({ ok, status }) => ({ failed: !ok, attributes: status === undefined ? {} : { 'http.response.status_code': status } }),
    );
  },
});

export const createTracing = (input: SpansInput): Tracing => {
  const spans = new Spans(input);
  return {
    requests: tracedRequests(spans),
    around(ports) {
      const arrivals: Arrivals = new WeakMap();
      return {
        ...ports,
        platform: tracedPlatform(spans, ports.platform, arrivals),
        journal: tracedJournal(spans, ports.journal, arrivals),
        receiver: tracedReceiver(spans, ports.receiver),
      };
    },
    close: () => spans.close(),
  };
};
