/** Sessions of MCP clients whose user can confirm calls. Other clients have no session, and their requests are independent. */
import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { InstanceId } from '#actors/gateway.ts';

/** The largest number of sessions of one instance. A further session ends the least recently used one. */
const perInstance = 20;
/** Sessions of all instances. Each holds some 6 KB. */
const inAll = 1_000;
/** Milliseconds after which a session that nobody uses ends. The client then begins a new session. */
const idleMs = 30 * 60_000;

interface Session {
  readonly instance: InstanceId;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly timer: NodeJS.Timeout;
}

export interface McpSessions {
  /** Connects a server with a new session. The first request of the transport gives the session its name. */
  open(instance: InstanceId, server: Server): Promise<WebStandardStreamableHTTPServerTransport>;
  /** Returns null if the instance has no session of this name. */
  find(instance: InstanceId, name: string): WebStandardStreamableHTTPServerTransport | null;
  /** Ends all sessions and their open answers. */
  close(): void;
}

/** `idle`: milliseconds that an unused session lasts. */
export const createMcpSessions = (idle = idleMs): McpSessions => {
  /** The sessions by their name, the least recently used first. */
  const sessions = new Map<string, Session>();

  const end = (name: string): void => {
    const session = sessions.get(name);
    if (session === undefined) return;
    sessions.delete(name);
    clearTimeout(session.timer);
    void session.transport.close();
  };

  const makeRoom = (instance: InstanceId): void => {
    const own = [...sessions].filter(([, session]) => session.instance === instance);
    const oldest = own.length >= perInstance ? own[0]?.[0] : sessions.size >= inAll ? sessions.keys().next().value : undefined;
    if (oldest !== undefined) end(oldest);
  };

  return {
    async open(instance, server) {
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized(name) {
          makeRoom(instance);
          sessions.set(name, { instance, transport, timer: setTimeout(() => end(name), idle).unref() });
        },
        onsessionclosed: end,
      });
      await server.connect(transport);
      return transport;
    },
    find(instance, name) {
      const session = sessions.get(name);
      if (session?.instance !== instance) return null;
      sessions.delete(name);
      sessions.set(name, session);
      session.timer.refresh();
      return session.transport;
    },
    close: () => [...sessions.keys()].forEach(end),
  };
};
