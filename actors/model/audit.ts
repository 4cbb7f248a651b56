/** The audit log: one entry for each request that changed, or tried to change, something that operators set. */
import type { InstanceId } from './instance.ts';

/** Kinds of callers. The name of a caller is a user's name, or the id of the instance whose token or code was used. It is never a token. */
export const auditActors = ['adminToken', 'user', 'instanceToken', 'passkeyCode'] as const;

export type AuditActor = (typeof auditActors)[number];

/** The note of HTTP about one request. */
export interface AuditNote {
  /** Unix milliseconds. */
  readonly at: number;
  readonly actor: AuditActor;
  /** The name of the user, or the id of the instance; '' for the admin token. */
  readonly who: string;
  /** The address of the client, as TRUSTED_PROXIES lets the gateway see it. */
  readonly address: string;
  readonly method: string;
  /** The pattern of the route, such as `/admin/refused/:instance/:id/retry`. Addresses may hold secrets. */
  readonly route: string;
  /** '' if the request is about no instance. */
  readonly instance: InstanceId;
  /** The user, the node or the session that the request is about; '' for none. */
  readonly subject: string;
  /** The status of the answer; 0 if the client disconnected before the answer. */
  readonly status: number;
}

export interface AuditEntry extends AuditNote {
  /** Grows with time. It is the cursor of a page. */
  readonly id: number;
}

export interface AuditQuery {
  /** The name of a user, or the id of an instance whose token was used. */
  readonly who?: string;
  readonly actor?: AuditActor;
  readonly instance?: InstanceId;
  /** Unix milliseconds; `from` is included, `to` is not. */
  readonly from?: number;
  readonly to?: number;
  /** Only entries before this id. */
  readonly before?: number;
  readonly limit: number;
}

export interface AuditPage {
  /** The latest first. */
  readonly entries: readonly AuditEntry[];
  /** The cursor of the next page; null on the last one. */
  readonly next: number | null;
}
