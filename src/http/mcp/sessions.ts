/** Sessions of MCP clients whose user can confirm calls. Other clients have no session, and their requests are independent. */
import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { InstanceId } from '#actors/gateway.ts';

/** The largest number of sessions of one instance. A further session ends the least recently used one. */
const perInstance = 20;
/** The largest number of sessions of all instances. A session needs some 6 KB. */
const inAll = 1_000;
/** The time after which an unused session ends, in milliseconds. The client then begins a new session. */
const idleMs = 30 * 60_000;

interface Session {
  readonly instance: InstanceId;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly timer: NodeJS.Timeout;
}

export class McpSessions {
  readonly #idle: number;
  /** The sessions by their name, the least recently used first. */
  readonly #sessions = new Map<string, Session>();

  /** Makes an empty list of sessions. `idle` is the lifetime of an unused session in milliseconds. */
  constructor(idle = idleMs) {
    this.#idle = idle;
  }

  /** Connects a server with a new session. The first request of the transport gives the session its name. */
  async open(instance: InstanceId, server: Server): Promise<WebStandardStreamableHTTPServerTransport> {
    const end = (name: string): void => this.#end(name);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (name) => {
        this.#makeRoom(instance);
        this.#sessions.set(name, { instance, transport, timer: setTimeout(end, this.#idle, name).unref() });
      },
      onsessionclosed: end,
    });
    await server.connect(transport);
    return transport;
  }

  /** Returns the transport of a session; null if the instance has no session of this name. */
  find(instance: InstanceId, name: string): WebStandardStreamableHTTPServerTransport | null {
    const session = this.#sessions.get(name);
    if (session?.instance !== instance) return null;
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    session.timer.refresh();
    return session.transport;
  }

  /** Ends all sessions and their open answers. */
  close(): void {
    for (const name of this.#sessions.keys()) this.#end(name);
  }

  #end(name: string): void {
    const session = this.#sessions.get(name);
    if (session === undefined) return;
    this.#sessions.delete(name);
    clearTimeout(session.timer);
    void session.transport.close();
  }

  #makeRoom(instance: InstanceId): void {
    const own = [...this.#sessions].filter(([, session]) => session.instance === instance);
    const oldest = own.length >= perInstance ? own[0]?.[0] : this.#sessions.size >= inAll ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#end(oldest);
  }
}
