/** When many live sessions are lost at once, the fault is common: one probes before the rest follow (design, section 4). */

export interface OutageRule {
  /** Milliseconds in which losses belong together. */
  readonly window: number;
  /** Fewer losses than these are nobody's outage. */
  readonly least: number;
}

/** Takes the loss of one live session; `live` sessions are left. True when more than half are gone within the window. */
export function createOutageWatch(rule: OutageRule): (now: number, live: number) => boolean {
  let losses: number[] = [];
  return (now, live) => {
    losses = [...losses.filter((time) => time > now - rule.window), now];
    return losses.length >= rule.least && losses.length > live;
  };
}
