/** Runs the fuzzer against a gateway with the simulated platform, one paired instance and one unpaired instance. */
import type { Account } from './account.ts';
import { fuzz, type FuzzOptions } from './fuzzer.ts';
import { Scene } from './scene.ts';

/** Settings with short delays and time-outs, and without rate limits. */
const quick = {
  SEND_TIMEOUT_MS: '2000',
  CONNECT_ANSWER_MS: '500',
  WAKE_TIMEOUT_MS: '2000',
  PROXY_TEST_MS: '500',
  CHATWOOT_TIMEOUT_MS: '500',
  MEDIA_SILENCE_MS: '500',
  REQUESTS_PER_SECOND: '0',
  AUTH_FAILURES_PER_MINUTE: '0',
};

/** Returns the crashes of sessions and of background workers, by name. */
const crashesOf = (numbers: Readonly<Record<string, unknown>>): readonly (readonly [string, number])[] => {
  const instances = numbers['instances'] as readonly { readonly id: string; readonly crashes: number }[];
  const workers = numbers['workerCrashes'] as Readonly<Record<string, number>>;
  return [...Object.entries(workers), ...instances.map(({ id, crashes }) => [id, crashes] as const)];
};

export const fuzzRun = async (options: Pick<FuzzOptions, 'seed' | 'perRoute' | 'mostMs'>) => {
  const scene = await Scene.open(quick);
  try {
    const [paired, unpaired]: [Account, Account] = [await scene.paired(), await scene.create()];
    const tokens = { paired: paired.token, 'not paired': unpaired.token };
    const { pid } = scene.gateway;
    const run = await fuzz({ address: scene.gateway.address, tokens, ...options });
    const health = await fetch(`${scene.gateway.address}/health`);
    const crashed = health.status !== 200 || scene.gateway.pid !== pid ? ['the gateway is gone'] : [];
    const { body: numbers } = await scene.gateway.call('GET', '/admin/numbers');
    const surprises = crashesOf(numbers)
      .filter(([, times]) => times > 0)
      .map(([what, times]) => `${what} crashed ${times} times`);
    const unknown = Object.entries(scene.platform.sandbox.stats().unknown).map(
      ([what, times]) => `the platform does not know ${what} (${times})`,
    );
    return { ...run, found: [...run.found, ...crashed, ...surprises, ...unknown] };
  } finally {
    await scene.close();
  }
};
