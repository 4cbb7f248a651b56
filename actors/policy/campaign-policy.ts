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

/** Milliseconds until the quiet hours are over; 0 outside of them. */
export const quietFor = ({ quiet, timeZone }: Pick<CampaignPolicy, 'quiet' | 'timeZone'>, now: number): number => {
  if (quiet === null) return 0;
  const minute = minuteOf(now, timeZone);
  const since = (minute - quiet.from + minutesOfDay) % minutesOfDay;
  const length = (quiet.to - quiet.from + minutesOfDay) % minutesOfDay;
  if (since >= length) return 0;
  return corrected(now - (now % minuteMs) + (length - since) * minuteMs, quiet.to, timeZone) - now;
};

/** Whether somebody asks with this text, alone, to get no more campaigns. */
export const asksToStop = ({ stopWords }: Pick<CampaignPolicy, 'stopWords'>, text: string): boolean =>
  stopWords.length > 0 &&
  text.length <= 64 &&
  stopWords.includes(
    text
      .trim()
      .replace(/[.!]+$/, '')
      .toLowerCase(),
  );
