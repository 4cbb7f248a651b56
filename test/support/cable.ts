/**
 * A simulated network cable between a process and one server. It can hold all bytes back without an error, or reset all connections and refuse new ones.
 * Otherwise it passes all bytes and ends of connections.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type Cut = 'stall' | 'reset';

export interface CableOptions {
  /** True if the end of a connection reaches the server even during a stall, so that the server counts the connections of the process. */
  readonly endsPass?: boolean;
}

/** One connection through the cable. During a stall its bytes and its ends wait in `held`, in order. */
class Strand {
  readonly #client: Socket;
  readonly #target: URL;
  readonly #held: (() => void)[] = [];
  #server: Socket | null = null;
  #stalls: boolean;

  constructor(client: Socket, target: URL, stalls: boolean, { endsPass = false }: CableOptions, ended: () => void) {
    this.#client = client;
    this.#target = target;
    this.#stalls = stalls;
    client.setNoDelay().on('error', () => client.destroy());
    client.on('data', (chunk) => this.#do(() => this.#server?.write(chunk)));
    client.on('close', () => {
      const end = (): void => {
        this.#server?.end();
        ended();
      };
      if (endsPass) end();
      else this.#do(end);
    });
    this.#do(() => this.#reach());
  }

  stall(): void {
    this.#stalls = true;
  }

  goOn(): void {
    this.#stalls = false;
    for (const act of this.#held.splice(0)) act();
  }

  break(): void {
    this.#held.length = 0;
    this.#stalls = false;
    this.#client.resetAndDestroy();
    this.#server?.resetAndDestroy();
  }

  #do(act: () => void): void {
    if (this.#stalls) this.#held.push(act);
    else act();
  }

  #reach(): void {
    if (this.#client.destroyed) return;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    this.#server = server;
    server.setNoDelay().on('error', () => server.destroy());
    server.on('data', (chunk) => this.#do(() => this.#client.write(chunk)));
    server.on('close', () => this.#do(() => this.#client.end()));
  }
}

export class Cable {
  #target: URL;
  readonly #server: Server;
  readonly #strands = new Set<Strand>();
  #cut: Cut | null = null;

  private constructor(url: string, options: CableOptions) {
    this.#target = new URL(url);
    this.#server = createServer((client) => {
      if (this.#cut === 'reset') return void client.on('error', () => undefined).resetAndDestroy();
      const strand = new Strand(client, this.#target, this.#cut === 'stall', options, () => this.#strands.delete(strand));
      this.#strands.add(strand);
    });
  }

  /** Opens a cable. `url` is the address of a server on TCP. */
  static async open(url: string, options: CableOptions = {}): Promise<Cable> {
    const cable = new Cable(url, options);
    await new Promise<void>((resolve) => cable.#server.listen(0, '127.0.0.1', resolve));
    return cable;
  }

  /** Returns the address of the server through this cable. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return this.#target.href.replace(this.#target.host, `127.0.0.1:${port}`);
  }

  /** Breaks every connection, and connects new connections to another server. */
  turnTo(url: string): void {
    for (const strand of this.#strands) strand.break();
    this.#strands.clear();
    this.#target = new URL(url);
  }

  cut(kind: Cut): void {
    this.#cut = kind;
    for (const strand of this.#strands) strand[kind === 'stall' ? 'stall' : 'break']();
    if (kind === 'reset') this.#strands.clear();
  }

  /** Ends a stall or a reset. The held bytes arrive late. */
  mend(): void {
    this.#cut = null;
    for (const strand of this.#strands) strand.goOn();
  }

  async close(): Promise<void> {
    this.cut('reset');
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
