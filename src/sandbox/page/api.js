/** Requests to the control interface. A failed request throws an Error with the text of the control interface. */

const request = async (method, path, body) => {
  const init = body === undefined ? { method } : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, init).catch(() => {
    throw new Error('the simulated platform does not answer');
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `failed with status ${response.status}`);
  return answer;
};

export const get = (path) => request('GET', path);
export const post = (path, body = {}) => request('POST', path, body);
export const put = (path, body) => request('PUT', path, body);
export const remove = (path) => request('DELETE', path);

/** Follows the live stream. `onOpen` runs at each connection and reconnection. Events before the connection are lost, so `onOpen` must reload the state. */
export const follow = (handlers, onOpen, onLost) => {
  const source = new EventSource('/events');
  source.addEventListener('open', onOpen);
  source.addEventListener('error', onLost);
  for (const [type, handle] of Object.entries(handlers)) source.addEventListener(type, ({ data }) => handle(JSON.parse(data)));
};
