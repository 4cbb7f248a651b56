/** The pace of campaigns: limits, quiet hours, and stop words. */

/** The daily period in which nothing is sent, in minutes since midnight. If `from` is later than `to`, the period spans midnight. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

export interface CampaignPolicy {
  /** The largest number of recipients of one campaign. */
  readonly recipients: number;
  /** The largest number of active campaigns of one instance. */
  readonly atOnce: number;
  /** The largest number of campaign messages of one instance within 24 hours; 0 for no limit. */
  readonly dailyCap: number;
  readonly quiet: QuietHours | null;
  /** The time zone of the quiet hours; '' for the zone of the server. */
  readonly timeZone: string;
  /** The number of consecutive refusals by the platform after which campaigns stop. */
  readonly refusals: number;
  /** The stop words: whole messages, in lower case, with which a contact opts out. */
  readonly stopWords: readonly string[];
  /** The retention time of a finished campaign; unlimited if 0. In milliseconds. */
  readonly kept: number;
  /** The time after which a paused campaign is removed; 0 for never. In milliseconds. */
  readonly pausedKept: number;
}

export const dayMs = 86_400_000;
const minutesOfDay = 1_440;
const minuteMs = 60_000;

/** Returns the minutes since midnight in the time zone. */
const minuteOf = (now: number, timeZone: string): number => {
  const format = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === '' ? {} : { timeZone }),
  });
  const [hours = 0, minutes = 0] = format.format(now).split(':').map(Number);
  return hours * 60 + minutes;
};

/**
 * Moves `moment` to the time at which the local clock shows `minute`. Without this correction, a change to or from daylight saving time before `moment`
 * would shift the result by an hour.
 */
const corrected = (moment: number, minute: number, timeZone: string): number => {
  const off = ((minute - minuteOf(moment, timeZone) + minutesOfDay * 1.5) % minutesOfDay) - minutesOfDay / 2;
  const better = moment + off * minuteMs;
  // The local clock never shows a time that is skipped when clocks go forward.
  return minuteOf(better, timeZone) === minute ? better : moment;
};

/** Returns the length of the quiet hours. In minutes. */
const lengthOf = ({ from, to }: QuietHours): number => (to - from + minutesOfDay) % minutesOfDay;

/** Returns the time until the quiet hours end; 0 outside the quiet hours. In milliseconds. */
export const quietFor = ({ quiet, timeZone }: Pick<CampaignPolicy, 'quiet' | 'timeZone'>, now: number): number => {
  if (quiet === null) return 0;
  const minute = minuteOf(now, timeZone);
  const since = (minute - quiet.from + minutesOfDay) % minutesOfDay;
  const length = lengthOf(quiet);
  if (since >= length) return 0;
  return corrected(now - (now % minuteMs) + (length - since) * minuteMs, quiet.to, timeZone) - now;
};

/** Returns the end of work that takes `work` milliseconds, begins at `start` and pauses in the quiet hours. In Unix milliseconds. */
const workedUntil = (policy: Pick<CampaignPolicy, 'quiet' | 'timeZone'>, start: number, work: number): number => {
  const { quiet, timeZone } = policy;
  if (quiet === null) return start + work;
  const rest = lengthOf(quiet) * minuteMs;
  const awake = dayMs - rest;
  const days = Math.floor(work / awake);
  const at = start + quietFor(policy, start) + days * dayMs;
  const left = work - days * awake;
  const untilQuiet = ((quiet.from - minuteOf(at, timeZone) + minutesOfDay) % minutesOfDay) * minuteMs;
  return at + left + (left > untilQuiet ? rest : 0);
};

/** The remaining work of an active campaign: waiting recipients, and the pause between two messages in milliseconds. */
export interface CampaignWork {
  readonly waiting: number;
  readonly delayMin: number;
  readonly delayMax: number;
}

/**
 * Estimates the time until the last message of a campaign leaves. In milliseconds from `now`. `start`: the time of its next message. `others`: the other
 * active campaigns of the instance, which take turns with this campaign. The estimate uses the shortest mean pause of all these campaigns.
 */
export const timeLeft = (
  policy: Pick<CampaignPolicy, 'quiet' | 'timeZone' | 'dailyCap'>,
  campaign: CampaignWork,
  others: readonly CampaignWork[],
  { start, now }: { readonly start: number; readonly now: number },
): number => {
  if (campaign.waiting === 0) return 0;
  const pause = Math.min(...[campaign, ...others].map(({ delayMin, delayMax }) => (delayMin + delayMax) / 2));
  const messages = others.reduce((sum, { waiting }) => sum + Math.min(waiting, campaign.waiting), campaign.waiting);
  const capped = policy.dailyCap === 0 ? 0 : Math.floor((messages - 1) / policy.dailyCap) * dayMs;
  return Math.round(Math.max(workedUntil(policy, start, (messages - 1) * pause), start + capped) - now);
};

/** Returns true if the whole text is a stop word. Ignores case, and full stops and exclamation marks at the end. */
export const asksToStop = ({ stopWords }: Pick<CampaignPolicy, 'stopWords'>, text: string): boolean =>
  stopWords.length > 0 &&
  text.length <= 64 &&
  stopWords.includes(
    text
      .trim()
      .replace(/(?<![.!])[.!]+$/, '')
      .toLowerCase(),
  );
