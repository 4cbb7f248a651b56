/**
 * Status posts, which come as `<status>` nodes and not encrypted: from channels since 2026-07-20 (tulir/whatsmeow a2381054). The library does not know
 * the node. It is acknowledged, so that the platform does not repeat it at each login, and dropped: no call of the interface shows it.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

/** A failed acknowledgement is left alone: the connection has ended, and the platform repeats the node. */
export const acknowledgeStatuses = ({ ws, sendMessageAck }: Pick<WASocket, 'ws' | 'sendMessageAck'>): void => {
  ws.on('CB:status', (node: BinaryNode) => void sendMessageAck(node).catch(() => undefined));
};
