/** Restarts the service inside the process. A restart therefore needs no supervisor, neither in a container nor under npm. */
import type { RequestRestart, RestartAnswer } from '#src/http/options.ts';
import type { Service } from './service.ts';

interface RestartSteps {
  /**
   * Starts a service that listens on this port. If that fails, ends the process, and a supervisor can start it again. Rejects if a stop
   * interrupts the start.
   */
  start(port: number): Promise<Service>;
  /** Stops a service before the next one starts. The time of the stop is bounded. */
  stop(service: Service): Promise<void>;
  /** Called with every started service except the first. */
  onStarted(service: Service): void;
}

export class Restarts {
  readonly #steps: RestartSteps;
  /** The answer to the next restart request. */
  #answer: RestartAnswer = 'begins';
  /** The service that runs, or that will run after the restarts under way. */
  #service: Promise<Service> | null = null;

  constructor(steps: RestartSteps) {
    this.#steps = steps;
  }

  start(port: number): Promise<Service> {
    return (this.#service = this.#steps.start(port));
  }

  readonly request: RequestRestart = (answered) => {
    const answer = this.#answer;
    if (answer === 'begins' && this.#service !== null) {
      this.#answer = 'underWay';
      this.#service = this.#again(this.#service, answered);
    }
    return answer;
  };

  /** Stops the running service, and ends a restart that is under way. */
  async stop(): Promise<void> {
    this.#answer = 'stopping';
    // If a stop interrupts the start, the start closes all its parts and then rejects.
    const service = await this.#service?.catch(() => null);
    await service?.stop();
  }

  async #again(running: Promise<Service>, answered: Promise<void>): Promise<Service> {
    const former = await running;
    await answered;
    if (this.#mayGoOn()) await this.#steps.stop(former);
    if (!this.#mayGoOn()) return former;
    // The next service listens on the same port. If the setting is 0, clients know only the port that was bound.
    const service = await this.#steps.start(former.port);
    if (this.#mayGoOn()) this.#answer = 'begins';
    this.#steps.onStarted(service);
    return service;
  }

  /** Returns true if no stop was requested. A stop may be requested during any wait. */
  #mayGoOn(): boolean {
    return this.#answer !== 'stopping';
  }
}
