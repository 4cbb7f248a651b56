/** The interface of parts that follow the events of every instance, such as the inspector, the streams and the chatbot. */
import type { GatewayEvent, InstanceId } from '../model.ts';
import type { Cell } from '../session/cell.ts';

/** A part of the gateway that reads the events of instances. An error that a reader throws is logged and has no other effect. */
export interface InstanceReader {
  /** Takes a committed event, and the epoch under which it was committed. */
  note(event: GatewayEvent, epoch: number): void;
  /** Called each time a session becomes live. */
  live(cell: Cell): void;
  /** Called when the instance is gone, or moves to another node. The reader ends its work for the instance and drops its data. */
  forget(id: InstanceId): void;
  /** Called when the process stops. */
  stop(): void;
}
