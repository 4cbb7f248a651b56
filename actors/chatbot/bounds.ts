/** Bounds of what a message tells of how the answer in it came about. Pure. */
import { cutText, type AiMetadata } from '../model.ts';

/** Characters of one text, and of one list, in what a message tells. */
const toldText = 8_000;
const toldList = 16_000;

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return cutText(value, toldText);
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
};

/** The first of them that fit. */
const fitting = (list: readonly unknown[]): readonly unknown[] => {
  let room = toldList;
  return list.map(shortened).filter((one) => (room -= JSON.stringify(one).length) >= 0);
};

/** With as much of the memory, latest first, and of everything else as fits. */
export const boundedMetadata = ({ agentId, request, response }: AiMetadata): AiMetadata => ({
  agentId,
  request: { ...request, messages: fitting(request.messages.toReversed()).toReversed(), tools: fitting(request.tools) },
  response: { ...response, choices: fitting(response.choices), toolResults: fitting(response.toolResults) },
});
