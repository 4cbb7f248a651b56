/** Sends texts in both directions while a test kills the gateway, and records the answers. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from './account.ts';
import { contact, type Scene } from './scene.ts';

export interface Traffic {
  /** The id of each text that was answered with 200, by its text. */
  readonly answered: Map<string, string>;
  /** Ids of the messages that the contact wrote. */
  readonly written: string[];
  /** HTTP statuses of the refused texts. */
  readonly failures: Set<number>;
  stop(): Promise<void>;
}

interface Pace {
  /** The number of parallel senders. */
  readonly lanes: number;
  /** The pause between two texts of a sender, and between two texts of the contact. In milliseconds. */
  readonly pause: { readonly out: number; readonly in: number };
  /** The largest number of answered texts of a sender, and of texts of the contact. */
  readonly most: number;
}

const brisk: Pace = { lanes: 3, pause: { out: 0, in: 30 }, most: Number.POSITIVE_INFINITY };

/** A slow pace. Searches in its messages stay quick, and its texts last longer than an outage of some minutes. */
export const steady: Pace = { lanes: 2, pause: { out: 50, in: 50 }, most: 3_000 };

/** Sends texts of the account and of the contact, until the traffic is stopped or the gateway does not answer. */
export const startTraffic = (scene: Scene, account: Account, { lanes, pause, most }: Pace = brisk): Traffic => {
  const answered = new Map<string, string>();
  const written: string[] = [];
  const failures = new Set<number>();
  const state = { going: true };
  const send = async (lane: number): Promise<void> => {
    for (let n = 0, good = 0; state.going && good < most; n += 1) {
      const text = `${lane}.${n} of ${account.number} ${Math.random()}`;
      // A killed gateway does not answer.
      const sent = await account.send(contact, text).catch(() => null);
      if (sent === null) return;
      if (sent.status === 200) {
        answered.set(text, String(sent.body['messageid']));
        good += 1;
      } else failures.add(sent.status);
      if (pause.out > 0) await wait(pause.out);
    }
  };
  const write = async (): Promise<void> => {
    for (let n = 0; state.going && n < most; n += 1) {
      written.push(await scene.write(account, `${n} to ${account.number}`));
      await wait(pause.in);
    }
  };
  const work = Promise.all([...Array.from({ length: lanes }, (_, lane) => send(lane + 1)), write()]);
  return {
    answered,
    written,
    failures,
    async stop() {
      state.going = false;
      await work;
    },
  };
};
