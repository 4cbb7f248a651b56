/** The state of the server as anybody may see it. */
import type { StatusCounts } from '#actors/views.ts';

export interface ServerHealth {
  /** The database answers, and the server takes requests. */
  readonly healthy: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

const nobody = 'No instance is connected.';

/** With a connected instance its state is an object; without any it is a warning, as live servers answer. */
export const serverStatusView = (
  { total, connected, disconnected, reconnecting, connecting }: StatusCounts,
  { healthy, now }: ServerHealth,
) => ({
  status:
    connected === 0
      ? 'warning'
      : {
          server_status: healthy ? 'running' : 'degraded',
          checked_instance: { is_healthy: healthy },
          last_check: new Date(now).toISOString(),
          dc: '',
        },
  ...(connected === 0 ? { connected_instances: 0, info: nobody } : {}),
  instance_counts: { total, connected, disconnected, reconnecting, connecting },
});
