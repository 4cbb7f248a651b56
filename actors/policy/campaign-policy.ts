/** How campaigns are paced: bounds, the hours in which they rest, and the words by which contacts leave them. */

/** Minutes of the day between which nothing is sent; `from` may be later than `to`, over midnight. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

export interface CampaignPolicy {
  /** Recipients of one campaign. */
  readonly recipients: number;
  /** Campaigns of one instance that may be under way. */
  readonly atOnce: number;
  /** Messages of campaigns of one instance within 24 hours; 0: no limit. */
  readonly dailyCap: number;
  readonly quiet: QuietHours | null;
  /** Where the quiet hours are told from; '' is where the server is. */
  readonly timeZone: string;
  /** Refusals of the platform in a row, after which campaigns stop. */
  readonly refusals: number;
  /** Whole messages, in lower case, by which a contact leaves. */
  readonly stopWords: readonly string[];
  /** Milliseconds for which a finished campaign is kept; 0: for ever. */
  readonly kept: number;
  /** Milliseconds for which a campaign stays paused before it is removed; 0: for ever. */
  readonly pausedKept: number;
}

export const dayMs = 86_400_000;
const minutesOfDay = 1_440;
const minuteMs = 60_000;

/** What the clock on the wall shows: minutes since midnight. */
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

/** `moment`, moved to where the clock on the wall shows `minute`: it is off by an hour when the clocks are changed before it. */
const corrected = (moment: number, minute: number, timeZone: string): number => {
  const off = ((minute - minuteOf(moment, timeZone) + minutesOfDay * 1.5) % minutesOfDay) - minutesOfDay / 2;
  const better = moment + off * minuteMs;
  // A time that is left out when the clocks go forward is never shown.
  return minuteOf(better, timeZone) === minute ? better : moment;
};

/** In minutes. */
const lengthOf = ({ from, to }: QuietHours): number => (to - from + minutesOfDay) % minutesOfDay;

/** Milliseconds until the quiet hours are over; 0 outside of them. */
export const quietFor = ({ quiet, timeZone }: Pick<CampaignPolicy, 'quiet' | 'timeZone'>, now: number): number => {
  if (quiet === null) return 0;
  const minute = minuteOf(now, timeZone);
  const since = (minute - quiet.from + minutesOfDay) % minutesOfDay;
  const length = lengthOf(quiet);
  if (since >= length) return 0;
  return corrected(now - (now % minuteMs) + (length - since) * minuteMs, quiet.to, timeZone) - now;
};

/** When so many milliseconds of work that begins at `start` are done, if it rests in the quiet hours. */
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

/** What is known of a campaign that waits or sends: recipients who wait, and milliseconds between two messages. */
export interface CampaignWork {
  readonly waiting: number;
  readonly delayMin: number;
  readonly delayMax: number;
}

/**
 * An estimate, in milliseconds from `now`, of when the last message of a campaign leaves. `start`: when its next one may go. `others`: campaigns of the
 * instance that take turns with it; between two campaigns the shorter pause counts.
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

/** Whether somebody asks with this text, alone, to get no more campaigns. */
export const asksToStop = ({ stopWords }: Pick<CampaignPolicy, 'stopWords'>, text: string): boolean =>
  stopWords.length > 0 &&
  text.length <= 64 &&
  stopWords.includes(
    text
      .trim()
      .replace(/(?<![.!])[.!]+$/, '')
      .toLowerCase(),
  );
