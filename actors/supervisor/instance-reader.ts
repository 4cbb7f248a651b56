/** The interface of the parts that follow every instance beside its session: the inspector, campaigns, the chatbot. */
import type { GatewayEvent, InstanceId } from '../model.ts';
import type { Cell } from '../session/cell.ts';

/** A part of the gateway that reads what instances do and works beside them. An error that it throws is logged and changes nothing. */
export interface InstanceReader {
  /** Takes a committed event, and the epoch under which it was committed. */
  note(event: GatewayEvent, epoch: number): void;
  /** Called each time a session became live. */
  live(cell: Cell): void;
  /** Called when the instance is gone, or belongs to another node from now on. The reader does nothing more for it and keeps nothing of it. */
  forget(id: InstanceId): void;
  /** Called when the process stops. */
  stop(): void;
}
