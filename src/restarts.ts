/** The service over the restarts of its own: it works without a supervisor above the process, in a container and under npm alike. */
import type { RequestRestart, RestartAnswer } from '#src/http/options.ts';
import type { Service } from './service.ts';

interface RestartSteps {
  /** Starts a service that listens on this port. Ends the process if that fails, so that a supervisor sees it. Rejects if a stop interrupts the start. */
  start(port: number): Promise<Service>;
  /** Stops a service that makes room for the next one. Bounded. */
  stop(service: Service): Promise<void>;
  /** Gets every service but the first. */
  onStarted(service: Service): void;
}

export class Restarts {
  readonly #steps: RestartSteps;
  /** The answer to the next request. */
  #answer: RestartAnswer = 'begins';
  /** The one that runs, or that runs when all is done that was begun. */
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

  /** Stops what runs; a restart that is under way goes no further. */
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
    // If the setting is 0, clients know the port that was bound.
    const service = await this.#steps.start(former.port);
    if (this.#mayGoOn()) this.#answer = 'begins';
    this.#steps.onStarted(service);
    return service;
  }

  /** Any wait may have been the one in which somebody asked for the end. */
  #mayGoOn(): boolean {
    return this.#answer !== 'stopping';
  }
}
