/** Measures the width of a text with a canvas of the browser. */

const context = document.createElement('canvas').getContext('2d');

/** @param {string} text @param {number} size In pixels. @param {number} [weight] */
export const widthOf = (text, size, weight = 500) => {
  if (context === null) return text.length * size * 0.6;
  context.font = `${weight} ${size}px Inter, system-ui, sans-serif`;
  return Math.ceil(context.measureText(text).width);
};
