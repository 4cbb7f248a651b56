/** Returns the frames of a stack, without the text of the error, which may quote a value. */
export const framesOf = (stack = ''): readonly string[] => stack.split('\n').filter((line) => line.trimStart().startsWith('at '));
