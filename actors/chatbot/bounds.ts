/** Bounds the data that a message has about its answer. Pure functions. */
import { cutText, type AiMetadata } from '../model.ts';

/** Limits of one text and of one list in that data. In characters. */
const toldText = 8_000;
const toldList = 16_000;

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return cutText(value, toldText);
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
};

/** Returns the first items that fit. */
const fitting = (list: readonly unknown[]): readonly unknown[] => {
  let room = toldList;
  return list.map(shortened).filter((one) => (room -= JSON.stringify(one).length) >= 0);
};

/** Bounds the metadata. The newest part of the memory is kept. */
export const boundedMetadata = ({ agentId, request, response }: AiMetadata): AiMetadata => ({
  agentId,
  request: { ...request, messages: fitting(request.messages.toReversed()).toReversed(), tools: fitting(request.tools) },
  response: { ...response, choices: fitting(response.choices), toolResults: fitting(response.toolResults) },
});
