/** Tables of a session: credentials, Signal keys, received stanzas, and what was set aside. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

export const CredentialEntity = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob() },
});

/** Without a foreign key, as messages are. */
export const SignalKeyEntity = defineEntity({
  name: 'SignalKey',
  tableName: 'signal_key',
  properties: { instanceId: p.text().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** Received stanzas whose messages may not be stored yet. A stanza that was tried too often is kept aside in its row. */
export const InboundEntity = defineEntity({
  name: 'Inbound',
  tableName: 'inbound',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    seq: p.bigint('number').primary(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

/** Credentials of the last session that the platform ended, kept apart. */
export const RetiredCredentialEntity = defineEntity({
  name: 'RetiredCredential',
  tableName: 'retired_credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob(), reason: p.text(), at: time() },
});

/** Rows of an older version, without a writer today. They go with the next session that ends. */
export const RetiredKeyEntity = defineEntity({
  name: 'RetiredKey',
  tableName: 'retired_key',
  properties: { instance: () => ofInstance().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** Instances whose session ended and whose keys are being deleted. */
export const LeavingKeysEntity = defineEntity({
  name: 'LeavingKeys',
  tableName: 'leaving_keys',
  properties: { instanceId: p.text().primary() },
});
