/** Makes the recorder of an instance on the journal of its storage. */
import { Recorder, refusalNameOf, type RecorderInput } from '../delivery/recorder.ts';
import type { GatewayEvent, InstanceRecord } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import { StorageBroken, type Ports } from '../ports.ts';

export interface RecordingInput extends Pick<RecorderInput, 'workers' | 'committed'> {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly record: () => InstanceRecord;
  /** Returns the ids of the webhooks that get the event. */
  readonly targets: (event: GatewayEvent) => readonly string[];
}

export const recorderOf = ({ ports, policy, record, targets, workers, committed }: RecordingInput): Recorder =>
  new Recorder({
    instance: record().id,
    time: ports.time,
    log: ports.log,
    meter: ports.meter,
    workers,
    limits: policy.recorder,
    commit: (entries) => ports.journal.commit(record(), entries, targets),
    committed,
    async keep(entry, error) {
      const { id: instanceId, epoch } = record();
      if (await ports.refused.keep({ instanceId, epoch }, entry, refusalNameOf(error))) return;
      throw new StorageBroken('no more refused entries can be kept for a session: try them again, or discard them (GET /admin/refused)');
    },
  });
