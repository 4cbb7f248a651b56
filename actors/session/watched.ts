/**
 * Reports every transition of a chart to its host, for all instances, at no measurable cost. The logic of the machine is wrapped. XState's `inspect`
 * would be called some twelve times per message. A subscription would not know the event or a restart.
 */

import type { ChartName } from '../views/inspector.ts';

/** The part of a snapshot that the wrapper reads. */
export interface Shown {
  readonly value: unknown;
  readonly context: { readonly host: Watcher };
}

/** The part of an instance's host that takes the reports. */
export interface Watcher {
  /** Takes a report that a chart handled an event. `before` is null at the start. The state may be unchanged. Never throws. */
  moved(move: Move): void;
}

export interface Move {
  readonly chart: ChartName;
  readonly before: Shown | null;
  readonly event: { readonly type: string };
  readonly after: Shown;
}

/** The two methods of a machine that make snapshots. */
interface Logic<S, Event, Scope, Input> {
  readonly id: string;
  transition(before: S, event: Event, scope: Scope): S;
  getInitialSnapshot(scope: Scope, input: Input): S;
}

const start = { type: 'start' } as const;

/** Wraps a machine so that it reports to its host. The value of an atomic state is its name, so most events cost one comparison. */
export const watched = <S extends Shown, Event extends { readonly type: string }, Scope, Input, L extends Logic<S, Event, Scope, Input>>(
  logic: L & Logic<S, Event, Scope, Input>,
): L => {
  const chart = logic.id as ChartName;
  return Object.assign(Object.create(logic) as L, {
    transition(before: S, event: Event, scope: Scope): S {
      const after = logic.transition(before, event, scope);
      if (after.value !== before.value) after.context.host.moved({ chart, before, event, after });
      return after;
    },
    getInitialSnapshot(scope: Scope, input: Input): S {
      const after = logic.getInitialSnapshot(scope, input);
      after.context.host.moved({ chart, before: null, event: start, after });
      return after;
    },
  });
};
