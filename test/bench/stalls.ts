/** Measures stalls of the event loop: the longest times without a turn. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** The longest time between two turns of the event loop, and the processor time of the thread in it. In milliseconds. */
export interface Stall {
  readonly wall: number;
  readonly cpu: number;
}

/** The diagnostics channel of Node for a server of this process that starts to listen. */
export const listening = 'tracing:net.server.listen:asyncEnd';
/** The environment variable of a gateway whose stalls are watched from its start. */
export const watchVariable = 'BENCH_WATCH_STALLS';

export interface StallWatch {
  /** Starts counting stalls. */
  count(): void;
  /** Stops counting, and drops the stall of the current turn of the event loop. */
  ignore(): void;
  /** Ends the watch. Returns the longest stall. */
  stop(): Stall;
}

/** Watches the event loop with a timer of 1 ms. A longer gap is a stall. The wall time of a stall includes other programs. The processor time does not. */
export const watchStalls = (): StallWatch => {
  const longest = { wall: 0, cpu: 0 };
  const worked = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [wall, cpu, counts] = [performance.now(), worked(), true];
  const look = (): void => {
    const [nowWall, nowCpu] = [performance.now(), worked()];
    if (counts) {
      longest.wall = Math.max(longest.wall, nowWall - wall - 1);
      longest.cpu = Math.max(longest.cpu, nowCpu - cpu);
    }
    [wall, cpu] = [nowWall, nowCpu];
  };
  const timer = setInterval(look, 1);
  return {
    count() {
      look();
      counts = true;
    },
    ignore() {
      counts = false;
      look();
    },
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
};

/**
 * Watches a gateway from its start, without the fixed cost of each start. The count begins when the loaded program starts its first child process, which looks
 * for the database server. The count pauses from the creation of the Fastify server until this server listens.
 */
export const watchStart = (): StallWatch => {
  const watch = watchStalls();
  watch.ignore();
  const once = (channel: string, then: () => void): void => {
    const tell = (): void => {
      unsubscribe(channel, tell);
      then();
    };
    subscribe(channel, tell);
  };
  once('child_process', () => watch.count());
  once('fastify.initialization', () => watch.ignore());
  once(listening, () => watch.count());
  return watch;
};
