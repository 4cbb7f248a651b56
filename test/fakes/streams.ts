/** The part of the fake gateway that streams use, and controls for tests. */
import type { Gateway, GatewayEvent, InstanceId } from '#actors/gateway.ts';

export interface Listener {
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onEnd: () => void;
  readonly onGap: () => void;
}

export interface StreamLevers {
  emit(event: Partial<GatewayEvent>): void;
  endStreams(id: InstanceId): void;
  /** Reports that events of another node were lost on their way. */
  lose(id: InstanceId): void;
  listeners(id: InstanceId): number;
}

export const streamCalls = (
  listeners: Map<InstanceId, Set<Listener>>,
  sample: GatewayEvent,
): Pick<Gateway, 'past' | 'subscribe'> & StreamLevers => ({
  past: async () => null,
  subscribe(id, onEvent, onEnd, onGap = () => undefined) {
    const listener = { onEvent, onEnd, onGap };
    const all = listeners.get(id) ?? new Set();
    listeners.set(id, all.add(listener));
    return () => void all.delete(listener);
  },
  emit(event) {
    const full = { ...sample, ...event };
    for (const { onEvent } of listeners.get(full.instanceId) ?? []) onEvent(full);
  },
  lose(id) {
    for (const { onGap } of listeners.get(id) ?? []) onGap();
  },
  endStreams(id) {
    for (const { onEnd } of listeners.get(id) ?? []) onEnd();
  },
  listeners: (id) => listeners.get(id)?.size ?? 0,
});
