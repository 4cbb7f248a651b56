/** Creates the spans of OpenTelemetry, with their sampling, their parents and their export. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

export interface SpansInput {
  /** The address to which spans are posted, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly endpoint: string;
  /** The share of traces that are exported, from 0 to 1. */
  readonly ratio: number;
  readonly version: string;
}

type Ids = Pick<SpanContext, 'traceId' | 'spanId'>;

/** Creates random ids, except for the span of an event, whose ids are derived from the event's id. */
class Identifiers implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: Ids | null = null;

  generateTraceId(): string {
    return this.next?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next?.spanId ?? this.#random.generateSpanId();
  }
}

/** Derives the ids of an event's span from the id of the event. The ids of the span are therefore not stored with the deliveries of the event. */
const idsOf = (eventId: string): Ids => {
  const digest = createHash('sha256').update(eventId).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
};

export interface Begun {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** The time in Unix milliseconds; now if absent. */
  readonly at?: number;
}

/** The end of a span. The attributes contain a code, such as an HTTP status or a reason. */
export interface Ended {
  readonly attributes?: Attributes;
  readonly failed: boolean;
}

const end = (span: Span, { attributes = {}, failed }: Ended): void => {
  span.setAttributes(attributes);
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

export class Spans {
  readonly #tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #ids = new Identifiers();
  readonly #ratio: TraceIdRatioBasedSampler;
  readonly #current = new AsyncLocalStorage<Span>();

  constructor({ endpoint, ratio, version }: SpansInput) {
    this.#ratio = new TraceIdRatioBasedSampler(ratio);
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'dormouse', 'service.version': version }),
      sampler: new ParentBasedSampler({ root: this.#ratio }),
      idGenerator: this.#ids,
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: endpoint }) })],
    });
    this.#tracer = this.#provider.getTracer('dormouse', version);
  }

  /** Runs `work` within a span. `parent`: the span of another process. Call the returned function to end the span. */
  begin(name: string, begun: Begun, parent: SpanContext | null, work: () => void): (ended: Ended) => void {
    const span = this.#start(name, begun, parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent));
    this.#current.run(span, work);
    return (ended) => end(span, ended);
  }

  /**
   * Runs `work` within a span. The parent is the current span, unless the current span has ended. A worker that a request woke may run longer than the request.
   */
  async during<T>(name: string, begun: Begun, work: () => Promise<T>, endedOf: (result: T) => Ended): Promise<T> {
    const parent = this.#current.getStore();
    const span = this.#start(name, begun, parent?.isRecording() ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT);
    let ended: Ended = { failed: true };
    try {
      const result = await this.#current.run(span, work);
      ended = endedOf(result);
      return result;
    } finally {
      end(span, ended);
    }
  }

  /** Runs `work` outside of all spans. A connection, for example, lives longer than the request that opened it. */
  outside<T>(work: () => T): T {
    return this.#current.exit(work);
  }

  /** Records the span of an event, from the arrival of the event's cause until now. */
  event(eventId: string, name: string, begun: Begun): void {
    this.#ids.next = idsOf(eventId);
    try {
      this.#start(name, begun, ROOT_CONTEXT).end();
    } finally {
      this.#ids.next = null;
    }
  }

  /** Runs `work` in a child of an event's span. An earlier process may have created the event. `work` gets the `traceparent` header for its request. */
  ofEvent<T>(
    eventId: string,
    name: string,
    begun: Begun,
    work: (traceparent: string) => Promise<T>,
    endedOf: (result: T) => Ended,
  ): Promise<T> {
    const ids = idsOf(eventId);
    const isSampled = this.#ratio.shouldSample(ROOT_CONTEXT, ids.traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
    const parent = { ...ids, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
    const span = this.#start(name, begun, trace.setSpanContext(ROOT_CONTEXT, parent));
    const { traceId, spanId, traceFlags } = span.spanContext();
    return work(`00-${traceId}-${spanId}-0${traceFlags}`).then((result) => {
      end(span, endedOf(result));
      return result;
    });
  }

  /** Sends the remaining spans. The time-outs of the library bound the wait for a collector that does not answer. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined);
  }

  #start(name: string, { kind = SpanKind.INTERNAL, attributes = {}, at }: Begun, context: Context): Span {
    return this.#tracer.startSpan(name, { kind, attributes, ...(at === undefined ? {} : { startTime: at }) }, context);
  }
}
