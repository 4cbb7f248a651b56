/** Spans of OpenTelemetry: where they go, which are kept, and what their parent is. */
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
  /** Share of traces that are kept, 0 to 1. */
  readonly ratio: number;
  readonly version: string;
}

type Ids = Pick<SpanContext, 'traceId' | 'spanId'>;

/** Random ids, but for a span whose ids follow from what it is about. */
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

/** The ids of the span in which an event came to be: they follow from the event's id, so that nothing has to be stored with its deliveries. */
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

/** The end of a span: a code (an HTTP status, a reason), and true if it is a failure. */
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

  /** Runs `work` within a span. `parent`: the span of another process. The result ends the span. */
  begin(name: string, begun: Begun, parent: SpanContext | null, work: () => void): (ended: Ended) => void {
    const span = this.#start(name, begun, parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent));
    this.#current.run(span, work);
    return (ended) => end(span, ended);
  }

  /** A span around work. Its parent is the span within which this is called, unless that has ended: workers that a request woke go on after it. */
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

  /** Runs `work` within no span: what it starts, such as a connection, lives longer than the request that led to it. */
  outside<T>(work: () => T): T {
    return this.#current.exit(work);
  }

  /** The span in which an event came to be, from the arrival of what led to it until now. */
  event(eventId: string, name: string, begun: Begun): void {
    this.#ids.next = idsOf(eventId);
    try {
      this.#start(name, begun, ROOT_CONTEXT).end();
    } finally {
      this.#ids.next = null;
    }
  }

  /** A span below that of an event, which may be of an earlier run of the process. `work` gets the value of `traceparent` for the request that it makes. */
  ofEvent<T>(
    eventId: string,
    name: string,
    begun: Begun,
    work: (traceparent: string) => Promise<T>,
    endedOf: (result: T) => Ended,
  ): Promise<T> {
    const ids = idsOf(eventId);
    const kept = this.#ratio.shouldSample(ROOT_CONTEXT, ids.traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
    const parent = { ...ids, traceFlags: kept ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
    const span = this.#start(name, begun, trace.setSpanContext(ROOT_CONTEXT, parent));
    const { traceId, spanId, traceFlags } = span.spanContext();
    return work(`00-${traceId}-${spanId}-0${traceFlags}`).then((result) => {
      end(span, endedOf(result));
      return result;
    });
  }

  /** Sends the remaining spans within a limit, so that a collector without an answer delays nothing. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined);
  }

  #start(name: string, { kind = SpanKind.INTERNAL, attributes = {}, at }: Begun, context: Context): Span {
    return this.#tracer.startSpan(name, { kind, attributes, ...(at === undefined ? {} : { startTime: at }) }, context);
  }
}
