/** Sends a text, receives messages by webhook and replies to each. Run it with: node reply.ts */
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** Address of the gateway, token of the instance, number of the recipient, and the port and address of this receiver. */
const {
  GATEWAY = 'http://127.0.0.1:3000',
  TOKEN = '',
  TO = '',
  RECEIVER_PORT = '4000',
  HOOK = `http://127.0.0.1:${RECEIVER_PORT}/`,
} = process.env;

const call = async (path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> => {
  const answer = await fetch(GATEWAY + path, {
    method: 'POST',
    headers: { token: TOKEN, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

/** The fields of a `messages` event that this program reads. */
interface Event {
  EventType: string;
  message: { chatid: string; text: string };
}

const reply = async (request: IncomingMessage): Promise<void> => {
  const event = JSON.parse(await text(request)) as Event;
  if (event.EventType !== 'messages' || event.message.text === '') return;
  const { chatid, text: received } = event.message;
  // The gateway may deliver an event twice. With the same key it sends the reply only once.
  const key = { 'idempotency-key': String(request.headers['webhook-id']) };
  await call('/send/text', { number: chatid, text: `You wrote: ${received}` }, key);
};

const server = createServer((request, response) => {
  // A 500 makes the gateway deliver the event again.
  reply(request).then(
    () => response.end(),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(500).end();
    },
  );
});

server.listen(Number(RECEIVER_PORT), async () => {
  // Without fromMeYes the program would answer its own replies.
  await call('/webhook', { url: HOOK, enabled: true, events: ['messages'], excludeMessages: ['fromMeYes'] });
  await call('/send/text', { number: TO, text: 'Hello from TypeScript' });
});
