/** The dependencies of the HTTP layer. Values come from the configuration, and functions come from the composition root. */

// Facts about the server for its pages: settings in force, versions, and the use of storage. The composition root provides them.

/** One setting as the administrator sees it. A secret has no value, only `isSet`. */
interface SettingFact {
  /** Name of the environment variable. */
  readonly name: string;
  readonly group: string;
  readonly about: string;
  /** The source of the value. `program`: derived from other settings, or set by the command line. */
  readonly source: 'environment' | 'file' | 'program' | 'default';
  readonly value: string;
  readonly default: string;
  readonly secret: boolean;
  readonly isSet: boolean;
}

/** The outcome of the last request to UPDATE_CHECK_URL. */
export interface UpdateNotice {
  /** False if no address is set. The gateway then makes no request. */
  readonly checks: boolean;
  /** The newest release; '' if unknown. */
  readonly latest: string;
  readonly isNewer: boolean;
  /** The page of the release; '' if the answer named none. */
  readonly page: string;
  /** The time of the last answer; 0 before the first answer. In Unix milliseconds. */
  readonly checkedAt: number;
  /** The reason why the last request failed; '' if it worked. */
  readonly error: string;
}

interface LargestUse {
  readonly isExact: boolean;
  /** The sum over all instances, in bytes. */
  readonly bytes: number;
  readonly instances: readonly { readonly instanceId: string; readonly rows: number; readonly bytes: number }[];
}

/** The disk use of the database. */
export interface DatabaseUse {
  readonly bytes: number;
  readonly version: string;
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number | null }[];
  readonly messages: LargestUse;
  readonly files: LargestUse;
}

export interface ServerFacts {
  readonly settings: readonly SettingFact[];
  /** The version of Baileys, which speaks with the platform. */
  readonly baileys: string;
  readonly node: string;
  /** Start of the service in Unix milliseconds. */
  readonly startedAt: number;
  /** Looks up the newest release. Requests UPDATE_CHECK_URL at most once in some hours. Never rejects. */
  update(): Promise<UpdateNotice>;
  /** Returns the disk use of the database. The answer is cached, so every view may call this method. */
  databaseUse(): Promise<DatabaseUse>;
  /** Returns the size of all kept files in the store of this process; null until they were counted. In bytes. */
  fileBytes(): number | null;
  /** Returns the free space and the size of the disk of the data folder, in bytes. */
  disk(): { readonly free: number; readonly size: number };
}

/** The interface of the program's log, which pino implements. Fields come first, then a constant event name. */
export interface HttpLog {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/** Bounds of the event stream. */
export interface StreamLimits {
  /** The largest number of open streams of one instance. */
  readonly perToken: number;
  /** The largest number of inspector streams of one caller. A caller is a user, or the network of an admin token. */
  readonly inspectorPerCaller: number;
  /** The largest number of inspector streams of all callers. */
  readonly inspectorInAll: number;
  /** The pause between two comments that keep an idle connection open. In milliseconds. */
  readonly heartbeatMs: number;
  /** Bounds for a slow subscriber. If a subscriber exceeds a bound, and still exceeds it `graceMs` later, its stream is ended. */
  readonly backlogBytes: number;
  readonly backlogEvents: number;
  readonly graceMs: number;
  /** The largest replay for a returning client of an instance, in bytes. The value is below `backlogBytes`, so a replay does not cut the client. */
  readonly ringBytes: number;
  readonly ringEvents: number;
  /** The time for which the ring of an instance is still filled after its last subscriber left. In milliseconds. */
  readonly lingerMs: number;
  /** Time in which an ending stream may send its remaining frames. In milliseconds. */
  readonly endMs: number;
}

/** The port for traces of requests. */
export interface RequestTracing {
  /** Runs `next` within the span of a request; `traceparent`: the client's header. The returned function ends the span with the status of the response. */
  begin(
    request: { readonly method: string; readonly route: string; readonly traceparent: string | undefined },
    next: () => void,
  ): (status: number) => void;
}

/** A phone of the simulated platform, beside a gateway in sandbox mode. */
export interface SimulatedPhone {
  /** The address of the page with all simulated phones, for a browser on the same machine. */
  readonly page: string;
  /** Scans the picture of a QR code, and links a new number with this name. Resolves with the reason of a failure, or null. */
  scan(picture: string, name: string): Promise<string | null>;
}

/** The answer to a restart request. `underWay`: an earlier request has begun one. */
export type RestartAnswer = 'begins' | 'underWay' | 'stopping';

/** Stops the service and starts it again when `answered` has settled. The answer to the request is therefore sent before the stop. */
export type RequestRestart = (answered: Promise<void>) => RestartAnswer;

/** Counters of the streams. */
export interface StreamMeter {
  /** Counts a reader that connected, disconnected, or was cut because it was too slow. */
  stream(what: 'opened' | 'closed' | 'cut'): void;
}

interface HttpMetrics {
  readonly contentType: string;
  /** Returns all metrics in the format of Prometheus. */
  text(): Promise<string>;
  readonly meter: StreamMeter & { answered(method: string, route: string, status: number, ms: number): void };
}

/** A group of tools for clients of the Model Context Protocol. */
export type McpGroup = 'reading' | 'sending' | 'changing';

export interface HttpOptions {
  /** The metrics. If they are absent, requests are not counted, and `/metrics` does not exist. */
  readonly metrics?: HttpMetrics;
  /** Address of this server as integrators see it. */
  readonly baseUrl: string;
  /** The server address in the OpenAPI document. `/` is the address from which the document was fetched. */
  readonly serverUrl: string;
  /** True if administrative endpoints answer 403. */
  readonly demoServer: boolean;
  /** The largest size of a body, in bytes. */
  readonly bodyLimit: number;
  /** The size of the largest file in a body, in bytes. Bodies with files may be larger than bodies without them. */
  readonly mediaBytes: number;
  /** The largest size of a page of `/message/find` and `/chat/find`. In bytes. */
  readonly answerBytes: number;
  /** The size of the largest file that an answer may contain as base64. In bytes. */
  readonly base64Bytes: number;
  /** The largest number of requests per second of one instance token; 0: no limit. */
  readonly requestsPerSecond: number;
  /** The largest number of wrong tokens from one network (`networkOf`) within a minute; 0: no limit. */
  readonly authFailuresPerMinute: number;
  /** The lifetime of a session of the dashboard. In milliseconds. */
  readonly adminSessionMs: number;
  /** The phone of the simulated platform; null beside the real platform. */
  readonly simulatedPhone: SimulatedPhone | null;
  /** Proxies whose `X-Forwarded-For` is trusted: `private`, `loopback`, addresses and subnets. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may call the interface. `*` allows every origin; an empty list allows none. */
  readonly corsOrigins: readonly string[];
  /** True if every endpoint accepts `?token=` and `?admintoken=`. The logs of proxies show addresses with their tokens. */
  readonly allowQueryTokens: boolean;
  /** Tools that `/mcp` offers. If there are none, `/mcp` does not exist. */
  readonly mcpTools: readonly McpGroup[];
  readonly log: HttpLog;
  readonly version: string;
  readonly facts: ServerFacts;
  /** The callers that get reasons and counts from `/health/ready`. All other callers only see that the server is ready or not ready. */
  readonly healthDetails: 'all' | 'admin';
  /** Average delay of the event loop in milliseconds above which requests are refused; 0: requests are never refused. */
  readonly overloadLagMs: number;
  /** The time over which the delay of the event loop is averaged; 3,000 if absent. In milliseconds. */
  readonly overloadSampleMs?: number;
  readonly restart: RequestRestart;
  /** Returns the reasons why the database does not work; empty if it works. */
  storageTroubles(): readonly string[];
  /** Returns the time in Unix milliseconds. The system clock is used if the function is absent. */
  readonly now?: () => number;
  readonly stream?: Partial<StreamLimits>;
  /** Tracing. If absent, requests have no spans. */
  readonly tracing?: RequestTracing;
}

export const defaultStreamLimits: StreamLimits = {
  perToken: 20,
  inspectorPerCaller: 20,
  inspectorInAll: 200,
  heartbeatMs: 15_000,
  backlogBytes: 1024 * 1024,
  backlogEvents: 1000,
  graceMs: 250,
  ringBytes: 512 * 1024,
  ringEvents: 1000,
  lingerMs: 120_000,
  endMs: 1000,
};
